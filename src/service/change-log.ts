import type { Caller } from './endpoint.js';
import { insertAudit, type AuditAction, type AuditKind } from './store/audit.js';
import type { Db } from './store/tables.js';

export interface Change {
  readonly kind: AuditKind;
  readonly name: string;
  readonly action: AuditAction;
  readonly workspaceId: string | null;
  /** Absent: at the level of the workspace. */
  readonly environment?: { readonly id: string; readonly name: string };
  /** Empty: nothing was changed, and nothing is recorded. */
  readonly difference: readonly unknown[];
}

/** Writes a change into the audit log, in the transaction that makes it: either both are there or neither. */
export async function recordChange(db: Db, caller: Caller, change: Change): Promise<void> {
  if (change.difference.length === 0) return;
  await insertAudit(db, {
    time: caller.now,
    transactionId: caller.transactionId,
    workspaceId: change.workspaceId,
    environment: change.environment?.name ?? null,
    environmentId: change.environment?.id ?? null,
    kind: change.kind,
    name: change.name,
    action: change.action,
    title: caller.words.title,
    comment: caller.words.comment,
    keyName: caller.keyName,
    difference: change.difference,
  });
}
