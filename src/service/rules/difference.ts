import { isSameJson } from './json.js';

/** One member that a change touched. `before` is absent if the member is new, `after` if it was removed. */
export interface MemberChange {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * A change of a list of keys: how many were added and removed, and the first of them. A row of the audit log would
 * otherwise hold ten thousand keys.
 */
export interface KeysChange {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly sample: readonly string[];
}

const SAMPLE_SIZE = 20;

/**
 * Compares the top-level members of two objects, and gives those that differ, in code-unit order of their names.
 * A treatment may target thousands of keys, so these are compared treatment by treatment and summed up like lists of
 * keys.
 */
export function differenceOf(
  before: object | null,
  after: object | null,
): (MemberChange | KeysChange)[] {
  const had = membersOf(before);
  const has = membersOf(after);
  const names = [...new Set([...had.keys(), ...has.keys()])];
  const changed = names.filter((name) => !isSameJson(had.get(name), has.get(name)));
  return [
    ...changed.sort().map((name) => ({
      path: `/${name}`,
      ...(had.has(name) ? { before: had.get(name) } : {}),
      ...(has.has(name) ? { after: has.get(name) } : {}),
    })),
    ...targetsDifference(targetsOf(before), targetsOf(after)),
  ];
}

function membersOf(holder: object | null): ReadonlyMap<string, unknown> {
  const treatments = treatmentsOf(holder)?.map(({ keys: _, ...rest }) => rest);
  return new Map(Object.entries({ ...holder, ...(treatments && { treatments }) }));
}

/** @param path of the list in the object that was changed. */
export function keysDifference(
  added: readonly string[],
  removed: readonly string[],
  path = '/keys',
): KeysChange {
  return {
    path,
    added: added.length,
    removed: removed.length,
    sample: [...added, ...removed].slice(0, SAMPLE_SIZE),
  };
}

interface Treatment {
  readonly name: string;
  readonly keys?: readonly string[];
}

/** Definitions alone have treatments. */
function treatmentsOf(holder: object | null): readonly Treatment[] | undefined {
  return (holder as { readonly treatments?: readonly Treatment[] } | null)?.treatments;
}

/** Treatment → keys. */
type Targets = ReadonlyMap<string, ReadonlySet<string>>;

function targetsOf(holder: object | null): Targets {
  return new Map(treatmentsOf(holder)?.map(({ name, keys = [] }) => [name, new Set(keys)]));
}

/** One entry for each treatment whose keys differ, in the order of names. */
function targetsDifference(before: Targets, after: Targets): KeysChange[] {
  const none: ReadonlySet<string> = new Set();
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) => {
    const had = before.get(name) ?? none;
    const has = after.get(name) ?? none;
    const added = [...has].filter((key) => !had.has(key));
    const removed = [...had].filter((key) => !has.has(key));
    if (added.length === 0 && removed.length === 0) return [];
    return [keysDifference(added, removed, `/targets/${name}`)];
  });
}
