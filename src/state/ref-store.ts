import { keyOf } from '../model/ref.js';
import { FlagkeelError } from '../errors.js';
import { sameJson, sha256, sortedSet } from '../model/json.js';
import type { RampRecords, State, StateEntry, UsedApprovals } from '../model/state.js';
import { StateCache } from './cache.js';
import { exitCodeOf, type Git, runGit } from '../git/git.js';
import { writeCommit } from '../git/write-commit.js';
import { ObjectReader } from '../git/objects.js';
import { changesBetween, contentOf, importLines, treeAfter } from './ref-commit.js';
import type { RunRecords } from './ref-commit.js';
import {
  encodeName,
  parseRunFile,
  RUN_FILE,
  EMPTY_TREE,
  stateTree,
  unreadable,
  type StateContent,
  type StateTree,
} from './codec.js';

/** A ref with more files is refused: flagkeel writes no such state, but anyone who can push may have. */
const MAX_FILES = 100_000;
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_TOTAL_BYTES = 512 * 1024 * 1024;

/** Files to hold the texts of at the same time. */
const AT_ONCE = 256;
/** Most written files that are parsed again at once for the next reading. */
const MANY = 1_000;

/** Content of a state ref at one of its commits. */
export interface StateReading {
  readonly state: State;
  /** HEAD of the config repository that was applied last. */
  readonly head: string | null;
  /** Commit of the state ref; null before the first. */
  readonly commit: string | null;
  /**
   * `KIND/NAME` of objects that runs left different on the service. null if no run recorded them: none has ended, or an
   * older version wrote the state.
   */
  readonly outOfSync: ReadonlySet<string> | null;
  readonly ramps: RampRecords;
  readonly approvals: UsedApprovals;
  /** The commit whose kills were sent last, all of them; null while no run has sent any. */
  readonly killsOf: string | null;
}

/** Identifies a state: a workspace of a service, and a config directory. */
export interface StateKey {
  readonly workspaceId: string;
  readonly origin: string;
  readonly directory: string;
  readonly workspaceName?: string | undefined;
  /** Environment id → name. */
  readonly environments?: Readonly<Record<string, string>> | undefined;
}

export interface StateMeta {
  /** HEAD that was applied. */
  readonly head: string | null;
  /** A subject line; after an empty line the body, which `git log` shows. */
  readonly message: string;
  /** See `StateReading`. Default: unchanged; likewise the next three. */
  readonly outOfSync?: ReadonlySet<string> | null;
  readonly ramps?: RampRecords;
  readonly approvals?: UsedApprovals;
  readonly killsOf?: string | null;
  /** Replaces all content of the ref, which may be unreadable. */
  readonly afresh?: boolean;
  /** The message records writes to the service, so that it is committed even if the state did not change. */
  readonly isRecord?: boolean;
  /** The last write of the run, so that a shared state may free its lock in the same push. */
  readonly last?: boolean;
}

interface Tip {
  readonly commit: string | null;
  readonly tree: StateTree;
  /** Whether the tree was read from the commit, and is not only equal to it. */
  readonly isRead: boolean;
}

const NOTHING: Tip = { commit: null, tree: EMPTY_TREE, isRead: true };

/**
 * @param directory the config directory seen from the top of its repository, forward slashes, empty for the top.
 */
export function stateRefName(workspaceId: string, origin: string, directory: string): string {
  const workspace = encodeName(workspaceId).replaceAll('.', '%2E');
  return `refs/flagkeel/${workspace}/${stateHash(origin, directory)}`;
}

export const STATE_REFS = 'refs/flagkeel/';
/** Prefix of the local refs that hold the state refs of `origin`. */
export const ORIGIN_REFS = 'refs/flagkeel-origin/';

/** Full names of all state refs of a repository, sorted. */
export async function listStateRefs(git: Git, prefix = STATE_REFS): Promise<string[]> {
  const answer = await runGit(git, {
    args: ['for-each-ref', '--format=%(refname)', prefix],
    purpose: 'list the states',
  });
  return answer.split('\n').filter((name) => name !== '');
}

export function stateHash(origin: string, directory: string): string {
  return sha256(`${origin}\n${directory}`).slice(0, 8);
}

/**
 * One state ref of one repository: a chain of commits, each the whole state after an apply.
 *
 * A write follows the last reading, and is refused if the ref has moved since. Every further write is refused as well,
 * until the ref is read again.
 */
export class StateRef {
  readonly name: string;
  readonly #git: Git;
  readonly #place: StateKey | null;
  readonly #cache: StateCache;
  readonly #objects: ObjectReader | null;
  #tip: Tip | null = null;

