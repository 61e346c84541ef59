import type { ApiRequest, Caller } from './endpoint.js';
import {
  approvalsRequired,
  badRequest,
  definitionNotFound,
  forbidden,
  notFound,
  waitsForChangeRequest,
} from './problem.js';
import { checkNote, type NoteRequirement } from '../rules/note.js';
import { openChangeRequests, type RequestedObject } from '../store/change-requests.js';
import {
  findPlacedDefinition,
  type EnvironmentOfChange,
  type PlacedDefinition,
  type WorkspaceOfChange,
} from '../store/definition-lookups.js';
import { findDefinition, type StoredDefinition } from '../store/definitions.js';
import { findFlag, type StoredFlag } from '../store/flags.js';
import {
  findActivation,
  findSegment,
  type StoredActivation,
  type StoredSegment,
} from '../store/segments.js';
import type { Db, EnvironmentRow, TrafficTypeRow, WorkspaceRow } from '../store/tables.js';
import {
  environmentsCalled,
  findEnvironment,
  findTrafficType,
  findWorkspace,
} from '../store/workspaces.js';

/**
 * Finds the objects that a path names, by id or by name. The service answers 404 for objects that the caller's key may
 * not touch, as public documentation of such services describes it.
 */

/** @throws Problem (404) the workspace does not exist, or the caller's key does not see it. */
export async function workspaceAt(db: Db, { params, caller }: ApiRequest): Promise<WorkspaceRow> {
  return workspaceCalled(db, caller, params['ws'] ?? '');
}

/**
 * For endpoints that name a workspace elsewhere than in the path.
 *
 * @throws Problem (404) the workspace does not exist, or the caller's key does not see it.
 */
export async function workspaceCalled(
  db: Db,
  caller: Caller,
  idOrName: string,
): Promise<WorkspaceRow> {
  const workspace = await findWorkspace(db, idOrName);
  if (workspace === undefined || !isVisible(caller.scope.workspaces, workspace.id)) {
    throw notFound('workspace', idOrName);
  }
  return workspace;
}

/** @throws Problem (404) the workspace has no such environment, or the caller's key does not see it. */
export async function environmentAt(
  db: Db,
  { params, caller }: ApiRequest,
  workspace: WorkspaceOfChange,
): Promise<EnvironmentRow> {
  const idOrName = params['env'] ?? '';
  const environment = await findEnvironment(db, workspace.id, idOrName);
  if (environment === undefined || !isVisible(caller.scope.environments, environment.id)) {
    throw notFound('environment', idOrName);
  }
  return environment;
}

/** @param allowed ids that a key may touch; null means all. */
export function isVisible(allowed: readonly string[] | null, id: string): boolean {
  return allowed === null || allowed.includes(id);
}

/**
 * A key that is restricted to environments cannot change what all of them share.
 *
 * @throws Problem (403)
 */
export function checkMayChangeWorkspace({ caller }: ApiRequest): void {
  if (caller.scope.environments === null) return;
  throw forbidden('This Admin API key is restricted to environments');
}

/**
 * A key with any restriction cannot change who may do what.
 *
 * @throws Problem (403)
 */
export function checkUnrestricted({ caller }: ApiRequest): void {
  if (!isUnrestricted(caller)) throw forbidden('This Admin API key is restricted');
}

export function isUnrestricted({ scope }: Pick<Caller, 'scope'>): boolean {
  return scope.environments === null && scope.workspaces === null;
}

/**
 * Demands title and comment where the workspace requires them for changes.
 *
 * @throws Problem (400) one of them is missing.
 */
export function checkNoteFor(
  workspace: WorkspaceOfChange,
  { caller }: ApiRequest,
  needed: NoteRequirement,
): void {
  if (workspace.requires_title_and_comments === 1) checkNote(caller.note, needed);
}

/**
 * Refuses a change in an environment that requires approvals, unless it carries out an approved request. A kill may be
 * exempt.
 *
 * @throws Problem (403)
 */
export function checkNoApproval(
  environment: EnvironmentOfChange,
  { publishes }: ApiRequest,
  { isKill = false }: { readonly isKill?: boolean } = {},
): void {
  if (publishes !== undefined || (isKill && environment.allow_kills === 1)) return;
  if (environment.approvals_required === 1) throw approvalsRequired(environment.id);
}

/**
 * Refuses a change of an object that has an open change request, unless the change carries out that request. Only kills
 * and restores may be requested beside it, because they touch nothing else.
 *
 * @throws Problem (423)
 */
export function checkNotRequested(
  stored: { readonly open_change_request_id: string | null },
  { publishes }: ApiRequest,
): void {
  const id = stored.open_change_request_id;
  if (id !== null && publishes === undefined) throw waitsForChangeRequest(id);
}

/**
 * Refuses a change of a flag or segment that has an open change request, in one environment or in any of its workspace.
 *
 * @throws Problem (423)
 */
export async function checkNothingRequested(db: Db, object: RequestedObject): Promise<void> {
  const [open] = await openChangeRequests(db, object);
  if (open !== undefined) throw waitsForChangeRequest(open);
}

