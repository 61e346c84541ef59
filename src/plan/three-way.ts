import { byCodeUnits, sameJson, type Json } from '../model/json.js';
import { keyDifference, keyList } from '../model/segment-keys.js';
import type { FieldChange, Reason } from '../model/plan.js';
import { isTargetPath, satisfies, type Fields } from './fields.js';

export interface ThreeStates {
  /** The spec last found equal; unset before the first time. */
  readonly base?: Fields | undefined;
  readonly desired: Fields;
  readonly actual: Fields;
  /** The reason for a difference without a base, see `withoutBase` of the plan's input. */
  readonly withoutBase: 'adopt' | 'unknown' | 'commit';
}

/**
 * The managed fields in which the service differs from the specs, each with the reason:
 *
 *     git changed   live changed   reason
 *     yes           no             commit
 *     no            yes            drift
 *     yes           yes            conflict
 *     no base at all               adopt, unknown
 *
 * A field missing in the base is newly managed, so git changed it. In the order of `desired`.
 */
export function threeWay(states: ThreeStates): FieldChange[] {
  return [...states.desired]
    .filter(([path, wanted]) => !satisfies(path, states.actual.get(path), wanted))
    .map(([path, wanted]) => fieldChange(path, states, wanted));
}

function fieldChange(path: string, states: ThreeStates, wanted: Json): FieldChange {
  const before = states.actual.get(path);
  const base = states.base?.get(path);
  const reason = reasonOf(path, states, wanted);
  if (isTargetPath(path)) {
    const after = wanted as readonly string[];
    return {
      path,
      reason,
      keys: {
        ...keyDifference(after, (before ?? []) as readonly string[]),
        sha256: keyList(after).digest.sha256,
      },
    };
  }
  return {
    path,
    reason,
    ...(base !== undefined && { base }),
    ...(before !== undefined && { before }),
    after: wanted,
  };
}

function reasonOf(path: string, states: ThreeStates, wanted: Json): Reason {
  if (states.base === undefined) return states.withoutBase;
  const base = states.base.get(path);
  if (base === undefined) return 'commit';
  const gitChanged = !sameJson(base, wanted);
  const liveChanged = !satisfies(path, states.actual.get(path), base);
  if (gitChanged && liveChanged) return 'conflict';
  return gitChanged ? 'commit' : 'drift';
}

/** Every field of a created object, as additions. */
export function createdFields(desired: Fields, reason: Reason): FieldChange[] {
  return [...desired]
    .filter(([path, wanted]) => !isTargetPath(path) || (wanted as readonly string[]).length > 0)
    .map(([path, wanted]) =>
      isTargetPath(path)
        ? { path, reason, keys: addedKeys(wanted as readonly string[]) }
        : { path, reason, after: wanted },
    );
}

function addedKeys(keys: readonly string[]): FieldChange['keys'] & object {
  const list = keyList(keys);
  return { added: list.keys, removed: [], sha256: list.digest.sha256 };
}

/** Sorted copy, by path. */
export function byPath(changes: readonly FieldChange[]): FieldChange[] {
  return [...changes].sort((a, b) => byCodeUnits(a.path, b.path));
}
