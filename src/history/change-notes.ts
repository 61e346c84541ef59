import type { Checkout } from '../git/checkout.js';
import { commitTree } from '../git/trees.js';
import { isOlder, missingParents } from '../git/lineage.js';
import { parseCommit, readLog, type CommitText, type LoggedCommit } from '../git/log.js';
import { cleanLine, titleWithEnd, titleWithMore, truncateNote } from '../model/audit-note.js';
import { bindEnvironments } from '../model/bound-desired.js';
import type { ChangeNote } from '../model/outcome.js';
import { eachOnce, keptIn } from '../model/collections.js';
import { noteKey, type Change, type Plan, type PlanNotes, type Reason } from '../model/plan.js';
import { keyOf, objectId, type ObjectId, type ObjectRef } from '../model/ref.js';
import type { Base } from '../model/state.js';
import { fieldFormsOf } from '../plan/bases/compare.js';
import type { PlanInput } from '../plan/input.js';
import { plannedKind } from '../plan/objects/kinds.js';
import { baseIn } from '../plan/place.js';
import { placeNamed } from '../plan/policy.js';
import type { SpecCache } from '../specs/cache.js';
import { CONFIG_PATH } from '../model/spec-tree.js';
import { readSpecs } from '../specs/read-specs.js';
import {
  differing,
  snapshotCache,
  textIn,
  UNKNOWN,
  type Snapshot,
  type SnapshotCache,
  type SnapshotsAt,
} from './spec-history.js';

interface LastApply extends Pick<AttributionRequest, 'applied'> {
  /** `KIND/NAME` of what it left out of sync; null if unknown. */
  readonly outOfSync: ReadonlySet<string> | null;
}

/** Title and comment of all changes, the withheld ones included, from the commits that changed their fields. */
export async function notesFor(
  { changes, withheld }: Pick<Plan, 'changes' | 'withheld'>,
  { desired, state, policy }: PlanInput,
  checkout: Checkout,
  { head, applied, outOfSync }: LastApply & Pick<AttributionOptions, 'head'>,
  specsRead: SpecCache,
): Promise<PlanNotes> {
  const all = [...changes, ...withheld];
  const requests = all.map((change): AttributionRequest => {
    const { id, ref, action, reason } = change;
    const place = placeNamed(policy, ref.environment);
    const base = place && baseIn(state.get(keyOf(ref.kind, ref.name)), place);
    // What an earlier run left, the commits before the last apply brought too.
    const isOpen = outOfSync?.has(keyOf(ref.kind, ref.name)) === true;
    const parts = partsOf(change, base);
    return { id, ref, action, reason, parts, applied: isOpen ? null : applied };
  });
  const snapshotsAt: SnapshotsAt = async (tree, refs) => {
    const specs = await readSpecs(tree, specsRead);
    // Leaving an object out marks it as unknown, which differs from absent.
    if (!specs.ok) return new Map();
    const then = bindEnvironments(specs.desired, desired.environmentNames);
    return new Map(refs.map((ref) => [objectId(ref), fieldFormsOf(then, ref)]));
  };
  const notes = await attribute(checkout, { head, requests, snapshotsAt });
  return new Map(
    all.flatMap((change, index): [string, ChangeNote][] => {
      const note = notes[index];
      return note ? [[noteKey(change), note]] : [];
    }),
  );
}

/** Groups the fields of an update by base, with drift apart, because each group has its own search. */
function partsOf(
  { action, reason, fields }: Change,
  base: Base<unknown> | undefined,
): readonly AttributedPart[] {
  const whole = base?.spec === undefined ? null : base.commit;
  if (action !== 'update' || fields.length === 0) {
    return [{ paths: null, base: whole, isDrift: reason === 'drift' }];
  }
  const parts = new Map<string, AttributedPart & { readonly paths: Set<string> }>();
  for (const field of fields) {
    const { path } = field;
    const isOwn = whole !== null && Object.hasOwn(base?.fields ?? {}, path);
    const since = isOwn ? (base?.fields?.[path] ?? null) : whole;
    const isDrift = field.reason === 'drift';
    const key = `${String(isDrift)} ${since ?? ''}`;
    const make = () => ({ paths: new Set<string>(), base: since, isDrift });
    keptIn(parts, key, make).paths.add(path);
  }
  return [...parts.values()];
}

