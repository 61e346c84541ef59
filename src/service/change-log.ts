import { randomUUID } from 'node:crypto';
import type { Caller } from './http/endpoint.js';
import { isSameJson } from './rules/json.js';
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

/** Without a difference nothing changed, and no entry is recorded. */
export type Change = Pick<AuditEntry, 'kind' | 'name' | 'action' | 'difference'>;

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

/** Two changes within one millisecond have different times, so that clients can tell a change by the time alone. */
export function timeOfChange({ now }: Caller, last: number): number {
  return Math.max(now, last + 1);
}

/** Writes the changes of one request into the audit log, in their order and in the transaction that makes them. */
export async function recordChanges(
  { db, caller, workspace, environment }: PlaceOfChange,
  changes: readonly Change[],
): Promise<void> {
  const { keyId, keyName, note, transactionId, now } = caller;
  const entries = changes
    .filter(({ difference }) => difference.length > 0)
    .map((change) => ({
      time: now,
      transactionId,
      workspaceId: workspace?.id ?? null,
      environment: environment?.name ?? null,
      environmentId: environment?.id ?? null,
      ...change,
      ...note,
      keyId,
      keyName,
    }));
  if (entries.length > 0) await insertAudit(db, entries);
}

export async function recordChange(place: PlaceOfChange, change: Change): Promise<void> {
  await recordChanges(place, [change]);
}

export async function recordObject<After extends { readonly name: string } | null>(
  place: PlaceOfChange,
  kind: AuditKind,
  before: { readonly name: string } | null,
  after: After,
  action: AuditAction = actionBetween(before, after),
): Promise<After> {
  const name = (after ?? before)?.name ?? '';
  await recordChange(place, { kind, name, action, difference: differenceOf(before, after) });
  return after;
}

/** @param before null: there was none. @param after null: there is none any more. */
export function actionBetween(before: object | null, after: object | null): AuditAction {
  if (before === null) return 'create';
  return after === null ? 'delete' : 'update';
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

export function written<T>(found: T | undefined): T {
  if (found === undefined) throw new Error('bug: an object vanished within a transaction');
  return found;
}

/** One member that a change touched. `before` is absent if the member is new, `after` if it was removed. */
export interface MemberChange {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** How many keys of a list were added and removed, and the first of them: there may be ten thousand. */
export interface KeysChange {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly sample: readonly string[];
}

const SAMPLE_SIZE = 20;

/**
 * Compares the top-level members of two objects, and gives those that differ, in code-unit order of their names.
 * A treatment may target thousands of keys, so these are compared treatment by treatment and summed up like lists of
 * keys.
 */
export function differenceOf(
  before: object | null,
  after: object | null,
): (MemberChange | KeysChange)[] {
  const had = membersOf(before);
  const has = membersOf(after);
  const names = [...new Set([...had.keys(), ...has.keys()])];
  const changed = names.filter((name) => !isSameJson(had.get(name), has.get(name)));
  return [
    ...changed.sort().map((name) => ({
      path: `/${name}`,
      ...(had.has(name) ? { before: had.get(name) } : {}),
      ...(has.has(name) ? { after: has.get(name) } : {}),
    })),
    ...targetsDifference(targetsOf(before), targetsOf(after)),
  ];
}

function membersOf(holder: object | null): ReadonlyMap<string, unknown> {
  const treatments = treatmentsOf(holder)?.map(({ keys: _, ...rest }) => rest);
  return new Map(Object.entries({ ...holder, ...(treatments && { treatments }) }));
}

/** @param path of the list in the object that was changed. */
export function keysDifference(
  added: readonly string[],
  removed: readonly string[],
  path = '/keys',
): KeysChange {
  return {
    path,
    added: added.length,
    removed: removed.length,
    sample: [...added, ...removed].slice(0, SAMPLE_SIZE),
  };
}

interface Treatment {
  readonly name: string;
  readonly keys?: readonly string[];
}

/** Definitions alone have treatments. */
function treatmentsOf(holder: object | null): readonly Treatment[] | undefined {
  return (holder as { readonly treatments?: readonly Treatment[] } | null)?.treatments;
}

/** Treatment → keys. */
type Targets = ReadonlyMap<string, ReadonlySet<string>>;

function targetsOf(holder: object | null): Targets {
  return new Map(treatmentsOf(holder)?.map(({ name, keys = [] }) => [name, new Set(keys)]));
}

/** One entry for each treatment whose keys differ, in the order of names. */
function targetsDifference(before: Targets, after: Targets): KeysChange[] {
  const none: ReadonlySet<string> = new Set();
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) => {
    const had = before.get(name) ?? none;
    const has = after.get(name) ?? none;
    const added = [...has].filter((key) => !had.has(key));
    const removed = [...had].filter((key) => !has.has(key));
    if (added.length === 0 && removed.length === 0) return [];
    return [keysDifference(added, removed, `/targets/${name}`)];
  });
}
