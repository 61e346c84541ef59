import { withoutApiKeys } from '../model/audit-note.js';
import { present } from '../model/collections.js';
import { SPEC_FOLDERS } from '../model/ref.js';
import { SHAPING_PATHS } from '../model/spec-tree.js';
import type { Repository, Checkout } from './checkout.js';
import { headerOf, personIn } from './lineage.js';
import { type Git, runGit } from './git.js';

export interface LoggedCommit {
  readonly id: string;
  readonly parents: readonly string[];
  /** Relative to the config directory. For a merge, only files that differ from every parent. */
  readonly paths: readonly string[];
}

export const MAX_LOGGED = 2_000;

/**
 * Commits with changes to files that shape objects, reachable from `to` and not from `from`, children before parents.
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
    paths: SHAPING_PATHS,
    purpose: `read the history of ${to}`,
  });
  const { prefix } = repository;
  const commits = commitsIn(output).map(({ head, lines }): LoggedCommit => {
    const [id = '', ...parents] = head.trim().split(' ');
    const inside = lines.filter((path) => path.startsWith(prefix));
    return { id, parents, paths: inside.map((path) => path.slice(prefix.length)) };
  });
  return commits.filter(({ paths }) => paths.length > 0);
}

interface LogQuestion {
  readonly options: readonly string[];
  readonly most: number;
  readonly revisions: readonly string[];
  readonly paths: readonly string[];
  readonly purpose: string;
}

/** No setting of the repository changes the form of the output. */
async function logOf(
  { git, prefix }: Repository,
  { options, most, revisions, paths, purpose }: LogQuestion,
): Promise<string> {
  const form = ['--no-renames', '--no-textconv', '--no-ext-diff', '--no-color'];
  const log = ['--literal-pathspecs', 'log', '-z', ...form, '--no-show-signature', ...options];
  const range = [`--max-count=${String(most)}`, '--end-of-options', ...revisions];
  const args = [...log, ...range, '--', ...paths.map((path) => prefix + path)];
  return runGit(git, { args, purpose });
}

/** No path begins like this, because it starts with the prefix or a folder. */
const HEAD = /^\u0001([0-9a-f ]+)$/;

/** The commits of a log whose format is `%x01` and hashes or a time; `lines` is all that follows about its files. */
function commitsIn(output: string): { readonly head: string; readonly lines: string[] }[] {
  const commits: { head: string; lines: string[] }[] = [];
  for (const token of output.split('\0')) {
    const [, head] = HEAD.exec(token) ?? [];
    const line = token.replace(/^\n/, '');
    if (head !== undefined) commits.push({ head, lines: [] });
    else if (line !== '') commits.at(-1)?.lines.push(line);
  }
  return commits;
}

function dayOf(seconds: string): string {
  return new Date(Number(seconds) * 1000).toISOString().slice(0, 10);
}

type CheckedOut = Pick<Checkout, 'repository' | 'head'>;

/** Commits to read for the ages of files. Older files count as added by the oldest of these. */
const MAX_AGED = 20_000;

/** The commits that changed files of flags, with their times; none without a commit. */
async function logOfFlags(
  { repository, head }: CheckedOut,
  listing: readonly string[],
  purpose: string,
): Promise<ReturnType<typeof commitsIn>> {
  if (repository === null || head === null) return [];
  const output = await logOf(repository, {
    options: [...listing, '--no-merges', '--format=tformat:%x01%ct'],
    most: MAX_AGED,
    revisions: [head],
    paths: [SPEC_FOLDERS.flag.folder],
    purpose,
  });
  return commitsIn(output);
}

/**
 * When files of flags were first added and last changed, by commits reachable from HEAD, as UTC days: path relative to
 * the config directory → days. A moved file counts as new, and merges are ignored.
 */
export async function fileAges(
  checkout: CheckedOut,
): Promise<ReadonlyMap<string, { readonly addedOn: string; readonly changedOn: string }>> {
  const { prefix = '' } = checkout.repository ?? {};
  const log = await logOfFlags(checkout, ['--name-only'], 'read the ages of files');
  const ages = new Map<string, { addedOn: string; changedOn: string }>();
  // The log starts with the newest commit: the first one with a path changed it last.
  for (const { head: time, lines } of log) {
    const addedOn = dayOf(time);
    for (const line of lines) {
      const path = line.slice(prefix.length);
      ages.set(path, { changedOn: ages.get(path)?.changedOn ?? addedOn, addedOn });
    }
  }
  return ages;
}

