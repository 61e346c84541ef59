import { FlagkeelError } from '../errors.js';
import { EMPTY_STATE, type State } from '../model/state.js';
import { isOlder, mergeBase, type Checkout } from '../git/checkout.js';
import type { NotShared, StateHome, StateHomeOptions } from './store.js';
import { readApplies } from './run-log.js';
import {
  breakLock,
  lockHolder,
  lockOnOrigin,
  type LockHolder,
  type LockLease,
  type OriginLock,
} from './remote-lock.js';
import { mergeRecords, mergeStates, type IsOlder, type RunRecords } from './ref-commit.js';
import { openStateOrigin, type StateOrigin } from './remote.js';
import { stateRepository } from './repository.js';
import {
  ORIGIN_REFS,
  STATE_REFS,
  StateRef,
  type StateMeta,
  type StateKey,
  type StateReading,
} from './ref-store.js';

/** The records that a write brings; those that it leaves out stay as they were. */
function recordsOf({ ramps, approvals, killsOf }: StateMeta): Partial<RunRecords> {
  return { ...(ramps && { ramps }), ...(approvals && { approvals }), ...(killsOf && { killsOf }) };
}

/** Lost races after which a write gives up. */
const MAX_TRIES = 5;
const NOTHING: StateReading = {
  state: EMPTY_STATE,
  head: null,
  commit: null,
  outOfSync: null,
  ramps: {},
  approvals: {},
  killsOf: null,
};

/**
 * A state that runs on other machines write too, through `origin`.
 *
 * A reading gives the state of origin: taking the lock shows whether the local copy is current, and otherwise it is
 * fetched. Every write is pushed, and only onto the commit that was read. A write that comes too late is merged with
 * the one of the other run, object by object, and tried again.
 */
export class SharedStateHome implements StateHome {
  readonly ref: string;
  readonly gitDir: string;
  readonly #home: StateHome;
  readonly #checkout: Checkout;
  readonly #origin: StateOrigin;
  readonly #local: StateRef;
  readonly #fetched: StateRef;
  readonly #isOlder: IsOlder;
  /** Whether a failure to share is an error instead of a warning. */
  readonly #isRequired: boolean;
  #notShared: NotShared | null = null;
  #lock: OriginLock | null = null;
  /** Commit of the state on origin when the lock was taken; undefined if it was not seen then, or was read since. */
  #lockedAt: string | undefined;
  #remote: StateReading = NOTHING;
  /** The parent of the next commit is in this ref: the local or the fetched one, whichever equals origin. */
  #onto: StateRef;
  /** The state that the caller knows. */
  #seen: Pick<StateReading, 'state'> & RunRecords = NOTHING;
  /** The present state, including the later writes of other runs. */
  #current: Omit<StateReading, 'commit'> = NOTHING;
  /** Objects that other runs left different while this one was under way. */
  #seenByOthers: StateReading['outOfSync'] = new Set();

  constructor(
    home: StateHome,
    origin: StateOrigin,
    { checkout, cache }: Pick<StateHomeOptions, 'checkout' | 'cache'>,
    place: StateKey,
    { isRequired = true }: { readonly isRequired?: boolean } = {},
  ) {
    this.#isRequired = isRequired;
    this.ref = home.ref;
    this.gitDir = home.gitDir;
    this.#home = home;
    this.#origin = origin;
    this.#checkout = checkout;
    this.#local = new StateRef(origin.git, home.ref, place, cache);
    this.#fetched = new StateRef(origin.git, fetchedName(home.ref), null, cache);
    this.#onto = this.#local;
    this.#isOlder = async (a, b) => isOlder(checkout, a, b);
  }

