import { keptIn, sortedMap } from '../../model/collections.js';
import type { FlagSides, ListSides } from './environment-sides.js';
import type { ListId, ServedDefinition } from './served-definition.js';
import { servedAt, type Serving, placeOf, type Place } from './serving.js';

export type Membership = 'kept' | 'added' | 'removed';

/** Keys that no known fact tells apart: they are in the same lists and are the same targets. */
export interface KeyGroup {
  /** Lists that hold the keys, in code-unit order; the keys are in no other known list. */
  readonly lists: ReadonlyMap<ListId, Membership>;
  /** Flag → the treatments that the keys get there as individual targets. */
  readonly targets: ReadonlyMap<string, TargetSides>;
  /** Number of keys; infinite for the traffic in no list. */
  readonly count: number;
  /** The keys that are known by name: individual targets, and keys of `places`. */
  readonly names: readonly string[];
  /** Flag → a place that stands for those of all the keys, where hashing is known. */
  readonly places?: ReadonlyMap<string, Place>;
  /** The keys, in no order; unset for the traffic. */
  readonly keys?: () => readonly string[];
  /** Answers that are known of all the keys, by the id of the question; lists with known keys need none. */
  readonly answers?: ReadonlyMap<string, boolean>;
}

export interface TargetSides {
  readonly before?: Serving | undefined;
  readonly after?: Serving | undefined;
}

export const TRAFFIC: KeyGroup = {
  lists: new Map(),
  targets: new Map(),
  count: Infinity,
  names: [],
};

/** Every listed key of an environment by the combination of lists that holds it: one step per key and list. */
export interface KeyIndex {
  readonly combinationOf: ReadonlyMap<string, Combination>;
  readonly combinations: readonly Combination[];
  readonly lists: ReadonlyMap<ListId, ListSides>;
}

interface Combination {
  readonly lists: ReadonlyMap<ListId, Membership>;
  count: number;
}

/** @param asked leaves out all other lists. */
export function keyIndex(
  all: ReadonlyMap<ListId, ListSides>,
  asked: ReadonlySet<ListId>,
): KeyIndex {
  const lists = sortedMap([...all].filter(([list]) => asked.has(list)));
  const combinationOf = new Map<string, Combination>();
  const combinations: Combination[] = [];
  const none: Combination = { lists: new Map(), count: 0 };
  for (const [list, { before, added, removed }] of lists) {
    // Keys that were alike so far, and are alike in this list, stay together.
    const next = new Map<Combination, Map<Membership, Combination>>();
    const move = (key: string, standing: Membership): void => {
      const last = combinationOf.get(key) ?? none;
      const steps = keptIn(next, last, () => new Map<Membership, Combination>());
      const combination = keptIn(steps, standing, () => {
        const made = { lists: new Map([...last.lists, [list, standing]]), count: 0 };
        combinations.push(made);
        return made;
      });
      last.count -= 1;
      combination.count += 1;
      combinationOf.set(key, combination);
    };
    const gone = new Set(removed);
    for (const key of before) move(key, gone.has(key) ? 'removed' : 'kept');
    for (const key of added) move(key, 'added');
  }
  return { combinationOf, combinations: combinations.filter(({ count }) => count > 0), lists };
}

export interface Audience {
  readonly lists: ReadonlySet<ListId>;
  readonly flags: ReadonlyMap<string, FlagSides>;
}

