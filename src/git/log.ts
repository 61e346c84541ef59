import { withoutApiKeys } from '../model/audit-note.js';
import type { Repository, Checkout } from './checkout.js';
import { headerOf } from './lineage.js';
import { type Git, runGit } from './git.js';

export interface LoggedCommit {
  readonly id: string;
  readonly parents: readonly string[];
  /** Relative to the config directory. For a merge, only files that differ from every parent. */
  readonly paths: readonly string[];
}

/** Commits to read at most, the newest ones. */
export const MAX_LOGGED = 2_000;

const FOLDERS = ['flagkeel.yaml', 'flags', 'segments', 'identities', 'kills'];

/** Line of a commit among the paths: hash and parents. Paths never match, as they start with the prefix or a folder. */
const COMMIT = /^\u0001([0-9a-f]{40,64}) ([0-9a-f ]*)$/;

/**
 * Commits with changes to files that shape objects, reachable from `to` and not from `from`, children before parents.
 *
 * @param from null means from the beginning.
 * @param line `first-parents` lists only the commits of the branch itself, with each merge as one commit.
 */
export async function readLog(
  repository: Repository,
  from: string | null,
  to: string,
  line: 'all' | 'first-parents' = 'all',
): Promise<LoggedCommit[]> {
  const merges =
    line === 'all' ? ['--diff-merges=combined'] : ['--first-parent', '--diff-merges=first-parent'];
  const output = await logOf(repository, {
    options: ['--topo-order', '--format=tformat:%x01%H %P', '--name-only', ...merges],
    most: MAX_LOGGED,
    revisions: [to, ...(from === null ? [] : [`^${from}`])],
    paths: FOLDERS,
    purpose: `read the history of ${to}`,
  });
  return parseLog(output, repository.prefix).filter(({ paths }) => paths.length > 0);
}

interface LogQuestion {
  readonly options: readonly string[];
  readonly most: number;
  readonly revisions: readonly string[];
  /** Relative to the config directory. */
  readonly paths: readonly string[];
  readonly purpose: string;
}

/** The output of `git log -z` over some paths; no setting of the repository changes its form. */
async function logOf(
  { git, prefix }: Repository,
  { options, most, revisions, paths, purpose }: LogQuestion,
): Promise<string> {
  const form = ['--no-renames', '--no-textconv', '--no-ext-diff', '--no-color'];
  return runGit(git, {
    args: [
      ...['--literal-pathspecs', 'log', '-z', ...form, '--no-show-signature', ...options],
      ...[`--max-count=${String(most)}`, '--end-of-options', ...revisions],
      ...['--', ...paths.map((path) => prefix + path)],
    ],
    purpose,
  });
}

function parseLog(output: string, prefix: string): LoggedCommit[] {
  const commits: { id: string; parents: string[]; paths: string[] }[] = [];
  for (const token of output.split('\0')) {
    const [, id, parents] = COMMIT.exec(token) ?? [];
    if (id !== undefined) {
      commits.push({
        id,
        parents: (parents ?? '').split(' ').filter((parent) => parent !== ''),
        paths: [],
      });
      continue;
    }
    const path = token.replace(/^\n/, '');
    if (path.startsWith(prefix) && path !== '')
      commits.at(-1)?.paths.push(path.slice(prefix.length));
  }
  return commits;
}

/** Commits to read for the ages of files. Older files count as added by the oldest of these. */
const MAX_AGED = 20_000;

/**
 * When files were first added and last changed, by commits reachable from HEAD, as UTC days: path relative to the
 * config directory → days. A moved file counts as new, and merges are ignored. Empty without a commit.
 *
 * @param folder a folder of the config directory, for example `flags`.
 */
export async function fileAges(
  { repository, head }: Pick<Checkout, 'repository' | 'head'>,
  folder: string,
): Promise<ReadonlyMap<string, { readonly addedOn: string; readonly changedOn: string }>> {
  if (repository === null || head === null) return new Map();
  const { prefix } = repository;
  const output = await logOf(repository, {
    options: ['--name-only', '--no-merges', '--format=tformat:%x01%ct'],
    most: MAX_AGED,
    revisions: [head],
    paths: [folder],
    purpose: 'read the ages of files',
  });
  const ages = new Map<string, { addedOn: string; changedOn: string }>();
  let day = '';
  for (const token of output.split('\0')) {
    const [, seconds] = /^\u0001(\d+)$/.exec(token) ?? [];
    const path = token.replace(/^\n/, '').slice(prefix.length);
    if (seconds !== undefined) day = new Date(Number(seconds) * 1000).toISOString().slice(0, 10);
    // The log starts with the newest commit: the first one with a path changed it last.
    else if (path !== '')
      ages.set(path, { changedOn: ages.get(path)?.changedOn ?? day, addedOn: day });
  }
  return ages;
}