/**
 * Names of files of flags that commits reachable from HEAD removed, with the UTC day of the removal: files that
 * are gone, and those that came back later with another content. A move to another folder is no removal.
 */
export async function removedNames(checkout: CheckedOut): Promise<ReadonlyMap<string, string>> {
  const listing = ['--raw', '--no-abbrev', '--diff-filter=AD', '--topo-order', '--reverse'];
  const log = await logOfFlags(checkout, listing, 'read which files were removed');
  const removed = new Map<string, string>();
  /** Names without a file at present, with the last content of each. */
  const gone = new Map<string, string>();
  for (const { head: time, lines } of log) {
    const { added, deleted } = actsIn(lines);
    for (const [name, content] of added) {
      // An equal content means the same flag, for example after a revert.
      if (gone.get(name) === content) removed.delete(name);
      gone.delete(name);
    }
    for (const [name, content] of deleted) {
      if (added.has(name)) continue;
      gone.set(name, content);
      removed.set(name, dayOf(time));
    }
  }
  return removed;
}

/** `:old-mode new-mode old-blob new-blob A` */
const RAW = /^:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) ([AD])$/;

function actsIn(lines: readonly string[]): {
  readonly added: ReadonlyMap<string, string>;
  readonly deleted: ReadonlyMap<string, string>;
} {
  const added = new Map<string, string>();
  const deleted = new Map<string, string>();
  for (let at = 0; at + 1 < lines.length; at += 2) {
    const [, before = '', after = '', act] = RAW.exec(lines[at] ?? '') ?? [];
    const name = lines[at + 1]?.split('/').at(-1) ?? '';
    if (act === 'A') added.set(name, after);
    if (act === 'D') deleted.set(name, before);
  }
  return { added, deleted };
}

export interface CommitSummary {
  readonly commit: string;
  /** Untrusted text. */
  readonly subject: string;
  /** ISO 8601, UTC. */
  readonly committedAt: string;
}

const MAX_SUBJECT = 200;

/** A commit may claim any time; later ones have no form in ISO 8601. */
const YEAR_9999_S = Date.parse('9999-12-31T23:59:59Z') / 1_000;

/** @throws FlagkeelError `GIT` there is no such commit here. */
export async function commitIn({ repository }: Checkout, commit: string): Promise<CommitSummary> {
  if (repository === null) throw new Error(`bug: commit ${commit} asked of files without git`);
  return summaryOf(repository.git, commit);
}

export async function newestCommits(
  { repository, head }: CheckedOut,
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

/** @param revision hash, or full name of a ref. @throws FlagkeelError `GIT` there is no such commit here. */
export async function summaryOf(git: Git, revision: string): Promise<CommitSummary> {
  const form = ['--max-count=1', '--no-show-signature', '--format=tformat:%H%n%ct%n%s'];
  const answer = await runGit(git, {
    args: ['log', ...form, '--end-of-options', revision, '--'],
    purpose: `read commit ${revision}`,
  });
  const [commit = revision, seconds, subject = ''] = answer.split('\n');
  const committedAt = new Date(Math.min(Number(seconds), YEAR_9999_S) * 1_000).toISOString();
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
  const [subject = '', ...rest] = message
    .replace(/\r\n?/g, '\n')
    .trim()
    .split(/\n[^\S\n]*\n+/);
  const trailers = takeTrailers(rest);
  return {
    id,
    author: personIn(text.slice(0, text.indexOf('\n\n')), 'author') ?? 'unknown',
    subject,
    body: trailers.body,
    ...trailers.own,
  };
}

/**
 * Trailers are the last paragraphs in which every line is a trailer or continues one. There may be several, because
 * forges add their own (`Co-authored-by:`) after an empty line.
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
  const [flagTitle, flagComment] = ['flag-title', 'flag-comment'].map((key) => found.get(key));
  return { body: kept.join('\n\n'), own: present({ flagTitle, flagComment }) };
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