/** With the title or comment that the operator gave, cut to fit. */
export function overridden(notes: PlanNotes, given: Partial<ChangeNote>): PlanNotes {
  return new Map(
    [...notes].map(([key, found]) => [key, truncateNote({ ...found, ...given }, found.title)]),
  );
}

/** Some fields of a change. Only commits after their base can be causes. */
export interface AttributedPart {
  /** JSON Pointers of the fields; null means the whole object. */
  readonly paths: ReadonlySet<string> | null;
  /** The commit that the service has them from; null if unknown. */
  readonly base: string | null;
  /** Whether the fields changed only outside git, so that the commit to restore is wanted. */
  readonly isDrift: boolean;
}

export interface AttributionRequest {
  readonly id: ObjectId;
  readonly ref: ObjectRef;
  readonly action: string;
  readonly reason: Reason;
  /** Never empty. */
  readonly parts: readonly AttributedPart[];
  /** HEAD of the last apply, if the object was in sync after it. Default: unknown. */
  readonly applied?: string | null | undefined;
}

export interface AttributionOptions {
  /** Full hash; null if the specs come from no commit. */
  readonly head: string | null;
  readonly requests: readonly AttributionRequest[];
  readonly snapshotsAt: SnapshotsAt;
  /** Most commits to read the specs of. Default: 500. */
  readonly maxCommits?: number;
}

interface Search {
  readonly part: AttributedPart;
  /** Commits that may have changed the part, newest first. */
  readonly candidates: readonly LoggedCommit[];
  /** Whether the newest commit is enough, because the service may have the older ones. */
  readonly newestOnly: boolean;
}

const MAX_TEXTS = 100;
const SHORT_ID = 8;

/**
 * Title and comment for every request. They name the commits between base and HEAD that changed the written fields, and
 * leave out commits to other fields of the object.
 *
 * A commit changed a field if the forms before and after it differ; for a merge, if the form differs from that of every
 * parent. Those whose values a later merge dropped are left out. Without a base in this clone, or with one after HEAD,
 * only the newest such commit is named, except that a creation or an activation names all. If a form is unknown, the
 * object's own files decide.
 *
 * @throws FlagkeelError `GIT`
 */
export async function attribute(
  checkout: Checkout,
  options: AttributionOptions,
): Promise<readonly ChangeNote[]> {
  const { repository } = checkout;
  const { head, requests, snapshotsAt, maxCommits } = options;
  if (repository === null || head === null) {
    const unknown: Causes = { texts: [], count: 0, restored: undefined, mayBeOlder: false };
    return requests.map((request) => noteOf(request, unknown));
  }
  const treeOf = async (commit: string) => commitTree(checkout, commit);
  const forms = snapshotCache(treeOf, snapshotsAt, maxCommits);
  const past: Past = {
    head,
    // A commit that made a thousand flags is needed by each of them.
    textOf: eachOnce(async (id) => {
      const content = /^[0-9a-f]{40,64}$/.test(id) ? await repository.objects.read(id) : null;
      return content && parseCommit(id, content);
    }),
    cutParents: eachOnce(async (id) =>
      checkout.shallow ? missingParents(repository.objects, id) : [],
    ),
    isBefore: eachOnce(async (base) => !(await isOlder(checkout, head, base))),
    logSince: eachOnce(async (base) => readLog(repository, base === '' ? null : base, head)),
  };
  const searches: Search[][] = [];
  for (const request of requests) {
    const own: Search[] = [];
    // In sequence, because most requests share their log, and each other log needs a process of git.
    for (const part of request.parts) own.push(await searchOf(request, part, past));
    forms.expect(head, request.ref);
    for (const { id, parents } of own.flatMap(({ candidates }) => candidates)) {
      for (const commit of [id, ...parents]) forms.expect(commit, request.ref);
    }
    searches.push(own);
  }
  const notes: ChangeNote[] = [];
  for (const [index, request] of requests.entries()) {
    const causes = await causesOf(request, searches[index] ?? [], forms, past);
    notes.push(noteOf(request, causes));
  }
  return notes;
}

