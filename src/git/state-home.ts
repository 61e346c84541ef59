import type { State } from '../model/state.js';
import type { Checkout } from './checkout.js';
import type { GitMemory } from './git-memory.js';
import { lockFile, type Release } from './state-lock.js';
import type { LockLease } from './state-origin-lock.js';
import { readApplies, type LoggedApply } from './state-log.js';
import {
  listStateRefs,
  StateRef,
  stateHash,
  stateRefName,
  type StateMeta,
  type StatePlace,
  type StateReading,
} from './state-ref.js';
import { stateRepository, type StateRepository } from './state-repository.js';

/** Where the state of one config directory lives. */
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
   * @throws FlaghoistError `IN_USE` another run holds it still.
   */
  lock(timeoutMs: number, signal?: AbortSignal, lease?: LockLease): Promise<Release>;
  /** @throws FlaghoistError `STATE_UNREADABLE`, `GIT` */
  read(): Promise<StateReading>;
  /**
   * Makes one commit of what differs from the last reading, and none where nothing does. A second write goes on from
   * the first.
   *
   * @throws FlaghoistError `IN_USE` the ref moved since it was read; `GIT`
   */
  write(next: State, meta: StateMeta): Promise<void>;
  /** What was written, newest first; see `readApplies`. */
  history(object: { readonly kind: string; readonly name: string } | null): Promise<LoggedApply[]>;
}

export interface StateHomeOptions {
  readonly checkout: Checkout;
  /** A bare repository, made with the first write where it is absent. */
  readonly stateDir?: string | undefined;
  readonly workspaceId: string;
  /** Origin of the service, such as `https://admin.example.com`. */
  readonly origin: string;
  /** The config directory seen from the top of its repository: forward slashes, no slash at the end, empty for the top. */
  readonly directory: string;
  /** Id → name of the environments, for people who look at the state without the service. */
  readonly environments?: Readonly<Record<string, string>>;
}

/** Null where there is no home that can be written: the run is stateless. Nothing is created before the first write. */
export async function openStateHome(options: StateHomeOptions): Promise<StateHome | null> {
  const { checkout, stateDir, workspaceId, origin, directory, environments } = options;
  const repository = await stateRepository(checkout, stateDir);
  const place = { workspaceId, origin, directory, environments };
  return repository && homeAt(repository, place, checkout.repository?.memory);
}

/** A state that was found without asking the service. */
export interface FoundState {
  readonly home: StateHome;
  readonly place: StatePlace;
}

/**
 * The states that a directory has, one for each workspace and service that its specs were applied to, by name of ref.
 *
 * `others` counts the states that are somebody else's, or do not say whose they are, or say it wrongly.
 */
export async function findStates({
  checkout,
  stateDir,
  directory,
}: Pick<StateHomeOptions, 'checkout' | 'stateDir' | 'directory'>): Promise<{
  readonly found: readonly FoundState[];
  readonly others: number;
}> {
  const repository = await stateRepository(checkout, stateDir);
  if (!repository || !(await repository.exists())) return { found: [], others: 0 };
  const git = await repository.open();
  const names = await listStateRefs(git);
  const found: FoundState[] = [];
  for (const name of names) {
    const place = await new StateRef(git, name).readPlace();
    if (place?.directory !== directory) continue;
    if (name !== stateRefName(place.workspaceId, place.origin, directory)) continue;
    found.push({ home: homeAt(repository, place), place });
  }
  return { found, others: names.length - found.length };
}

function homeAt(repository: StateRepository, place: StatePlace, memory?: GitMemory): StateHome {
  const { workspaceId, origin, directory } = place;
  const name = stateRefName(workspaceId, origin, directory);
  const lockName = `${stateHash(`${workspaceId}\n${origin}`, directory)}.lock`;
  const { gitDir } = repository;
  let opened: Promise<StateRef> | null = null;
  const open = async (): Promise<StateRef> =>
    new StateRef(await repository.open(), name, place, memory);
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
        : { state: new Map(), head: null, commit: null },
    write: async (next, meta) => {
      await (await ref()).write(next, meta);
    },
    history: async (object) => {
      if (!(await repository.exists())) return [];
      const git = await repository.open();
      return (await listStateRefs(git)).includes(name) ? readApplies(git, name, object) : [];
    },
  };
}
