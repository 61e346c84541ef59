import { FlagkeelError, messageOf } from '../../errors.js';
import { isDeeperThan } from '../../model/json.js';
import type { Plan } from '../../model/plan.js';
import { quoted } from '../sanitize.js';
import { jsonText } from '../json-value.js';
import { keyCounts, maskKeys } from '../masked-keys.js';
import { fieldDocument, type ChangeDocument, type PlanDocument } from './plan.js';

/** A plan that was reviewed. The hash alone decides whether another plan is the same; the document says how the two differ. */
export interface ReviewedPlan {
  /** `sha256:` and lower-case hex. */
  readonly planHash: string;
  readonly document?: PlanDocument;
}

const HASH = /^sha256:[0-9a-f]{64}$/;
/** Values of fields may be nested in an untrusted file as deeply as its writer likes. */
const MAX_DEPTH = 64;
/** The most objects that a sentence names. */
const MAX_NAMED = 3;

/**
 * The plans in a JSON file that an earlier dry run wrote: one document, or an array of them. Members that a later version
 * added are dropped.
 *
 * @param text untrusted; the caller has bounded its size.
 * @param file the name of the file in errors.
 * @throws FlagkeelError `USAGE`: the text is no such file.
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

/** As the schema library generates it. */
interface PlanValidator {
  (value: unknown): value is PlanDocument;
  readonly errors?: readonly Fault[] | null;
}

interface Fault {
  readonly instancePath: string;
  readonly params: { readonly missingProperty?: string };
}

/** The member that the schema does not admit. */
function faultOf(fault: Fault | undefined): string {
  const member = `${fault?.instancePath ?? ''}/${fault?.params.missingProperty ?? ''}`.replace(
    /^\/|\/$/g,
    '',
  );
  return member === '' ? 'it is no plan document' : `${JSON.stringify(member)} is absent or wrong`;
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

/** Whether the reviewed plan has every change of this one, each as it stands; a plan of nothing is part of any. */
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

/** Id → what a change writes, as text for comparison. */
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

/** The first ids of a list, with the number of the others; empty for an empty list. */
function named(what: string, ids: readonly string[]): string {
  if (ids.length === 0) return '';
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
  return `${what}: ${ids.slice(0, MAX_NAMED).map(quoted).join(', ')}${more}`;
}

/** Lists of keys are compared by their number and hash, because a document may have been written with them or without. */
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

/** An error that says how such a file is made. */
function noPlan(file: string, why: string, cause?: unknown): FlagkeelError {
  return new FlagkeelError(
    'USAGE',
    `cannot read ${quoted(file)} as a plan: ${why} (make one with reconcile --dry-run --format json)`,
    { cause },
  );
}
