import { changedKeys } from '../kinds/changed-keys.js';
import type { Desired } from '../model/desired.js';
import type { State } from '../model/state.js';
import { isFlagAtBase, isSegmentAtBase } from '../plan/at-base.js';
import type { PlanPolicy } from '../plan/policy.js';

/** What a comparison of all objects with their bases found, and what it was made from. */
export interface ComparedBases {
  readonly desired: Desired;
  readonly state: State;
  /** The environments, as text. */
  readonly places: string;
  /** `KIND/NAME` of what the specs say otherwise than its base. */
  readonly away: ReadonlySet<string>;
}

interface Known {
  readonly desired: Desired;
  readonly state: State;
  readonly policy: PlanPolicy;
}

/**
 * What the specs say otherwise than what was last found equal.
 *
 * @param before an earlier comparison: objects of which spec, base and place in the kill lists are the same as then need
 *   not be compared again.
 */
export function comparedWithBases(known: Known, before: ComparedBases | null): ComparedBases {
  const { desired, state, policy } = known;
  const places = JSON.stringify(
    policy.environments.map(({ id, configName, selected }) => [id, configName, selected]),
  );
  const last =
    before?.places === places && before.desired.config === desired.config ? before : null;
  const away = new Set(last?.away);
  for (const key of last ? changedSince(last, known) : allKeys(desired)) {
    if (isAway(key, known)) away.add(key);
    else away.delete(key);
  }
  return { desired, state, places, away };
}

/** `KIND/NAME` of the flags and segments that one has otherwise than the other, or not at all. */
export function changedObjects(before: Desired, now: Desired): string[] {
  return [
    ...changedKeys(before.flags, now.flags).map((name) => `flag/${name}`),
    ...changedKeys(before.segments, now.segments).map((name) => `segment/${name}`),
  ];
}

function changedSince(last: ComparedBases, { desired, state }: Known): Set<string> {
  return new Set([
    ...changedObjects(last.desired, desired),
    ...changedKeys(last.state, state),
    // Lists of kills are short: whoever stands in one is compared again.
    ...[...last.desired.kills, ...desired.kills].map(({ flag }) => `flag/${flag}`),
  ]);
}

function allKeys({ flags, segments }: Desired): string[] {
  return [
    ...[...flags.keys()].map((name) => `flag/${name}`),
    ...[...segments.keys()].map((name) => `segment/${name}`),
  ];
}

/** What the specs do not declare is not away from its base: it is gone. */
function isAway(key: string, { desired, state, policy }: Known): boolean {
  const known = { desired, policy };
  const entry = state.get(key);
  const slash = key.indexOf('/');
  const [kind, name] = [key.slice(0, slash), key.slice(slash + 1)];
  const flag = kind === 'flag' ? desired.flags.get(name) : undefined;
  if (flag) return !isFlagAtBase(flag, entry, known);
  const segment = kind === 'segment' ? desired.segments.get(name) : undefined;
  return segment !== undefined && !isSegmentAtBase(segment, entry, known);
}
