import { randomBytes } from 'node:crypto';
import type { Caller } from './http/endpoint.js';
import { recordChange } from './change-log.js';
import { badRequest, conflict, notFound } from './http/problem.js';
import { createAdminKey } from './rules/admin-key.js';
import { differenceOf } from './rules/difference.js';
import { MAX_KEY_NAME_LENGTH } from './rules/names.js';
import {
  findAdminKey,
  insertAdminKey,
  isNameInUse,
  listAdminKeys,
  revokeAdminKey,
} from './store/admin-keys.js';
import type { AdminKeyRow, Db, EnvironmentRow } from './store/tables.js';
import { environmentsCalled, findWorkspace } from './store/workspaces.js';

/** An Admin API key without its secret. */
export interface AdminKey {
  readonly id: string;
  readonly name: string;
  readonly creationTime: number;
  /** Milliseconds since the epoch, as all times here; null while the key was not revoked. */
  readonly revocationTime: number | null;
  /** From this moment on the key is refused; null: it does not end by itself. */
  readonly expirationTime: number | null;
  /** Exact to the hour; null: not used since this is kept. */
  readonly lastUseTime: number | null;
  /** Ids of what the key may touch; null means everything. */
  readonly workspaces: readonly string[] | null;
  readonly environments: readonly string[] | null;
}

/** What is asked for when a key is created. */
export interface NewKey {
  readonly name: string;
  /** Ids or names of what the key is restricted to. Absent or empty: it is not restricted. */
  readonly workspaces?: readonly string[];
  readonly environments?: readonly string[];
  /** When the key ends. Absent: it does not end by itself. */
  readonly expirationTime?: number | undefined;
}

/** Whether a key lets anybody in at a moment. */
export function isValidKey(
  { revocationTime, expirationTime }: Pick<AdminKey, 'revocationTime' | 'expirationTime'>,
  now: number,
): boolean {
  return revocationTime === null && (expirationTime === null || now < expirationTime);
}

/**
 * Makes a key. Its text is nowhere but in the answer; the store keeps a hash.
 *
 * A key for environments is one for their workspaces too, and in those it may change nothing that
 * all environments share.
 *
 * Names tell keys apart for people, so that no two valid keys have one name. The name of a key that was revoked or has
 * ended is free again, so that a key can be replaced under its name; entries of the audit log bear the id too.
 *
 * @throws Problem (400) the name is blank or too long, or the key would have ended already.
 * @throws Problem (404) a workspace or environment does not exist.
 * @throws Problem (409) a valid key has the name.
 */
export async function addAdminKey(
  db: Db,
  caller: Caller,
  wanted: NewKey,
): Promise<AdminKey & { readonly key: string }> {
  if (wanted.name.trim() === '' || wanted.name.length > MAX_KEY_NAME_LENGTH) {
    throw badRequest(`Names of keys have 1 to ${MAX_KEY_NAME_LENGTH} characters`);
  }
  const { expirationTime = null } = wanted;
  checkExpiration(expirationTime, caller.now);
  if (await isNameInUse(db, wanted.name, caller.now)) {
    throw conflict(`There is an Admin API key ${wanted.name} already`);
  }
  const { id, key, hash } = createAdminKey(randomBytes);
  const row: AdminKeyRow = {
    id,
    name: wanted.name,
    hash,
    creation_time: caller.now,
    revocation_time: null,
    expiration_time: expirationTime,
    last_use_time: null,
    ...(await restrictionsOf(db, wanted)),
  };
  await insertAdminKey(db, row);
  await record(db, caller, row, null);
  return { ...adminKey(row), key };
}

/** The last moment that a `Date` can hold. */
const LAST_TIME = 8_640_000_000_000_000;

/** @throws Problem (400) it is past, or no moment at all. */
function checkExpiration(time: number | null, now: number): void {
  if (time !== null && (time <= now || time > LAST_TIME)) {
    throw badRequest('expirationTime must be in the future, in milliseconds since the epoch');
  }
}

/** @throws Problem (404) a workspace or environment does not exist. */
async function restrictionsOf(
  db: Db,
  wanted: NewKey,
): Promise<Pick<AdminKeyRow, 'workspaces_json' | 'environments_json'>> {
  const environments = await environmentsOf(db, wanted.environments ?? []);
  const workspaces = new Set(await workspaceIdsOf(db, wanted.workspaces ?? []));
  for (const { workspace_id } of environments) workspaces.add(workspace_id);
  return {
    workspaces_json: listOrNull([...workspaces]),
    environments_json: listOrNull(environments.map((environment) => environment.id)),
  };
}

/** Null where there is no restriction, as the columns of the store have it. */
function listOrNull(ids: readonly string[]): string | null {
  return ids.length === 0 ? null : JSON.stringify([...ids].sort());
}

/** @throws Problem (404) one of them does not exist. */
async function workspaceIdsOf(db: Db, idsOrNames: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  // One after the other, because a transaction has one connection.
  for (const each of idsOrNames) {
    const workspace = await findWorkspace(db, each);
    if (workspace === undefined) throw notFound('workspace', each);
    ids.push(workspace.id);
  }
  return ids;
}

/**
 * Environments by ids or names; a name means the environments of that name in all workspaces.
 *
 * @throws Problem (404) one of them does not exist.
 */
async function environmentsOf(db: Db, idsOrNames: readonly string[]): Promise<EnvironmentRow[]> {
  const found: EnvironmentRow[] = [];
  // One after the other, because a transaction has one connection.
  for (const each of idsOrNames) {
    const called = await environmentsCalled(db, each);
    if (called.length === 0) throw notFound('environment', each);
    found.push(...called);
  }
  return found;
}

/** All keys in the order of their creation, also those that were revoked. */
export async function allAdminKeys(db: Db): Promise<AdminKey[]> {
  return (await listAdminKeys(db)).map(adminKey);
}

/**
 * Revokes a key, which is refused from the next request on. Repeated, it changes nothing.
 *
 * @throws Problem (404) there is no key of this id.
 */
export async function removeAdminKey(db: Db, caller: Caller, id: string): Promise<void> {
  const before = await findAdminKey(db, id);
  if (before === undefined) throw notFound('Admin API key', id);
  if (before.revocation_time !== null) return;
  await revokeAdminKey(db, id, caller.now);
  await record(db, caller, { ...before, revocation_time: caller.now }, before);
}

/** Records a creation or a revocation. The entry belongs to no workspace. */
async function record(
  db: Db,
  caller: Caller,
  after: AdminKeyRow,
  before: AdminKeyRow | null,
): Promise<void> {
  await recordChange(db, caller, {
    kind: 'admin-key',
    name: after.name,
    action: before === null ? 'create' : 'delete',
    workspaceId: null,
    difference: differenceOf(before && adminKey(before), adminKey(after)),
  });
}

/** The key as it may be shown: without its hash. */
function adminKey(row: AdminKeyRow): AdminKey {
  const ids = (text: string | null): string[] | null =>
    text === null ? null : (JSON.parse(text) as string[]);
  return {
    id: row.id,
    name: row.name,
    creationTime: row.creation_time,
    revocationTime: row.revocation_time,
    expirationTime: row.expiration_time,
    lastUseTime: row.last_use_time,
    workspaces: ids(row.workspaces_json),
    environments: ids(row.environments_json),
  };
}
