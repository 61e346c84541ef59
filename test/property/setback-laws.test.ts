import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rampedBuckets, type DesiredRamp } from '../../src/model/flag/ramp.js';
import { sharesOf } from '../support/on-off.js';
import { RampWorld, rampedSpecs } from '../support/ramp-law/world.js';
import { lawSettings } from './law-settings.js';

const SETTINGS = lawSettings('laws of failed checks', 150);
const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 2, 20, 12);

type OnFail = DesiredRamp['onFail'];
type Answer = 'good' | 'wrong' | 'none';

/** What happens some hours later. A run that is cut off is followed by another one at once. */
const someEvent = fc.record({
  afterHours: fc.integer({ min: 1, max: 30 }),
  what: fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('run' as const),
        answer: fc.constantFrom<Answer>('good', 'good', 'good', 'wrong', 'none'),
        isCut: fc.boolean(),
      }),
    },
    fc.record({ do: fc.constant('edit' as const), share: fc.integer({ min: 0, max: 100 }) }),
    fc.record({ do: fc.constant('killed' as const), isKilled: fc.boolean() }),
    fc.record({
      do: fc.constant('commit' as const),
      onFail: fc.constantFrom<OnFail>(undefined, 'previous', 'kill'),
      hold: fc.boolean(),
    }),
  ),
});

const FIRST: DesiredRamp = {
  ...{ key: 'default', rule: null, matchers: [], nth: 0 },
  ...{ treatment: 'on', order: ['on', 'off'], hold: false, checks: ['slo'] },
  written: sharesOf(0),
  steps: [5, 20, 45, 80, 100].map((percent) => ({ percent, afterMs: 12 * HOUR_MS })),
};

const FAULTS = {
  good: null,
  wrong: { why: '5 is more than 1', isMeasured: true },
  none: { why: 'no answer' },
} as const;

const CHECKS = [{ name: 'slo', url: 'https://slo.example.com', timeoutMs: 1 }];

it('a failed check alone lowers a share, by one step, or kills; once, until a commit changes the ramp', async () => {
  let acts = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(someEvent, { minLength: 5, maxLength: 40 }), async (events) => {
      const world = new RampWorld({ defaultRule: FIRST.written, killed: false });
      let ramp: DesiredRamp = { ...FIRST, onFail: 'previous' };
      let commits = 1;
      let ms = START_MS;
      let hasActed = false;
      const run = async (answer: Answer, isCut: boolean): Promise<readonly string[]> => {
        const commit = String(commits).repeat(40);
        const askCheck = async () => Promise.resolve(FAULTS[answer]);
        const specs = rampedSpecs(ramp, { checks: CHECKS });
        const { written, left } = await world.run(specs, ms, { isCut, commit, askCheck });
        if (!isCut) expect(left).toEqual([]);
        return written;
      };
      await run('good', false);
      for (const { afterHours, what } of events) {
        ms += afterHours * HOUR_MS;
        if (what.do === 'edit') {
          world.live = { ...world.live, defaultRule: rampedBuckets(FIRST, what.share) };
        } else if (what.do === 'killed') {
          world.live = { ...world.live, killed: what.isKilled };
        } else if (what.do === 'commit') {
          const before = JSON.stringify(ramp);
          const { onFail: _, ...rest } = ramp;
          ramp = { ...rest, ...(what.onFail && { onFail: what.onFail }), hold: what.hold };
          commits += 1;
          if (JSON.stringify(ramp) !== before) hasActed = false;
        } else {
          for (const isCut of what.isCut ? [true, false] : [false]) {
            const { share, reached } = world;
            const wasKilled = world.live.killed;
            const written = await run(what.answer, isCut);
            const isLowered = world.share < share;
            const isKilled = world.live.killed === true && !wasKilled;
            if (hasActed) expect(written).toEqual([]);
            const most = what.answer === 'good' ? 100 : Math.max(share, reached);
            expect(world.share).toBeLessThanOrEqual(most);
            if (!isLowered && !isKilled) continue;
            acts += 1;
            expect(what.answer).toBe('wrong');
            expect(isKilled).toBe(ramp.onFail === 'kill');
            const before = [0, ...ramp.steps.map(({ percent }) => percent)];
            const back = before.findLast((each) => each < reached) ?? 0;
            expect(world.share).toBe(isKilled ? share : back);
            hasActed = true;
          }
        }
      }
    }),
    SETTINGS,
  );
  expect(acts).toBeGreaterThan(0);
});
