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

/** A change, as far as the caller of the request does not tell it. */
export interface Change {
  readonly kind: AuditKind;
  readonly name: string;
  readonly action: AuditAction;
  readonly workspaceId: string | null;
  /** Absent where the change was made at the level of the workspace. */
  readonly environment?: { readonly id: string; readonly name: string };
  /** Empty: nothing was changed, and nothing is recorded. */
  readonly difference: readonly unknown[];
}

/** The caller of a change that comes without a key, under the name that the audit log has it. */
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

/** The same for many changes that one request makes, in their order. */
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
