import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Freeze, TimeWindow } from '../../src/model/desired.js';
import { rampedBuckets, shareOf, type DesiredRamp } from '../../src/model/flag/ramp.js';
import { dueMoments, stepAt } from '../../src/timing/ladder.js';
import { closingAt, type Calendar } from '../../src/timing/windows.js';
import { ENVIRONMENTS } from '../support/builders.js';
import { sharesOf } from '../support/on-off.js';
import { RampWorld, rampedSpecs } from '../support/ramp-law/world.js';
import { lawSettings } from './law-settings.js';

const SETTINGS = lawSettings('laws of ramps', 100);
const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 2, 20, 12);

const percents = fc
  .uniqueArray(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 6 })
  .map((all) => all.toSorted((a, b) => a - b));
const someRamp = fc
  .tuple(
    percents,
    fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 6, maxLength: 6 }),
    fc.integer({ min: 0, max: 100 }),
  )
  .map(([shares, hours, part]): DesiredRamp => {
    const share = Math.floor(((shares[0] ?? 0) * part) / 100);
    return {
      ...{ key: 'default', rule: null, matchers: [], nth: 0 },
      treatment: 'on',
      order: ['on', 'off'],
      written: sharesOf(share),
      steps: shares.map((percent, at) => ({ percent, afterMs: (hours[at] ?? 0) * HOUR_MS })),
      // With a start of its own no run has to remember when it began.
      startMs: START_MS,
      hold: false,
    };
  });
const someCalendar = fc
  .tuple(
    fc.option(fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 23 })), {
      nil: undefined,
    }),
    fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 80 })), {
      maxLength: 2,
    }),
  )
  .map(([hours, times]): Calendar => {
    const window: TimeWindow[] =
      hours === undefined || hours[0] === hours[1]
        ? []
        : [
            {
              name: 'w',
              days: [1, 2, 3, 4, 5],
              fromMinute: hours[0] * 60,
              toMinute: hours[1] * 60,
              zone: 'Europe/Madrid',
            },
          ];
    const freezes = times.map(([from, length], at): Freeze => {
      const fromMs = START_MS + from * HOUR_MS;
      return { name: `f${at}`, fromMs, toMs: fromMs + length * HOUR_MS, zone: 'UTC' };
    });
    return { windows: window, freezes };
  });

/** What happens from one hour to a later one. */
const someEvent = fc.record({
  afterHours: fc.integer({ min: 1, max: 40 }),
  what: fc.oneof(
    { weight: 6, arbitrary: fc.constant({ do: 'run' as const }) },
    fc.record({ do: fc.constant('edit' as const), share: fc.integer({ min: 0, max: 100 }) }),
    fc.constant({ do: 'kill' as const }),
    fc.constant({ do: 'restore' as const }),
  ),
});

const REPORTING = { protected: true, onDrift: 'report', onConflict: 'hold' } as const;

it('ramps have steps in their order and in open windows, never lower, never write outside a window, and never overwrite what a person did where that is reported', async () => {
  await fc.assert(
    fc.asyncProperty(
      someRamp,
      someCalendar,
      fc.boolean(),
      fc.array(someEvent, { maxLength: 25 }),
      async (ramp, calendar, isProtected, events) => {
        const due = dueMoments(ramp, { sinceMs: START_MS }, [calendar]);
        expect(due).toEqual(due.toSorted((a, b) => (a ?? Infinity) - (b ?? Infinity)));
        for (const each of due) expect(each === null || closingAt(calendar, each)).toBeUndefined();
        const world = new RampWorld(
          { defaultRule: ramp.written, killed: false },
          isProtected ? REPORTING : {},
        );
        const { windows, freezes } = calendar;
        const used = { windows: windows.map(({ name }) => name) };
        const environments = ENVIRONMENTS.map(({ name }) => ({ name, guards: {}, ...used }));
        const specs = rampedSpecs(ramp, { environments, windows, freezes });
        await world.run(specs, START_MS - HOUR_MS);
        let agreed = world.share;
        let wasKilled = false;
        let ms = START_MS;
        for (const { afterHours, what } of events) {
          ms += afterHours * HOUR_MS;
          const { live, share } = world;
          if (what.do === 'edit') {
            world.live = { ...live, defaultRule: rampedBuckets(ramp, what.share) };
          } else if (what.do !== 'run') world.live = { ...live, killed: what.do === 'kill' };
          else {
            const isEdited = share !== agreed;
            wasKilled ||= live.killed === true;
            const { written, open } = await world.run(specs, ms);
            expect(world.share).toBeGreaterThanOrEqual(share);
            if (!open.has('/defaultRule')) agreed = world.share;
            if (!written.includes('/defaultRule')) continue;
            expect(closingAt(calendar, ms)).toBeUndefined();
            const step = stepAt(due, ms);
            const own = ramp.steps[step]?.percent ?? shareOf(ramp.written, 'on');
            // After a kill that a run has seen, the waits count anew from the step that was reached.
            const steps = ramp.steps.slice(0, step + 1).map(({ percent }) => percent);
            expect(wasKilled ? steps : [own]).toContain(world.share);
            expect([isEdited && isProtected, live.killed]).toEqual([false, false]);
          }
        }
      },
    ),
    SETTINGS,
  );
});
