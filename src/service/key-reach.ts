import { allAdminKeys, isValidKey, type AdminKey } from './admin-keys.js';
import { listAdminKeys } from './store/admin-keys.js';
import type { Db } from './store/tables.js';
import { listEnvironments, listWorkspaces } from './store/workspaces.js';

/** A workspace or environment that a key is restricted to. If it was deleted, its id stands in for its name. */
interface Place {
  readonly id: string;
  readonly name: string;
}

/** An environment that a key is restricted to; `workspace` is null if the environment was deleted. */
interface EnvironmentPlace extends Place {
  readonly workspace: Place | null;
}

/** An Admin API key without its secret, with the names of the workspaces and environments that it is restricted to. */
export interface NamedKey extends Omit<AdminKey, 'workspaces' | 'environments'> {
  /** null means all workspaces. */
  readonly workspaces: readonly Place[] | null;
  /** null means all environments of these workspaces. */
  readonly environments: readonly EnvironmentPlace[] | null;
}

/** All keys in the order of their creation, also those that were revoked. */
export async function namedKeys(db: Db): Promise<NamedKey[]> {
  const workspaces = new Map<string, Place>();
  const environments = new Map<string, EnvironmentPlace>();
  for (const { id, name } of await listWorkspaces(db)) {
    const workspace = { id, name };
    workspaces.set(id, workspace);
    for (const each of await listEnvironments(db, id)) {
      environments.set(each.id, { id: each.id, name: each.name, workspace });
    }
  }
  return (await allAdminKeys(db)).map((key) => ({
    ...key,
    workspaces: key.workspaces?.map((id) => workspaces.get(id) ?? { id, name: id }) ?? null,
    environments:
      key.environments?.map((id) => environments.get(id) ?? { id, name: id, workspace: null }) ??
      null,
  }));
}

/** The restrictions as text: `everything`, `WORKSPACE, …`, or `WORKSPACE/ENVIRONMENT, …`, sorted by name. */
export function reachText({ workspaces, environments }: NamedKey): string {
  if (workspaces === null) return 'everything';
  const places = (environments ?? []).map(({ name, workspace }) =>
    workspace === null ? name : `${workspace.name}/${name}`,
  );
  return [...workspacesWithout(workspaces, environments ?? []), ...places].sort().join(', ');
}

/** Names of the workspaces that have none of the environments. */
function workspacesWithout(
  workspaces: readonly Place[],
  environments: readonly EnvironmentPlace[],
): string[] {
  const used = new Set(environments.map(({ workspace }) => workspace?.id));
  return workspaces.filter(({ id }) => !used.has(id)).map(({ name }) => name);
}

/** A valid key of an earlier version that may do more than its restrictions said. */
export interface WideKey {
  readonly id: string;
  readonly name: string;
  /** In the form of `reachText`. */
  readonly reaches: string;
  /** The commands that replace the key. The operator fills in which workspace was meant. */
  readonly replacement: string;
}

/**
 * Earlier versions took the name of an environment for all environments of that name, and added their workspaces to the
 * named ones. Keys that got too much that way keep it until they are replaced.
 */
export async function wideKeys(db: Db, now: number): Promise<WideKey[]> {
  const rows = await listAdminKeys(db);
  const inexact = new Set(rows.filter((row) => row.is_exact === 0).map(({ id }) => id));
  if (inexact.size === 0) return [];
  return (await namedKeys(db))
    .filter((key) => inexact.has(key.id) && isValidKey(key, now) && reachesTooMuch(key))
    .map((key) => ({
      id: key.id,
      name: key.name,
      reaches: reachText(key),
      replacement: replacementOf(key),
    }));
}

function reachesTooMuch({ workspaces, environments }: NamedKey): boolean {
  if (workspaces === null || environments === null) return false;
  const names = new Set(environments.map(({ name }) => name));
  return names.size < environments.length || workspacesWithout(workspaces, environments).length > 0;
}

function replacementOf({ id, environments }: NamedKey): string {
  const names = new Set((environments ?? []).map(({ name }) => name));
  const options = [...names].map((name) => `--environment ${JSON.stringify(name)}`).join(' ');
  const create = `flagkeel service keys create NEW_NAME --workspace WORKSPACE ${options}`;
  return `${create}, then flagkeel service keys revoke ${id}`;
}
