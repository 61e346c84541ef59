import type { Config } from '../model/desired.js';
import { formOf, type DesiredRamp, type Ladder, type RampAnchor } from '../model/flag/ramp.js';
import type { RampRecord } from '../model/state.js';
import { standingSetback } from './shares.js';
import { nextOpening, type Calendar } from './windows.js';

/** The time and share from which the steps of a ramp count. */
interface Anchor {
  /** Milliseconds since the epoch; null if unknown, so that only steps with a moment of their own become due. */
  readonly sinceMs: number | null;
  /** Steps up to this share are done. Default: none. */
  readonly from?: number;
}

/**
 * When each step of a ramp is due: at its own moment or after its wait since the previous step, whichever is later,
 * moved to when all calendars permit changes.
 *
 * @returns milliseconds since the epoch, never falling; null if no such moment was found, or the start is unknown.
 */
export function dueMoments(
  { steps }: Pick<DesiredRamp, 'steps'>,
  { sinceMs, from = 0 }: Anchor,
  calendars: readonly Calendar[],
): readonly (number | null)[] {
  let last = sinceMs;
  let isNever = false;
  return steps.map(({ percent, atMs, afterMs }) => {
    if (percent <= from || isNever) return isNever ? null : last;
    if (last === null && atMs === undefined) return null;
    const due = nextOpening(calendars, Math.max((last ?? 0) + afterMs, atMs ?? 0));
    if (due === null) isNever = true;
    else last = due;
    return due;
  });
}

export function calendarsOf(
  { within }: Pick<DesiredRamp, 'within'>,
  { windows = [] }: Pick<Config, 'windows'>,
  environment: Calendar,
): readonly [Calendar, Calendar] {
  return [environment, { windows: windows.filter(({ name }) => name === within), freezes: [] }];
}

/** Position of the last step that is due; -1 before the first. */
export function stepAt(dueMs: readonly (number | null)[], ms: number): number {
  return dueMs.findLastIndex((due) => due !== null && due <= ms);
}

/** Why no step of a ramp is ever due, as a clause for people. */
export function neverText({ within = '' }: Pick<DesiredRamp, 'within'>): string {
  return `its window "${within}" and those of its environment are never open at the same time`;
}

export interface RampFacts {
  readonly id: string;
  /** The state's record; undefined for a ramp that begins now. */
  readonly record: RampRecord | undefined;
  /** Why the ramp cannot be remembered, as a clause for people; null if it can. */
  readonly unkept: string | null;
  /** Git orders its flag killed. */
  readonly isKilled: boolean;
  readonly nowMs: number;
  readonly head: string | null;
}

/** What moves where nothing is remembered. */
const MOVING = 'so that only ramps with a `start`, and steps with `at`, move';

/** @param calendars of the environment, and of the ramp itself. */
export function ladderOf(
  ramp: DesiredRamp,
  facts: RampFacts,
  calendars: ReturnType<typeof calendarsOf>,
): Ladder {
  const { id, record, unkept, isKilled, nowMs } = facts;
  // The wait after a setback counts from the commit that answers it, as after a kill.
  const isStopped = isKilled || standingSetback(ramp, record) !== undefined;
  const [calendar, within] = calendars;
  const zone = [...within.windows, ...calendar.windows][0]?.zone ?? 'UTC';
  const anchorIf = (killed: boolean): RampAnchor => anchorOf(ramp, { ...facts, isKilled: killed });
  const anchors = unkept === null ? { alive: anchorIf(false), killed: anchorIf(true) } : null;
  const anchor = anchors && (isStopped ? anchors.killed : anchors.alive);
  const sinceMs = anchor === null ? (ramp.startMs ?? null) : Date.parse(anchor.since);
  const dueMs = dueMoments(ramp, { sinceMs, from: anchor?.from ?? 0 }, calendars);
  const isExplicit = sinceMs !== null || ramp.steps.some(({ atMs }) => atMs !== undefined);
  const waits = isExplicit && dueMs.at(-1) === null ? neverText(ramp) : null;
  const unknown = isExplicit || unkept === null ? null : `${unkept}, ${MOVING}`;
  const held = ramp.hold ? 'its spec says `hold: true`' : (unknown ?? waits);
  const step = stepAt(dueMs, nowMs);
  return { id, ramp, dueMs, step, held, zone, anchors, isKilled, ...(record && { record }) };
}

/**
 * The record of a ramp. It begins with the run that first sees it, or with its `start`. If its steps change, or a hold
 * or a kill ends, the next wait counts from now, and the reached share stays.
 */
function anchorOf(ramp: DesiredRamp, { record, isKilled, nowMs, head }: RampFacts): RampAnchor {
  const { hold, startMs, treatment } = ramp;
  const ladder = formOf(ramp);
  const isStopped = hold || isKilled;
  const own = { ladder, treatment, ...(isStopped && ({ stopped: true } as const)) };
  if (record === undefined) return { since: iso(startMs ?? nowMs), commit: head, from: 0, ...own };
  const { since, commit, from, reached } = record;
  const wasStopped = record.stopped === true;
  if (record.ladder === ladder && wasStopped === isStopped) return { since, commit, from, ...own };
  return { since: iso(Math.max(nowMs, startMs ?? 0)), commit: head, from: reached, ...own };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