interface Past {
  readonly head: string;
  /** The text of a commit; null if it is not in this clone, or the id names no commit. */
  readonly textOf: (id: string) => Promise<CommitText | null>;
  /** The parents that this clone lacks: all files are new in a commit that has some. */
  readonly cutParents: (id: string) => Promise<readonly string[]>;
  readonly isBefore: (base: string) => Promise<boolean>;
  /** @param base empty for the whole history. */
  readonly logSince: (base: string) => Promise<LoggedCommit[]>;
}

async function searchOf(
  { ref, action }: AttributionRequest,
  part: AttributedPart,
  { textOf, isBefore, logSince }: Past,
): Promise<Search> {
  const isNew = action === 'create' || action === 'activate';
  const { base, isDrift } = part;
  const isHere = !isDrift && base !== null && (await textOf(base)) !== null;
  const since = isHere ? await logSince(base) : [];
  // Commits since the base show by themselves that it is before HEAD.
  const isBaseHere = isHere && (since.length > 0 || (await isBefore(base)));
  const log = isBaseHere ? since : await logSince('');
  return {
    part,
    candidates: log.filter(({ paths }) =>
      paths.some((path) => path === CONFIG_PATH || mayShape(path, ref)),
    ),
    newestOnly: !isBaseHere && (isDrift || base !== null || !isNew),
  };
}

interface Causes {
  /** Newest first; fewer than `count` where there are very many. */
  readonly texts: readonly CommitText[];
  readonly count: number;
  /** The commit that a drift correction brings back. */
  readonly restored: CommitText | undefined;
  /** The clone is too shallow to tell the oldest of them from the commits before it. */
  readonly mayBeOlder: boolean;
}

async function causesOf(
  request: AttributionRequest,
  searches: readonly Search[],
  forms: SnapshotCache,
  { textOf, cutParents, head }: Past,
): Promise<Causes> {
  const commits = new Set<string>();
  const restored = new Set<string>();
  for (const { part, candidates, newestOnly } of searches) {
    // Of a single commit it is clear that it led to HEAD.
    const isClear = candidates.length < 2;
    const trail: Snapshot[] = [isClear ? UNKNOWN : await forms.snapshotOf(head, request.id)];
    const found = { led: [] as string[], dropped: [] as string[] };
    // In sequence, because the older ones are not read if the newest is enough.
    for (const candidate of candidates) {
      const became = await becameOf(candidate, request, { part, forms, trail });
      if (became !== null) found[became].push(candidate.id);
      if (newestOnly && found.led.length > 0) break;
    }
    // A merge of several files may give a field a value that no commit gave it.
    const causes = found.led.length > 0 ? found.led : found.dropped;
    for (const id of causes.slice(0, newestOnly ? 1 : undefined)) {
      (part.isDrift ? restored : commits).add(id);
    }
  }
  // The stretches of the parts all end at HEAD: the longest has the order of all of them.
  const longest = searches
    .map(({ candidates }) => candidates)
    .reduce((a, b) => (b.length > a.length ? b : a), []);
  const ordered = longest.map(({ id }) => id);
  const all = [...ordered, ...[...commits, ...restored].filter((id) => !ordered.includes(id))];
  const read = async (id: string): Promise<CommitText> =>
    (await textOf(id)) ?? parseCommit(id, Buffer.alloc(0));
  const newest = all.filter((id) => commits.has(id)).slice(0, MAX_TEXTS);
  const back = all.find((id) => restored.has(id));
  const known = new Set([request.applied, ...request.parts.map(({ base }) => base)]);
  const cut = await Promise.all(newest.map(cutParents));
  return {
    texts: await Promise.all(newest.map(read)),
    count: commits.size,
    restored: back === undefined ? undefined : await read(back),
    mayBeOlder: cut.some((ids) => ids.length > 0 && !ids.some((id) => known.has(id))),
  };
}

/**
 * What became of the change that a commit made: it led to HEAD, or a merge dropped it. null if it changed nothing.
 *
 * @param trail the forms at HEAD, and before each later commit that led there; those before this one are added.
 */
