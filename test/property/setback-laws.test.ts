import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BoundDesired } from '../../src/model/bound-desired.js';
import { rampedBuckets, shareOf, type DesiredRamp } from '../../src/model/flag/ramp.js';
import type { Definition } from '../../src/model/flag/flag.js';
import type { RampRecords, State } from '../../src/model/state.js';
import { stateAfterVerify } from '../../src/plan/bases/next-state.js';
import { planChanges } from '../../src/plan/plan.js';
import { momentOfRun, timedInput } from '../../src/reconcile/policy.js';
import { recordsAfter, recordsBefore } from '../../src/timing/records.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  desiredFlag,
  liveFlag,
  onShare,
} from '../support/builders.js';
import { lawSettings } from './law-settings.js';

const SETTINGS = lawSettings('laws of failed checks', 150);
const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 2, 20, 12);
const ID = 'flag/shop@production';

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
  written: onShare(0).defaultRule.filter(({ size }) => size > 0),
  steps: [5, 20, 45, 80, 100].map((percent) => ({ percent, afterMs: 12 * HOUR_MS })),
};

const FAULTS = {
  good: null,
  wrong: { why: '5 is more than 1', isMeasured: true },
  none: { why: 'no answer' },
} as const;

/** One definition on the service, the state, and runs over it by a clock. */
class World {
  live: Definition = { defaultRule: FIRST.written, killed: false };
  ramp = FIRST;
  #commit = 0;
  #records: RampRecords = {};
  #state: State = new Map([
    [
      'flag/shop',
      {
        kind: 'flag' as const,
        name: 'shop',
        workspace: { spec: { trafficType: 'user', fields: {} }, commit: null },
        environments: { 'env-production': { spec: this.#fields(), commit: null } },
      },
    ],
  ]);

  get share(): number {
    return shareOf(this.live.defaultRule ?? [], 'on');
  }

  get reached(): number {
    return this.#records[`shop@env-production default`]?.reached ?? 0;
  }

  #fields(): Definition {
    return this.#flag().environments.get('production')?.fields ?? {};
  }

  #flag() {
    const { written: defaultRule } = this.ramp;
    return desiredFlag('shop', { environments: { production: { defaultRule } } });
  }

  #desired(): BoundDesired {
    const flag = this.#flag();
    const environments = new Map(
      [...flag.environments].map(([name, each]) => [name, { ...each, ramps: [this.ramp] }]),
    );
    const specs = aDesired({ flags: [{ ...flag, environments }] });
    const checks = [{ name: 'slo', url: 'https://slo.example.com', timeoutMs: 1 }];
    return { ...specs, config: { ...specs.config, checks } };
  }

  commit(onFail: OnFail, hold: boolean): void {
    this.#commit += 1;
    const { onFail: _, ...ramp } = this.ramp;
    this.ramp = { ...ramp, ...(onFail && { onFail }), hold };
  }

  /** @returns the fields that the run wrote. */
  async run(ms: number, answer: Answer, isCut: boolean): Promise<string[]> {
    const policy = aPolicy({
      environments: [anEnvironment('staging', { selected: false }), anEnvironment('production')],
    });
    const [commit, state, timing] = [String(this.#commit).repeat(40), this.#state, this.#records];
    const context = {
      source: { revision: { commit } },
      now: () => ms,
      askCheck: async () => Promise.resolve(FAULTS[answer]),
    };
    const remembered = { home: { notShared: () => null }, state, timing };
    const desired = this.#desired();
    const moment = await momentOfRun(context as never, desired, policy, remembered as never);
    const look = (): ReturnType<typeof anActual> =>
      anActual({ flags: [liveFlag('shop', { production: this.live })] });
    const input = timedInput({ desired, state, policy, actual: look() }, moment);
    const { changes } = planChanges(input);
    const fields = changes.flatMap((each) => each.fields);
    const written = fields.map(({ path, after }) => [path.slice(1), after]);
    this.#records = recordsBefore(input.moment, timing);
    this.live = { ...this.live, ...(Object.fromEntries(written) as Definition) };
    if (!isCut) {
      const again = timedInput({ ...input, desired, actual: look() }, input.moment);
      const left = planChanges(again);
      expect(left.changes).toEqual([]);
      this.#state = stateAfterVerify(again, new Set(left.unchanged), commit);
      const isKill = fields.some(({ path }) => path === '/killed');
      this.#records = recordsAfter(input.moment, {
        ...{ state: this.#state, known: timing, restored: new Set() },
        ...{ killed: new Set(isKill ? [ID] : []), isPlanned: () => true },
      });
    }
    return fields.map(({ path }) => path);
  }
}

describe('a failed check', () => {
  it('alone lowers a share, by one step, or kills; once, until a commit changes the ramp', async () => {
    let acts = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(someEvent, { minLength: 5, maxLength: 40 }), async (events) => {
        const world = new World();
        world.commit('previous', false);
        let ms = START_MS;
        let hasActed = false;
        for (const { afterHours, what } of events) {
          ms += afterHours * HOUR_MS;
          if (what.do === 'edit') {
            world.live = { ...world.live, defaultRule: rampedBuckets(FIRST, what.share) };
          } else if (what.do === 'killed') {
            world.live = { ...world.live, killed: what.isKilled };
          } else if (what.do === 'commit') {
            const before = JSON.stringify(world.ramp);
            world.commit(what.onFail, what.hold);
            if (JSON.stringify(world.ramp) !== before) hasActed = false;
          } else {
            for (const isCut of what.isCut ? [true, false] : [false]) {
              const { share, reached, ramp } = world;
              const wasKilled = world.live.killed;
              const written = await world.run(ms, what.answer, isCut);
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
});
