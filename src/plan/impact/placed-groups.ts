import { placeOf, type Place } from './bucket.js';
import type { Audience, KeyGroup } from './key-groups.js';
import type { ServedDefinition } from './served-definition.js';
import { servedAt, type Serving } from './serving.js';

/** Limit for the keys of a group that are hashed. */
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
    const part = parts.get(id) ?? {
      places: new Map(placed.map(({ flag, place }) => [flag, place] as const)),
      names: [],
    };
    part.names.push(key);
    parts.set(id, part);
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
    const column = known.get(number);
    if (column !== undefined) return column;
    const served = servings.map((serving) => servedAt(serving, place)?.treatment ?? null);
    const text = JSON.stringify(served);
    const found = columns.get(text) ?? columns.size;
    columns.set(text, found);
    known.set(number, found);
    return found;
  };
}

function isHashed({ places, allocation }: Serving): boolean {
  return allocation < 100 || places.some((served) => served !== places[0]);
}

/** Targets serve every place the same. */
function servingsIn(served: ServedDefinition | null): Serving[] {
  return served ? [...served.branches.map(({ serving }) => serving), served.otherwise] : [];
}
