import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { DesiredFlag, Freeze, TimeWindow } from '../../src/model/desired.js';
import { rampedBuckets, shareOf, type DesiredRamp } from '../../src/model/flag/ramp.js';
import type { Definition } from '../../src/model/flag/flag.js';
import type { State } from '../../src/model/state.js';
import { planChanges } from '../../src/plan/plan.js';
import type { BoundDesired } from '../../src/model/bound-desired.js';
import { desiredAt, type Facts } from '../../src/timing/desired-at.js';
import { dueMoments, stepAt } from '../../src/timing/ladder.js';
import { closingAt, type Calendar } from '../../src/timing/windows.js';
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

/** One definition on the service, what is remembered of it, and runs over it by a clock. */
class World {
  live: Definition;
  base: Definition;
  readonly #ramp: DesiredRamp;
  readonly #calendar: Calendar;
  readonly #isProtected: boolean;

  constructor(ramp: DesiredRamp, calendar: Calendar, isProtected: boolean) {
    this.#ramp = ramp;
    this.#calendar = calendar;
    this.#isProtected = isProtected;
    this.live = { defaultRule: ramp.written, killed: false };
    this.base = this.#flag.environments.get('production')?.fields ?? {};
  }

  get share(): number {
    return shareOf(this.live.defaultRule ?? [], 'on');
  }

  get isEdited(): boolean {
    return shareOf(this.base.defaultRule ?? [], 'on') !== this.share;
  }

  get #flag(): DesiredFlag {
    const { written: defaultRule } = this.#ramp;
    return desiredFlag('shop', { environments: { production: { defaultRule } } });
  }

  #desired(): BoundDesired {
    const environments = [...this.#flag.environments].map(
      ([name, each]) => [name, { ...each, ramps: [this.#ramp] }] as const,
    );
    const specs = aDesired({ flags: [{ ...this.#flag, environments: new Map(environments) }] });
    const { windows, freezes } = this.#calendar;
    const used = { windows: windows.map(({ name }) => name) };
    const places = specs.config.environments.map((each) => ({ ...each, ...used }));
    return { ...specs, config: { ...specs.config, environments: places, windows, freezes } };
  }

  /** @returns whether the share was written. */
  run(ms: number): boolean {
    const protection = this.#isProtected
      ? ({ protected: true, onDrift: 'report', onConflict: 'hold' } as const)
      : {};
    const environments = [anEnvironment('production', protection)];
    const workspace = { spec: { trafficType: 'user', fields: {} }, commit: null };
    const bases = { 'env-production': { spec: this.base, commit: null } };
    const entry = { kind: 'flag', name: 'shop', workspace, environments: bases } as const;
    const state: State = new Map([['flag/shop', entry]]);
    const actual = anActual({ flags: [liveFlag('shop', { production: this.live })] });
    const facts: Facts = {
      ...{ records: {}, unkept: null, head: null, state, actual, environments },
      ...{ ordered: new Set(), killed: new Set(), setbacks: new Map(), checks: new Map() },
    };
    const { desired, closed } = desiredAt(this.#desired(), facts, ms);
    const plan = planChanges({ desired, actual, state, policy: aPolicy({ environments, closed }) });
    const field = plan.changes
      .flatMap(({ fields }) => fields)
      .find(({ path }) => path === '/defaultRule');
    if (field) this.live = { ...this.live, defaultRule: field.after as never };
    const wanted = desired.flags.get('shop')?.environments.get('production')?.fields;
    if (wanted && (field || plan.unchanged.includes(ID))) this.base = wanted;
    return field !== undefined;
  }
}

it('ramps have steps in their order and in open windows, never lower, never write outside a window, and never overwrite what a person did where that is reported', () => {
  fc.assert(
    fc.property(
      someRamp,
      someCalendar,
      fc.boolean(),
      fc.array(someEvent, { maxLength: 25 }),
      (ramp, calendar, isProtected, events) => {
        const due = dueMoments(ramp, { sinceMs: START_MS }, [calendar]);
        expect(due).toEqual(due.toSorted((a, b) => (a ?? Infinity) - (b ?? Infinity)));
        for (const each of due) expect(each === null || closingAt(calendar, each)).toBeUndefined();
        const world = new World(ramp, calendar, isProtected);
        let ms = START_MS;
        for (const { afterHours, what } of events) {
          ms += afterHours * HOUR_MS;
          const { live, share, isEdited } = world;
          if (what.do === 'edit') {
            world.live = { ...live, defaultRule: rampedBuckets(ramp, what.share) };
          } else if (what.do !== 'run') world.live = { ...live, killed: what.do === 'kill' };
          else {
            const isWritten = world.run(ms);
            expect(world.share).toBeGreaterThanOrEqual(share);
            if (!isWritten) continue;
            expect(closingAt(calendar, ms)).toBeUndefined();
            expect(world.share).toBe(
              ramp.steps[stepAt(due, ms)]?.percent ?? shareOf(ramp.written, 'on'),
            );
            expect([isEdited && isProtected, live.killed]).toEqual([false, false]);
          }
        }
      },
    ),
    SETTINGS,
  );
});
