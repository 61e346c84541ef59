import { changedKeys } from '../../model/collections.js';
import type { BoundDesired } from '../../model/bound-desired.js';
import type { State } from '../../model/state.js';
import { keyOf, parseKey, type ObjectKey } from '../../model/ref.js';
import { isAtBase } from './compare.js';
import { observedKind, OBSERVED_KINDS } from '../objects/kinds.js';
import type { PlanPolicy } from '../policy.js';

/** What a comparison of all objects with their bases found, and what it was made from. */
export interface ComparedBases {
  readonly desired: BoundDesired;
  readonly state: State;
  /** The environments, as text. */
  readonly places: string;
  /** `KIND/NAME` of what the specs say otherwise than its base. */
  readonly away: ReadonlySet<string>;
}

interface BasesInput {
  readonly desired: BoundDesired;
  readonly state: State;
  readonly policy: PlanPolicy;
}

/**
 * What the specs say otherwise than what was last found equal.
 *
 * @param before an earlier comparison: objects of which spec, base and place in the kill lists are the same as then need
 *   not be compared again.
 */
export function comparedWithBases(known: BasesInput, before: ComparedBases | null): ComparedBases {
  const { desired, state, policy } = known;
  const places = JSON.stringify(
    policy.environments.map(({ id, name, selected }) => [id, name, selected]),
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

/** `KIND/NAME` of the objects that one has otherwise than the other, or not at all; of kinds that can be looked at. */
export function changedObjects(before: BoundDesired, now: BoundDesired): ObjectKey[] {
  return OBSERVED_KINDS.flatMap(([kind, { declared }]) =>
    changedKeys(declared(before), declared(now)).map((name) => keyOf(kind, name)),
  );
}

function changedSince(last: ComparedBases, { desired, state }: BasesInput): Set<ObjectKey> {
  return new Set([
    ...changedObjects(last.desired, desired),
    ...changedKeys(last.state, state),
    // Lists of kills are short: whoever stands in one is compared again.
    ...[...last.desired.kills, ...desired.kills].map(({ flag }) => keyOf('flag', flag)),
  ]);
}

/** `KIND/NAME` of all that the specs declare; of kinds that can be looked at. */
export function allKeys(desired: BoundDesired): ObjectKey[] {
  return OBSERVED_KINDS.flatMap(([kind, { declared }]) =>
    [...declared(desired).keys()].map((name) => keyOf(kind, name)),
  );
}

/** What the specs do not declare is not away from its base: it is gone. What cannot be looked at is in every run. */
function isAway(key: ObjectKey, known: BasesInput): boolean {
  const ref = parseKey(key);
  if (!ref) return false;
  const declared = observedKind(ref.kind)?.declared(known.desired);
  return declared?.has(ref.name) === true && !isAtBase(ref.kind, ref.name, known);
}
