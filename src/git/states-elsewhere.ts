import { openStateOrigin } from './state-origin.js';
import type { StateHomeOptions } from './state-home.js';
import { listStateRefs, ORIGIN_REFS, StateRef, STATE_REFS, stateRefName } from './state-ref.js';
import { stateRepository } from './state-repository.js';

/** What a directory was applied to as well: another workspace, or another service. */
export interface StateElsewhere {
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
 * @param isShared whether those of `origin` count too; they are fetched.
 * @throws FlaghoistError `GIT` origin cannot be reached.
 */
export async function statesElsewhere(
  { checkout, stateDir, workspaceId, origin, directory }: StateHomeOptions,
  isShared: boolean,
): Promise<StateElsewhere[]> {
  const repository = await stateRepository(checkout, stateDir);
  if (!repository || (!isShared && !(await repository.exists()))) return [];
  const git = await repository.open();
  if (isShared) await (await openStateOrigin(checkout.repository, git)).fetchAll();
  const own = stateRefName(workspaceId, origin, directory);
  const names = [
    ...(await listStateRefs(git)).map((ref) => ({ ref, name: ref })),
    ...(isShared ? await listStateRefs(git, ORIGIN_REFS) : []).map((ref) => ({
      ref,
      name: ref.replace(ORIGIN_REFS, STATE_REFS),
    })),
  ];
  const found = new Map<string, StateElsewhere>();
  for (const { ref, name } of names) {
    const state = new StateRef(git, ref);
    const place = name === own ? null : await state.readPlace();
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
