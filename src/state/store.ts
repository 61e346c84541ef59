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

/** Why a state that should be shared if possible is not shared, or only in part. */
export interface NotShared {
  /** Whether the run could at least read the writes of other machines. */
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
   * @param timeoutMs 0 means a single try.
   * @param lease of the writing replica: on a shared ref, it takes over the lock of an earlier term.
   * @throws FlagkeelError `IN_USE` another run holds it still.
   */
  lock(timeoutMs: number, signal?: AbortSignal, lease?: LockLease): Promise<Release>;
  /** @throws FlagkeelError `STATE_UNREADABLE`, `GIT` */
  read(): Promise<StateReading>;
  /**
   * Commits all differences from the last reading; makes no commit if there are none. A second write follows the first.
   *
   * @throws FlagkeelError `IN_USE` the ref moved since it was read; `GIT`
   */
  write(next: State, meta: StateMeta): Promise<void>;
  /** Why other machines do not get the writes of this one, as far as known; null if they do, or the state is local. */
  notShared(): NotShared | null;
  /** The recorded applies, newest first; see `readApplies`. */
  history(object: { readonly kind: string; readonly name: string } | null): Promise<LoggedApply[]>;
}

export interface StateHomeOptions {
  readonly checkout: Checkout;
  /** A bare repository; the first write creates it. */
  readonly stateDir?: string | undefined;
  /** For `origin` of the checkout. Default: the credentials of the operator's own git. */
  readonly git?: GitCredentials | undefined;
  readonly workspaceId: string;
  /** Origin of the service, such as `https://admin.example.com`. */
  readonly origin: string;
  /** Path of the config directory in its repository: forward slashes, no slash at the end, empty for the top. */
  readonly directory: string;
  /** Kept for kills, which are sent before any request looks the workspace up. */
  readonly workspaceName?: string | undefined;
  /** Environment id → name, for people who read the state without the service. */
  readonly environments?: Readonly<Record<string, string>>;
  /** Parsed entries of earlier runs over the same directory. */
  readonly cache?: StateCache | undefined;
}

/** null if no home is writable: the run is stateless then. Nothing is created before the first write. */
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
