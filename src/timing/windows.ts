import type { BoundDesired } from '../model/bound-desired.js';
import type { Desired, Freeze, TimeWindow } from '../model/desired.js';
import type { Closed } from '../model/run.js';
import { UNIT_MS } from '../platform/clock.js';
import { momentText, nextTransition, offsetAt } from '../platform/zoned-time.js';

export interface Calendar {
  /** Changes may go while one of them is open; with none, at any time. */
  readonly windows: readonly TimeWindow[];
  /** No change may go during any of them, whatever window is open. */
  readonly freezes: readonly Freeze[];
}

/** Specs, whose environments may go by the service's names. */
type Configured = Pick<Desired, 'config'> & Partial<Pick<BoundDesired, 'configNames'>>;

/** @param name as in `config.environments`. */
export function calendarIn({ config, configNames }: Configured, name: string): Calendar {
  // Freezes keep the name of the file.
  const written = configNames?.get(name) ?? name;
  const used = config.environments.find((each) => each.name === name)?.windows ?? [];
  return {
    windows: (config.windows ?? []).filter((each) => used.includes(each.name)),
    freezes: (config.freezes ?? []).filter((each) => each.environments?.includes(written) ?? true),
  };
}

export interface Closing {
  /** Clause for people: `frozen by "black-friday" (the shop is full)`. */
  readonly why: string;
  /** End in milliseconds since the epoch; null if none was found. */
  readonly untilMs: number | null;
  /** The zone in which messages show the end. */
  readonly zone: string;
}

export function closingAt(calendar: Calendar, ms: number): Closing | undefined {
  const { windows } = calendar;
  if (waitOf(calendar, ms) === 0) return undefined;
  const freeze = freezeAt(calendar, ms);
  const untilMs = nextOpening([calendar], ms);
  if (freeze) {
    const { name, reason, zone } = freeze;
    const why = `frozen by "${name}"${reason === undefined ? '' : ` (${reason})`}`;
    return { why, untilMs, zone };
  }
  const names = windows.map(({ name }) => `"${name}"`).join(' and ');
  const why = `outside ${windows.length === 1 ? 'the window' : 'the windows'} ${names}`;
  const opening =
    untilMs === null ? [] : windows.filter((each) => waitForHours(each, untilMs) === 0);
  return { why, untilMs, zone: (opening[0] ?? windows[0])?.zone ?? 'UTC' };
}

export function closedAt(desired: Configured, ms: number): ReadonlyMap<string, Closed> {
  const closed = new Map<string, Closed>();
  for (const { name } of desired.config.environments) {
    const closing = closingAt(calendarIn(desired, name), ms);
    if (closing === undefined) continue;
    const { why, untilMs } = closing;
    const until = untilMs === null ? null : new Date(untilMs).toISOString();
    closed.set(name, { why, until, untilText: openingText(closing) });
  }
  return closed;
}

export function openingText({ untilMs, zone }: Closing): string | null {
  return untilMs === null ? null : `${momentText(untilMs, zone)} (${zone})`;
}

const { m: MINUTE_MS, d: DAY_MS } = UNIT_MS;
const WEEK_MS = 7 * DAY_MS;
/** In a year, clocks that are changed have shown each other every difference that they have. */
const LOOK_AHEAD_MS = 366 * DAY_MS;

/**
 * The first moment from `ms` on at which all calendars permit changes; null if there is none in the year after the last
 * freeze. Until a freeze ends or a clock is changed each week is like the one before, so that one week after each of
 * these tells of all.
 */
export function nextOpening(calendars: readonly Calendar[], ms: number): number | null {
  // Most are asked about while they permit changes, and to find changes of clocks takes longest.
  if (calendars.every((each) => waitOf(each, ms) === 0)) return ms;
  const ends = calendars.flatMap(({ freezes }) => freezes.map(({ toMs }) => toMs));
  const zones = new Set(calendars.flatMap(({ windows }) => windows.map(({ zone }) => zone)));
  const lastMs = Math.max(ms, ...ends) + LOOK_AHEAD_MS;
  for (let from = ms; from <= lastMs;) {
    const clocks = [...zones].map((zone) => nextTransition(from, zone) ?? Infinity);
    const changeMs = Math.min(...clocks, ...ends.filter((toMs) => toMs > from));
    for (let at = from; at < Math.min(changeMs, from + WEEK_MS);) {
      const waitMs = Math.max(0, ...calendars.map((each) => waitOf(each, at)));
      if (waitMs === 0) return at;
      at += waitMs;
    }
    from = changeMs;
  }
  return null;
}

/** How long until a calendar may permit changes if no clock is changed before; 0 while it permits them. */
function waitOf(calendar: Calendar, ms: number): number {
  const freeze = freezeAt(calendar, ms);
  if (freeze) return freeze.toMs - ms;
  const { windows } = calendar;
  return windows.length === 0 ? 0 : Math.min(...windows.map((each) => waitForHours(each, ms)));
}

/**
 * How long until the hours of a window; 0 in them. Only the local time counts. So a window in an hour that daylight
 * saving repeats is open twice, and one in an hour that it skips is not open that day.
 */
function waitForHours({ days, fromMinute, toMinute, zone }: TimeWindow, ms: number): number {
  const localMs = ms + offsetAt(ms, zone);
  const isOvernight = toMinute <= fromMinute;
  const lengthMs = (toMinute - fromMinute) * MINUTE_MS + (isOvernight ? DAY_MS : 0);
  const waits = days.map((day) => {
    // The epoch began on a Thursday, and a week is added because its first days lie before.
    const startMs = (day - 4) * DAY_MS + fromMinute * MINUTE_MS;
    const sinceMs = (localMs - startMs + WEEK_MS) % WEEK_MS;
    return sinceMs < lengthMs ? 0 : WEEK_MS - sinceMs;
  });
  return Math.min(...waits);
}

function freezeAt({ freezes }: Calendar, ms: number): Freeze | undefined {
  const holding = freezes.filter(({ fromMs, toMs }) => fromMs <= ms && ms < toMs);
  // Names the freeze that ends last, because it decides when changes may go again.
  return holding.sort((a, b) => b.toMs - a.toMs)[0];
}
