import { FlagkeelError, messageOf } from '../../errors.js';
import { isDeeperThan } from '../../model/json.js';
import type { Plan } from '../../model/plan.js';
import { quoted } from '../sanitize.js';
import { jsonText } from '../json-value.js';
import { keyCounts, maskKeys } from '../masked-keys.js';
import { fieldDocument, type ChangeDocument, type PlanDocument } from './plan.js';

/**
 * A plan that was reviewed. Two plans are equal if their hashes are; the document only helps to say how they differ.
 */
export interface ReviewedPlan {
  /** `sha256:` and lower-case hex. */
  readonly planHash: string;
  readonly document?: PlanDocument;
}

const HASH = /^sha256:[0-9a-f]{64}$/;
/** The most levels in an untrusted file, whose values could be nested without limit. */
const MAX_DEPTH = 64;
/** The most objects that a sentence names. */
const MAX_NAMED = 3;

/**
 * The plans in a JSON file of an earlier dry run: one document, or an array of them. Members that a later version added
 * are dropped.
 *
 * @param text untrusted; the caller has limited its size.
 * @param file its name, for error messages.
 * @throws FlagkeelError `USAGE` if the text is not such a file.
 */
export async function parseReviewedPlans(
  text: string,
  file: string,
): Promise<readonly ReviewedPlan[]> {
  const { plan } = await import('../../generated/plan-validator.js');
  const isPlan = plan as PlanValidator;
  return [parsed(text, file)].flat().map((document) => {
    if (!isPlan(document)) throw noPlan(file, faultOf(isPlan.errors?.[0]));
    return { planHash: document.planHash, document };
  });
}

/** The type of the validator that the schema library generates. */
interface PlanValidator {
  (value: unknown): value is PlanDocument;
  readonly errors?: readonly Fault[] | null;
}

interface Fault {
  readonly instancePath: string;
  readonly params: { readonly missingProperty?: string };
}

/** The member that does not fit the schema. */
function faultOf(fault: Fault | undefined): string {
  const member = `${fault?.instancePath ?? ''}/${fault?.params.missingProperty ?? ''}`.replace(
    /^\/|\/$/g,
    '',
  );
  return member === '' ? 'it is no plan document' : `${JSON.stringify(member)} is absent or wrong`;
}

/**
 * A reviewed plan of which only the hash is known, given by a person.
 *
 * @throws FlagkeelError `USAGE` if the text is no hash of a plan.
 */
export function reviewedHash(hash: string): ReviewedPlan {
  if (HASH.test(hash)) return { planHash: hash };
  throw new FlagkeelError(
    'USAGE',
    `cannot compare with plan hash ${quoted(hash)}: it is not "sha256:" and 64 hex digits`,
  );
}

/**
 * The difference between the current plan and the reviewed one, in a few words to append to a sentence; empty if
 * unknown.
 */
export function differencesFrom(
  { document }: ReviewedPlan,
  plan: Plan,
  place: { origin: string; workspaceId: string },
): string {
  if (!document) return '';
  if (document.origin !== place.origin) {
    return `; that one was for ${quoted(document.origin)}, this one is for ${quoted(place.origin)}`;
  }
  if (document.workspace.id !== place.workspaceId) return '; that one was for another workspace';
  const [then, now] = [writtenThen(document), writtenNow(plan)];
  const added = [...now.keys()].filter((id) => !then.has(id));
  const gone = [...then.keys()].filter((id) => !now.has(id));
  const other = [...now].filter(([id, text]) => (then.get(id) ?? text) !== text);
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

/** Whether the reviewed plan contains every change of this one, unaltered. An empty plan is part of any. */
export function isPartOf(
  { document }: ReviewedPlan,
  plan: Plan,
  place: { origin: string; workspaceId: string },
): boolean {
  if (plan.changes.length === 0) return true;
  if (document?.origin !== place.origin || document.workspace.id !== place.workspaceId)
    return false;
  const then = writtenThen(document);
  return [...writtenNow(plan)].every(([id, text]) => then.get(id) === text);
}

/** Id → the values that a change writes, as text for comparison. */
type Written = ReadonlyMap<string, string>;

function writtenThen({ changes }: PlanDocument): Written {
  return new Map(changes.map((change) => [change.id, writtenText(change)]));
}

function writtenNow({ changes }: Plan): Written {
  const options = { showKeys: false };
  return new Map(
    changes.map(({ id, action, fields, keys }) => {
      const written = fields.map((field) => fieldDocument(field, options));
      return [id, writtenText({ action, fields: written, keys: keyCounts(keys, options) })];
    }),
  );
}

/** The first ids of a list and the number of the others; empty for an empty list. */
function named(what: string, ids: readonly string[]): string {
  if (ids.length === 0) return '';
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
  return `${what}: ${ids.slice(0, MAX_NAMED).map(quoted).join(', ')}${more}`;
}

/** Compares lists of keys by their number and hash, because a document may contain the keys or leave them out. */
function writtenText({
  action,
  fields,
  keys,
}: Pick<ChangeDocument, 'action' | 'fields'> & {
  readonly keys?: ChangeDocument['keys'] | undefined;
}): string {
  return jsonText({
    action,
    fields: fields.map(({ path, after, keys: listed }) => ({
      path,
      after: after === undefined ? undefined : maskKeys(after),
      keys: counted(listed),
    })),
    keys: counted(keys),
  });
}

function counted(keys: ChangeDocument['keys'] | undefined): unknown {
  if (!keys) return undefined;
  const { added, removed, changed, sha256 } = keys;
  return { added, removed, changed, sha256 };
}

/** @throws FlagkeelError `USAGE` if the text is no JSON, or nested more deeply than any plan. */
function parsed(text: string, file: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (isDeeperThan(value, MAX_DEPTH)) throw new Error('it is nested too deeply');
    return value;
  } catch (error) {
    throw noPlan(file, messageOf(error), error);
  }
}

/** An error that explains how to make such a file. */
function noPlan(file: string, why: string, cause?: unknown): FlagkeelError {
  return new FlagkeelError(
    'USAGE',
    `cannot read ${quoted(file)} as a plan: ${why} (make one with reconcile --dry-run --format json)`,
    { cause },
  );
}
