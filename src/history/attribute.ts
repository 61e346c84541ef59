import { objectId, type ObjectId, type ObjectRef } from '../model/ref.js';
import type { Reason } from '../model/plan.js';
import type { ChangeNote } from '../model/outcome.js';
import type { Checkout, Repository } from '../git/checkout.js';
import { parseCommit, type CommitText } from '../git/commit-text.js';
import { commitTree } from '../git/commit-tree.js';
import { readLog, type LoggedCommit } from '../git/log.js';
import { plannedKind } from '../plan/objects/kinds.js';
import { cleanLine, truncateNote, titleWithEnd, titleWithMore } from '../model/audit-note.js';
import { differs, SnapshotCache, UNKNOWN, type SnapshotsAt } from './snapshots.js';

/** Some of what a change writes, and since when commits to it are news to the service. */
export interface AttributedPart {
  /** JSON Pointers of the fields; null: all of the object. */
  readonly paths: ReadonlySet<string> | null;
  /** Commit of the base of these fields; null where they have none. */
  readonly base: string | null;
  /** They were changed outside git alone: asked for is the commit that comes back. */
  readonly isDrift: boolean;
}

/** A change whose causes are asked for. */
export interface AttributionRequest {
  readonly id: ObjectId;
  readonly ref: ObjectRef;
  /** What is done, for the title where no commit is found: `create`, `update`, … */
  readonly action: string;
  readonly reason: Reason;
  /** Never empty. */
  readonly parts: readonly AttributedPart[];
}

export interface AttributionOptions {
  /** Full hash of the commit that is applied; null where there is none. */
  readonly head: string | null;
  readonly requests: readonly AttributionRequest[];
  readonly snapshotsAt: SnapshotsAt;
  /** Commits whose specs are looked into, at most; 500 unless told. */
  readonly maxCommits?: number;
}

/** Where in history the causes of a part are looked for. */
interface Search {
  readonly part: AttributedPart;
  /** Commits that may have changed it, newest first. */
  readonly candidates: readonly LoggedCommit[];
  /** Whether the newest commit is enough, because older ones are not news to the service. */
  readonly newestOnly: boolean;
}

/** More commits than these say nothing in a comment of its size. */
const MAX_TEXTS = 100;
const SHORT_ID = 8;

/**
 * Title and comment for every request, in the order of the requests: the commits that changed what is written between
 * its base and HEAD. What other commits did to the rest of the object is not told.
 *
 * A commit changed a field when its form after it is another than before it, of a merge than in every parent. Without
 * a base, or with one that is not in this clone, only the newest such commit is named; what is created or activated
 * names all. Where a form is unknown the object's own files decide.
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
    return requests.map((request) => noteOf(request, NO_CAUSES));
  }
  const treeOf = async (commit: string) => commitTree(checkout, commit);
  const forms = new SnapshotCache(treeOf, snapshotsAt, maxCommits);
  const commits = new Commits(repository);
  const find = searcher(commits, repository, head);
  const searches: Search[][] = [];
  for (const request of requests) {
    const own: Search[] = [];
    // In sequence: most requests share their log, and git has one process for each that does not.
    for (const part of request.parts) own.push(await find(request, part));
    for (const { id, parents } of own.flatMap(({ candidates }) => candidates)) {
      for (const commit of [id, ...parents]) forms.expect(commit, request.ref);
    }
    searches.push(own);
  }
  const notes: ChangeNote[] = [];
  for (const [index, request] of requests.entries()) {
    const found = await causesOf(request, searches[index] ?? [], forms);
    notes.push(noteOf(request, await textsOf(found, commits)));
  }
  return notes;
}

/** Commits of a repository, each of which is read once: a commit that made a thousand flags is asked for by each of them. */
class Commits {
  readonly #repository: Repository;
  readonly #read = new Map<string, Promise<CommitText | null>>();

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  /** Null: it is not in this clone, or no name of a commit. */
  async textOf(id: string): Promise<CommitText | null> {
    const text = this.#read.get(id) ?? this.#readText(id);
    this.#read.set(id, text);
    return text;
  }

  async #readText(id: string): Promise<CommitText | null> {
    if (!/^[0-9a-f]{40,64}$/.test(id)) return null;
    const content = await this.#repository.objects.read(id);
    return content && parseCommit(id, content);
  }
}

/** Finds the candidates of a part; each stretch of history is read once. */
function searcher(
  commits: Commits,
  repository: Repository,
  head: string,
): (request: AttributionRequest, part: AttributedPart) => Promise<Search> {
  const logs = new Map<string, Promise<LoggedCommit[]>>();
  return async ({ ref, action }, part) => {
    const isNew = action === 'create' || action === 'activate';
    const { base, isDrift } = part;
    const isBaseHere = !isDrift && base !== null && (await commits.textOf(base)) !== null;
    const from = isBaseHere ? base : null;
    const log = logs.get(from ?? '') ?? readLog(repository, from, head);
    logs.set(from ?? '', log);
    return {
      part,
      candidates: (await log).filter(({ paths }) => paths.some((path) => mayShape(path, ref))),
      newestOnly: !isBaseHere && (isDrift || base !== null || !isNew),
    };
  };
}

