import { allAdminKeys, isValidKey, type AdminKey } from './admin-keys.js';
import { listAdminKeys } from './store/admin-keys.js';
import type { Db } from './store/tables.js';
import { listEnvironments, listWorkspaces } from './store/workspaces.js';

/** Something that a key is restricted to. A workspace or environment that was deleted has its id as its name. */
interface Place {
  readonly id: string;
  readonly name: string;
}

/** An environment that a key is restricted to; `workspace` is null where the environment was deleted. */
interface EnvironmentPlace extends Place {
  readonly workspace: Place | null;
}

/** An Admin API key without its secret, with the names of what it is restricted to. */
export interface NamedKey extends Omit<AdminKey, 'workspaces' | 'environments'> {
  /** null: all workspaces. */
  readonly workspaces: readonly Place[] | null;
  /** null: all environments of these workspaces. */
  readonly environments: readonly EnvironmentPlace[] | null;
}

/** All keys in the order of their creation, also those that were revoked. */
export async function namedKeys(db: Db): Promise<NamedKey[]> {
  const workspaces = new Map<string, Place>();
  const environments = new Map<string, EnvironmentPlace>();
  // One after the other, because a transaction has one connection.
  for (const { id, name } of await listWorkspaces(db, { ids: null })) {
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

/** `everything`, `WORKSPACE, …`, or `WORKSPACE/ENVIRONMENT, …`, in the order of the names. */
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

/** A valid key that an earlier version made for more than its restrictions said. */
export interface WideKey {
  readonly id: string;
  readonly name: string;
  /** As `reachText` has it. */
  readonly reaches: string;
  /** The commands that replace the key; the operator knows which workspace was meant. */
  readonly replacement: string;
}

/**
 * Earlier versions took the name of an environment for the environments of that name in all workspaces, and added their
 * workspaces to those that were named. Keys that got more by it keep it until somebody replaces them.
 *
 * @param now milliseconds since the epoch.
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
