import { BoundedMap } from '../platform/bounded-map.js';
import { FlagkeelError } from '../errors.js';
import { exitCodeOf, type Git, runGit } from '../git/git.js';
import type { ObjectReader } from '../git/objects.js';
import type { Desired } from '../model/desired.js';
import type { Definition } from '../model/flag/flag.js';
import { sameJson } from '../model/json.js';
import { keyOf } from '../model/ref.js';
import type { StateEntry, Base } from '../model/state.js';
import {
  entryPath,
  fileText,
  parseEntryFile,
  parseRunFile,
  RUN_FILE,
  unreadable,
  type RunRecord,
  type StateContent,
  type StateTree,
} from './codec.js';

/** A ref with more files is refused: flagkeel writes no such state, but anyone who can push may have. */
const MAX_FILES = 100_000;
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_TOTAL_BYTES = 512 * 1024 * 1024;

/** Files to hold the texts of at the same time. */
const AT_ONCE = 256;

interface ReadFrom {
  readonly git: Git;
  readonly objects: ObjectReader;
  readonly ref: string;
  readonly cache: StateCache;
}

/** The files of a state at one of its commits. @throws FlagkeelError `STATE_UNREADABLE`, `GIT` */
export async function readTree(
  { git, objects, ref, cache }: ReadFrom,
  commit: string,
): Promise<StateTree> {
  const known = cache.trees.get(commit);
  if (known !== undefined) return known;
  const listing = await runGit(git, {
    args: ['ls-tree', '-r', '-z', '-l', '--full-tree', '--end-of-options', commit],
    purpose: `list the files of ${ref}`,
  }).catch((error: unknown) => {
    if (exitCodeOf(error) === null) throw error;
    throw unreadable(ref, `names commit ${commit}, of which parts are missing here`, error);
  });
  const lines = listing.split('\0').flatMap(parseLine);
  checkSizes(lines, ref);
  const entries = new Map<string, StateEntry>();
  const others = new Map<string, string>();
  for (let from = 0; from < lines.length; from += AT_ONCE) {
    const some = lines.slice(from, from + AT_ONCE);
    const contents = await Promise.all(some.map(async (line) => readContent(line, objects, cache)));
    for (const [at, content] of contents.entries()) {
      if (typeof content === 'string') others.set(some[at]?.path ?? '', content);
      else entries.set(keyOf(content.kind, content.name), content);
    }
  }
  if (entries.size === 0 && !others.has(RUN_FILE)) {
    throw unreadable(ref, `names commit ${commit}, which is no state`);
  }
  const tree = { entries, others };
  cache.trees.set(commit, tree);
  return tree;
}

/**
 * The commit that a ref names, which a damaged repository may lack; null if there is no such ref.
 *
 * @throws FlagkeelError `STATE_UNREADABLE`, `GIT`
 */
export async function commitOf(
  git: Git,
  objects: ObjectReader,
  ref: string,
): Promise<string | null> {
  const found = await objects.header(`${ref}^{commit}`);
  if (found !== null) return found.id;
  // `git cat-file` says the same of a missing ref and of one whose commit is missing.
  const args = ['for-each-ref', '--format=%(objectname)', ref];
  const listed = (await runGit(git, { args, purpose: `read ${ref}` })).trim();
  if (listed === '' && (await isBroken(git, ref))) {
    const why = `the file of "${ref}" in the git directory names no commit (remove that file, then flagkeel state rebuild)`;
    throw new FlagkeelError('STATE_UNREADABLE', `cannot read the state: ${why}`);
  }
  return listed || null;
}

/** `git for-each-ref` skips a damaged ref. `git symbolic-ref` ends with 1 for a ref that is whole, or not there. */
async function isBroken(git: Git, ref: string): Promise<boolean> {
  const args = ['symbolic-ref', '--quiet', ref];
  try {
    await runGit(git, { args, purpose: `read ${ref}`, allowedExitCodes: [0, 1] });
    return false;
  } catch (error) {
    if (exitCodeOf(error) === null) throw error;
    return true;
  }
}

/** null if there is no such ref, or no record in it. @throws FlagkeelError `STATE_UNREADABLE`, `GIT` */
export async function readRecord(objects: ObjectReader, ref: string): Promise<RunRecord | null> {
  const file = await objects.header(`${ref}:${RUN_FILE}`);
  if (file === null || file.sizeBytes > MAX_FILE_BYTES) return null;
  const content = await objects.read(file.id);
  return content && parseRunFile(content.toString('utf8'));
}

async function readContent(
  { path, blobId }: Line,
  objects: ObjectReader,
  cache: StateCache,
): Promise<StateContent> {
  const known = cache.entries.get(path);
  if (known?.blobId === blobId) return known.entry;
  const content = await objects.read(blobId);
  if (content === null) throw unreadable(path, 'is not in this repository');
  const text = content.toString('utf8');
  if (!path.startsWith('objects/')) return text;
  const found = parseEntryFile(path, text);
  const before = [...cache.trees.values()].at(-1)?.entries.get(keyOf(found.kind, found.name));
  // Entries that this process wrote need no parsing.
  const entry = before !== undefined && sameJson(before, found) ? before : cache.intern(found);
  cache.entries.set(path, { blobId, entry });
  return entry;
}

interface Line {
  readonly path: string;
  readonly blobId: string;
  readonly sizeBytes: number;
}

