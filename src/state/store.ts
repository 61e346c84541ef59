import type { State } from '../model/state.js';
import type { Checkout } from '../git/checkout.js';
import type { GitCredentials } from '../git/remote-access.js';
import type { StateCache } from './cache.js';
import { lockFile, type Release } from './file-lock.js';
import type { LockLease } from './remote-lock.js';
import { readApplies, type LoggedApply } from './run-log.js';
import {
  listStateRefs,
  StateRef,
  stateHash,
  stateRefName,
  type StateMeta,
  type StateKey,
  type StateReading,
} from './ref-store.js';
import { stateRepository, type StateRepository } from './repository.js';

/** Why a state that is to be shared where it can be is not, or not wholly. */
export interface NotShared {
  /** Whether at least what other machines wrote was read. */
  readonly isRead: boolean;
  /** One clause for people. */
  readonly why: string;
}

/** The place in which the state of one config directory is kept. */
export interface StateHome {
  /** Full name of the state ref. */
  readonly ref: string;
  /** The repository that holds it. */
  readonly gitDir: string;
  /**
   * Excludes every other run over the same ref of the same repository on this machine. The kernel takes the lock back
   * when its holder dies, however it dies.
   *
   * @param timeoutMs 0: one try.
   * @param lease under which the run writes: over a shared ref, the lock of an earlier term is taken over.
   * @throws FlagkeelError `IN_USE` another run holds it still.
   */
  lock(timeoutMs: number, signal?: AbortSignal, lease?: LockLease): Promise<Release>;
  /** @throws FlagkeelError `STATE_UNREADABLE`, `GIT` */
  read(): Promise<StateReading>;
  /**
   * Makes one commit of what differs from the last reading, and none where nothing does. A second write goes on from
   * the first.
   *
   * @throws FlagkeelError `IN_USE` the ref moved since it was read; `GIT`
   */
  write(next: State, meta: StateMeta): Promise<void>;
  /** What keeps this machine's part of a shared state from others, as far as was seen; null: nothing, or it is not shared. */
  notShared(): NotShared | null;
  /** What was written, newest first; see `readApplies`. */
  history(object: { readonly kind: string; readonly name: string } | null): Promise<LoggedApply[]>;
}

export interface StateHomeOptions {
  readonly checkout: Checkout;
  /** A bare repository, made with the first write where it is absent. */
  readonly stateDir?: string | undefined;
  /** For `origin` of the checkout; absent: what the operator's own git has. */
  readonly git?: GitCredentials | undefined;
  readonly workspaceId: string;
  /** Origin of the service, such as `https://admin.example.com`. */
  readonly origin: string;
  /** The config directory seen from the top of its repository: forward slashes, no slash at the end, empty for the top. */
  readonly directory: string;
  /** For kills that are sent before anything is looked up. */
  readonly workspaceName?: string | undefined;
  /** Id → name of the environments, for people who look at the state without the service. */
  readonly environments?: Readonly<Record<string, string>>;
  /** What earlier runs over the same directory parsed; absent: everything is parsed. */
  readonly cache?: StateCache | undefined;
}

/** Null where there is no home that can be written: the run is stateless. Nothing is created before the first write. */
export async function openStateHome(options: StateHomeOptions): Promise<StateHome | null> {
  const { checkout, stateDir, cache, ...rest } = options;
  const { workspaceId, workspaceName, origin, directory, environments } = rest;
  const repository = await stateRepository(checkout, stateDir);
  const place = { workspaceId, workspaceName, origin, directory, environments };
  return repository && homeAt(repository, place, cache);
}

/** The home of one state in a repository. */
export function homeAt(
  repository: StateRepository,
  place: StateKey,
  cache?: StateCache,
): StateHome {
  const { workspaceId, origin, directory } = place;
  const name = stateRefName(workspaceId, origin, directory);
  const lockName = `${stateHash(`${workspaceId}\n${origin}`, directory)}.lock`;
  const { gitDir } = repository;
  let opened: Promise<StateRef> | null = null;
  const open = async (): Promise<StateRef> =>
    new StateRef(await repository.open(), name, place, cache, repository.objects);
  const ref = async (): Promise<StateRef> => (opened ??= open());
  return {
    ref: name,
    gitDir,
    lock: async (timeoutMs, signal) => {
      await ref();
      return lockFile(gitDir, lockName, timeoutMs, signal);
    },
    read: async () =>
      (await repository.exists())
        ? (await ref()).read()
        : {
            state: new Map(),
            head: null,
            commit: null,
            outOfSync: null,
            ramps: {},
            approvals: {},
            killsOf: null,
          },
    write: async (next, meta) => {
      await (await ref()).write(next, meta);
    },
    notShared: () => null,
    history: async (object) => {
      if (!(await repository.exists())) return [];
      const git = await repository.open();
      return (await listStateRefs(git)).includes(name) ? readApplies(git, name, object) : [];
    },
  };
}
