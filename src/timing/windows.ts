import type { Config, Freeze, TimeWindow } from '../model/desired.js';
import {
  dateAfter,
  momentsAt,
  momentText,
  nextTransition,
  wallClock,
} from '../platform/zoned-time.js';

/** When something may be changed in one environment. */
export interface Calendar {
  /** Changes may go while one of them is open; empty: at any time. */
  readonly windows: readonly TimeWindow[];
  /** Nothing may go while one of them holds, whatever window is open. */
  readonly freezes: readonly Freeze[];
}

/**
 * When an environment of a config may be changed.
 *
 * @param name as `config.environments` has it.
 * @param written as the config file has it, by which its freezes go.
 */
export function calendarIn(config: Config, name: string, written = name): Calendar {
  const used = config.environments.find((each) => each.name === name)?.windows ?? [];
  return {
    windows: (config.windows ?? []).filter((each) => used.includes(each.name)),
    freezes: (config.freezes ?? []).filter((each) => each.environments?.includes(written) ?? true),
  };
}

/** Why nothing may be changed at a moment, and for how long. */
export interface Closing {
  /** Clause for people: `frozen by "black-friday" (the shop is full)`. */
  readonly why: string;
  /** When it ends, in milliseconds since the epoch; null: at no moment that could be found. */
  readonly untilMs: number | null;
  /** The zone in which people want to read that. */
  readonly zone: string;
}

/** @returns undefined: changes may go. */
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

/** When it ends, as people read it; null where that is at no moment that could be found. */
export function openingText({ untilMs, zone }: Closing): string | null {
  return untilMs === null ? null : `${momentText(untilMs, zone)} (${zone})`;
}

/** Enough for every freeze of a config and each window between them. */
const MAX_LOOKS = 1_000;

/**
 * The first moment from `ms` on at which changes may go.
 *
 * @returns null: none was found.
 */
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
  // The one that lasts longest says most of why.
  return holding.sort((a, b) => b.toMs - a.toMs)[0];
}

function isWindowOpen(windows: readonly TimeWindow[], ms: number): boolean {
  return windows.length === 0 || windows.some((each) => isOpen(each, ms));
}

/**
 * Whether the clock on the wall shows a time in the window. So a window in an hour that the clock shows twice is open twice,
 * and one in an hour that is left out is not open that day.
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

/** A window is open on one day of the week at least, and a change of the clock may leave one of them out. */
const DAYS_AHEAD = 15;
const DAY_MS = 86_400_000;

/** The first moment after another at which a window opens. Only its hour and a change of the clock can open it. */
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
