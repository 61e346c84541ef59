import { FlagkeelError, messageOf } from '../../errors.js';
import { isDeeperThan } from '../../model/json.js';
import type { Change, Plan } from '../../model/plan.js';
import { quoted } from '../sanitize.js';
import { isRecord, jsonText } from '../json-value.js';
import { keyCounts, maskKeys } from '../masked-keys.js';

/**
 * What a plan that somebody reviewed says of itself. Only the hash decides whether another plan is
 * the same; the rest says how the two differ.
 */
export interface ReviewedPlan {
  /** `sha256:` and lower-case hex. */
  readonly planHash: string;
  /** Absent where the hash is all that is known. */
  readonly document?: {
    readonly origin: string;
    readonly workspaceId: string;
    /** Id → what it would write, as text that can be compared with `changeText`. */
    readonly changes: ReadonlyMap<string, string>;
  };
}

const HASH = /^sha256:[0-9a-f]{64}$/;
/** Bounds of a file that anybody may have written. */
const MAX_CHANGES = 100_000;
const MAX_DEPTH = 64;
/** The most objects that a sentence names. */
const MAX_NAMED = 3;

/**
 * The plans in a JSON file that an earlier dry run wrote: one document, or an array of them.
 *
 * @param text untrusted; the caller has bounded its size.
 * @param file the name of the file in errors.
 * @throws FlagkeelError `USAGE`: the text is no such file.
 */
export function parseReviewedPlans(text: string, file: string): readonly ReviewedPlan[] {
  const value = parsed(text, file);
  const documents: readonly unknown[] = Array.isArray(value) ? value : [value];
  return documents.map((each) => parseDocument(each, file));
}

/**
 * A reviewed plan of which only the hash is known, as a person gives it.
 *
 * @throws FlagkeelError `USAGE`: the text is no hash of a plan.
 */
export function reviewedHash(hash: string): ReviewedPlan {
  if (HASH.test(hash)) return { planHash: hash };
  throw new FlagkeelError(
    'USAGE',
    `cannot compare with plan hash ${quoted(hash)}: it is not "sha256:" and 64 hex digits`,
  );
}

/** How the plan of now differs from the reviewed one, in a few words that follow a sentence; empty where unknown. */
export function differencesFrom(
  { document }: ReviewedPlan,
  plan: Plan,
  place: { origin: string; workspaceId: string },
): string {
  if (!document) return '';
  if (document.origin !== place.origin) {
    return `; that one was for ${quoted(document.origin)}, this one is for ${quoted(place.origin)}`;
  }
  if (document.workspaceId !== place.workspaceId) return '; that one was for another workspace';
  const now = new Map(plan.changes.map((change) => [change.id, changeText(change)]));
  const added = [...now.keys()].filter((id) => !document.changes.has(id));
  const gone = [...document.changes.keys()].filter((id) => !now.has(id));
  const other = [...now].filter(([id, text]) => (document.changes.get(id) ?? text) !== text);
  const parts = [
    named('not in the reviewed plan', added),
    named('no longer planned', gone),
    named(
      'planned otherwise',
      other.map(([id]) => id),
    ),
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : `; ${parts.join('; ')}`;
}

/** Whether the reviewed plan has every change of this one, each as it stands; a plan of nothing is part of any. */
export function isPartOf(
  { document }: ReviewedPlan,
  { changes }: Plan,
  place: { origin: string; workspaceId: string },
): boolean {
  if (changes.length === 0) return true;
  if (document?.origin !== place.origin || document.workspaceId !== place.workspaceId) return false;
  return changes.every((change) => document.changes.get(change.id) === changeText(change));
}

/** The first ids of a list, with the number of the others; empty for an empty list. */
function named(what: string, ids: readonly string[]): string {
  if (ids.length === 0) return '';
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
  return `${what}: ${ids.slice(0, MAX_NAMED).map(quoted).join(', ')}${more}`;
}

/**
 * What a change writes, as text for comparison. Lists of keys are compared by their hash, because
 * the document may have been written without the keys.
 */
function changeText({ action, fields, keys }: Change): string {
  return jsonText({
    action,
    fields: fields.map((field) => ({
      path: field.path,
      after: field.after === undefined ? undefined : maskKeys(field.after),
      keys: field.keys && keyCounts(field.keys, false),
    })),
    keys: keys && keyCounts(keys, false),
  });
}

/** @throws FlagkeelError `USAGE`: the text is no JSON, or nested more deeply than any plan. */
function parsed(text: string, file: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (isDeeperThan(value, MAX_DEPTH)) throw new Error('it is nested too deeply');
    return value;
  } catch (error) {
    throw noPlan(file, messageOf(error), error);
  }
}

function parseDocument(value: unknown, file: string): ReviewedPlan {
  if (!isRecord(value) || value['formatVersion'] !== 1) {
    throw noPlan(file, 'it is no plan document of format version 1');
  }
  const { planHash, origin, workspace, changes } = value;
  if (typeof planHash !== 'string' || !HASH.test(planHash)) {
    throw noPlan(file, '"planHash" is absent or wrong');
  }
  const workspaceId = isRecord(workspace) ? workspace['id'] : undefined;
  if (typeof origin !== 'string' || typeof workspaceId !== 'string') {
    throw noPlan(file, '"origin" or "workspace" is absent or wrong');
  }
  if (!Array.isArray(changes) || changes.length > MAX_CHANGES) {
    throw noPlan(file, '"changes" is absent or too long');
  }
  const texts = changes.map((change: unknown) => parseChange(change, file));
  return { planHash, document: { origin, workspaceId, changes: new Map(texts) } };
}

/** Id and text of a change in the file; the text is made as `changeText` makes it. */
function parseChange(change: unknown, file: string): [string, string] {
  if (!isRecord(change) || typeof change['id'] !== 'string' || !Array.isArray(change['fields'])) {
    throw noPlan(file, 'one of "changes" is no change');
  }
  const fields = change['fields'].map((field: unknown) => {
    const { path, after, keys } = isRecord(field) ? field : {};
    return { path, after: after === undefined ? undefined : maskKeys(after), keys: counts(keys) };
  });
  const { id, action, keys } = change;
  return [id, jsonText({ action, fields, keys: counts(keys) })];
}

/** The part of a key change that documents always have. */
function counts(keys: unknown): unknown {
  if (!isRecord(keys)) return undefined;
  const { added, removed, changed, sha256 } = keys;
  return { added, removed, changed, sha256 };
}

/** An error that says how such a file is made. */
function noPlan(file: string, why: string, cause?: unknown): FlagkeelError {
  return new FlagkeelError(
    'USAGE',
    `cannot read ${quoted(file)} as a plan: ${why} (make one with reconcile --dry-run --format json)`,
    { cause },
  );
}