/** Commits behind one change: hashes, newest first. */
interface Causes {
  readonly commits: readonly string[];
  /** The commit that a drift correction brings back. */
  readonly restored: string | undefined;
}

/** What was found of one request. */
interface CauseTexts {
  /** Newest first; fewer than `count` where there are very many. */
  readonly texts: readonly CommitText[];
  readonly count: number;
  readonly restored: CommitText | undefined;
}

const NO_CAUSES: CauseTexts = { texts: [], count: 0, restored: undefined };

async function causesOf(
  request: AttributionRequest,
  searches: readonly Search[],
  forms: SnapshotCache,
): Promise<Causes> {
  const commits = new Set<string>();
  const restored = new Set<string>();
  for (const { part, candidates, newestOnly } of searches) {
    // In sequence: where the newest is enough the older ones are never looked into.
    for (const candidate of candidates) {
      if (!(await changed(candidate, request, part, forms))) continue;
      (part.isDrift ? restored : commits).add(candidate.id);
      if (newestOnly) break;
    }
  }
  // The stretches of the parts all end at HEAD: the longest has the order of all of them.
  const longest = searches
    .map(({ candidates }) => candidates)
    .reduce((a, b) => (b.length > a.length ? b : a), []);
  const ordered = longest.map(({ id }) => id);
  const all = [...ordered, ...[...commits, ...restored].filter((id) => !ordered.includes(id))];
  return {
    commits: all.filter((id) => commits.has(id)),
    restored: all.find((id) => restored.has(id)),
  };
}

async function changed(
  { id, parents, paths }: LoggedCommit,
  { ref, reason }: AttributionRequest,
  part: AttributedPart,
  forms: SnapshotCache,
): Promise<boolean> {
  const object = objectId(ref);
  const after = await forms.snapshotOf(id, object);
  const before = await Promise.all(parents.map(async (parent) => forms.snapshotOf(parent, object)));
  const known = before.filter((form) => form !== UNKNOWN);
  if (after === UNKNOWN || known.length < before.length) {
    return paths.some((path) => isOwnFile(path, ref, reason));
  }
  // Before the first commit there was nothing.
  const earlier = known.length === 0 ? [undefined] : known;
  return earlier.every((form) => differs(form, after, part.paths));
}

async function textsOf({ commits: ids, restored }: Causes, commits: Commits): Promise<CauseTexts> {
  const textOf = async (id: string): Promise<CommitText> =>
    (await commits.textOf(id)) ?? parseCommit(id, Buffer.alloc(0));
  return {
    texts: await Promise.all(ids.slice(0, MAX_TEXTS).map(textOf)),
    count: ids.length,
    restored: restored === undefined ? undefined : await textOf(restored),
  };
}

function noteOf(request: AttributionRequest, { texts, count, restored }: CauseTexts): ChangeNote {
  const { id, action, reason, parts } = request;
  const fallback = `flagkeel: ${action} ${id}`;
  const correction = restored && correctionOf(request, restored);
  const [newest] = texts;
  if (restored && correction !== undefined && parts.every(({ isDrift }) => isDrift)) {
    const comment = restored.flagComment ?? paragraphOf(restored);
    return truncateNote(
      {
        title: titleWithEnd(`Correct drift of ${id}`, `, as of ${shortId(restored)}`),
        comment: `${correction}\n\n${comment}`,
      },
      fallback,
    );
  }
  const said = correction === undefined ? [] : [correction];
  if (newest === undefined) {
    const comment = [...said, `${fallback} (${reason})`].join('\n\n');
    return truncateNote({ title: fallback, comment }, fallback);
  }
  const flagTitle = texts.find((text) => text.flagTitle !== undefined)?.flagTitle;
  const flagComment = texts.find((text) => text.flagComment !== undefined)?.flagComment;
  const subject = cleanLine(newest.subject) || fallback;
  const comments = flagComment === undefined ? texts.map(paragraphOf) : [flagComment];
  return truncateNote(
    {
      title: flagTitle ?? titleWithMore(subject, count - 1),
      comment: [...said, ...comments].join('\n\n'),
    },
    fallback,
  );
}

/** What a comment says of the fields that were changed outside git alone; which ones, where others are written too. */
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

/**
 * Whether a change of this file could be a change of this object. Generous: the forms are compared afterwards.
 *
 * @param path relative to the config directory.
 */
function mayShape(path: string, ref: ObjectRef): boolean {
  if (path === 'flagkeel.yaml' || isOwnFile(path, ref)) return true;
  return plannedKind(ref.kind).files.mayShape(path, ref);
}

/** Whether the file is the object's own by its name: what is left to go by where forms cannot be compared. */
function isOwnFile(path: string, ref: ObjectRef, reason?: Reason): boolean {
  return plannedKind(ref.kind).files.isOwn(path, ref, reason);
}
