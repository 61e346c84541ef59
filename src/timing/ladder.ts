import type { Config } from '../model/desired.js';
import type { DesiredRamp } from '../model/flag/ramp.js';
import { nextOpening, type Calendar } from './windows.js';

/**
 * When each step of a ramp is due: the later of its own moment and the end of its wait after the step before it, moved to when
 * every calendar lets changes go. Pure: equal specs and start give equal moments.
 *
 * @param calendars all have to be open.
 * @returns milliseconds since the epoch, never falling; null: at no moment that could be found, likewise all after it.
 */
export function dueMoments(
  { steps }: Pick<DesiredRamp, 'steps'>,
  startMs: number,
  calendars: readonly Calendar[],
): readonly (number | null)[] {
  let last: number | null = startMs;
  return steps.map(({ atMs, afterMs }) => {
    if (last !== null) last = openIn(calendars, Math.max(last + afterMs, atMs ?? 0));
    return last;
  });
}

/** Enough for windows that seldom meet. */
const MAX_ROUNDS = 1_000;

/** The first moment from `ms` on at which all calendars are open; null: none was found. */
function openIn(calendars: readonly Calendar[], ms: number): number | null {
  let at = ms;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    let next: number | null = at;
    for (const calendar of calendars) next = next === null ? null : nextOpening(calendar, next);
    if (next === null || next === at) return next;
    at = next;
  }
  return null;
}

/** All that have to be open for a step: of the environment, and the window of the ramp itself. */
export function calendarsOf(
  { within }: Pick<DesiredRamp, 'within'>,
  { windows = [] }: Pick<Config, 'windows'>,
  environment: Calendar,
): readonly [Calendar, Calendar] {
  return [environment, { windows: windows.filter(({ name }) => name === within), freezes: [] }];
}

/** Position of the last step that is due; -1: none is. */
export function stepAt(dueMs: readonly (number | null)[], ms: number): number {
  return dueMs.findLastIndex((due) => due !== null && due <= ms);
}
