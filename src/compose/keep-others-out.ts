import type { Place } from '../api/connect.js';
import type { StateHome } from '../git/state-home.js';
import type { Fence } from '../model/fence.js';
import type { Closers } from './closers.js';
import { lockState, type LockWait } from './lock-state.js';

export interface KeepOutOptions {
  readonly place: Place;
  /** What the state calls the service. */
  readonly origin: string;
  readonly wait: LockWait;
  /** Absent: there are no replicas. */
  readonly fence: Fence | undefined;
  readonly closers: Closers;
}

/**
 * Waits until no other run is in the workspace, as far as it can be known, and keeps others out until the run is
 * closed.
 *
 * @returns the state, which a run that was taken over cannot write any more.
 * @throws FlaghoistError `IN_USE`
 */
export async function keepOthersOut(
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
    history: async (object) => home.history(object),
  };
}