  async lock(
    timeoutMs: number,
    signal?: AbortSignal,
    lease?: LockLease,
  ): Promise<() => Promise<void>> {
    const release = await this.#home.lock(timeoutMs, signal);
    try {
      const known = await this.#local.commit();
      const lock = await lockOnOrigin(this.#origin, this.ref, { timeoutMs, signal, lease, known });
      this.#lock = lock;
      this.#lockedAt = (lock.isKnownState ? known : null) ?? undefined;
      return async () => {
        this.#lock = null;
        try {
          await lock.release();
        } finally {
          await release();
        }
      };
    } catch (error) {
      if (this.#isBorne(error)) {
        this.#notShared = { isRead: true, why: error.message };
        return async () => {
          await release();
        };
      }
      await release();
      throw error;
    }
  }

  notShared(): NotShared | null {
    return this.#notShared;
  }

  async read(): Promise<StateReading> {
    const at = this.#lockedAt;
    this.#lockedAt = undefined;
    const local = await this.#local.read(at);
    if (at === undefined) await this.#fetch();
    else this.#stands(local, this.#local);
    this.#current = await this.#joined(local);
    this.#seen = this.#current;
    return { ...this.#current, commit: this.#remote.commit ?? local.commit };
  }

  async write(next: State, meta: StateMeta): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const state = await mergeStates(this.#seen.state, next, this.#current.state, this.#isOlder);
      const { ramps, approvals, killsOf } = this.#seen;
      const own = { ramps, approvals, killsOf, ...recordsOf(meta) };
      const records = mergeRecords(this.#seen, own, this.#current);
      const head = await this.#newerHead(meta.head, this.#current.head);
      const listed = meta.outOfSync === undefined ? this.#current.outOfSync : meta.outOfSync;
      const outOfSync = union(listed, this.#seenByOthers);
      const commit = await this.#local.write(
        state,
        { ...meta, head, outOfSync, ...records },
        this.#onto,
      );
      if (await this.#pushed(commit, meta.last === true)) {
        const now = { state, head, outOfSync, ...records };
        this.#stands({ ...now, commit }, this.#local);
        this.#current = now;
        this.#seen = { state: next, ...own };
        return;
      }
      await this.#takeOver();
    }
    throw new FlagkeelError(
      'IN_USE',
      `cannot push the state: other runs moved ${this.ref} of origin ${MAX_TRIES} times meanwhile (run again)`,
    );
  }

  async history(...of: Parameters<StateHome['history']>): ReturnType<StateHome['history']> {
    const { commit } = await this.read();
    return commit === null ? [] : readApplies(this.#origin.git, commit, ...of);
  }

  /** The holder that the lock on origin names, even if the lock has expired; null if there is no lock. */
  async lockHolder(): Promise<LockHolder | null> {
    return lockHolder(this.#origin, this.ref);
  }

  /** Frees the lock on origin by force. @returns false if its holder changed meanwhile; the lock stays then. */
  async breakLock(holder: LockHolder): Promise<boolean> {
    return breakLock(this.#origin, this.ref, holder);
  }

  /**
   * @returns false if origin has another state than the parent of this commit. A commit that may stay local, and that
   * origin could not take, counts as pushed.
   */
  async #pushed(commit: string | null, isLast: boolean): Promise<boolean> {
    const { commit: expected } = this.#remote;
    if (commit === null || commit === expected || this.#notShared !== null) return true;
    const move = { ref: this.ref, commit, expected };
    try {
      return (
        (isLast && (await this.#lock?.freeWith(move)) === true) || (await this.#origin.move(move))
      );
    } catch (error) {
      if (!this.#isBorne(error)) throw error;
      this.#notShared = { isRead: true, why: error.message };
      return true;
    }
  }

  /** Whether a run goes on although origin could not be reached, or refused. */
  #isBorne(error: unknown): error is FlagkeelError {
    return !this.#isRequired && error instanceof FlagkeelError && error.code === 'GIT';
  }

  /** Merges the changes of another run, which was faster, into the state that is written. */
  async #takeOver(): Promise<void> {
    const before = this.#remote;
    await this.#fetch();
    const state = await mergeStates(
      before.state,
      this.#current.state,
      this.#remote.state,
      this.#isOlder,
    );
    const head = await this.#newerHead(this.#current.head, this.#remote.head);
    this.#seenByOthers = union(this.#seenByOthers, this.#remote.outOfSync);
    const records = mergeRecords(before, this.#current, this.#remote);
    this.#current = { state, head, outOfSync: this.#current.outOfSync, ...records };
  }

  async #fetch(): Promise<void> {
    try {
      await this.#origin.fetch([{ ref: this.ref, into: this.#fetched.name }]);
    } catch (error) {
      if (!this.#isBorne(error)) throw error;
      // The last fetch is the best that is known of origin.
      this.#notShared = { isRead: false, why: error.message };
    }
    const remote = await this.#fetched.read();
    this.#stands(remote, remote.commit === null ? this.#local : this.#fetched);
  }

  #stands(remote: StateReading, onto: StateRef): void {
    this.#remote = remote;
    this.#onto = onto;
  }

  /** Merges the local state, which may hold a commit that was not pushed, with that of origin. */
  async #joined(local: StateReading): Promise<StateReading> {
    if (local.commit === null || local.commit === this.#remote.commit) return this.#remote;
    if (this.#remote.commit === null) return local;
    const parted = await this.#commonReading(local.commit, this.#remote.commit);
    const state = await mergeStates(parted.state, local.state, this.#remote.state, this.#isOlder);
    const head = await this.#newerHead(local.head, this.#remote.head);
    const outOfSync = union(local.outOfSync, this.#remote.outOfSync);
    const records = mergeRecords(parted, local, this.#remote);
    return { state, head, commit: this.#remote.commit, outOfSync, ...records };
  }

  async #commonReading(a: string, b: string): Promise<StateReading> {
    const common = await mergeBase(this.#origin.git, a, b);
    return common === null ? NOTHING : new StateRef(this.#origin.git, common).read();
  }

  async #newerHead(a: string | null, b: string | null): Promise<string | null> {
    if (a === null || b === null) return a ?? b;
    return (await isOlder(this.#checkout, a, b)) ? b : a;
  }
}

/** null if either is unknown. */
function union(
  some: StateReading['outOfSync'],
  others: StateReading['outOfSync'],
): StateReading['outOfSync'] {
  return some === null || others === null ? null : new Set([...some, ...others]);
}

function fetchedName(ref: string): string {
  return ref.replace(STATE_REFS, ORIGIN_REFS);
}

export type SharedPlace = Omit<StateHomeOptions, 'environments'> & Pick<StateKey, 'environments'>;

/**
 * Wraps the state of a home so that runs on other machines share it.
 *
 * @param options with `isRequired`, the default, a failure to share is an error.
 * @throws FlagkeelError `GIT` the checkout has no origin.
 */
export async function shareState(
  home: StateHome,
  place: SharedPlace,
  options: { readonly isRequired?: boolean } = {},
): Promise<SharedStateHome> {
  const { checkout, stateDir, git, workspaceId, workspaceName, directory, environments } = place;
  const { origin: service } = place;
  const repository = await stateRepository(checkout, stateDir);
  if (!repository) throw new Error('bug: a state without a home is shared');
  const origin = await openStateOrigin(checkout.repository, repository, git);
  const key = { workspaceId, workspaceName, origin: service, directory, environments };
  return new SharedStateHome(home, origin, place, key, options);
}
