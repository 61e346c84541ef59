import { objectId, type ObjectId, type ObjectRef } from '../model/object-id.js';
import type { Reason } from '../model/plan.js';
import type { Words } from '../model/run.js';
import type { Checkout, Repository } from './checkout.js';
import { parseCommit, type CommitText } from './commit-text.js';
import { commitTree } from './commit-tree.js';
import { FormCache, UNKNOWN, type FormsAt } from './forms.js';
import { readLog, type LoggedCommit } from './log.js';
import { isOwnFile, mayShape } from './touched-files.js';
import { cleanLine, fitWords, titleWithMore } from './words.js';

/** A change whose cause is asked for. */
export interface AttributionRequest {
  readonly id: ObjectId;
  readonly ref: ObjectRef;
  /** Commit of the object's base; null where it has none. */
  readonly base: string | null;
  /** What is done, for the title where no commit is found: `create`, `update`, … */
  readonly action: string;
  readonly reason: Reason;
  /** Of a drift correction: the commit whose spec comes back. HEAD where it is absent. */
  readonly restoredCommit?: string;
}

export interface AttributionOptions {
  /** Full hash of the commit that is applied; null where there is none. */
  readonly head: string | null;
  readonly requests: readonly AttributionRequest[];
  readonly formsAt: FormsAt;
  /** Commits whose specs are looked into, at most; 500 unless told. */
  readonly maxCommits?: number;
}

/** Where in history the cause of a request is looked for. */
interface Search {
  readonly from: string | null;
  readonly to: string;
  /** Whether the newest commit is enough, because older ones are not news to the service. */
  readonly newestOnly: boolean;
}

/** More commits than these say nothing in a comment of its size. */
const MAX_TEXTS = 100;
const SHORT_ID = 8;

/**
 * Title and comment for every request: the commits that changed this object between its base and HEAD.
 *
 * A commit changed an object when the object's form after it is another than before it, of a merge than in every
 * parent. Without a base, or with one that is not in this clone, only the newest such commit is named; a creation
 * names all. Where a form is unknown the object's own files decide.
 *
 * @throws FlaghoistError `GIT`
 */
export async function attribute(
  checkout: Checkout,
  options: AttributionOptions,
): Promise<ReadonlyMap<ObjectId, Words>> {
  const { repository } = checkout;
  const { head, requests, formsAt, maxCommits } = options;
  if (repository === null || head === null) {
    return new Map(requests.map((request) => [request.id, wordsOf(request, [], 0)]));
  }
  const treeOf = async (commit: string) => commitTree(checkout, commit);
  const forms = new FormCache(treeOf, formsAt, maxCommits);
  const logs = new Map<string, Promise<LoggedCommit[]>>();
  const candidates = new Map<AttributionRequest, LoggedCommit[]>();
  const searches = new Map<AttributionRequest, Search>();
  for (const request of requests) {
    // In sequence: most requests share their log, and git has one process for each that does not.
    const search = await searchFor(repository, request, head);
    const key = `${search.from ?? ''}..${search.to}`;
    const log = logs.get(key) ?? readLog(repository, search.from, search.to);
    logs.set(key, log);
    const touching = (await log).filter(({ paths }) =>
      paths.some((path) => mayShape(path, request.ref)),
    );
    for (const { id, parents } of touching) {
      for (const commit of [id, ...parents]) forms.expect(commit, request.ref);
    }
    searches.set(request, search);
    candidates.set(request, touching);
  }
  const words = new Map<ObjectId, Words>();
  for (const request of requests) {
    const newestOnly = searches.get(request)?.newestOnly === true;
    const found = await causes(request, candidates.get(request) ?? [], forms, newestOnly);
    const texts = await Promise.all(
      found.slice(0, MAX_TEXTS).map(async (id) => readText(repository, id)),
    );
    words.set(request.id, wordsOf(request, texts, found.length));
  }
  return words;
}

async function searchFor(
  repository: Repository,
  { base, reason, action, restoredCommit }: AttributionRequest,
  head: string,
): Promise<Search> {
  if (reason === 'drift') {
    const restored = restoredCommit ?? head;
    const to = (await isHere(repository, restored)) ? restored : head;
    return { from: null, to, newestOnly: true };
  }
  if (base === null) return { from: null, to: head, newestOnly: action !== 'create' };
  if (await isHere(repository, base)) return { from: base, to: head, newestOnly: false };
  return { from: null, to: head, newestOnly: true };
}

/** Of the candidates those that changed the object, newest first. */
async function causes(
  request: AttributionRequest,
  candidates: readonly LoggedCommit[],
  forms: FormCache,
  newestOnly: boolean,
): Promise<string[]> {
  const found: string[] = [];
  // In sequence: where the newest is enough the older ones are never looked into.
  for (const candidate of candidates) {
    if (!(await changed(candidate, request, forms))) continue;
    found.push(candidate.id);
    if (newestOnly) break;
  }
  return found;
}

async function changed(
  { id, parents, paths }: LoggedCommit,
  { ref, reason }: AttributionRequest,
  forms: FormCache,
): Promise<boolean> {
  const object = objectId(ref);
  const after = await forms.formOf(id, object);
  const before = await Promise.all(parents.map(async (parent) => forms.formOf(parent, object)));
  if (after === UNKNOWN || before.includes(UNKNOWN)) {
    return paths.some((path) => isOwnFile(path, ref, reason));
  }
  // Before the first commit there was nothing.
  if (before.length === 0) return after !== undefined;
  return before.every((form) => form !== after);
}

async function isHere({ objects }: Repository, commit: string): Promise<boolean> {
  return /^[0-9a-f]{40,64}$/.test(commit) && (await objects.read(commit)) !== null;
}

async function readText({ objects }: Repository, id: string): Promise<CommitText> {
  return parseCommit(id, (await objects.read(id)) ?? Buffer.alloc(0));
}

/** @param texts newest first; fewer than `count` where there are very many. */
function wordsOf(
  { id, action, reason }: AttributionRequest,
  texts: readonly CommitText[],
  count: number,
): Words {
  const fallback = `flaghoist: ${action} ${id}`;
  const [newest] = texts;
  if (newest === undefined) {
    return fitWords({ title: fallback, comment: `${fallback} (${reason})` }, fallback);
  }
  const flagTitle = texts.find((text) => text.flagTitle !== undefined)?.flagTitle;
  const flagComment = texts.find((text) => text.flagComment !== undefined)?.flagComment;
  const subject = cleanLine(newest.subject) || fallback;
  const comment = flagComment ?? texts.map(paragraphOf).join('\n\n');
  if (reason === 'drift') {
    return fitWords(
      {
        title: `Restore ${id}: ${flagTitle ?? subject}`,
        comment: `Drift correction: changed outside git, restored as of ${shortId(newest)}.\n\n${comment}`,
      },
      fallback,
    );
  }
  return fitWords({ title: flagTitle ?? titleWithMore(subject, count - 1), comment }, fallback);
}

function paragraphOf(text: CommitText): string {
  const line = `${shortId(text)} ${cleanLine(text.author)}: ${cleanLine(text.subject)}`;
  return text.body === '' ? line : `${line}\n${text.body}`;
}

function shortId({ id }: CommitText): string {
  return id.slice(0, SHORT_ID);
}
