import { changedKeys } from '../../model/collections.js';
import type { BoundDesired } from '../../model/bound-desired.js';
import type { State } from '../../model/state.js';
import { keyOf, parseKey, type ObjectKey } from '../../model/ref.js';
import { isAtBase } from './compare.js';
import { observedKind, OBSERVED_KINDS } from '../objects/kinds.js';
import type { PlanInput } from '../input.js';

export interface ComparedBases {
  readonly desired: BoundDesired;
  readonly state: State;
  /** The environments, as text for comparison. */
  readonly places: string;
  /** `KIND/NAME` of objects whose specs differ from their base. */
  readonly away: ReadonlySet<string>;
}

type BasesInput = Pick<PlanInput, 'desired' | 'state' | 'policy'>;

/** @param before an earlier comparison: only what changed since is compared again. */
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

/** `KIND/NAME` of the objects that differ between two specs, or that only one has; only of observable kinds. */
export function changedObjects(before: BoundDesired, now: BoundDesired): ObjectKey[] {
  return OBSERVED_KINDS.flatMap(([kind, { declared }]) =>
    changedKeys(declared(before), declared(now)).map((name) => keyOf(kind, name)),
  );
}

function changedSince(last: ComparedBases, { desired, state }: BasesInput): Set<ObjectKey> {
  return new Set([
    ...changedObjects(last.desired, desired),
    ...changedKeys(last.state, state),
    // Lists of kills are short, so every flag in one is compared again.
    ...[...last.desired.kills, ...desired.kills].map(({ flag }) => keyOf('flag', flag)),
  ]);
}

export function allKeys(desired: BoundDesired): ObjectKey[] {
  return OBSERVED_KINDS.flatMap(([kind, { declared }]) =>
    [...declared(desired).keys()].map((name) => keyOf(kind, name)),
  );
}

/** False for an undeclared object, which is gone. Kinds that are not observable are part of every run. */
function isAway(key: ObjectKey, known: BasesInput): boolean {
  const ref = parseKey(key);
  if (!ref) return false;
  const declared = observedKind(ref.kind)?.declared(known.desired);
  return declared?.has(ref.name) === true && !isAtBase(ref.kind, ref.name, known);
}
