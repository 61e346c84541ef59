import type { StateSharing } from '../model/run.js';
import { fetchStates } from './sharing.js';
import type { StateHomeOptions } from './store.js';
import { listStateRefs, ORIGIN_REFS, StateRef, STATE_REFS, stateRefName } from './ref-store.js';
import { stateRepository } from './repository.js';

/** Another workspace, or another service, that the same directory was applied to. */
export interface OtherWorkspace {
  readonly workspaceId: string;
  /** Name of the service in the state. */
  readonly origin: string;
  /** Size of its inventory. */
  readonly objects: number;
}

/**
 * The other states of the same directory that are not empty, sorted by name of ref.
 *
 * An unreadable state is ignored: anyone who can push could otherwise stop every run with one.
 *
 * @param sharing whether to fetch the states of `origin` and count them too.
 * @throws FlagkeelError `GIT` sharing is required, and origin cannot be reached.
 */
export async function otherWorkspaces(
  { checkout, stateDir, git: credentials, workspaceId, origin, directory }: StateHomeOptions,
  sharing: StateSharing,
): Promise<OtherWorkspace[]> {
  const repository = await stateRepository(checkout, stateDir);
  if (!repository) return [];
  const isShared = await fetchStates(checkout, repository, sharing, credentials);
  if (!isShared && !(await repository.exists())) return [];
  const git = await repository.open();
  const own = stateRefName(workspaceId, origin, directory);
  const names = [
    ...(await listStateRefs(git)).map((ref) => ({ ref, name: ref })),
    ...(isShared ? await listStateRefs(git, ORIGIN_REFS) : []).map((ref) => ({
      ref,
      name: ref.replace(ORIGIN_REFS, STATE_REFS),
    })),
  ];
  const found = new Map<string, OtherWorkspace>();
  for (const { ref, name } of names) {
    const state = new StateRef(git, ref);
    const place = name === own ? null : await state.readKey();
    if (place?.directory !== directory) continue;
    if (name !== stateRefName(place.workspaceId, place.origin, directory)) continue;
    const objects = await state.read().then(
      (reading) => reading.state.size,
      () => 0,
    );
    const { workspaceId: other, origin: service } = place;
    if (objects > 0) found.set(name, { workspaceId: other, origin: service, objects });
  }
  return [...found.values()];
}
