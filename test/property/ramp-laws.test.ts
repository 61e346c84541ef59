import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Freeze, TimeWindow } from '../../src/model/desired.js';
import { rampedBuckets, shareOf, type DesiredRamp } from '../../src/model/flag/ramp.js';
import type { Definition } from '../../src/model/flag/flag.js';
import type { State } from '../../src/model/state.js';
import { planChanges } from '../../src/plan/plan.js';
import { bindEnvironments, type BoundDesired } from '../../src/model/bound-desired.js';
import { desiredAt, stepsToCheck, type Facts } from '../../src/timing/desired-at.js';
import { dueMoments, stepAt } from '../../src/timing/ladder.js';
import { closingAt, type Calendar, type Closing } from '../../src/timing/windows.js';
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

const SETTINGS = lawSettings('laws of ramps', 100);
/** Each case is 80 plans. */
const OUTAGES = lawSettings('law of ramps and outages', 10);
const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 2, 20, 12);
const ID = 'flag/shop@production';

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
      written: onShare(share).defaultRule.filter(({ size }) => size > 0),
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

const closings = new WeakMap<Calendar, Map<number, Closing | undefined>>();

/** As `closingAt`; two worlds and a law ask it of the same hours. */
function closingOf(calendar: Calendar, ms: number): Closing | undefined {
  const known = closings.get(calendar) ?? new Map<number, Closing | undefined>();
  closings.set(calendar, known);
  if (!known.has(ms)) known.set(ms, closingAt(calendar, ms));
  return known.get(ms);
}

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

/** Hours after the start in which the check of the ramp fails. */
interface Failing {
  readonly fromHour: number;
  readonly hours: number;
}

const someFailures = fc.array(
  fc.record({ fromHour: fc.integer({ min: 0, max: 300 }), hours: fc.integer({ min: 1, max: 60 }) }),
  { maxLength: 3 },
);

interface WorldParts {
  readonly ramp: DesiredRamp;
  readonly calendar: Calendar;
  readonly failing?: readonly Failing[];
}

/** One definition on the service, what is remembered of it, and runs over it by a clock. */
class World {
  live: Definition;
  base: Definition | undefined;
  readonly #ramp: DesiredRamp;
  readonly #calendar: Calendar;
  readonly #isProtected: boolean;
  readonly #dueMs: readonly (number | null)[];
  readonly #failing: readonly Failing[];

  constructor({ ramp, calendar, failing = [] }: WorldParts, isProtected: boolean) {
    this.#ramp = { ...ramp, checks: ['slo'] };
    this.#failing = failing;
    this.#calendar = calendar;
    this.#isProtected = isProtected;
    this.#dueMs = dueMoments(ramp, START_MS, [calendar]);
    this.live = { defaultRule: ramp.written, killed: false };
    this.base = this.#desired(ramp.written);
  }

  get share(): number {
    return shareOf(this.live.defaultRule ?? [], 'on');
  }

  /** The share that was last found equal. */
  get baseShare(): number {
    return shareOf(this.base?.defaultRule ?? [], 'on');
  }

  isFailing(ms: number): boolean {
    const hour = (ms - START_MS) / HOUR_MS;
    return this.#failing.some((each) => hour >= each.fromHour && hour < each.fromHour + each.hours);
  }

