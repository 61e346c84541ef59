import { FlagkeelError } from '../errors.js';
import { mergeBase } from '../git/lineage.js';
import { type Git, runGit } from '../git/git.js';
import type { ObjectReader } from '../git/objects.js';
import { sameJson } from '../model/json.js';
import { EMPTY_TREE, type StateTree } from './codec.js';
import {
  type IsOlder,
  knownIn,
  type KnownState,
  mergeStates,
  NOTHING,
  type StateKey,
  treeOf,
} from './known-state.js';
import {
  type StateOrigin,
  fetchedName,
  stateHash,
  stateRefName,
  type StateRepository,
} from './repository.js';
import {
  lockFile,
  lockHolder,
  lockOnOrigin,
  lockRefName,
  type LockHolder,
  type LockLease,
  type OriginLock,
  type Release,
} from './locks.js';
import { readApplies, type LoggedApply } from './run-log.js';
import {
  changesBetween,
  commitOf,
  importLines,
  readRecord,
  readTree,
  StateCache,
  writeCommit,
} from './tree.js';

export interface StateReading extends KnownState {
  readonly commit: string | null;
}

/** What a write says beside the entries. Members that are left out stay as they are. */
export interface StateMeta extends Partial<Omit<KnownState, 'state' | 'head'>> {
  readonly head: string | null;
  readonly message: string;
  /** Replaces all content of the ref, which may be unreadable. */
  readonly afresh?: boolean;
  /** The message records writes to the service, so that it is committed even if the state did not change. */
  readonly isRecord?: boolean;
  /** The last write of the run, so that a shared state may free its lock in the same push. */
  readonly last?: boolean;
}

/** Why a state that should be shared if possible is not shared, or only in part. */
export interface NotShared {
  /** Whether the run could at least read the writes of other machines. */
  readonly isRead: boolean;
  readonly why: string;
}

export type StateHome = Omit<
  Pick<StateStore, keyof StateStore>,
  'isShared' | 'lockHolder' | 'breakLock'
>;

export interface Sharing {
  readonly origin: StateOrigin;
  /** Otherwise a failure to share is a warning. */
  readonly isRequired: boolean;
  readonly isOlder: IsOlder;
}

interface StoreOptions {
  readonly cache?: StateCache | undefined;
  readonly sharing?: Sharing | null;
  readonly notShared?: NotShared | null;
}

/** The refs of a state as they were last seen, and what they say together. */
interface Seen {
  /** Commits of the ref in our repository and on origin; the second is null for a state that is not shared. */
  readonly here: string | null;
  readonly there: string | null;
  /** Parent of the next commit: that of origin if it has one. */
  readonly tip: string | null;
  /** Files of the tip; null if a write replaces them whatever they are. */
  readonly tree: StateTree | null;
  readonly known: KnownState;
}

const NO_REF: Seen = { here: null, there: null, tip: null, tree: EMPTY_TREE, known: NOTHING };

/** Lost races after which a write gives up. */
const MAX_TRIES = 5;

/**
 * A chain of commits in a ref, each the whole state after an apply. The ref is in a repository on this machine, and on
 * `origin` too if other machines share the state. A write makes a commit and moves the refs to it, each only if it
 * still holds the commit that was seen there. A shared write that loses that race is merged with that of the other run,
 * and tried again; on one machine the kernel's lock keeps runs apart, and only a record can come in between.
 */
export class StateStore {
  readonly ref: string;
  readonly gitDir: string;
  /** Awaited before each write; if it rejects, nothing is written. */
  beforeWrite: () => Promise<void> = async () => Promise.resolve();
  readonly #repository: StateRepository;
  readonly #key: StateKey;
  readonly #cache: StateCache;
  readonly #sharing: Sharing | null;
  #notShared: NotShared | null;
  #lock: OriginLock | null = null;
  /** Commit of the ref on origin, as the lock found it; undefined if the lock did not, or the state was read since. */
  #lockedAt: string | undefined;
  #seen: Seen | null = null;
  /** The state that the caller knows. Other runs may have added to what was seen since. */
  #known = NOTHING;

  constructor(
    repository: StateRepository,
    key: StateKey,
    { cache = new StateCache(), sharing = null, notShared = null }: StoreOptions = {},
  ) {
    this.ref = stateRefName(key);
    this.gitDir = repository.gitDir;
    this.#repository = repository;
    this.#key = key;
    this.#cache = cache;
    this.#sharing = sharing;
    this.#notShared = notShared;
  }

