import { FlagkeelError } from '../errors.js';
import type { Checkout } from '../git/checkout.js';
import type { GitCredentials } from '../git/remote-access.js';
import type { StateSharing } from '../model/run.js';
import { hasOrigin, openStateOrigin } from './remote.js';
import type { StateRepository } from './repository.js';
import { shareState, type SharedPlace } from './shared-store.js';
import type { StateHome } from './store.js';

/** @param pushState the setting of the command or of the config, if either has one. */
export function stateSharing(pushState: boolean | undefined): StateSharing {
  return pushState === undefined ? 'auto' : pushState ? 'always' : 'never';
}

/** Prefix of the origins that a state records for embedded services. */
const EMBEDDED = 'embedded:';

export function isEmbedded(origin: string): boolean {
  return origin.startsWith(EMBEDDED);
}

/**
 * Wraps the state of a home so that runs on other machines share it, if the setting asks for that. Where sharing is
 * optional, the state stays local for an embedded service, and for a checkout without `origin`.
 *
 * @throws FlagkeelError `GIT` sharing is required, and the checkout has no origin.
 */
export async function asShared(
  home: StateHome,
  place: SharedPlace,
  sharing: StateSharing,
): Promise<StateHome> {
  if (sharing === 'never') return home;
  if (sharing === 'always') return shareState(home, place);
  if (isEmbedded(place.origin) || !(await hasOrigin(place.checkout.repository))) return home;
  try {
    return await shareState(home, place, { isRequired: false });
  } catch (error) {
    if (!(error instanceof FlagkeelError) || error.code !== 'GIT') throw error;
    const notShared = { isRead: false, why: error.message };
    return { ...home, notShared: () => notShared };
  }
}

/**
 * Fetches every state of origin, if states are shared.
 *
 * @returns whether fetched states may be present: false if states are not shared, or there is no origin.
 * @throws FlagkeelError `GIT` sharing is required, and origin cannot be reached.
 */
export async function fetchStates(
  { repository: shared }: Checkout,
  repository: StateRepository,
  sharing: StateSharing,
  git?: GitCredentials,
): Promise<boolean> {
  if (sharing === 'never' || (sharing === 'auto' && !(await hasOrigin(shared)))) return false;
  try {
    await (await openStateOrigin(shared, repository, git)).fetchAll();
  } catch (error) {
    const isBorne = error instanceof FlagkeelError && error.code === 'GIT';
    if (sharing === 'always' || !isBorne) throw error;
  }
  return true;
}
