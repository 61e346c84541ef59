import { resolve } from 'node:path';
import type { Place } from '../api/connect.js';
import type { Checkout } from '../git/checkout.js';
import { openStateHome, type StateHome } from '../git/state-home.js';
import { shareState } from '../git/state-shared.js';

export interface StateAccess {
  /** To read from; it waits for no other run. Null: there is no home. */
  peek(place: Place): Promise<StateHome | null>;
  /** The same, shared over `origin` where the config says so. */
  open(place: Place): Promise<StateHome | null>;
}

export interface StateAccessOptions {
  readonly checkout: Checkout;
  /** The config directory. */
  readonly directory: string;
  readonly stateDir: string | undefined;
  /** What the state calls the service; asked once that is open. */
  readonly origin: () => string;
  readonly isShared: () => boolean;
}

export function stateAccess(options: StateAccessOptions): StateAccess {
  const { checkout, directory, stateDir, origin, isShared } = options;
  const placeOf = (workspaceId: string) => ({
    checkout,
    workspaceId,
    origin: origin(),
    directory: directoryInRepository(checkout, directory),
    stateDir,
  });
  return {
    peek: async ({ workspace }) => openStateHome(placeOf(workspace.id)),
    open: async ({ workspace, environments }) => {
      const names = Object.fromEntries(environments.map(({ id, name }) => [id, name]));
      const place = { ...placeOf(workspace.id), environments: names };
      const own = await openStateHome(place);
      return own && isShared() ? shareState(own, place) : own;
    },
  };
}

/** What a state calls the config directory. */
export function directoryInRepository({ repository }: Checkout, directory: string): string {
  return repository?.prefix.replace(/\/$/, '') ?? resolve(directory);
}