/**
 * Names of files that commits reachable from HEAD removed, with the UTC day of the removal: files that are gone, and
 * those that came back later with another content. A move to another folder is no removal. Merges are ignored.
 *
 * @param folder see `fileAges`.
 */
export async function removedNames(
  { repository, head }: Pick<Checkout, 'repository' | 'head'>,
  folder: string,
): Promise<ReadonlyMap<string, string>> {
  if (repository === null || head === null) return new Map();
  const listing = ['--raw', '--no-abbrev', '--no-merges', '--diff-filter=AD'];
  const output = await logOf(repository, {
    options: [...listing, '--topo-order', '--reverse', '--format=tformat:%x01%ct'],
    most: MAX_AGED,
    revisions: [head],
    paths: [folder],
    purpose: 'read which files were removed',
  });
  const removed = new Map<string, string>();
  const gone = new Map<string, string>();
  for (const commit of fileActsIn(output)) noteActs(commit, removed, gone);
  return removed;
}

/** The files that one commit added and deleted: name of the file → content. */
interface FileActs {
  readonly day: string;
  readonly added: ReadonlyMap<string, string>;
  readonly deleted: ReadonlyMap<string, string>;
}

/** `:old-mode new-mode old-blob new-blob A`, behind the line feed that ends a commit's own line. */
const RAW = /^\n?:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) ([AD])$/;

/** @param output of `git log -z --raw`: for each commit its time, then for each file its change and its path. */
function fileActsIn(output: string): FileActs[] {
  const commits: { day: string; added: Map<string, string>; deleted: Map<string, string> }[] = [];
  const tokens = output.split('\0');
  for (const [at, token] of tokens.entries()) {
    const [, seconds] = /^\u0001(\d+)$/.exec(token) ?? [];
    if (seconds !== undefined) {
      const day = new Date(Number(seconds) * 1000).toISOString().slice(0, 10);
      commits.push({ day, added: new Map(), deleted: new Map() });
    }
    const [, before = '', after = '', act] = RAW.exec(token) ?? [];
    const name = (tokens[at + 1] ?? '').split('/').at(-1) ?? '';
    if (act === 'A') commits.at(-1)?.added.set(name, after);
    if (act === 'D') commits.at(-1)?.deleted.set(name, before);
  }
  return commits;
}

/** @param gone names without a file at present, with the last content of each. */
function noteActs(
  { day, added, deleted }: FileActs,
  removed: Map<string, string>,
  gone: Map<string, string>,
): void {
  for (const [name, content] of added) {
    // An equal content means the same flag, for example after a revert.
    if (gone.get(name) === content) removed.delete(name);
    gone.delete(name);
  }
  for (const [name, content] of deleted) {
    if (added.has(name)) continue;
    gone.set(name, content);
    removed.set(name, day);
  }
}

export interface CommitSummary {
  /** Full hash. */
  readonly commit: string;
  /** Untrusted text. */
  readonly subject: string;
  /** ISO 8601. */
  readonly committedAt: string;
}

const MAX_SUBJECT = 200;

/** @throws FlagkeelError `GIT` there is no such commit here. */
export async function commitIn({ repository }: Checkout, commit: string): Promise<CommitSummary> {
  if (repository === null) throw new Error(`bug: commit ${commit} asked of files without git`);
  return summaryOf(repository.git, commit);
}

/**
 * The newest commits reachable from HEAD that touched one of these files, newest first; none before the first commit.
 *
 * @param paths relative to the config directory.
 */
export async function newestCommits(
  { repository, head }: Pick<Checkout, 'repository' | 'head'>,
  paths: readonly string[],
  most: number,
): Promise<readonly { readonly id: string; readonly subject: string }[]> {
  if (repository === null || head === null) return [];
  const answer = await logOf(repository, {
    options: ['--format=tformat:%H %s'],
    most,
    revisions: [head],
    paths,
    purpose: 'read the newest commits of a file',
  });
  return answer.split('\0').flatMap((text) => {
    const [, id, subject = ''] = /^([0-9a-f]{40,64}) (.*)$/.exec(text) ?? [];
    return id === undefined ? [] : [{ id, subject: subject.slice(0, MAX_SUBJECT) }];
  });
}

