import type { StateSharing } from '../model/run.js';
import {
  listStateRefs,
  ORIGIN_REFS,
  STATE_REFS,
  StateRef,
  stateRefName,
  type StateKey,
} from './ref-store.js';
import { stateRepository } from './repository.js';
import { fetchStates } from './sharing.js';
import { homeAt, type StateHome, type StateHomeOptions } from './store.js';

/** A state that was found without asking the service. */
export interface FoundState {
  readonly home: StateHome;
  readonly place: StateKey;
}

/**
 * The states of a directory by name of ref, one for each workspace and service that its specs were applied to. If
 * states are shared, those that only origin has are included.
 *
 * `others` counts the states of other directories, and those without a valid record of what they belong to.
 *
 * @throws FlagkeelError `GIT` sharing is required, and origin cannot be reached.
 */
export async function findStates({
  checkout,
  stateDir,
  git: credentials,
  directory,
  sharing = 'never',
}: Pick<StateHomeOptions, 'checkout' | 'stateDir' | 'git' | 'directory'> & {
  readonly sharing?: StateSharing;
}): Promise<{
  readonly found: readonly FoundState[];
  readonly others: number;
}> {
  const repository = await stateRepository(checkout, stateDir);
  if (!repository) return { found: [], others: 0 };
  const isShared = await fetchStates(checkout, repository, sharing, credentials);
  if (!isShared && !(await repository.exists())) return { found: [], others: 0 };
  const git = await repository.open();
  const own = await listStateRefs(git);
  const fetched = isShared ? await listStateRefs(git, ORIGIN_REFS) : [];
  // A local ref comes first: it includes the state of origin, or will once it is read.
  const refs = new Map([
    ...fetched.map((ref) => [ref.replace(ORIGIN_REFS, STATE_REFS), ref] as const),
    ...own.map((ref) => [ref, ref] as const),
  ]);
  const found: FoundState[] = [];
  for (const [name, ref] of refs) {
    const place = await new StateRef(git, ref).readKey();
    if (place?.directory !== directory) continue;
    if (name !== stateRefName(place.workspaceId, place.origin, directory)) continue;
    found.push({ home: homeAt(repository, place), place });
  }
  return { found, others: refs.size - found.length };
}
