import type { ApiRequest, Caller } from './endpoint.js';
import { definitionNotFound, forbidden, notFound, waitsForChangeRequest } from './problem.js';
import { openChangeRequests, type RequestedObject } from '../store/change-requests.js';
import type { EnvironmentOfChange, WorkspaceOfChange } from '../store/definition-lookups.js';
import { findDefinition, type StoredDefinition } from '../store/definitions.js';
import { findFlag, type StoredFlag } from '../store/flags.js';
import {
  findActivation,
  findSegment,
  type StoredActivation,
  type StoredSegment,
} from '../store/segments.js';
import type { Db, EnvironmentRow, TrafficTypeRow, WorkspaceRow } from '../store/tables.js';
import { findEnvironment, findTrafficType, findWorkspace } from '../store/workspaces.js';

/*
 * Finds the objects that a path names, by id or by name. The service answers 404 for objects that the caller's key may
 * not touch too, as public documentation of such services describes it.
 */

function there<T>(found: T | undefined, what: string, idOrName: string): T {
  if (found === undefined) throw notFound(what, idOrName);
  return found;
}

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
  { scope }: Caller,
  idOrName: string,
): Promise<WorkspaceRow> {
  const workspace = await findWorkspace(db, idOrName);
  const isSeen = workspace !== undefined && isVisible(scope.workspaces, workspace.id);
  return there(isSeen ? workspace : undefined, 'workspace', idOrName);
}

/** @throws Problem (404) the workspace has no such environment, or the caller's key does not see it. */
export async function environmentAt(
  db: Db,
  { params: { env = '' }, caller }: ApiRequest,
  workspace: WorkspaceOfChange,
): Promise<EnvironmentRow> {
  const environment = await findEnvironment(db, workspace.id, env);
  const isSeen = environment !== undefined && isVisible(caller.scope.environments, environment.id);
  return there(isSeen ? environment : undefined, 'environment', env);
}

/** @param allowed ids that a key may touch; null means all. */
export function isVisible(allowed: readonly string[] | null, id: string): boolean {
  return allowed === null || allowed.includes(id);
}

export function isPlaceVisible(
  { scope }: Pick<Caller, 'scope'>,
  workspaceId: string,
  environmentId: string,
): boolean {
  return isVisible(scope.workspaces, workspaceId) && isVisible(scope.environments, environmentId);
}

/** A key that is restricted to environments cannot change what all of them share. @throws Problem (403) */
export function checkMayChangeWorkspace({ caller }: ApiRequest): void {
  if (caller.scope.environments === null) return;
  throw forbidden('This Admin API key is restricted to environments');
}

/** A key with any restriction cannot change who may do what. @throws Problem (403) */
export function checkUnrestricted({ caller }: ApiRequest): void {
  if (!isUnrestricted(caller)) throw forbidden('This Admin API key is restricted');
}

export function isUnrestricted({ scope }: Pick<Caller, 'scope'>): boolean {
  return scope.environments === null && scope.workspaces === null;
}

/** @throws Problem (423) */
export async function checkNothingRequested(db: Db, object: RequestedObject): Promise<void> {
  const [open] = await openChangeRequests(db, object);
  if (open !== undefined) throw waitsForChangeRequest(open);
}

/** @throws Problem (404) the workspace has no such traffic type. */
export async function trafficTypeAt(
  db: Db,
  { params: { trafficType = '' } }: ApiRequest,
  workspaceId: string,
): Promise<TrafficTypeRow> {
  return there(await findTrafficType(db, workspaceId, trafficType), 'traffic type', trafficType);
}

/** @throws Problem (404) the workspace has no such flag. */
export async function flagAt(
  db: Db,
  { params: { flag = '' } }: ApiRequest,
  workspace: WorkspaceOfChange,
): Promise<StoredFlag> {
  return there(await findFlag(db, workspace.id, flag), 'feature flag', flag);
}

/** The refusal is the contract's. @throws Problem (404) the flag has no definition; the message is the contract's. */
export async function definitionAt(
  db: Db,
  { params: { flag = '' } }: ApiRequest,
  environment: Pick<EnvironmentOfChange, 'id'>,
): Promise<StoredDefinition> {
  const definition = await findDefinition(db, environment.id, flag);
  if (definition === undefined) throw definitionNotFound(flag);
  return definition;
}

/** @throws Problem (404) the workspace has no such segment. */
export async function segmentAt(
  db: Db,
  { params: { segment = '' } }: ApiRequest,
  workspaceId: string,
): Promise<StoredSegment> {
  return there(await findSegment(db, workspaceId, segment), 'segment', segment);
}

/** @throws Problem (404) the segment is not active in the environment. */
export async function activationAt(
  db: Db,
  { params: { segment = '' } }: ApiRequest,
  { id, name }: Pick<EnvironmentOfChange, 'id' | 'name'>,
): Promise<StoredActivation> {
  const activation = await findActivation(db, id, segment);
  return there(activation, `active segment of the environment ${name}`, segment);
}