/**
 * @param revision hash, or full name of a ref.
 * @throws FlagkeelError `GIT` there is no such commit here.
 */
export async function summaryOf(git: Git, revision: string): Promise<CommitSummary> {
  const form = ['--max-count=1', '--no-show-signature', '--format=tformat:%H%n%cI%n%s'];
  const answer = await runGit(git, {
    args: ['log', ...form, '--end-of-options', revision, '--'],
    purpose: `read commit ${revision}`,
  });
  const [commit = revision, committedAt = '', subject = ''] = answer.split('\n');
  return { commit, committedAt, subject: subject.slice(0, MAX_SUBJECT) };
}

/** Texts of a commit, from the object as git stores it, without Admin API keys. Untrusted, not yet cleaned. */
export interface CommitText {
  readonly id: string;
  /** Name only, so that no mail address reaches the service. */
  readonly author: string;
  readonly subject: string;
  /** Text after the subject, without our own trailers. */
  readonly body: string;
  readonly flagTitle?: string;
  readonly flagComment?: string;
}

/** Longest part of a message to read; commits may hold messages of any size. */
const MAX_BYTES = 64 * 1024;

const TRAILER = /^([A-Za-z0-9][A-Za-z0-9-]*)[ \t]*:(.*)$/;

export function parseCommit(id: string, object: Buffer): CommitText {
  const end = object.indexOf('\n\n');
  const encoding = /^encoding (.+)$/m.exec(headerOf(object))?.[1] ?? 'utf-8';
  const text = withoutApiKeys(decode(object.subarray(0, Math.max(end, 0) + MAX_BYTES), encoding));
  const message = end === -1 ? '' : text.slice(text.indexOf('\n\n') + 2);
  const author = /^author (.*) <[^\n]*$/m.exec(text.slice(0, text.indexOf('\n\n')))?.[1];
  const [subject = '', ...rest] = message
    .replace(/\r\n?/g, '\n')
    .trim()
    .split(/\n[^\S\n]*\n+/);
  const trailers = takeTrailers(rest);
  return {
    id,
    author: author?.trim() === undefined || author.trim() === '' ? 'unknown' : author.trim(),
    subject,
    body: trailers.body,
    ...trailers.own,
  };
}

/**
 * Trailers are the last paragraphs in which every line is a trailer or continues one. There may be several paragraphs,
 * because forges add their own (`Co-authored-by:`) after an empty line.
 */
function takeTrailers(paragraphs: readonly string[]): {
  body: string;
  own: Pick<CommitText, 'flagTitle' | 'flagComment'>;
} {
  let first = paragraphs.length;
  while (first > 0 && isTrailers(paragraphs[first - 1] ?? '')) first -= 1;
  const kept = paragraphs.slice(0, first);
  const found = new Map<string, string>();
  for (const paragraph of paragraphs.slice(first)) {
    const others: string[] = [];
    for (const trailer of paragraph.replace(/\n[^\S\n]+/g, ' ').split('\n')) {
      const [, name = '', value = ''] = TRAILER.exec(trailer) ?? [];
      const key = name.toLowerCase();
      if (key !== 'flag-title' && key !== 'flag-comment') others.push(trailer);
      else if (value.trim() !== '') found.set(key, value.trim());
    }
    if (others.length > 0) kept.push(others.join('\n'));
  }
  const flagTitle = found.get('flag-title');
  const flagComment = found.get('flag-comment');
  return {
    body: kept.join('\n\n'),
    own: {
      ...(flagTitle === undefined ? {} : { flagTitle }),
      ...(flagComment === undefined ? {} : { flagComment }),
    },
  };
}

function isTrailers(paragraph: string): boolean {
  const lines = paragraph.split('\n');
  return lines.every(
    (line, index) =>
      TRAILER.test(line) ||
      line.startsWith('(cherry picked from') ||
      (index > 0 && /^\s/.test(line)),
  );
}

function decode(bytes: Buffer, encoding: string): string {
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    // A commit may name an unknown encoding.
    return bytes.toString('utf8');
  }
}
