import { randomUUID } from 'node:crypto';
import type { Caller } from './http/endpoint.js';
import { differenceOf } from './rules/difference.js';
import {
  deleteAuditEntries,
  insertAudit,
  oldAuditEntries,
  type AuditEntry,
} from './store/audit.js';
import type { AuditAction, AuditKind, Db } from './store/tables.js';

export interface PlaceOfChange {
  readonly db: Db;
  readonly caller: Caller;
  /** Admin API keys belong to no workspace. */
  readonly workspace?: { readonly id: string };
  readonly environment?: { readonly id: string; readonly name: string };
}

export interface Change {
  readonly kind: AuditKind;
  readonly name: string;
  readonly action: AuditAction;
  /** If empty, nothing changed and no entry is recorded. */
  readonly difference: readonly unknown[];
}

/** The caller of a change that is made without a key. The audit log shows it under `name`. */
export function callerWithoutKey(
  keyName: string,
  now: number,
  comment: string | null = null,
): Caller {
  return {
    keyId: null,
    keyName,
    scope: { workspaces: null, environments: null },
    note: { title: null, comment },
    transactionId: randomUUID(),
    now,
  };
}

/**
 * Writes the changes of one request into the audit log, in their order and in the transaction that makes them: either
 * both are there or neither.
 */
export async function recordChanges(
  place: PlaceOfChange,
  changes: readonly Change[],
): Promise<void> {
  const entries = changes
    .filter(({ difference }) => difference.length > 0)
    .map((change) => entryOf(place, change));
  if (entries.length > 0) await insertAudit(place.db, entries);
}

export async function recordChange(place: PlaceOfChange, change: Change): Promise<void> {
  await recordChanges(place, [change]);
}

export async function recordObject<After extends { readonly name: string } | null>(
  place: PlaceOfChange,
  kind: AuditKind,
  before: { readonly name: string } | null,
  after: After,
  action: AuditAction = before === null ? 'create' : after === null ? 'delete' : 'update',
): Promise<After> {
  const name = (after ?? before)?.name ?? '';
  await recordChange(place, { kind, name, action, difference: differenceOf(before, after) });
  return after;
}

/** Deletes some entries of before a moment. The log of each workspace gets an entry with the number that it lost. */
export async function pruneAudit(db: Db, caller: Caller, time: number): Promise<void> {
  const old = await oldAuditEntries(db, time);
  // Another service over the store may have deleted them meanwhile.
  if (old.length === 0) return;
  const before = new Date(time).toISOString();
  for (const id of new Set(old.map(({ workspaceId }) => workspaceId))) {
    const entries = old.filter(({ workspaceId }) => workspaceId === id).length;
    const comment = `Entries before ${before} were pruned: ${entries}`;
    const place = { db, caller: { ...caller, note: { title: null, comment } } };
    await recordChange(id === null ? place : { ...place, workspace: { id } }, {
      kind: 'audit-log',
      name: 'entries',
      action: 'prune',
      difference: [{ path: '/pruned', after: { before, entries } }],
    });
  }
  await deleteAuditEntries(
    db,
    old.map(({ id }) => id),
  );
}

function entryOf(
  { caller, workspace, environment }: PlaceOfChange,
  change: Change,
): Omit<AuditEntry, 'id'> {
  return {
    time: caller.now,
    transactionId: caller.transactionId,
    workspaceId: workspace?.id ?? null,
    environment: environment?.name ?? null,
    environmentId: environment?.id ?? null,
    ...change,
    ...caller.note,
    keyId: caller.keyId,
    keyName: caller.keyName,
  };
}

export function written<T>(found: T | undefined): T {
  if (found === undefined) throw new Error('bug: an object vanished within a transaction');
  return found;
}
