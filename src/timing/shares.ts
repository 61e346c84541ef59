import type { Actual } from '../model/actual.js';
import { present } from '../model/collections.js';
import type { TimedField } from '../model/desired.js';
import type { Definition, Matcher } from '../model/flag/flag.js';
import {
  withoutShares,
  bucketsOn,
  rampKey,
  shareOf,
  shareOnRamp,
  writtenRamp,
  type CheckStanding,
  type DesiredRamp,
  type Ladder,
} from '../model/flag/ramp.js';
import { canonicalDefinition, definitionFromWire } from '../model/flag/wire.js';
import { canonicalJson, sameJson, sha256 } from '../model/json.js';
import { flagEntry, type RampRecord, type RampSetback, type State } from '../model/state.js';

export interface Known {
  /** Of the workspace: records and bases go by ids. */
  readonly environments: readonly { readonly name: string; readonly id: string }[];
  readonly state: State;
  /** Null before the service is observed. */
  readonly actual: Actual | null;
}

export function idIn(known: Pick<Known, 'environments'>, environment: string): string | undefined {
  return known.environments.find(({ name }) => name === environment)?.id;
}

export interface Sides {
  /** Canonical; undefined if the service has none, or was not asked. */
  readonly live: Definition | undefined;
  /** Last found equal. */
  readonly base: Definition | undefined;
  /** As `base`; of a definition that was just created, the values of its creation. */
  readonly found: Definition | undefined;
  /** On the service. */
  readonly isKilled: boolean;
}

export function sidesOf(known: Known, name: string, environment: string): Sides {
  const wire = known.actual?.flags.get(name)?.definitions.get(environment);
  const entry = flagEntry(known.state, name)?.environments[idIn(known, environment) ?? ''];
  return {
    live: wire ? definitionFromWire(wire) : undefined,
    base: entry?.spec,
    found: entry?.created ?? entry?.spec,
    isKilled: wire?.killed === true,
  };
}

export function shareNow(ladder: Ladder, { live, base }: Sides): number {
  const { ramp, step, held, isKilled, setback } = ladder;
  const reached = reachedOn(ladder, base) ?? (live && shareOn(live, ramp));
  const written = shareOf(ramp.written, ramp.treatment);
  if (setback?.begun && setback.act === 'previous') return previousShare(ramp, reached ?? written);
  if (held !== null || isKilled) return reached ?? written;
  const due = ramp.steps[step]?.percent ?? written;
  return Math.max(due, Math.min(reached ?? 0, ramp.steps.at(-1)?.percent ?? 0));
}

/** A ladder whose share was not moved by hand and that no step leads back from: it stays until a person decides. */
export function keptBeyond(ladder: Ladder, { live, base }: Sides): Ladder {
  const { ramp, held } = ladder;
  const share = (live && shareOn(live, ramp)) ?? 0;
  const last = ramp.steps.at(-1)?.percent ?? 0;
  // One that no run remembers is first to be adopted.
  const isMoved = base === undefined || reachedOn(ladder, base) !== share;
  if (held !== null || isMoved || share <= last) return ladder;
  const because = `"${ramp.treatment}" is at ${share} % on the service, beyond the last step of ${last} %`;
  return { ...ladder, held: because, isBeyond: true };
}

/** The share before the step that is reached: that of the step before, or the written one. */
export function previousShare({ steps, written, treatment }: DesiredRamp, reached: number): number {
  const before = steps.findLast(({ percent }) => percent < reached);
  return before?.percent ?? shareOf(written, treatment);
}

/** The share of a ramp that was last found equal; undefined if the state has none. */
export function reachedOn({ ramp, record, heirOf }: Ladder, base: Definition | undefined) {
  if (record !== undefined) return record.reached;
  if (base === undefined) return undefined;
  return shareOn(base, ramp) ?? (heirOf === undefined ? undefined : shareLeft(base, ramp, heirOf));
}

/** The share of a ramp's treatment in a definition, on the ramp's way or not; undefined if it lacks the rule. */
export function shareOn(side: Definition, ramp: DesiredRamp): number | undefined {
  const buckets = bucketsOn(side, ramp);
  return buckets && shareOf(buckets, ramp.treatment);
}

/**
 * The share of an unnamed rule that left the specs when a rule with an equal ramp and the same subject came: its
 * condition was edited. A rule with another subject is a new rule and inherits nothing.
 */
function shareLeft(base: Definition, ramp: DesiredRamp, key: string): number | undefined {
  const asked = new Set(ramp.matchers.map(subjectOf));
  const left = base.rules?.find((each) => rampKey(undefined, each.matchers) === key);
  const isSame = left?.matchers.some((each) => asked.has(subjectOf(each))) ?? false;
  return left && isSame ? shareOf(left.buckets, ramp.treatment) : undefined;
}

/** The attribute that a matcher compares; of a matcher without one, all of it. */
function subjectOf({ attribute, ...rest }: Matcher): string {
  return typeof attribute === 'string' ? attribute : canonicalJson(rest);
}

/** The share of a rule that stands somewhere on the way of a ramp; undefined if it does not. */
export function shareIn(side: Definition | undefined, ramp: DesiredRamp): number | undefined {
  const buckets = side && bucketsOn(side, ramp);
  return buckets && shareOnRamp(ramp, buckets);
}

/**
 * @param fields of the specs, with plain shares.
 * @param ordered the same as if no check had taken a ramp back, and no share stayed beyond its last step.
 */
