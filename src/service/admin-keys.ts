import { recordObject } from './change-log.js';
import type { Caller } from './http/endpoint.js';
import { createAdminKey, newKeyRow, scopeOf } from './http/key-check.js';
import { badRequest, conflict, notFound } from './http/problem.js';
import { cutTo } from './rules/members.js';
import type { Schema } from './rules/shape.js';
import { findAdminKey, listAdminKeys, revokeAdminKey, validKeyCalled } from './store/admin-keys.js';
import { insert } from './store/statement.js';
import type { AdminKeyRow, Db, EnvironmentRow, KeyType } from './store/tables.js';
import {
  environmentsCalled,
  findWorkspace,
  listEnvironments,
  listWorkspaces,
} from './store/workspaces.js';

const MAX_KEY_NAME_LENGTH = 100;

/** Any text that is not blank. */
export const KEY_NAME_SCHEMA: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_KEY_NAME_LENGTH,
  pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$',
};

/** An API key without its secret. Times and ids are those of `AdminKeyRow`. */
export type AdminKey = ReturnType<typeof adminKey>;

type MadeKey = AdminKey & { readonly key: string };

export interface NewKey {
  readonly name: string;
  /** Default: `admin`. The other types need exactly one environment. */
  readonly apiKeyType?: KeyType | undefined;
  /**
   * Ids or names. With both lists the key is restricted to the environments of these workspaces; undefined means no
   * such restriction.
   */
  readonly workspaces?: readonly string[] | undefined;
  readonly environments?: readonly string[] | undefined;
  /** Default: the key does not end by itself. */
  readonly expirationTime?: number | undefined;
}

export function isValidKey(
  { revocationTime, expirationTime }: Pick<AdminKey, 'revocationTime' | 'expirationTime'>,
  now: number,
): boolean {
  return revocationTime === null && (expirationTime === null || now < expirationTime);
}

/** The last moment that a `Date` can hold. */
const LAST_TIME = 8_640_000_000_000_000;

/**
 * Makes a key. Only this answer has its text. Two valid keys never have the same name, so that people can tell them
 * apart. The name of a key that was revoked or has ended is free again; entries of the audit log hold the id too.
 *
 * @throws Problem (400); (404) a workspace or environment does not exist; (409) a valid key has the name.
 */
export async function addAdminKey(db: Db, caller: Caller, wanted: NewKey): Promise<MadeKey> {
  const { name, apiKeyType = 'admin', expirationTime = null } = wanted;
  if (name.trim() === '' || name.length > MAX_KEY_NAME_LENGTH) {
    throw badRequest(`Names of keys have 1 to ${MAX_KEY_NAME_LENGTH} characters`);
  }
  if (expirationTime !== null && (expirationTime <= caller.now || expirationTime > LAST_TIME)) {
    throw badRequest('expirationTime must be in the future, in milliseconds since the epoch');
  }
  if (await validKeyCalled(db, name, caller.now)) {
    throw conflict(`There is an API key ${name} already`);
  }
  const restrictions = await restrictionsOf(db, wanted);
  if (apiKeyType !== 'admin' && scopeOf(restrictions).environments?.length !== 1) {
    throw badRequest(`A key of the type ${apiKeyType} is for exactly one environment`);
  }
  const { key, ...made } = createAdminKey();
  const row: AdminKeyRow = {
    ...newKeyRow(name, caller.now),
    ...made,
    key_type: apiKeyType,
    expiration_time: expirationTime,
    ...restrictions,
  };
  await insert(db, 'admin_keys', [row]);
  return { ...(await recordObject({ db, caller }, 'admin-key', null, adminKey(row))), key };
}

/** Names each key by its type and the environment: by its name, or by its id if another key has that name. */
export async function addKeysOfEnvironment(
  db: Db,
  caller: Caller,
  environment: Pick<EnvironmentRow, 'id' | 'name'>,
): Promise<MadeKey[]> {
  const made: MadeKey[] = [];
  for (const apiKeyType of ['server_side', 'client_side'] as const) {
    const plain = cutTo(`${apiKeyType} ${environment.name}`, MAX_KEY_NAME_LENGTH);
    const namesake = await validKeyCalled(db, plain, caller.now);
    const name = namesake ? `${apiKeyType} ${environment.id}` : plain;
    made.push(await addAdminKey(db, caller, { name, apiKeyType, environments: [environment.id] }));
  }
  return made;
}

export async function removeKeysOfEnvironment(
  db: Db,
  caller: Caller,
  environmentId: string,
): Promise<void> {
  for (const { id, apiKeyType, environments } of await allAdminKeys(db)) {
    const isOwn = apiKeyType !== 'admin' && environments?.[0] === environmentId;
    if (isOwn) await removeAdminKey(db, caller, id);
  }
}

/** Sorted ids. A key for environments sees their workspaces, but may not change what all environments of one share. */
async function restrictionsOf(
  db: Db,
  wanted: NewKey,
): Promise<Pick<AdminKeyRow, 'workspaces_json' | 'environments_json'>> {
  for (const what of ['workspaces', 'environments'] as const) {
    // An empty list must not mean "no restriction": the client would get a key for everything.
    if (wanted[what]?.length !== 0) continue;
    throw badRequest(`${what} must not be empty: a key without that restriction leaves it out`);
  }
  const workspaces = wanted.workspaces && (await workspacesNamed(db, wanted.workspaces));
  const environments =
    wanted.environments && (await environmentsNamed(db, wanted.environments, workspaces));
  const ids = environments?.map(({ workspace_id }) => workspace_id) ?? workspaces;
  return {
    workspaces_json: jsonOf(ids),
    environments_json: jsonOf(environments?.map(({ id }) => id)),
  };
}