async function becameOf(
  { id, parents, paths }: LoggedCommit,
  { id: object, ref, reason }: AttributionRequest,
  { part, forms, trail }: { part: AttributedPart; forms: SnapshotCache; trail: Snapshot[] },
): Promise<'led' | 'dropped' | null> {
  const after = await forms.snapshotOf(id, object);
  const before = await Promise.all(parents.map(async (parent) => forms.snapshotOf(parent, object)));
  const known = before.filter((form) => form !== UNKNOWN);
  if (after === UNKNOWN || known.length < before.length) {
    trail.push(UNKNOWN);
    // The names of files are the only evidence if forms cannot be compared.
    const { isOwn } = plannedKind(ref.kind).files;
    return paths.some((path) => isOwn(path, ref, reason)) ? 'led' : null;
  }
  // Before the first commit there was nothing.
  const earlier = known.length === 0 ? [undefined] : known;
  const fields = earlier.map((form) => differing(form, after, part.paths));
  if (fields.some((each) => each.length === 0)) return null;
  const changed = fields.flat();
  const hasLed = trail.some(
    (form) =>
      form === UNKNOWN || changed.some((path) => textIn(form, path) === textIn(after, path)),
  );
  if (hasLed) trail.push(...earlier);
  return hasLed ? 'led' : 'dropped';
}

const OLDER =
  'The clone is shallow and ends with the last of these commits: an older one may have changed it.';

function noteOf(request: AttributionRequest, causes: Causes): ChangeNote {
  const { texts, count, restored, mayBeOlder } = causes;
  const { id, action, reason, parts } = request;
  const fallback = `flagkeel: ${action} ${id}`;
  const correction = restored && correctionOf(request, restored);
  const [newest] = texts;
  if (restored && correction !== undefined && parts.every(({ isDrift }) => isDrift)) {
    const title = titleWithEnd(`Correct drift of ${id}`, `, as of ${shortId(restored)}`);
    const comment = `${correction}\n\n${restored.flagComment ?? paragraphOf(restored)}`;
    return truncateNote({ title, comment }, fallback);
  }
  const opening = correction === undefined ? [] : [correction];
  if (newest === undefined) {
    const comment = [...opening, `${fallback} (${reason})`].join('\n\n');
    return truncateNote({ title: fallback, comment }, fallback);
  }
  const flagTitle = texts.find((text) => text.flagTitle !== undefined)?.flagTitle;
  const flagComment = texts.find((text) => text.flagComment !== undefined)?.flagComment;
  const subject = cleanLine(newest.subject) || fallback;
  const comments = flagComment === undefined ? texts.map(paragraphOf) : [flagComment];
  const title = flagTitle ?? titleWithMore(subject, count - 1);
  return truncateNote(
    {
      title: mayBeOlder ? titleWithEnd(title, ' (or older)') : title,
      comment: [...opening, ...(mayBeOlder ? [OLDER] : []), ...comments].join('\n\n'),
    },
    fallback,
  );
}

/** Lists the fields that changed only outside git, if others are written as well. */
function correctionOf({ parts }: AttributionRequest, restored: CommitText): string {
  const drifted = parts.filter(({ isDrift }) => isDrift);
  const paths =
    drifted.length < parts.length ? drifted.flatMap((part) => [...(part.paths ?? [])]) : [];
  const what = paths.length === 0 ? '' : `${paths.join(', ')} `;
  return `Drift correction: ${what}changed outside git, corrected as of ${shortId(restored)}.`;
}

function paragraphOf(text: CommitText): string {
  const line = `${shortId(text)} ${cleanLine(text.author)}: ${cleanLine(text.subject)}`;
  return text.body === '' ? line : `${line}\n${text.body}`;
}

function shortId({ id }: CommitText): string {
  return id.slice(0, SHORT_ID);
}

/** Whether a change of this file, other than the config, could be a change of this object: rather yes than no. */
export function mayShape(path: string, ref: ObjectRef): boolean {
  const { files } = plannedKind(ref.kind);
  return files.isOwn(path, ref) || files.mayShape(path, ref);
}