  /** As a run asks, but for the request. */
  #checks(desired: BoundDesired, facts: Facts, nowMs: number): Facts['checks'] {
    const isFailing = this.isFailing(nowMs);
    const result = isFailing ? 'failed' : 'passed';
    const answer = { name: 'slo', result, why: isFailing ? 'no' : null } as const;
    const steps = stepsToCheck(desiredAt(desired, facts, nowMs));
    return new Map(steps.map(({ key }) => [key, [answer]]));
  }

  /** The share of the step that is due. */
  dueShare(ms: number): number {
    const step = this.#ramp.steps[stepAt(this.#dueMs, ms)];
    return step?.percent ?? shareOf(this.#ramp.written, 'on');
  }

  edit(share: number): void {
    this.live = { ...this.live, defaultRule: rampedBuckets(this.#ramp, share) };
  }

  #desired(defaultRule: Definition['defaultRule'] & object): Definition {
    const flag = desiredFlag('shop', { environments: { production: { defaultRule } } });
    return flag.environments.get('production')?.fields ?? {};
  }

  /** @returns whether the share was written. */
  run(ms: number): boolean {
    const ramp = this.#ramp;
    const said = desiredFlag('shop', {
      environments: { production: { defaultRule: ramp.written } },
    });
    const environments = new Map(
      [...said.environments].map(([name, each]) => [name, { ...each, ramps: [ramp] }] as const),
    );
    const protection = this.#isProtected
      ? ({ protected: true, onDrift: 'report', onConflict: 'hold' } as const)
      : {};
    const closing = closingOf(this.#calendar, ms);
    const closed = closing && { why: closing.why, until: null, untilText: null };
    const state: State = new Map([
      [
        'flag/shop',
        {
          kind: 'flag' as const,
          name: 'shop',
          workspace: { spec: { trafficType: 'user', fields: {} }, commit: null },
          environments: { 'env-production': { spec: this.base, commit: null } },
        },
      ],
    ] as never);
    const specs = aDesired({ flags: [{ ...said, environments }] });
    const { windows, freezes } = this.#calendar;
    const used = { windows: windows.map(({ name }) => name) };
    const places = specs.config.environments.map((each) => ({ ...each, ...used }));
    const config = { ...specs.config, environments: places, windows, freezes };
    const names = new Map([['production', 'production']]);
    const desired = bindEnvironments({ ...specs, config }, names);
    const policy = aPolicy({
      environments: [anEnvironment('production', protection)],
      closed: new Map(closed ? [['production', closed]] : []),
    });
    const facts: Facts = {
      ...{ records: {}, unkept: null, head: null, state, actual: null, checks: new Map() },
      ...{ environments: policy.environments, ordered: new Set(), killed: new Set() },
      setbacks: new Map(),
    };
    const checks = this.#checks(desired, facts, ms);
    const actual = anActual({ flags: [liveFlag('shop', { production: this.live })] });
    const moment = desiredAt(desired, { ...facts, checks, actual }, ms);
    const input = { desired: moment.desired, actual, state, policy };
    const plan = planChanges(input);
    const field = plan.changes
      .flatMap(({ fields }) => fields)
      .find(({ path }) => path === '/defaultRule');
    if (field) this.live = { ...this.live, defaultRule: field.after as never };
    const wanted = input.desired.flags.get('shop')?.environments.get('production')?.fields;
    const isEqual = field !== undefined || plan.unchanged.includes(ID);
    if (isEqual && wanted) this.base = wanted;
    return field !== undefined;
  }
}

describe('ramps', () => {
  it('have steps in their order and in open windows, never lower, never write outside a window or while their check fails, and never overwrite what a person did where that is reported', () => {
    fc.assert(
      fc.property(
        someRamp,
        someCalendar,
        someFailures,
        fc.boolean(),
        fc.array(someEvent, { maxLength: 25 }),
        (ramp, calendar, failing, isProtected, events) => {
          const due = dueMoments(ramp, START_MS, [calendar]);
          expect(due).toEqual(due.toSorted((a, b) => (a ?? Infinity) - (b ?? Infinity)));
          for (const each of due)
            expect(each === null || closingAt(calendar, each)).toBeUndefined();
          const world = new World({ ramp, calendar, failing }, isProtected);
          let ms = START_MS;
          for (const { afterHours, what } of events) {
            ms += afterHours * HOUR_MS;
            if (what.do === 'edit') world.edit(what.share);
            else if (what.do === 'kill') world.live = { ...world.live, killed: true };
            else if (what.do === 'restore') world.live = { ...world.live, killed: false };
            else {
              const before = world.share;
              const isKilled = world.live.killed === true;
              const isEdited = world.baseShare !== before;
              const isWritten = world.run(ms);
              expect(world.share).toBeGreaterThanOrEqual(before);
              if (isWritten) {
                expect(closingAt(calendar, ms)).toBeUndefined();
                expect(world.isFailing(ms)).toBe(false);
                expect(world.share).toBe(world.dueShare(ms));
                expect(isEdited && isProtected).toBe(false);
                expect(isKilled).toBe(false);
              }
            }
          }
        },
      ),
      SETTINGS,
    );
  });

  it('are after any outage where an uninterrupted daemon is, and end there', () => {
    fc.assert(
      fc.property(
        someRamp,
        someCalendar,
        someFailures,
        fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
        (ramp, calendar, failing, isUp) => {
          const parts = { ramp, calendar, failing };
          const steady = new World(parts, true);
          const cut = new World(parts, true);
          for (const [at, up] of isUp.entries()) {
            const ms = START_MS + 2 * at * HOUR_MS;
            steady.run(ms);
            if (!up) continue;
            cut.run(ms);
            const isOpen = closingOf(calendar, ms) === undefined && !steady.isFailing(ms);
            // What it missed while it was down waits for the next opening, as all else does, and for its check.
            if (isOpen) expect(cut.share).toBe(steady.share);
            else expect(cut.share).toBeLessThanOrEqual(steady.share);
          }
          const end = START_MS + 5_000 * HOUR_MS;
          const open =
            dueMoments({ steps: [{ percent: 1, afterMs: 0 }] }, end, [calendar])[0] ?? end;
          steady.run(open);
          cut.run(open);
          expect(cut.share).toBe(ramp.steps.at(-1)?.percent);
          expect(steady.share).toBe(cut.share);
        },
      ),
      OUTAGES,
    );
  });
});
