import { randomUUID } from 'node:crypto';
import type { Caller } from './http/endpoint.js';
import {
  insertAudit,
  insertAuditEntries,
  type AuditAction,
  type AuditEntry,
  type AuditKind,
} from './store/audit.js';
import type { Dialect } from './store/migrations.js';
import type { Db } from './store/tables.js';

/** A change without the facts that come from the caller of the request. */
export interface Change {
  readonly kind: AuditKind;
  readonly name: string;
  readonly action: AuditAction;
  readonly workspaceId: string | null;
  /** Left out for changes at the level of the workspace. */
  readonly environment?: { readonly id: string; readonly name: string };
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

/** Writes a change into the audit log, in the transaction that makes it: either both are there or neither. */
export async function recordChange(db: Db, caller: Caller, change: Change): Promise<void> {
  if (change.difference.length > 0) await insertAudit(db, entryOf(caller, change));
}

/** Writes many changes of one request into the audit log, in their order; see `recordChange`. */
export async function recordChanges(
  db: Db,
  dialect: Dialect,
  caller: Caller,
  changes: readonly Change[],
): Promise<void> {
  const entries = changes
    .filter(({ difference }) => difference.length > 0)
    .map((change) => entryOf(caller, change));
  if (entries.length > 0) await insertAuditEntries(db, dialect, entries);
}

function entryOf(caller: Caller, change: Change): Omit<AuditEntry, 'id'> {
  return {
    time: caller.now,
    transactionId: caller.transactionId,
    workspaceId: change.workspaceId,
    environment: change.environment?.name ?? null,
    environmentId: change.environment?.id ?? null,
    kind: change.kind,
    name: change.name,
    action: change.action,
    title: caller.note.title,
    comment: caller.note.comment,
    keyId: caller.keyId,
    keyName: caller.keyName,
    difference: change.difference,
  };
}
