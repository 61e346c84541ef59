import type { Config } from '../model/desired.js';
import type { DesiredRamp, Ladder, RampAnchor } from '../model/flag/ramp.js';
import { canonicalJson, sha256 } from '../model/json.js';
import type { RampRecord } from '../model/state.js';
import { nextOpening, type Calendar } from './windows.js';

/** From when on, and from which share on, the steps of a ramp are counted. */
interface Anchor {
  /** Milliseconds since the epoch; null: unknown, so that only steps with a moment of their own are ever due. */
  readonly sinceMs: number | null;
  /** Steps up to this share are done. */
  readonly from: number;
}

/**
 * When each step of a ramp is due: the later of its own moment and the end of its wait after the step before it, moved to when
 * every calendar lets changes go. Pure: equal specs and start give equal moments.
 *
 * @param calendars all have to be open.
 * @returns milliseconds since the epoch, never falling; null: at no moment that could be found, or known.
 */
export function dueMoments(
  { steps }: Pick<DesiredRamp, 'steps'>,
  start: number | Anchor,
  calendars: readonly Calendar[],
): readonly (number | null)[] {
  const { sinceMs, from } = typeof start === 'number' ? { sinceMs: start, from: 0 } : start;
  let last = sinceMs;
  let isNever = false;
  return steps.map(({ percent, atMs, afterMs }) => {
    if (percent <= from || isNever) return isNever ? null : last;
    if (last === null && atMs === undefined) return null;
    const due = openIn(calendars, Math.max((last ?? 0) + afterMs, atMs ?? 0));
    if (due === null) isNever = true;
    else last = due;
    return due;
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

/** What decides where a ramp stands, besides its specs. */
export interface RampFacts {
  /** What the state has of it; undefined: nothing, and it begins now. */
  readonly record: RampRecord | undefined;
  /** Why nothing of it can be remembered, a clause for people; null: it can. */
  readonly unkept: string | null;
  /** Git orders its flag killed. */
  readonly isKilled: boolean;
  readonly nowMs: number;
  /** That the run reads. */
  readonly head: string | null;
}

/** Where a ramp stands. Pure. @param calendars of the environment, and of the ramp itself. */
export function ladderOf(
  ramp: DesiredRamp,
  facts: RampFacts,
  calendars: ReturnType<typeof calendarsOf>,
): Ladder {
  const { record, unkept, isKilled, nowMs } = facts;
  const [calendar, within] = calendars;
  const zone = [...within.windows, ...calendar.windows][0]?.zone ?? 'UTC';
  const anchors = unkept === null ? anchorsOf(ramp, facts) : null;
  const anchor = anchors && (isKilled ? anchors.killed : anchors.alive);
  const sinceMs = anchor === null ? (ramp.startMs ?? null) : Date.parse(anchor.since);
  const dueMs = dueMoments(ramp, { sinceMs, from: anchor?.from ?? 0 }, calendars);
  const isExplicit = sinceMs !== null || ramp.steps.some(({ atMs }) => atMs !== undefined);
  const held = ramp.hold ? 'its spec says `hold: true`' : isExplicit ? null : unkept;
  const step = stepAt(dueMs, nowMs);
  return { ramp, dueMs, step, held, zone, anchors, isKilled, ...(record && { record }) };
}

/**
 * What is to be remembered of a ramp. It begins with the run that first sees it, or with its `start`; other steps, and the end of a
 * hold or of a kill, make the next wait count from now, and what is reached stays.
 */
function anchorsOf(ramp: DesiredRamp, facts: RampFacts): Ladder['anchors'] {
  return {
    alive: anchorOf(ramp, { ...facts, isKilled: false }),
    killed: anchorOf(ramp, { ...facts, isKilled: true }),
  };
}

function anchorOf(ramp: DesiredRamp, { record, isKilled, nowMs, head }: RampFacts): RampAnchor {
  const { hold, treatment, startMs, steps } = ramp;
  const ladder = formOf({ treatment, steps, startMs });
  const isStopped = hold || isKilled;
  const stopped = isStopped && ({ stopped: true } as const);
  if (record === undefined) {
    return { since: iso(startMs ?? nowMs), commit: head, from: 0, ladder, ...stopped };
  }
  const { since, commit, from, reached } = record;
  const wasStopped = record.stopped === true;
  if (record.ladder === ladder && wasStopped === isStopped) {
    return { since, commit, from, ladder, ...stopped };
  }
  return {
    since: iso(Math.max(nowMs, startMs ?? 0)),
    ...{ commit: head, from: reached, ladder },
    ...stopped,
  };
}

/** Equal for ramps that take the same steps. */
export function formOf({
  treatment,
  steps,
  startMs,
}: Pick<DesiredRamp, 'treatment' | 'steps'> & { readonly startMs?: number | undefined }): string {
  return sha256(canonicalJson({ treatment, steps, startMs: startMs ?? null })).slice(0, 16);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