function parseLine(line: string): Line[] {
  const tab = line.indexOf('\t');
  if (tab === -1) return [];
  const path = line.slice(tab + 1);
  const [mode, , blobId = '', size] = line.slice(0, tab).split(/ +/);
  if (mode !== '100644') throw unreadable(path, 'is no plain file');
  return [{ path, blobId, sizeBytes: Number(size) }];
}

function checkSizes(lines: readonly Line[], ref: string): void {
  const large = lines.find(({ sizeBytes }) => sizeBytes > MAX_FILE_BYTES);
  if (large !== undefined)
    throw unreadable(large.path, `is larger than ${String(MAX_FILE_BYTES)} bytes`);
  const total = lines.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (lines.length > MAX_FILES || total > MAX_TOTAL_BYTES) throw unreadable(ref, 'is too large');
}

export interface StateChanges {
  /** Path → new text. */
  readonly written: ReadonlyMap<string, string>;
  readonly gone: readonly string[];
  /** The tree that the next reading finds. Unchanged files keep their parsed content. */
  readonly tree: StateTree;
}

/** @param before null if it is unknown: all files count as changed then. */
export function changesBetween(before: StateTree | null, after: StateTree): StateChanges {
  const written = new Map<string, string>();
  const entries = new Map<string, StateEntry>();
  for (const [key, entry] of after.entries) {
    const known = before?.entries.get(key);
    const isKnown = known !== undefined && sameJson(known, entry);
    entries.set(key, isKnown ? known : writtenEntry(entry, written));
  }
  for (const [path, text] of after.others) {
    if (before?.others.get(path) !== text) written.set(path, text);
  }
  const gone = [...(before?.entries ?? [])].flatMap(([key, entry]) =>
    entries.has(key) ? [] : [entryPath(entry)],
  );
  for (const path of before?.others.keys() ?? []) if (!after.others.has(path)) gone.push(path);
  return { written, gone, tree: { entries, others: after.others } };
}

function writtenEntry(entry: StateEntry, written: Map<string, string>): StateEntry {
  const path = entryPath(entry);
  const text = fileText(entry);
  written.set(path, text);
  return parseEntryFile(path, text);
}

/** As commands of `git fast-import`. @param isAfresh removes all present files first, because they are unknown. */
export function importLines(isAfresh: boolean, { written, gone }: StateChanges): string[] {
  return [
    ...(isAfresh ? ['deleteall'] : []),
    ...[...written].flatMap(([path, text]) => [`M 100644 inline ${path}`, importData(text)]),
    ...gone.map((path) => `D ${quoted(path)}`),
  ];
}

/** Our own paths need no quotes, but others may have pushed paths that do. */
function quoted(path: string): string {
  const escaped = path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}

export interface CommitToMake {
  readonly message: string;
  readonly from: string | null;
  readonly lines: readonly string[];
}

/**
 * Makes a commit and leaves no ref behind, because only `update-ref` and `push` compare the commit that they replace.
 *
 * @throws FlagkeelError `GIT`
 */
export async function writeCommit(
  git: Git,
  { message, from, lines }: CommitToMake,
  purpose: string,
): Promise<string> {
  const scratch = 'refs/flagkeel-scratch';
  const stream = [
    `commit ${scratch}`,
    'mark :1',
    'committer flagkeel <flagkeel@localhost> now',
    importData(`${message}\n`),
    ...(from === null ? [] : [`from ${from}`]),
    ...lines,
    'get-mark :1',
    `reset ${scratch}`,
    '',
    'done',
    '',
  ].join('\n');
  const answer = await runGit(git, {
    args: ['fast-import', '--quiet', '--done', '--date-format=now', '--force'],
    purpose,
    writes: true,
    input: stream,
  });
  return answer.trim();
}

function importData(text: string): string {
  return `data ${String(Buffer.byteLength(text))}\n${text}`;
}

/** For the runs of one process over one config directory. Its keys are git's hashes, so nothing can be out of date. */
export class StateCache {
  /** Path in the tree of the state → blob and parsed entry. */
  readonly entries = new Map<string, { readonly blobId: string; readonly entry: StateEntry }>();
  /** Maps each newly parsed entry to an equal one that may share values with the specs, to save memory. */
  intern: (entry: StateEntry) => StateEntry = (entry) => entry;
  /** By commits of a state ref: the one that was read, and the one written since. */
  readonly trees = new BoundedMap<string, StateTree>(2);
}

/**
 * Replaces the bases of an entry by the equal definitions of the specs, and equal names of commits by one text, to save
 * memory: among ten thousand flags nearly all bases equal the specs. The content of the entry does not change.
 */
export function internBases({ flags }: Desired): (entry: StateEntry) => StateEntry {
  const commits = new Map<string | null, string | null>();
  const held = (commit: string | null): string | null => {
    if (!commits.has(commit)) commits.set(commit, commit);
    return commits.get(commit) ?? null;
  };
  return (entry) => {
    if (entry.kind !== 'flag') return entry;
    const flag = flags.get(entry.name);
    if (flag === undefined) return entry;
    const definitions = [...flag.environments.values()];
    const shared = (base: Base<Definition>): Base<Definition> => {
      const same = definitions.find(({ fields }) => sameJson(fields, base.spec));
      return same === undefined ? base : { ...base, commit: held(base.commit), spec: same.fields };
    };
    const bases = Object.entries(entry.environments).map(([id, base]) => [id, shared(base)]);
    return { ...entry, environments: Object.fromEntries(bases) as typeof entry.environments };
  };
}
