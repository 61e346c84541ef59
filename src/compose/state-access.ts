import { resolve } from 'node:path';
import type { Place } from '../api/connect.js';
import { isLoopback } from '../api/origin.js';
import type { Checkout } from '../git/checkout.js';
import { openStateHome, type StateHome } from '../git/state-home.js';
import { shareState } from '../git/state-shared.js';
import { statesElsewhere, type StateElsewhere } from '../git/states-elsewhere.js';

export interface StateAccess {
  /** To read from; it waits for no other run. Null: there is no home. */
  peek(place: Place): Promise<StateHome | null>;
  /** The same, shared over `origin` where the config says so. */
  open(place: Place): Promise<StateHome | null>;
  /** The states of the same directory that belong to another workspace; of try-outs on other services none. */
  elsewhere(place: Place): Promise<StateElsewhere[]>;
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
    elsewhere: async ({ workspace }) => {
      const place = placeOf(workspace.id);
      const states = await statesElsewhere(place, isShared());
      return states.filter((each) => {
        const isSame = each.origin === place.origin;
        return isSame || !(isTryOut(each.origin) || isTryOut(place.origin));
      });
    },
  };
}

/** A service of this machine or of this process: what was tried there says nothing of another one. */
function isTryOut(origin: string): boolean {
  return !URL.canParse(origin) || origin.startsWith('embedded:') || isLoopback(origin);
}

/** What a state calls the config directory. */
export function directoryInRepository({ repository }: Checkout, directory: string): string {
  return repository?.prefix.replace(/\/$/, '') ?? resolve(directory);
}
