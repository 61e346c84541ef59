import { FlaghoistError } from '../errors.js';
import { EMPTY_STATE, type State } from '../model/state.js';
import { isOlder, mergeBase, type Checkout } from './checkout.js';
import type { StateHome, StateHomeOptions } from './state-home.js';
import { readApplies } from './state-log.js';
import { mergeStates, type IsOlder } from './state-merge.js';
import {
  breakLock,
  lockHolder,
  lockOnOrigin,
  type LockHolder,
  type LockLease,
  type OriginLock,
} from './state-origin-lock.js';
import { openStateOrigin, type StateOrigin } from './state-origin.js';
import { stateRepository } from './state-repository.js';
import {
  ORIGIN_REFS,
  STATE_REFS,
  StateRef,
  type StateMeta,
  type StatePlace,
  type StateReading,
} from './state-ref.js';

/** Races that one write may lose before it gives up. */
const MAX_TRIES = 5;
const NOTHING: StateReading = { state: EMPTY_STATE, head: null, commit: null };

/**
 * A state that runs on other machines write too, through `origin`.
 *
 * What is read is what origin has: taking the lock says whether that is what is known here, otherwise it is fetched.
 * Every write is pushed, only over what was read. A write that comes too late is merged object by object with what the
 * other run wrote, and tried again.
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
  #lock: OriginLock | null = null;
  /** What origin was seen to have when the lock was taken, until it is read; undefined: nothing was seen. */
  #lockedAt: string | undefined;
  #remote: StateReading = NOTHING;
  /** The one of both whose reading origin has: what is written next follows it. */
  #onto: StateRef;
  /** What the caller takes for the state. */
  #seen: State = EMPTY_STATE;
  /** What the state is, with what other runs wrote since. */
  #current: { readonly state: State; readonly head: string | null } = NOTHING;

  constructor(home: StateHome, origin: StateOrigin, checkout: Checkout, place: StatePlace) {
    this.ref = home.ref;
    this.gitDir = home.gitDir;
    this.#home = home;
    this.#origin = origin;
    this.#checkout = checkout;
    const memory = checkout.repository?.memory;
    this.#local = new StateRef(origin.git, home.ref, place, memory);
    this.#fetched = new StateRef(origin.git, fetchedName(home.ref), null, memory);
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
      await release();
      throw error;
    }
  }

  async read(): Promise<StateReading> {
    const at = this.#lockedAt;
    this.#lockedAt = undefined;
    const local = await this.#local.read(at);
    if (at === undefined) await this.#fetch();
    else this.#stands(local, this.#local);
    this.#current = await this.#joined(local);
    this.#seen = this.#current.state;
    return { ...this.#current, commit: this.#remote.commit ?? local.commit };
  }

  async write(next: State, meta: StateMeta): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const state = await mergeStates(this.#seen, next, this.#current.state, this.#isOlder);
      const head = await this.#newerHead(meta.head, this.#current.head);
      const commit = await this.#local.write(state, { ...meta, head }, this.#onto);
      if (await this.#pushed(commit, meta.last === true)) {
        this.#stands({ state, head, commit }, this.#local);
        this.#current = { state, head };
        this.#seen = next;
        return;
      }
      await this.#takeOver();
    }
    throw new FlaghoistError(
      'IN_USE',
      `cannot push the state: other runs moved ${this.ref} of origin ${MAX_TRIES} times meanwhile (run again)`,
    );
  }

  async history(...of: Parameters<StateHome['history']>): ReturnType<StateHome['history']> {
    const { commit } = await this.read();
    return commit === null ? [] : readApplies(this.#origin.git, commit, ...of);
  }

  /** Who holds the lock on origin; null: nobody. */
  async lockHolder(): Promise<LockHolder | null> {
    return lockHolder(this.#origin, this.ref);
  }

  /** Frees the lock on origin. @returns false: its holder changed meanwhile, and it stays. */
  async breakLock(holder: LockHolder): Promise<boolean> {
    return breakLock(this.#origin, this.ref, holder);
  }

  /** @returns false: origin has another state than the one that this was written on. */
  async #pushed(commit: string | null, isLast: boolean): Promise<boolean> {
    const { commit: expected } = this.#remote;
    if (commit === null || commit === expected) return true;
    const move = { ref: this.ref, commit, expected };
    return (isLast && (await this.#lock?.freeWith(move)) === true) || this.#origin.move(move);
  }

  /** Another run was faster: what it changed becomes a part of what we write on. */
  async #takeOver(): Promise<void> {
    const before = this.#remote;
    await this.#fetch();
    const state = await mergeStates(
      before.state,
      this.#current.state,
      this.#remote.state,
      this.#isOlder,
    );
    this.#current = { state, head: await this.#newerHead(this.#current.head, this.#remote.head) };
  }

  async #fetch(): Promise<void> {
    await this.#origin.fetch([{ ref: this.ref, into: this.#fetched.name }]);
    const remote = await this.#fetched.read();
    this.#stands(remote, remote.commit === null ? this.#local : this.#fetched);
  }

  #stands(remote: StateReading, onto: StateRef): void {
    this.#remote = remote;
    this.#onto = onto;
  }

  /** What is here and what origin has; a write that was made and not pushed is only here. */
  async #joined(local: StateReading): Promise<StateReading> {
    if (local.commit === null || local.commit === this.#remote.commit) return this.#remote;
    if (this.#remote.commit === null) return local;
    const parted = await this.#commonReading(local.commit, this.#remote.commit);
    const state = await mergeStates(parted.state, local.state, this.#remote.state, this.#isOlder);
    const head = await this.#newerHead(local.head, this.#remote.head);
    return { state, head, commit: this.#remote.commit };
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

function fetchedName(ref: string): string {
  return ref.replace(STATE_REFS, ORIGIN_REFS);
}

/**
 * The state of a home as runs on other machines share it.
 *
 * @throws FlaghoistError `GIT` there is no origin to share it by.
 */
export async function shareState(
  home: StateHome,
  options: Omit<StateHomeOptions, 'environments'> & Pick<StatePlace, 'environments'>,
): Promise<SharedStateHome> {
  const { checkout, stateDir, workspaceId, origin: service, directory, environments } = options;
  const repository = await stateRepository(checkout, stateDir);
  if (!repository) throw new Error('bug: a state without a home is shared');
  const origin = await openStateOrigin(checkout.repository, await repository.open());
  const place = { workspaceId, origin: service, directory, environments };
  return new SharedStateHome(home, origin, checkout, place);
}
