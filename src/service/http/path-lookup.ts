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
 * What a path names, found by id or by name. What the caller's key may not touch is answered as if it were not
 * there (404), as public documentation of such services has it.
 */

/** @throws Problem (404) there is none, or the caller's key does not see it. */
export async function workspaceAt(db: Db, { params, caller }: ApiRequest): Promise<WorkspaceRow> {
  return workspaceCalled(db, caller, params['ws'] ?? '');
}

/**
 * For endpoints that name a workspace elsewhere than in the path.
 *
 * @throws Problem (404) there is none, or the caller's key does not see it.
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

/** @throws Problem (404) the workspace has none, or the caller's key does not see it. */
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

/** @param allowed ids that a key may touch; null: all. */
export function isVisible(allowed: readonly string[] | null, id: string): boolean {
  return allowed === null || allowed.includes(id);
}

/**
 * A key for single environments cannot change what all of them share.
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
 * Asks for title and comment where the workspace requires them of changes.
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
 * Refuses a change in an environment that requires approvals, unless it comes with one. A kill may
 * be exempt.
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
 * Refuses a change of what an open change request is about, unless it publishes one itself: beside it only kills and
 * restores can be requested, which touch nothing else.
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
 * The same of all that a flag or segment has in the environments of a workspace, or in one of them.
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

/** What `workspaceAt`, `environmentAt` and `definitionAt` find, by one statement. Undefined: only they can tell. */
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

/** @throws Problem (404) with the contract's message for a flag without a definition. */
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
 * The environment of a path that names no workspace. An id says which one is meant. A name may be
 * that of environments in several workspaces: then it is the one whose workspace `knows` what else
 * the path names.
 *
 * @throws Problem (404) there is none that the caller's key sees.
 * @throws Problem (400) several workspaces know it.
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
 * The candidate whose workspace knows what else the path names. Where none does it is the first
 * one, so that the refusal speaks of what could not be found.
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