function jsonOf(ids: readonly string[] | undefined): string | null {
  return ids === undefined ? null : JSON.stringify([...new Set(ids)].sort());
}

async function workspacesNamed(db: Db, idsOrNames: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const each of idsOrNames) {
    const workspace = await findWorkspace(db, each);
    if (workspace === undefined) throw notFound('workspace', each);
    ids.push(workspace.id);
  }
  return ids;
}

/**
 * Finds environments by ids or names. A name stands for the environment of that name in each of the given workspaces;
 * without workspaces only one workspace may have an environment of that name.
 */
async function environmentsNamed(
  db: Db,
  idsOrNames: readonly string[],
  workspaces: readonly string[] | undefined,
): Promise<EnvironmentRow[]> {
  const found: EnvironmentRow[] = [];
  for (const each of idsOrNames) {
    const called = await environmentsCalled(db, each);
    const byId = called.filter(({ id }) => id === each);
    const meant = (byId.length > 0 ? byId : called).filter(
      ({ workspace_id }) => workspaces?.includes(workspace_id) ?? true,
    );
    if (meant.length === 0) throw notFound('environment', each);
    if (meant.length > 1 && workspaces === undefined) {
      const names = new Map((await listWorkspaces(db)).map(({ id, name }) => [id, name]));
      const choice = meant.map(
        ({ id, workspace_id }) => `${id} of workspace ${names.get(workspace_id) ?? workspace_id}`,
      );
      throw badRequest(
        `Several workspaces have an environment ${each}: name the workspace too, or one of ${choice.sort().join(', ')}`,
      );
    }
    found.push(...meant);
  }
  return found;
}

/** In the order of their creation, also those that were revoked. */
export async function allAdminKeys(db: Db): Promise<AdminKey[]> {
  return (await listAdminKeys(db)).map(adminKey);
}

/** Revokes a key: the service refuses it from the next request on. May be repeated. @throws Problem (404) */
export async function removeAdminKey(db: Db, caller: Caller, id: string): Promise<void> {
  const before = await findAdminKey(db, id);
  if (before === undefined) throw notFound('Admin API key', id);
  if (before.revocation_time !== null) return;
  await revokeAdminKey(db, caller.now, id);
  const key = adminKey(before);
  const after = { ...key, revocationTime: caller.now };
  await recordObject({ db, caller }, 'admin-key', key, after, 'delete');
}

function adminKey(row: AdminKeyRow) {
  return {
    id: row.id,
    name: row.name,
    apiKeyType: row.key_type,
    creationTime: row.creation_time,
    revocationTime: row.revocation_time,
    expirationTime: row.expiration_time,
    lastUseTime: row.last_use_time,
    ...scopeOf(row),
  };
}

/** A workspace or environment that a key is restricted to. If it was deleted, its id stands in for its name. */
interface Place {
  readonly id: string;
  readonly name: string;
}

/** A key with the names of its places. */
export interface NamedKey extends Omit<AdminKey, 'workspaces' | 'environments'> {
  /** null means all workspaces. */
  readonly workspaces: readonly Place[] | null;
  /** null means all environments of these workspaces. The workspace is null if the environment was deleted. */
  readonly environments: readonly (Place & { readonly workspace: Place | null })[] | null;
}

/** In the order of `allAdminKeys`. */
export async function namedKeys(db: Db): Promise<NamedKey[]> {
  const workspaces = new Map<string, Place>();
  const environments = new Map<string, Place & { workspace: Place }>();
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
export function reachText(key: NamedKey): string {
  if (key.workspaces === null) return 'everything';
  const places = (key.environments ?? []).map(({ name, workspace }) =>
    workspace === null ? name : `${workspace.name}/${name}`,
  );
  return [...wholeWorkspaces(key), ...places].sort().join(', ');
}

/** Names of the workspaces of which the key names no environment. */
function wholeWorkspaces({ workspaces, environments }: NamedKey): string[] {
  const used = new Set(environments?.map(({ workspace }) => workspace?.id));
  return (workspaces ?? []).filter(({ id }) => !used.has(id)).map(({ name }) => name);
}

/**
 * Valid keys that may do more than their restrictions said, each with the commands that replace it, in which the
 * operator fills in which workspace was meant. Earlier versions took the name of an environment for all environments of
 * that name, and added their workspaces to the named ones.
 */
export async function wideKeys(db: Db, now: number) {
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

function reachesTooMuch(key: NamedKey): boolean {
  const { workspaces, environments } = key;
  if (workspaces === null || environments === null) return false;
  const names = new Set(environments.map(({ name }) => name));
  return names.size < environments.length || wholeWorkspaces(key).length > 0;
}

function replacementOf({ id, environments }: NamedKey): string {
  const names = new Set(environments?.map(({ name }) => name));
  const options = [...names].map((name) => `--environment ${JSON.stringify(name)}`).join(' ');
  const create = `flagkeel service keys create NEW_NAME --workspace WORKSPACE ${options}`;
  return `${create}, then flagkeel service keys revoke ${id}`;
}
