import type { StateSharing } from '../model/run.js';
import { fetchStates } from './sharing.js';
import type { StateHomeOptions } from './store.js';
import { listStateRefs, ORIGIN_REFS, StateRef, STATE_REFS, stateRefName } from './ref-store.js';
import { stateRepository } from './repository.js';

/** What a directory was applied to as well: another workspace, or another service. */
export interface OtherWorkspace {
  readonly workspaceId: string;
  /** What the state calls the service. */
  readonly origin: string;
  /** Size of its inventory. */
  readonly objects: number;
}

/**
 * The states of the same directory with something in them, but for the one of this place; sorted by name of ref.
 *
 * A state that cannot be read counts for nothing: whoever can push could stop every run with one.
 *
 * @param sharing whether those of `origin` count too; they are fetched.
 * @throws FlagkeelError `GIT` origin cannot be reached, and the state is always shared.
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
