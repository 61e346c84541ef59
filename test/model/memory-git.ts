import { createHash } from 'node:crypto';
import type { Checkout, Repository } from '../../src/git/checkout.js';
import { GitCache } from '../../src/git/cache.js';
import { Lineage } from '../../src/git/lineage.js';
import { openGit } from '../../src/git/git.js';
import type { ObjectReader } from '../../src/git/objects.js';
import type { Source } from '../../src/git/spec-source.js';
import type { SpecTree, TreeEntry } from '../../src/model/spec-tree.js';

/**
 * Git from memory: one line of commits, each with the whole text of its files. What the program asks of git it asks as
 * ever; in the project of these tests the library behind the door is this file, which knows the two commands that are left.
 */

/** Path → text. */
export type Files = Readonly<Record<string, string>>;

export interface Commit {
  readonly id: string;
  readonly parent: Commit | null;
  readonly files: Files;
  readonly entries: readonly TreeEntry[];
  readonly subject: string;
  /** How many commits there are up to this one. */
  readonly number: number;
}

const commits = new Map<string, Commit>();
const blobs = new Map<string, Buffer>();
const treesOf = new WeakMap<
  Files,
  { readonly entries: readonly TreeEntry[]; readonly id: string }
>();

function named(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

/**
 * The same commit for the same parent, files, subject and mark.
 *
 * @param mark tells commits apart that are alike in all that can be asked of them.
 */
export function commitOf(parent: Commit | null, files: Files, subject: string, mark = 0): Commit {
  const tree = treesOf.get(files) ?? treeOf(files);
  treesOf.set(files, tree);
  const id = named(JSON.stringify([parent?.id ?? null, tree.id, subject, mark]));
  const known = commits.get(id);
  if (known) return known;
  const { entries } = tree;
  const commit = { id, parent, files, entries, subject, number: (parent?.number ?? 0) + 1 };
  commits.set(id, commit);
  return commit;
}

function treeOf(files: Files): { readonly entries: readonly TreeEntry[]; readonly id: string } {
  const entries = Object.keys(files)
    .sort()
    .map((path): TreeEntry => {
      const content = Buffer.from(files[path] ?? '');
      const blobId = named(`blob ${content.toString()}`);
      blobs.set(blobId, content);
      return { path, type: 'file', sizeBytes: content.length, blobId };
    });
  return { entries, id: named(JSON.stringify(files)) };
}

/**
 * What was asked of commits: `text` (and which one it follows), `changes` (the paths that it changes, and which one it follows), `files` (the
 * text of all), `paths` (the names of all), or the path of one file.
 */
export type Asked = Map<Commit, Set<string>>;

let asked: Asked | null = null;

/** Runs with a list of all that is asked of commits on the way; one at a time. The files of what is checked out are told for `sourceAt` alone. */
export async function listing<T>(run: () => Promise<T>): Promise<{ done: T; asked: Asked }> {
  const list: Asked = new Map();
  asked = list;
  try {
    return { done: await run(), asked: list };
  } finally {
    asked = null;
  }
}

function tell(commit: Commit, what: string): void {
  if (!asked) return;
  const known = asked.get(commit) ?? new Set();
  known.add(what);
  asked.set(commit, known);
}

export function commitAt(id: string): Commit {
  const found = commits.get(id);
  if (!found) throw new Error(`no commit ${id}`);
  return found;
}

function isBeforeOrAt(a: string, b: string): boolean {
  const then = commits.get(a);
  let now: Commit | null = commits.get(b) ?? null;
  while (now && then && now.number > then.number) now = now.parent;
  return then !== undefined && now === then;
}

/** Trees and ancestors are known without a question. */
function knownCommits(): GitCache {
  const treeAt = (commit: string): readonly TreeEntry[] | undefined => {
    const found = commits.get(commit);
    if (found) tell(found, 'files');
    return found?.entries;
  };
  const lineage = Object.assign(new Lineage(), { has: isBeforeOrAt });
  return Object.assign(new GitCache(), { lineage, treeAt });
}

const objects = {
  read: async (id: string) => Promise.resolve(contentOf(id)),
  header: async (name: string) => {
    const id = name.replace('^{commit}', '');
    // That a commit is there says nothing of its text.
    const sizeBytes = commits.has(id) ? 0 : contentOf(id)?.length;
    return Promise.resolve(sizeBytes === undefined ? null : { id, sizeBytes });
  },
  close: async () => Promise.resolve(),
};

function contentOf(id: string): Buffer | null {
  const commit = commits.get(id);
  if (!commit) return blobs.get(id) ?? null;
  tell(commit, 'text');
  const parents = commit.parent ? [`parent ${commit.parent.id}`] : [];
  const person = 'Ana <ana@example.com> 1767225600 +0000';
  const header = [`tree ${'0'.repeat(40)}`, ...parents, `author ${person}`, `committer ${person}`];
  return Buffer.from(`${header.join('\n')}\n\n${commit.subject}\n\nWhy: ${commit.subject}.\n`);
}

let repository: Repository | undefined;

/** Made at the first use: the library's place is taken by this file, which git's own files may load before they are whole. */
function theRepository(): Repository {
  return (repository ??= {
    root: '/small',
    gitDir: '/dev/null/small',
    prefix: '',
    git: openGit('/small'),
    // The class has private members, and nothing of it but these three is ever called.
    objects: objects as unknown as ObjectReader,
    memory: knownCommits(),
    ours: async () => Promise.resolve(openGit('/small')),
  });
}

/**
 * What a run reads where this commit is checked out.
 *
 * @param tells whether it is listed which of the files are asked for; otherwise all count as read.
 */
export function sourceAt(commit: Commit, tells = false): Source {
  const checkout: Checkout = {
    directory: '/small',
    repository: theRepository(),
    head: commit.id,
    shallow: false,
    close: async () => Promise.resolve(),
  };
  const tree: SpecTree = tells
    ? tellingTree(commit)
    : {
        list: () => commit.entries,
        read: async (path) => Promise.resolve(Buffer.from(commit.files[path] ?? '')),
      };
  return {
    tree,
    checkout,
    revision: { commit: commit.id, dirty: false },
    warnings: [],
    [Symbol.asyncDispose]: async () => Promise.resolve(),
  };
}

function tellingTree(commit: Commit): SpecTree {
  return {
    list: () => {
      tell(commit, 'paths');
      return commit.entries.map((entry) => ({
        path: entry.path,
        get type() {
          tell(commit, entry.path);
          return entry.type;
        },
        get sizeBytes() {
          tell(commit, entry.path);
          return entry.sizeBytes;
        },
        get blobId() {
          tell(commit, entry.path);
          return entry.blobId ?? '';
        },
      }));
    },
    read: async (path) => {
      tell(commit, path);
      return Promise.resolve(Buffer.from(commit.files[path] ?? ''));
    },
  };
}

/**
 * In place of the library: `git log` with the names of the files, newest first, as `src/git/log.ts` asks for it, and the
 * names of all files of a commit, as removals ask for those of other directories.
 */
export function simpleGit(): unknown {
  const library = {
    env: () => library,
    raw: async (args: readonly string[]) =>
      Promise.resolve(args.includes('ls-tree') ? namesOf(args) : logOf(args)),
  };
  return library;
}

function namesOf(args: readonly string[]): string {
  const commit = commitAt(args.at(-1) ?? '');
  tell(commit, 'paths');
  return commit.entries.map(({ path }) => `${path}\0`).join('');
}

function logOf(args: readonly string[]): string {
  const end = args.indexOf('--end-of-options');
  const to = args[end + 1] ?? '';
  const from = args[end + 2]?.startsWith('^') === true ? args[end + 2]?.slice(1) : undefined;
  if (!args.includes('log') || !args.includes('--name-only'))
    throw new Error(`git ${args.join(' ')}`);
  const told: string[] = [];
  for (let commit: Commit | null = commitAt(to); commit; commit = commit.parent) {
    if (from !== undefined && isBeforeOrAt(commit.id, from)) break;
    tell(commit, 'changes');
    const changed = changesOf(commit);
    if (changed.length === 0) continue;
    const { id, parent } = commit;
    told.push(`\u0001${id} ${parent?.id ?? ''}`, `\n${changed[0] ?? ''}`, ...changed.slice(1));
  }
  return told.map((each) => `${each}\0`).join('');
}

/** Paths of the files that a commit has otherwise than the one before it. */
export function changesOf({ parent, files }: Commit): string[] {
  const before = parent?.files ?? {};
  const paths = [...new Set([...Object.keys(before), ...Object.keys(files)])].sort();
  return paths.filter((path) => before[path] !== files[path]);
}