/** Groups of a flag's listed keys, the largest first; with `TRAFFIC` they cover all keys. */
export function keyGroups(
  { combinationOf, combinations, lists: known }: KeyIndex,
  audience: Audience,
): KeyGroup[] {
  const groups = new Map<string, GrowingGroup>();
  const add = (
    lists: KeyGroup['lists'],
    targets: KeyGroup['targets'],
    count: number,
  ): GrowingGroup => {
    const id = JSON.stringify([[...lists], [...targets].map(targetForm)]);
    const group = keptIn(groups, id, () => ({ lists, targets, count: 0, names: [] }));
    group.count += count;
    return group;
  };
  const singled = new Map<Combination | undefined, number>();
  const allTargets = targetsOf(audience);
  for (const [key, targets] of allTargets) {
    const combination = combinationOf.get(key);
    singled.set(combination, (singled.get(combination) ?? 0) + 1);
    const group = add(projected(combination?.lists, audience), targets, 1);
    group.names.push(key);
    group.keys = () => group.names;
  }
  const members = new Map<KeyGroup, Set<Combination | undefined>>();
  for (const combination of combinations) {
    const count = combination.count - (singled.get(combination) ?? 0);
    const lists = projected(combination.lists, audience);
    if (count === 0 || lists.size === 0) continue;
    const group = add(lists, new Map(), count);
    const own = keptIn(members, group, () => new Set()).add(combination);
    group.keys = () =>
      keysIn(known, lists).filter((key) => own.has(combinationOf.get(key)) && !allTargets.has(key));
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

interface GrowingGroup extends KeyGroup {
  count: number;
  readonly names: string[];
  keys?: () => readonly string[];
}

function keysIn(known: KeyIndex['lists'], lists: KeyGroup['lists']): readonly string[] {
  const [first = ''] = lists.keys();
  const { before = [], added = [] } = known.get(first) ?? {};
  return [...before, ...added];
}

function projected(lists: KeyGroup['lists'] | undefined, audience: Audience): KeyGroup['lists'] {
  return new Map([...(lists ?? [])].filter(([list]) => audience.lists.has(list)));
}

/** Every individual target of these flags, in code-unit order, with its treatment in each. */
function targetsOf({ flags }: Audience): ReadonlyMap<string, ReadonlyMap<string, TargetSides>> {
  const targets = new Map<string, Map<string, TargetSides>>();
  for (const [flag, { before, after }] of sortedMap(flags)) {
    const keys = new Set([...(before?.targets.keys() ?? []), ...(after?.targets.keys() ?? [])]);
    for (const key of keys) {
      const sides = { before: before?.targets.get(key), after: after?.targets.get(key) };
      keptIn(targets, key, () => new Map<string, TargetSides>()).set(flag, sides);
    }
  }
  return sortedMap(targets);
}

function targetForm([flag, { before, after }]: [string, TargetSides]): readonly unknown[] {
  return [flag, before?.unallocated ?? null, after?.unallocated ?? null];
}

const MAX_KEYS = 100_000;

/**
 * Splits a group into keys that hashing serves the same, by the seeds that are known. A flag without a seed leaves the
 * keys of a part to its shares.
 *
 * @param most limit for the parts.
 * @returns nothing where no seed is known that matters, or where there would be too many keys or parts.
 */
export function placedGroups(
  group: KeyGroup,
  { flags }: Audience,
  most: number,
): readonly KeyGroup[] {
  const seeded = [...flags].flatMap(([flag, { before, after, seeds }]) => {
    const servings = [...new Set([...servingsIn(before), ...servingsIn(after)])];
    return seeds && servings.some(isHashed) ? [{ flag, seeds, columnOf: columnsOf(servings) }] : [];
  });
  if (seeded.length === 0 || group.count > MAX_KEYS) return [];
  const parts = new Map<string, { places: Map<string, Place>; names: string[] }>();
  for (const key of group.keys?.() ?? []) {
    const placed = seeded.map(({ flag, seeds, columnOf }) => {
      const place = placeOf(key, seeds);
      return { flag, place, column: columnOf(place) };
    });
    const id = placed.map(({ column }) => column).join(' ');
    const part = keptIn(parts, id, () => ({
      places: new Map(placed.map(({ flag, place }) => [flag, place] as const)),
      names: [],
    }));
    part.names.push(key);
    if (parts.size > most) return [];
  }
  return [...parts.values()].map((part) => ({ ...group, ...part, count: part.names.length }));
}

/** @returns gives places the same number where all servings give them the same. */
function columnsOf(servings: readonly Serving[]): (at: Place) => number {
  const isWhole = servings.every(({ allocation }) => allocation === 100);
  const columns = new Map<string, number>();
  const known = new Map<number, number>();
  return (place) => {
    const number = (isWhole ? 1 : place.draw) * 1_000 + place.bucket;
    return keptIn(known, number, () => {
      const served = servings.map((serving) => servedAt(serving, place)?.treatment ?? null);
      return keptIn(columns, JSON.stringify(served), () => columns.size);
    });
  };
}

function isHashed({ places, allocation }: Serving): boolean {
  return allocation < 100 || places.some((served) => served !== places[0]);
}

/** Targets serve every place the same. */
function servingsIn(served: ServedDefinition | null): Serving[] {
  return served ? [...served.branches.map(({ serving }) => serving), served.otherwise] : [];
}
