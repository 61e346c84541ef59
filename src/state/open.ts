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
  /** Opens a state for reading, without waiting for other runs. null if no state can be kept. */
  peek(place: Workspace): Promise<StateHome | null>;
  /** Opens a state for reading and writing, shared over `origin` as the config says. null if no state can be kept. */
  open(place: Workspace): Promise<StateHome | null>;
  /** Key of the only state with a workspace of this name or id; null if none or several have it. Sends no request. */
  remembered(workspace: string): Promise<StateKey | null>;
  /** The states of this directory for other workspaces, except those of try-outs on other services. */
  elsewhere(place: Workspace): Promise<OtherWorkspace[]>;
}

export interface StateAccessOptions {
  readonly checkout: Checkout;
  /** The config directory. */
  readonly directory: string;
  readonly stateDir: string | undefined;
  readonly git: GitCredentials;
  /** Name of the service in the state; called once the service is open. */
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

/** Whether the service runs on this machine or in this process: its states say nothing about a real service. */
function isTryOut(origin: string): boolean {
  return !URL.canParse(origin) || isEmbedded(origin) || isLoopback(origin);
}

/** Name of the config directory in a state. */
export function directoryInRepository({ repository }: Checkout, directory: string): string {
  return repository?.prefix.replace(/\/$/, '') ?? resolve(directory);
}

export interface KeepOutOptions {
  readonly place: Workspace;
  /** Name of the service in the state. */
  readonly origin: string;
  readonly wait: LockWait;
  readonly fence: Fence | undefined;
  readonly closers: Disposables;
}

/**
 * Waits until no other known run is in the workspace, and keeps others out until the run is closed.
 *
 * @returns the state, which the run cannot write any more once another replica took over.
 * @throws FlagkeelError `IN_USE` another run is still there at the end of the wait.
 */
export async function acquireExclusive(
  home: StateHome | null,
  { place, origin, wait, fence, closers }: KeepOutOptions,
): Promise<StateHome | null> {
  if (fence) closers.add(await fence.enter(`workspace ${place.workspace.id} of ${origin}`, wait));
  if (home) closers.add(await lockState(home, wait, fence));
  return home && fence ? fencedState(home, fence) : home;
}

/** Stops the writes of a run once another replica took over: that one finds the effects of this run on the service. */
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

/** How long to wait for another run, and where to announce the wait. */
interface LockWait {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

/**
 * Locks the state of a run that writes, and announces it if that means waiting.
 *
 * @param fence given only if the daemon has replicas.
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