  /**
   * @param place key of the state, for writes; a ref that is only read needs none.
   * @param objects an open reader of the same repository. Default: each reading opens one.
   */
  constructor(
    git: Git,
    name: string,
    place: StateKey | null = null,
    cache: StateCache = new StateCache(),
    objects: ObjectReader | null = null,
  ) {
    this.#git = git;
    this.name = name;
    this.#place = place;
    this.#cache = cache;
    this.#objects = objects;
  }

  /** The key that the state records for itself; null if it has none. */
  async readKey(): Promise<StateKey | null> {
    try {
      const file = `${this.name}:${RUN_FILE}`;
      const size = await runGit(this.#git, {
        args: ['cat-file', '-s', file],
        purpose: `read ${this.name}`,
      });
      if (Number(size) > MAX_FILE_BYTES) return null;
      const content = await runGit(this.#git, {
        args: ['cat-file', 'blob', file],
        purpose: `read ${this.name}`,
      });
      const { workspace, origin, directory, ...names } = parseRunFile(content);
      if (origin === undefined || directory === undefined) return null;
      const { workspaceName, environments } = names;
      return { workspaceId: workspace, workspaceName, origin, directory, environments };
    } catch {
      // A broken ref that was pushed must not block the valid states.
      return null;
    }
  }

  /** The commit that the ref holds; null if there is no such ref. */
  async commit(): Promise<string | null> {
    if (this.#objects) return (await this.#objects.header(`${this.name}^{commit}`))?.id ?? null;
    try {
      const answer = await runGit(this.#git, {
        args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${this.name}^{commit}`],
        purpose: `read ${this.name}`,
      });
      return answer.trim();
    } catch (error) {
      if (exitCodeOf(error) === null) throw error;
      return null;
    }
  }

  /**
   * @param at the commit that the ref was just seen to hold, to save a request to git.
   * @throws FlagkeelError `STATE_UNREADABLE`, `GIT`
   */
  async read(at?: string | null): Promise<StateReading> {
    const tip = await this.#readTip(at);
    this.#tip = tip;
    const { entries: state } = tip.tree;
    return { state, commit: tip.commit, outOfSync: listedIn(tip.tree), ...recordIn(tip.tree) };
  }

  /**
   * Commits all differences; makes no commit if there are none and the message is no record. Follows mere records that
   * others added meanwhile.
   *
   * @param onto another ref, whose reading the commit follows instead of this one.
   * @returns the commit that the ref holds now; null if there is no ref and nothing was to be written.
   * @throws FlagkeelError `IN_USE` the ref moved since it was read; `GIT`
   */
  async write(next: State, meta: StateMeta, onto: StateRef = this): Promise<string | null> {
    if (this.#place === null) throw new Error(`bug: ${this.name} was opened to be read`);
    const { afresh = false, isRecord = false, head, message } = meta;
    const own = afresh ? null : (this.#tip ?? (await this.#readTip()));
    const from = own === null ? await this.commit() : own.commit;
    const unknown = { commit: from, tree: null, isRead: true };
    const parent = onto === this ? (own ?? unknown) : (onto.#tip ?? NOTHING);
    const { workspaceId: workspace, ...place } = this.#place;
    const outOfSync = meta.outOfSync === undefined ? listedIn(own?.tree) : meta.outOfSync;
    const listed = outOfSync === null ? {} : { outOfSync: sortedSet(outOfSync) };
    const before = recordIn(own?.tree);
    const { ramps = before.ramps, approvals = before.approvals, killsOf = before.killsOf } = meta;
    const known = {
      ...(!isEmpty(ramps) && { ramps }),
      ...(!isEmpty(approvals) && { approvals }),
      ...(killsOf !== null && { killsOf }),
    };
    const tree = stateTree(next, { head, workspace, ...place, ...listed, ...known });
    const changes = changesBetween(parent.tree, tree);
    const lines = importLines(parent.tree === null, changes);
    const commit =
      lines.length === 0 && !isRecord
        ? await this.#follow(parent.commit, from)
        : await this.#commitAfter(parent.commit, { message, lines, from, isOwn: onto === this });
    const isRead = parent.isRead && changes.written.size <= MANY;
    this.#tip = { commit, tree: isRead ? treeAfter(parent.tree, tree, changes) : tree, isRead };
    if (commit !== null && isRead) this.#cache.keepTree(commit, this.#tip.tree);
    return commit;
  }

  /**
   * Moves the ref to the commit of another ref: in a fresh clone the ref does not exist yet.
   *
   * @param from the commit that the ref was seen to hold.
   */
  async #follow(commit: string | null, from: string | null): Promise<string | null> {
    if (commit === null) return null;
    let held = from;
    while (held !== commit) {
      const moved = await this.#moveTo(commit, held);
      if (moved === null) break;
      held = moved;
    }
    return commit;
  }

  /**
   * Makes a commit and moves the ref to it.
   *
   * @param from the commit that the ref was seen to hold.
   * @param isOwn whether the parent belongs to this ref, and not to another one that it follows.
   */
  async #commitAfter(
    parent: string | null,
    {
      message,
      lines,
      from,
      isOwn,
    }: { message: string; lines: readonly string[]; from: string | null; isOwn: boolean },
  ): Promise<string> {
    const held = { parent, from };
    for (;;) {
      const made = { message, from: held.parent, lines };
      const commit = await writeCommit(this.#git, made, 'write the state');
      const moved = await this.#moveTo(commit, held.from);
      if (moved === null) return commit;
      held.from = moved;
      if (isOwn) held.parent = moved;
    }
  }

  /**
   * @returns null if the ref moved; otherwise the commit that the ref holds instead, with the same state as `from`.
   * @throws FlagkeelError `IN_USE` another run wrote another state there.
   */
  async #moveTo(commit: string, from: string | null): Promise<string | null> {
    const old = from ?? '0'.repeat(commit.length);
    try {
      const args = ['update-ref', '--no-deref', this.name, commit, old];
      await runGit(this.#git, { args, purpose: `move ${this.name}`, writes: true });
      return null;
    } catch (error) {
      const now = await this.commit();
      if (now === from) throw error;
      if (now !== null && from !== null && (await this.#isSameTree(now, from))) return now;
      throw new FlagkeelError(
        'IN_USE',
        `cannot write the state: another run moved ${this.name} meanwhile (run again)`,
        { cause: error },
      );
    }
  }

  async #isSameTree(...commits: readonly string[]): Promise<boolean> {
    const answer = await runGit(this.#git, {
      args: ['rev-parse', ...commits.map((each) => `${each}^{tree}`)],
      purpose: `compare states of ${this.name}`,
    }).catch(() => '');
    const [first, second] = answer.split('\n');
    return first !== '' && first === second;
  }

  async #readTip(at?: string | null): Promise<Tip> {
    const commit = at === undefined ? await this.commit() : at;
    if (commit === null) return NOTHING;
    const known = this.#cache.treeAt(commit);
    const tree = known ?? (await this.#treeAt(commit));
    this.#cache.keepTree(commit, tree);
    return { commit, tree, isRead: true };
  }

  async #treeAt(commit: string): Promise<StateTree> {
    const listing = await runGit(this.#git, {
      args: ['ls-tree', '-r', '-z', '-l', '--full-tree', '--end-of-options', commit],
      purpose: `list the files of ${this.name}`,
    });
    const lines = listing.split('\0').flatMap(parseLine);
    checkSizes(lines, this.name);
    const objects = this.#objects ?? new ObjectReader(this.#git);
    try {
      const entries = new Map<string, StateEntry>();
      const others = new Map<string, string>();
      for (let from = 0; from < lines.length; from += AT_ONCE) {
        const some = lines.slice(from, from + AT_ONCE);
        const contents = await Promise.all(some.map(async (line) => this.#content(line, objects)));
        for (const [at, content] of contents.entries()) {
          if (typeof content === 'string') others.set(some[at]?.path ?? '', content);
          else entries.set(keyOf(content.kind, content.name), content);
        }
      }
      return { entries, others };
    } finally {
      if (objects !== this.#objects) await objects.close();
    }
  }

  async #content({ path, blobId }: Line, objects: ObjectReader): Promise<StateContent> {
    const known = this.#cache.entries.get(path);
    if (known?.blobId === blobId) return known.entry;
    const content = await objects.read(blobId);
    if (content === null) throw unreadable(path, 'is not in this repository');
    const found = contentOf(path, content.toString('utf8'));
    if (typeof found === 'string') return found;
    const before = this.#cache.lastTree()?.entries.get(keyOf(found.kind, found.name));
    // Entries that this process wrote need no parsing.
    const entry =
      before !== undefined && sameJson(before, found) ? before : this.#cache.intern(found);
    this.#cache.entries.set(path, { blobId, entry });
    return entry;
  }
}

function isEmpty(record: object): boolean {
  return Object.keys(record).length === 0;
}

/** The record of the run as a whole. */
function recordIn(tree: StateTree | undefined): RunRecords & Pick<StateReading, 'head'> {
  const record = tree?.others.get(RUN_FILE);
  if (record === undefined) return { head: null, ramps: {}, approvals: {}, killsOf: null };
  const { head, ramps = {}, approvals = {}, killsOf = null } = parseRunFile(record);
  return { head, ramps, approvals, killsOf };
}

function listedIn(tree: StateTree | undefined): ReadonlySet<string> | null {
  const record = tree?.others.get(RUN_FILE);
  const listed = record === undefined ? undefined : parseRunFile(record).outOfSync;
  return listed === undefined ? null : new Set(listed);
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