  /**
   * Excludes other runs over the same ref: of this machine by a lock that the kernel takes back when its holder dies,
   * of other machines by a lock on origin that expires.
   *
   * @param timeoutMs 0 means a single try.
   * @param lease of the writing replica: on a shared ref, it takes over the lock of an earlier term.
   * @throws FlagkeelError `IN_USE` another run holds it still; `GIT` origin cannot be reached.
   */
  async lock(timeoutMs: number, signal?: AbortSignal, lease?: LockLease): Promise<Release> {
    const { workspaceId, origin: service, directory } = this.#key;
    await this.#repository.open();
    const name = `${stateHash(`${workspaceId}\n${service}`, directory)}.lock`;
    const release = await lockFile(this.gitDir, name, timeoutMs, signal);
    if (!this.#sharing || this.#notShared?.isRead === false) return release;
    try {
      const known = this.#seen?.there ?? (await this.#held());
      const options = { timeoutMs, signal, lease, known, gitDir: this.gitDir };
      const lock = await lockOnOrigin(this.#sharing.origin, this.ref, options);
      this.#lock = lock;
      this.#lockedAt = (lock.isKnownState ? known : null) ?? undefined;
      return async () => {
        this.#lock = null;
        try {
          await lock.release();
        } finally {
          release();
        }
      };
    } catch (error) {
      if (!this.#isBorne(error)) {
        release();
        throw error;
      }
      this.#notShared = { isRead: true, why: error.message };
      return release;
    }
  }

  /** Why other machines do not get the writes of this one, as far as known; null if they do, or the state is local. */
  notShared(): NotShared | null {
    return this.#notShared;
  }

  /** @throws FlagkeelError `STATE_UNREADABLE`, `GIT` */
  async read(): Promise<StateReading> {
    this.#seen = await this.#look();
    this.#known = this.#seen.known;
    return { ...this.#known, commit: this.#seen.tip };
  }

  /** Whether a write would make a commit, as far as the last reading shows. */
  wouldChange(next: KnownState['state'], meta: StateMeta): boolean {
    const { tree = EMPTY_TREE } = this.#seen ?? {};
    const after = treeOf({ ...this.#known, ...meta, state: next }, this.#key);
    return meta.isRecord === true || !isSameTree(tree, after);
  }

  /** HEAD that was applied last, as far as this machine knows. */
  async appliedHere(): Promise<string | null> {
    if (!(await this.#repository.exists())) return null;
    return this.#repository.reading(async (_, objects) => {
      const record = await readRecord(objects, this.ref).catch(() => null);
      return record?.head ?? null;
    });
  }

  /**
   * Commits all differences from the last reading, if there are any.
   *
   * @throws FlagkeelError `IN_USE` other runs moved the ref since it was read; `GIT`
   */
  async write(next: KnownState['state'], meta: StateMeta): Promise<void> {
    await this.beforeWrite();
    this.#sharing?.origin.mustFinish();
    const { message, afresh = false, isRecord = false, last = false, ...known } = meta;
    if (this.#seen === null && !afresh) await this.read();
    const before = afresh ? NOTHING : this.#known;
    const ours = { ...before, ...known, state: next };
    let seen = (afresh ? null : this.#seen) ?? (await this.#unread());
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const merged =
        seen.known === before || !this.#sharing
          ? ours
          : await mergeStates(before, ours, seen.known, this.#sharing.isOlder);
      const changes = changesBetween(seen.tree, treeOf(merged, this.#key));
      const lines = importLines(seen.tree === null, changes);
      const from = seen.tree === null ? await this.#present(seen.tip) : seen.tip;
      const made = { message, from, lines };
      const commit =
        lines.length > 0 || isRecord
          ? await writeCommit(await this.#repository.open(), made, 'write the state')
          : seen.tip;
      if (commit === null || (await this.#moved(commit, seen, last))) {
        if (commit !== null) this.#cache.trees.set(commit, changes.tree);
        const there = this.#sharing && commit;
        this.#seen = { here: commit, there, tip: commit, tree: changes.tree, known: merged };
        this.#known = ours;
        return;
      }
      seen = await this.#overtaken(seen);
    }
    const why = `other runs moved ${this.ref} of origin ${MAX_TRIES} times meanwhile (run again)`;
    throw new FlagkeelError('IN_USE', `cannot push the state: ${why}`);
  }

  async history(object: Parameters<typeof readApplies>[2], most?: number): Promise<LoggedApply[]> {
    const { tip } = this.#seen ?? (await this.#unread());
    return tip === null ? [] : readApplies(await this.#repository.open(), tip, object, most);
  }

  get isShared(): boolean {
    return this.#sharing !== null;
  }

  async lockHolder(): Promise<LockHolder | null> {
    return this.#sharing && lockHolder(this.#sharing.origin, this.ref);
  }

  /** Frees the lock on origin by force. @returns false if its holder changed meanwhile; the lock stays then. */
  async breakLock(holder: LockHolder): Promise<boolean> {
    if (!this.#sharing) return false;
    const move = { ref: lockRefName(this.ref), commit: null, expected: holder.commit };
    return this.#sharing.origin.move(move);
  }

  /** Moves the refs to a commit. @returns false if one of them held another commit than was seen there. */
  async #moved(commit: string, { here, there }: Seen, isLast: boolean): Promise<boolean> {
    if (commit !== here && !(await this.#movedHere(commit, here))) return false;
    if (!this.#sharing || commit === there || this.#notShared !== null) return true;
    const move = { ref: this.ref, commit, expected: there };
    try {
      const isFreed = isLast && (await this.#lock?.freeWith(move)) === true;
      return isFreed || (await this.#sharing.origin.move(move));
    } catch (error) {
      if (!this.#isBorne(error)) throw error;
      this.#notShared = { isRead: true, why: error.message };
      return true;
    }
  }

  async #movedHere(commit: string, from: string | null): Promise<boolean> {
    const args = ['update-ref', '--no-deref', this.ref, commit, from ?? '0'.repeat(commit.length)];
    const purpose = `move ${this.ref}`;
    try {
      await runGit(await this.#repository.open(), { args, purpose, writes: true });
      return true;
    } catch (error) {
      if ((await this.#held()) === from) throw error;
      return false;
    }
  }

  /** The state that a write which lost a race goes on from. */
  async #overtaken(lost: Seen): Promise<Seen> {
    const now = lost.tree === null ? await this.#unread() : await this.#look();
    if (this.#sharing || isSameTree(lost.tree, now.tree)) return now;
    const why = `another run moved ${this.ref} meanwhile (run again)`;
    throw new FlagkeelError('IN_USE', `cannot write the state: ${why}`);
  }

  async #look(): Promise<Seen> {
    if (!(await this.#repository.exists())) return NO_REF;
    return this.#repository.reading(async (git, objects) => {
      const { here, there, tip } = await this.#refs(git, objects);
      const from = { git, objects, ref: this.ref, cache: this.#cache };
      const treeAt = async (commit: string | null): Promise<StateTree> =>
        commit === null ? EMPTY_TREE : readTree(from, commit);
      const tree = await treeAt(tip);
      const known = knownIn(tree);
      if (!this.#sharing || here === null || there === null || here === there) {
        return { here, there, tip, tree, known };
      }
      // The ref here may hold a commit that was not pushed.
      const before = knownIn(await treeAt(await mergeBase(git, here, there)));
      const ours = knownIn(await treeAt(here));
      const both = await mergeStates(before, ours, known, this.#sharing.isOlder);
      return { here, there, tip, tree, known: both };
    });
  }

  /** The refs, without reading the files, which may be unreadable. */
  async #unread(): Promise<Seen> {
    if (!(await this.#repository.exists())) return NO_REF;
    const refs = await this.#repository.reading(async (git, objects) => this.#refs(git, objects));
    return { ...refs, tree: null, known: NOTHING };
  }

  async #refs(git: Git, objects: ObjectReader): Promise<Pick<Seen, 'here' | 'there' | 'tip'>> {
    const known = this.#lockedAt;
    this.#lockedAt = undefined;
    if (known === undefined) await this.#fetch();
    const here = await commitOf(git, objects, this.ref);
    const there = this.#sharing && (known ?? (await commitOf(git, objects, fetchedName(this.ref))));
    return { here, there, tip: there ?? here };
  }

  async #fetch(): Promise<void> {
    // A silent origin takes half a minute, so that a run asks it once.
    if (this.#notShared?.isRead === false) return;
    try {
      await this.#sharing?.origin.fetch(this.ref, fetchedName(this.ref));
    } catch (error) {
      if (!this.#isBorne(error)) throw error;
      // The last fetch is the best that is known of origin.
      this.#notShared = { isRead: false, why: error.message };
    }
  }

  /** Whether a run goes on although origin could not be reached, or refused. */
  #isBorne(error: unknown): error is FlagkeelError {
    const isRequired = this.#sharing?.isRequired ?? true;
    return !isRequired && error instanceof FlagkeelError && error.code === 'GIT';
  }

  /** The commit, unless a damaged repository lacks it or its tree: no commit can be made from it then. */
  async #present(commit: string | null): Promise<string | null> {
    if (commit === null) return null;
    return this.#repository.reading(async (_, objects) => {
      const tree = await objects.header(`${commit}^{tree}`);
      return tree && commit;
    });
  }

  async #held(): Promise<string | null> {
    return this.#repository.reading(async (git, objects) => commitOf(git, objects, this.ref));
  }
}

function isSameTree(one: StateTree | null, other: StateTree | null): boolean {
  if (one === null || other === null) return false;
  if (one.entries.size !== other.entries.size) return false;
  const isSame = [...other.entries].every(([key, entry]) => sameJson(one.entries.get(key), entry));
  return isSame && sameJson([...one.others], [...other.others]);
}