export function timedFields(
  ladders: readonly Ladder[],
  fields: Definition,
  ordered: Definition,
  sides: Sides,
): ReadonlyMap<string, TimedField> {
  const timed = new Map<string, TimedField>();
  const kill = ladders.find(({ setback }) => setback?.act === 'kill')?.setback;
  if (kill) timed.set('/killed', { ...(kill.begun && { reason: 'ramp' }) });
  for (const member of ['rules', 'defaultRule'] as const) {
    const all = ladders.filter(({ ramp }) => (ramp.rule === null) === (member === 'defaultRule'));
    const own = all.map(({ ramp }) => ramp);
    if (own.length === 0 || sides.live === undefined) continue;
    const [because] = all.flatMap((each) => holdOf(each, fields, sides) ?? []);
    const held = because === undefined ? undefined : ({ why: 'ramp-held', because } as const);
    const back = all.find(({ setback, isBeyond }) => setback ?? isBeyond);
    const why = back?.setback ? ('check-failed' as const) : ('ramp-held' as const);
    const isAlone = isAlongIn(own, member, sides.found, fields);
    const was = isAlone ? canonicalDefinition(sides.found ?? {})[member] : undefined;
    const reason = was && (sameJson(was, sides.live[member]) ? 'ramp' : 'drift');
    const waits = back?.held ? { for: ordered[member], why, because: back.held } : undefined;
    timed.set(`/${member}`, present({ reason, held, waits }));
  }
  return timed;
}

/**
 * Whether specs and base differ in nothing but the shares of ramps on their way. Such a difference is no commit, so it
 * never causes a conflict.
 */
function isAlongIn(
  ramps: readonly DesiredRamp[],
  member: 'rules' | 'defaultRule',
  base: Definition | undefined,
  fields: Definition,
): boolean {
  const [was, is] = [base, fields].map((side) => canonicalDefinition(side ?? {})[member]);
  if (was === undefined || is === undefined) return false;
  const path = `/${member}`;
  return sameJson(withoutShares(path, was, ramps), withoutShares(path, is, ramps));
}

/** Why a share must not be written: the live one was moved back, or beyond the step. Undefined otherwise. */
function holdOf(ladder: Ladder, fields: Definition, sides: Sides): string | undefined {
  const { ramp, setback } = ladder;
  const { live, found } = sides;
  const [now, known, wanted] = [live, found, fields].map((side) => shareIn(side, ramp));
  if (now === undefined || wanted === undefined) return undefined;
  const isTakenBack = setback?.begun === true && now === known;
  if (now > wanted && !isTakenBack)
    return `"${ramp.treatment}" is at ${now} % on the service, beyond the step of ${wanted} %`;
  if (known === undefined || now >= known) return undefined;
  return `"${ramp.treatment}" went back from ${known} to ${now} % on the service`;
}

/**
 * What a failed check does to a ramp: first what an earlier run did, until a commit changes the ramp. A ramp that no run
 * remembers, or that has reached nothing yet, is only held, and so is one whose check gave no value.
 *
 * @param sides null before the service is observed: then only what an earlier run saw done is known.
 */
export function setbackOf(
  ladder: Ladder,
  sides: Sides | null,
  nowMs: number,
): RampSetback | undefined {
  const { ramp, record, anchors, checks = [], isKilled } = ladder;
  const standing = standingSetback(ramp, record);
  if (standing || record === undefined || sides === null) return standing;
  const begun = begunSetback(ramp, record, sides);
  const failed = checks.filter(({ isMeasured }) => isMeasured);
  if (begun || ramp.onFail === undefined || failed.length === 0) return begun;
  if (anchors === null || isKilled || !hasGrown(ramp, record)) return undefined;
  const at = new Date(nowMs).toISOString();
  return { act: ramp.onFail, at, why: failureText(failed), ramp: writtenForm(ramp), begun: true };
}

export function failureText(failed: readonly CheckStanding[]): string {
  return failed.map(({ name, why }) => `check "${name}" failed: ${why ?? ''}`).join('; ');
}

/** Whether there is something to take back. */
export function hasGrown({ written, treatment }: DesiredRamp, { reached }: RampRecord): boolean {
  return reached > shareOf(written, treatment);
}

/** The setback that a run saw done, if no commit has changed the ramp since. */
export function standingSetback(
  ramp: DesiredRamp,
  record: RampRecord | undefined,
): RampSetback | undefined {
  const { setback } = record ?? {};
  return setback?.begun !== true && setback?.ramp === writtenForm(ramp) ? setback : undefined;
}

/** The setback of a run that was cut off, if the service shows it. */
function begunSetback(
  ramp: DesiredRamp,
  { setback, reached }: RampRecord,
  { live, isKilled }: Sides,
): RampSetback | undefined {
  if (setback?.begun !== true || setback.ramp !== writtenForm(ramp)) return undefined;
  const isBack = live !== undefined && shareOn(live, ramp) === previousShare(ramp, reached);
  return (setback.act === 'kill' ? isKilled : isBack) ? setback : undefined;
}

function writtenForm(ramp: DesiredRamp): string {
  return sha256(canonicalJson(writtenRamp(ramp))).slice(0, 16);
}

/** A ladder that takes no step until a commit changes its ramp. */
export function setBack(ladder: Ladder, setback: RampSetback): Ladder {
  const { againMs: _, ...rest } = ladder;
  const { act, at, why, begun } = setback;
  const [is, goes] = begun ? ['is', 'goes'] : ['was', 'went'];
  const effect =
    act === 'kill' ? `the flag ${is} killed` : `"${ladder.ramp.treatment}" ${goes} back`;
  const held = `${why} (${at}), so ${effect}; the ramp goes on when a commit changes it`;
  return { ...rest, setback, held };
}
