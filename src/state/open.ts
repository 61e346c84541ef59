import { resolve } from 'node:path';
import type { Workspace } from '../admin-api/workspace.js';
import { isLoopback } from '../admin-api/origin.js';
import type { Checkout } from '../git/checkout.js';
import type { GitCredentials } from '../git/remote-access.js';
import { openStateHome, type StateHome } from './store.js';
import type { StateCache } from './cache.js';
import { asShared, isEmbedded } from './sharing.js';
import { findStates } from './find-states.js';
import type { StateKey } from './ref-store.js';
import { otherWorkspaces, type OtherWorkspace } from './other-workspaces.js';
import type { Fence, StateSharing } from '../model/run.js';
import type { Disposables } from '../platform/closers.js';
import { FlagkeelError } from '../errors.js';

/** Opens the state of one config directory. */
export interface StateAccess {
  /** A state to read from, which waits for no other run. Null where no state can be kept. */
  peek(place: Workspace): Promise<StateHome | null>;
  /**
   * A state to read and to write, shared over `origin` as the config says. Null where no state can
   * be kept.
   */
  open(place: Workspace): Promise<StateHome | null>;
  /** The place of the one state that names the workspace so, by name or id; null: there is none, or several. Asks nobody. */
  remembered(workspace: string): Promise<StateKey | null>;
  /** The states of the same directory that belong to another workspace; of try-outs on other services none. */
  elsewhere(place: Workspace): Promise<OtherWorkspace[]>;
}

export interface StateAccessOptions {
  readonly checkout: Checkout;
  /** The config directory. */
  readonly directory: string;
  readonly stateDir: string | undefined;
  readonly git: GitCredentials;
  /** What the state calls the service; asked once that is open. */
  readonly origin: () => string;
  readonly sharing: () => StateSharing;
  readonly cache?: StateCache;
}

export function stateAccess(options: StateAccessOptions): StateAccess {
  const { checkout, directory, stateDir, git, origin, sharing, cache } = options;
  const placeOf = (workspaceId: string) => ({
    checkout,
    workspaceId,
    origin: origin(),
    directory: directoryInRepository(checkout, directory),
    stateDir,
    git,
    cache,
  });
  return {
    peek: async ({ workspace }) => openStateHome(placeOf(workspace.id)),
    open: async ({ workspace, environments }) => {
      const names = Object.fromEntries(environments.map(({ id, name }) => [id, name]));
      const place = {
        ...placeOf(workspace.id),
        workspaceName: workspace.name,
        environments: names,
      };
      const own = await openStateHome(place);
      return own && (await asShared(own, place, sharing()));
    },
    remembered: async (workspace) => {
      const own = directoryInRepository(checkout, directory);
      const { found } = await findStates({ checkout, stateDir, directory: own });
      const named = found
        .map(({ place }) => place)
        .filter((place) => place.origin === origin())
        .filter((place) => [place.workspaceName, place.workspaceId].includes(workspace));
      return named.length === 1 ? (named[0] ?? null) : null;
    },
    elsewhere: async ({ workspace }) => {
      const place = placeOf(workspace.id);
      const asked = sharing();
      const isOwn = asked === 'auto' && isEmbedded(place.origin);
      const states = await otherWorkspaces(place, isOwn ? 'never' : asked);
      return states.filter((each) => {
        const isSame = each.origin === place.origin;
        return isSame || !(isTryOut(each.origin) || isTryOut(place.origin));
      });
    },
  };
}

/** A service of this machine or of this process: what was tried there says nothing of another one. */
function isTryOut(origin: string): boolean {
  return !URL.canParse(origin) || isEmbedded(origin) || isLoopback(origin);
}

/** What a state calls the config directory. */
export function directoryInRepository({ repository }: Checkout, directory: string): string {
  return repository?.prefix.replace(/\/$/, '') ?? resolve(directory);
}

export interface KeepOutOptions {
  readonly place: Workspace;
  /** What the state calls the service. */
  readonly origin: string;
  readonly wait: LockWait;
  /** Absent: there are no replicas. */
  readonly fence: Fence | undefined;
  readonly closers: Disposables;
}

/**
 * Waits until no other run is in the workspace, as far as it can be known, and keeps others out until the run is
 * closed.
 *
 * @returns the state, which a run that was taken over cannot write any more.
 * @throws FlagkeelError `IN_USE`
 */
export async function acquireExclusive(
  home: StateHome | null,
  { place, origin, wait, fence, closers }: KeepOutOptions,
): Promise<StateHome | null> {
  if (fence) closers.add(await fence.enter(`workspace ${place.workspace.id} of ${origin}`, wait));
  if (home) closers.add(await lockState(home, wait, fence));
  return home && fence ? fencedState(home, fence) : home;
}

/** A run that was taken over remembers nothing: what it did, the one that took over finds on the service. */
function fencedState(home: StateHome, fence: Fence): StateHome {
  return {
    ref: home.ref,
    gitDir: home.gitDir,
    lock: async (...how) => home.lock(...how),
    read: async () => home.read(),
    write: async (next, meta) => {
      await fence.check({ isKill: false });
      await home.write(next, meta);
    },
    notShared: () => home.notShared(),
    history: async (object) => home.history(object),
  };
}

/** How long to wait for another run, and who is told that it is waited. */
interface LockWait {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

/**
 * Locks the state of a run that writes, and says so where that means waiting.
 *
 * @param fence absent: there are no replicas.
 * @throws FlagkeelError `IN_USE`, `INTERRUPTED`
 */
async function lockState(
  home: StateHome,
  { timeoutMs, signal, note }: LockWait,
  fence?: Fence,
): ReturnType<StateHome['lock']> {
  if (timeoutMs === 0) return home.lock(0, signal, fence);
  try {
    return await home.lock(0, signal, fence);
  } catch (error) {
    if (!(error instanceof FlagkeelError) || error.code !== 'IN_USE') throw error;
    note(`waiting for another run to end, ${Math.ceil(timeoutMs / 1_000)} s at most`);
    return home.lock(timeoutMs, signal, fence);
  }
}
