import { shareOf, writtenRamp, type DesiredRamp, type Ladder } from '../model/flag/ramp.js';
import { canonicalJson, sha256 } from '../model/json.js';
import type { RampRecord, RampSetback } from '../model/state.js';
import { previousShare, shareOn, type Sides } from './shares.js';

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
  const why = failed.map((each) => `check "${each.name}" failed: ${each.why ?? ''}`).join('; ');
  const at = new Date(nowMs).toISOString();
  return { act: ramp.onFail, at, why, ramp: writtenForm(ramp), begun: true };
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
  const { act, at, why } = setback;
  const effect = act === 'kill' ? 'the flag is killed' : `"${ladder.ramp.treatment}" goes back`;
  const held = `${why} (${at}), so ${effect}, until a commit changes the ramp`;
  return { ...rest, setback, held };
}