/** @throws Problem (404) the workspace has no such traffic type. */
export async function trafficTypeAt(
  db: Db,
  { params }: ApiRequest,
  workspaceId: string,
): Promise<TrafficTypeRow> {
  const idOrName = params['trafficType'] ?? '';
  const trafficType = await findTrafficType(db, workspaceId, idOrName);
  if (trafficType === undefined) throw notFound('traffic type', idOrName);
  return trafficType;
}

/** @throws Problem (404) the workspace has no such flag. */
export async function flagAt(
  db: Db,
  { params }: ApiRequest,
  workspace: WorkspaceOfChange,
): Promise<StoredFlag> {
  const nameOrId = params['flag'] ?? '';
  const flag = await findFlag(db, workspace.id, nameOrId);
  if (flag === undefined) throw notFound('feature flag', nameOrId);
  return flag;
}

/**
 * Finds workspace, environment and definition by one statement. Gives undefined where only the separate lookups can
 * decide.
 */
export async function placedDefinitionAt(
  db: Db,
  { params, caller }: ApiRequest,
): Promise<PlacedDefinition | undefined> {
  const { ws = '', env = '', flag = '' } = params;
  const found = await findPlacedDefinition(db, [ws, env, flag]);
  if (found === undefined || !isVisible(caller.scope.workspaces, found.workspace.id))
    return undefined;
  return isVisible(caller.scope.environments, found.environment.id) ? found : undefined;
}

/** @throws Problem (404) the flag has no definition; the message is the contract's. */
export async function definitionAt(
  db: Db,
  { params }: ApiRequest,
  environment: EnvironmentOfChange,
): Promise<StoredDefinition> {
  const nameOrId = params['flag'] ?? '';
  const definition = await findDefinition(db, environment.id, nameOrId);
  if (definition === undefined) throw definitionNotFound(nameOrId);
  return definition;
}

/** @throws Problem (404) the workspace has no such segment. */
export async function segmentAt(
  db: Db,
  { params }: ApiRequest,
  workspaceId: string,
): Promise<StoredSegment> {
  const name = params['segment'] ?? '';
  const segment = await findSegment(db, workspaceId, name);
  if (segment === undefined) throw notFound('segment', name);
  return segment;
}

/** Environment and workspace of a path that names no workspace. */
export interface EnvironmentPath {
  readonly workspace: WorkspaceRow;
  readonly environment: EnvironmentRow;
}

/**
 * The environment of a path that names no workspace. An id is unique. If environments of several workspaces have the
 * name, the one counts whose workspace `knows` the other object in the path.
 *
 * @throws Problem (404) no environment that the caller's key sees matches.
 * @throws Problem (400) several workspaces know the other object.
 */
export async function environmentByItself(
  db: Db,
  { params, caller }: ApiRequest,
  knows: (workspaceId: string) => Promise<boolean>,
): Promise<EnvironmentPath> {
  const idOrName = params['env'] ?? '';
  const called = (await environmentsCalled(db, idOrName)).filter(
    ({ id, workspace_id }) =>
      isVisible(caller.scope.environments, id) && isVisible(caller.scope.workspaces, workspace_id),
  );
  const candidates = called.filter(({ id }) => id === idOrName);
  if (candidates.length === 0) candidates.push(...called);
  const environment =
    candidates.length > 1 ? await theOneThat(candidates, idOrName, knows) : candidates[0];
  if (environment === undefined) throw notFound('environment', idOrName);
  const workspace = await findWorkspace(db, environment.workspace_id);
  if (workspace === undefined) throw notFound('environment', idOrName);
  return { workspace, environment };
}

/**
 * The candidate whose workspace knows the other object in the path. If none does, the first one, so that the error is
 * about the object that could not be found.
 */
async function theOneThat(
  candidates: readonly EnvironmentRow[],
  name: string,
  knows: (workspaceId: string) => Promise<boolean>,
): Promise<EnvironmentRow | undefined> {
  const knowing: EnvironmentRow[] = [];
  // One after the other: a transaction has one connection.
  for (const each of candidates) if (await knows(each.workspace_id)) knowing.push(each);
  if (knowing.length > 1) {
    throw badRequest(`Several workspaces have an environment ${name}: name it by its id`);
  }
  return knowing[0] ?? candidates[0];
}

/** For the contract's paths `/segments/{env_id}/{segment_name}`. */
export async function environmentOfSegment(db: Db, request: ApiRequest): Promise<EnvironmentPath> {
  const segment = request.params['segment'] ?? '';
  return environmentByItself(
    db,
    request,
    async (workspaceId) => (await findSegment(db, workspaceId, segment)) !== undefined,
  );
}

/** @throws Problem (404) the segment is not active in the environment. */
export async function activationAt(
  db: Db,
  { params }: ApiRequest,
  environment: EnvironmentOfChange,
): Promise<StoredActivation> {
  const name = params['segment'] ?? '';
  const activation = await findActivation(db, environment.id, name);
  if (activation === undefined) {
    throw notFound(`active segment of the environment ${environment.name}`, name);
  }
  return activation;
}
