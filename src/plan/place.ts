import { keyOf, type ObjectRef } from '../model/ref.js';
import type { Base, StateEntry } from '../model/state.js';

export interface Workspace {
  readonly name: null;
  readonly id: null;
}

export const WORKSPACE: Workspace = { name: null, id: null };

/** Where an object stands. An environment has the service's name, and the id by which the state knows it. */
export type Place = Workspace | { readonly name: string; readonly id: string };

export type PlacedName = Pick<ObjectRef, 'name' | 'environment'>;

export function selectedPlaces<E extends { readonly selected: boolean }>({
  environments,
}: {
  readonly environments: readonly E[];
}): (E | Workspace)[] {
  return [WORKSPACE, ...environments.filter(({ selected }) => selected)];
}

/** @param id on the service, for kinds that have ids. */
export function emptyEntry(ref: Pick<ObjectRef, 'kind' | 'name'>, id?: string): StateEntry {
  const { kind, name } = ref;
  return { kind, name, environments: {}, ...(id !== undefined && { id }) };
}

export function baseIn(
  entry: StateEntry | undefined,
  { id }: Pick<Place, 'id'>,
): Base<unknown> | undefined {
  return id === null ? entry?.workspace : entry?.environments[id];
}

/** @param base of the entry's own kind. */
export function withBase<E extends StateEntry>(
  entry: E,
  { id }: Pick<Place, 'id'>,
  base: Base<unknown> | undefined,
): E {
  const { workspace, ...rest } = entry;
  if (id === null) return { ...rest, ...(base && { workspace: base }) } as E;
  const others = Object.entries(entry.environments).filter(([each]) => each !== id);
  const bases = base ? [...others, [id, base] as const] : others;
  return { ...entry, environments: Object.fromEntries<Base<unknown>>(bases) };
}

export function hasBase({ workspace, environments }: StateEntry): boolean {
  return workspace !== undefined || Object.keys(environments).length > 0;
}

/** Gives an object another base in its place, or none. @param id on the service, of an object that has no entry yet. */
export function putBase(
  state: Map<string, StateEntry>,
  ref: Pick<ObjectRef, 'kind' | 'name'>,
  place: Pick<Place, 'id'>,
  base: Base<unknown> | undefined,
  id?: string,
): void {
  const entry = state.get(keyOf(ref.kind, ref.name)) ?? emptyEntry(ref, id);
  keepEntry(state, withBase(entry, place, base));
}

/** Puts an entry into a state. An entry without any base leaves it. */
export function keepEntry(state: Map<string, StateEntry>, entry: StateEntry): void {
  const key = keyOf(entry.kind, entry.name);
  if (hasBase(entry)) state.set(key, entry);
  else state.delete(key);
}
