import { FlagkeelError } from '../errors.js';
import type { AdminReader } from './reader.js';
import type { WireEnvironment, WireRolloutStatus, WireWorkspace } from './wire.js';

/** Enough for a kill, and all that the state remembers. */
export interface Workspace {
  readonly workspace: Pick<WireWorkspace, 'id' | 'name'>;
  readonly environments: readonly Pick<WireEnvironment, 'id' | 'name'>[];
}

export interface Catalog {
  readonly workspace: WireWorkspace;
  /** All environments of the workspace, in the service's order. */
  readonly environments: readonly WireEnvironment[];
  /** null if the run did not need them, because the last run saw all names in scope. */
  readonly rolloutStatuses: readonly WireRolloutStatus[] | null;
  /** Names; null if the service does not list them, or the run did not need them. */
  readonly trafficTypes: readonly string[] | null;
  readonly trafficTypeIds: ReadonlyMap<string, string>;
}

export type LiveWorkspace = Pick<Catalog, 'workspace' | 'environments'>;

/** @param workspace name or id. @throws FlagkeelError `NOT_ON_SERVICE`: there is no such workspace. */
export async function readCatalog(reader: AdminReader, workspace: string): Promise<Catalog> {
  return readCatalogIn(reader, await findWorkspace(reader, workspace));
}

export async function readCatalogIn(reader: AdminReader, place: LiveWorkspace): Promise<Catalog> {
  const [rolloutStatuses, trafficTypes] = await Promise.all([
    reader.listRolloutStatuses(place.workspace.id),
    reader.listTrafficTypes(place.workspace.id),
  ]);
  const names = trafficTypes?.map(({ name }) => name) ?? null;
  const trafficTypeIds = new Map(trafficTypes?.map(({ name, id }) => [name, id]));
  return { ...place, rolloutStatuses, trafficTypes: names, trafficTypeIds };
}

export function unreadCatalog(place: LiveWorkspace): Catalog {
  return { ...place, rolloutStatuses: null, trafficTypes: null, trafficTypeIds: new Map() };
}

/** @param namedBy where a person changes the name. @throws FlagkeelError `NOT_ON_SERVICE`: there is no such workspace. */
export async function findWorkspace(
  reader: AdminReader,
  workspace: string,
  namedBy = '`workspace` in flagkeel.yaml',
): Promise<LiveWorkspace> {
  const workspaces = await reader.listWorkspaces();
  const found = byNameOrId(workspaces, workspace);
  if (!found) {
    const why = `the key sees ${namesOf(workspaces)} (change ${namedBy})`;
    const what = `cannot find workspace "${workspace}" on ${reader.origin}`;
    throw new FlagkeelError('NOT_ON_SERVICE', `${what}: ${why}`);
  }
  return { workspace: found, environments: await reader.listEnvironments(found.id) };
}

/** @param namedBy where a person changes the name. @throws FlagkeelError `NOT_ON_SERVICE`: it has no such environment. */
export function findEnvironment<E extends Workspace['environments'][number]>(
  { environments, workspace }: Pick<Workspace, 'workspace'> & { environments: readonly E[] },
  wanted: string,
  namedBy = '`environments` in flagkeel.yaml',
): E {
  const found = byNameOrId(environments, wanted);
  if (found) return found;
  const why = `the key sees ${namesOf(environments)} there (change ${namedBy}, or use a key that sees it)`;
  const what = `cannot find environment "${wanted}" in workspace "${workspace.name}"`;
  throw new FlagkeelError('NOT_ON_SERVICE', `${what}: ${why}`);
}

/** A name wins over an id that looks like it. */
export function byNameOrId<T extends { id: string; name: string }>(
  all: readonly T[],
  wanted: string,
): T | undefined {
  return all.find(({ name }) => name === wanted) ?? all.find(({ id }) => id === wanted);
}

function namesOf(all: readonly { name: string }[]): string {
  if (all.length === 0) return 'none';
  const shown = all.slice(0, 10).map(({ name }) => `"${name}"`);
  return all.length > 10 ? `${shown.join(', ')} and ${all.length - 10} more` : shown.join(', ');
}
