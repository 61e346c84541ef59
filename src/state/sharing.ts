import { FlagkeelError } from '../errors.js';
import type { Checkout } from '../git/checkout.js';
import type { GitCredentials } from '../git/remote-access.js';
import type { StateSharing } from '../model/run.js';
import { hasOrigin, openStateOrigin } from './remote.js';
import type { StateRepository } from './repository.js';
import { shareState, type SharedPlace } from './shared-store.js';
import type { StateHome } from './store.js';

/** @param pushState what config and command say of it; undefined: nothing. */
export function stateSharing(pushState: boolean | undefined): StateSharing {
  return pushState === undefined ? 'auto' : pushState ? 'always' : 'never';
}

/** What the state calls an embedded service starts with it. */
const EMBEDDED = 'embedded:';

export function isEmbedded(origin: string): boolean {
  return origin.startsWith(EMBEDDED);
}

/**
 * The state of a home, as far as it is to be shared with runs on other machines. Without an origin a state that is shared where that can be done is this
 * machine's own, and so is that of an embedded service.
 *
 * @throws FlagkeelError `GIT` it is always shared, and there is no origin to share it by.
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
 * Fetches every state that origin has, where states are shared.
 *
 * @returns whether they may be here now: false where nothing is shared or there is no origin.
 * @throws FlagkeelError `GIT` origin cannot be reached, and the state is always shared.
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
