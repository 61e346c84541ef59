import type { BoundDesired } from '../model/bound-desired.js';
import type { Desired, Freeze, TimeWindow } from '../model/desired.js';
import type { Closed } from '../model/run.js';
import {
  dateAfter,
  momentsAt,
  momentText,
  nextTransition,
  wallClock,
} from '../platform/zoned-time.js';

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
  const freeze = freezeAt(calendar, ms);
  if (!freeze && isWindowOpen(windows, ms)) return undefined;
  const untilMs = nextOpening(calendar, ms);
  if (freeze) {
    const { name, reason, zone } = freeze;
    const why = `frozen by "${name}"${reason === undefined ? '' : ` (${reason})`}`;
    return { why, untilMs, zone };
  }
  const names = windows.map(({ name }) => `"${name}"`).join(' and ');
  const why = `outside ${windows.length === 1 ? 'the window' : 'the windows'} ${names}`;
  const opening = untilMs === null ? [] : windows.filter((each) => isOpen(each, untilMs));
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

const MAX_LOOKS = 1_000;

/** The first moment from `ms` on at which changes may go; null if none was found. */
export function nextOpening(calendar: Calendar, ms: number): number | null {
  let at = ms;
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const freeze = freezeAt(calendar, at);
    if (!freeze && isWindowOpen(calendar.windows, at)) return at;
    const next = freeze ? freeze.toMs : earliest(calendar.windows, at);
    if (next === null) return null;
    at = next;
  }
  return null;
}

function freezeAt({ freezes }: Calendar, ms: number): Freeze | undefined {
  const holding = freezes.filter(({ fromMs, toMs }) => fromMs <= ms && ms < toMs);
  // Names the freeze that ends last, because it decides when changes may go again.
  return holding.sort((a, b) => b.toMs - a.toMs)[0];
}

function isWindowOpen(windows: readonly TimeWindow[], ms: number): boolean {
  return windows.length === 0 || windows.some((each) => isOpen(each, ms));
}

/**
 * Whether the local time is in the window. So a window in an hour that daylight saving repeats is open twice, and one
 * in an hour that it skips is not open that day.
 */
function isOpen({ days, fromMinute, toMinute, zone }: TimeWindow, ms: number): boolean {
  const { weekday, minute } = wallClock(ms, zone);
  const isToday = days.includes(weekday);
  if (fromMinute < toMinute) return isToday && fromMinute <= minute && minute < toMinute;
  const isSinceYesterday = days.includes(weekday === 1 ? 7 : weekday - 1) && minute < toMinute;
  return (isToday && fromMinute <= minute) || isSinceYesterday;
}

function earliest(windows: readonly TimeWindow[], afterMs: number): number | null {
  const found = windows.flatMap((each) => windowOpening(each, afterMs) ?? []);
  return found.length === 0 ? null : Math.min(...found);
}

/** A window opens at least once a week, and daylight saving may skip one opening: two weeks and a day suffice. */
const DAYS_AHEAD = 15;
const DAY_MS = 86_400_000;

/** The first moment after another at which a window opens. Only its own hour or a change of the clock can open it. */
function windowOpening(window: TimeWindow, afterMs: number): number | null {
  const { zone, fromMinute } = window;
  const { date } = wallClock(afterMs, zone);
  const opens = (ms: number): boolean => ms > afterMs && isOpen(window, ms);
  let hour: number | undefined;
  for (let day = 0; day < DAYS_AHEAD && hour === undefined; day += 1) {
    hour = momentsAt(dateAfter(date, day), fromMinute, zone).find(opens);
  }
  const last = hour ?? afterMs + DAYS_AHEAD * DAY_MS;
  for (let at = nextTransition(afterMs, zone); at !== null && at < last;) {
    if (opens(at)) return at;
    at = nextTransition(at, zone);
  }
  return hour ?? null;
}
