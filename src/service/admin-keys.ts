import { randomBytes } from 'node:crypto';
import type { Caller } from './http/endpoint.js';
import { recordChange } from './change-log.js';
import { badRequest, conflict, notFound } from './http/problem.js';
import { createAdminKey } from './rules/admin-key.js';
import { differenceOf } from './rules/difference.js';
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
  /** Milliseconds since the epoch; null while the key is valid. */
  readonly revocationTime: number | null;
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
}

const MAX_KEY_NAME_LENGTH = 100;

/**
 * Makes a key. Its text is nowhere but in the answer; the store keeps a hash.
 *
 * A key for environments is one for their workspaces too, and in those it may change nothing that
 * all environments share.
 *
 * Names tell keys apart for people, so that no two valid keys have one name. The name of a revoked key is free again,
 * so that a key can be replaced under its name; entries of the audit log bear the id too.
 *
 * @throws Problem (400) the name is blank or too long.
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
  if (await isNameInUse(db, wanted.name)) {
    throw conflict(`There is an Admin API key ${wanted.name} already`);
  }
  const environments = await environmentsOf(db, wanted.environments ?? []);
  const workspaces = new Set(await workspaceIdsOf(db, wanted.workspaces ?? []));
  for (const { workspace_id } of environments) workspaces.add(workspace_id);
  const { id, key, hash } = createAdminKey(randomBytes);
  const row: AdminKeyRow = {
    id,
    name: wanted.name,
    hash,
    creation_time: caller.now,
    revocation_time: null,
    workspaces_json: listOrNull([...workspaces]),
    environments_json: listOrNull(environments.map((environment) => environment.id)),
  };
  await insertAdminKey(db, row);
  await record(db, caller, row, null);
  return { ...adminKey(row), key };
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
    workspaces: ids(row.workspaces_json),
    environments: ids(row.environments_json),
  };
}
