import {
  findChangeRequest,
  openChangeRequests,
  type RequestedObject,
} from '../store/change-requests.js';
import {
  findPlacedDefinition,
  type EnvironmentOfChange,
  type Place,
} from '../store/definition-lookups.js';
import { environmentsOfFlag, findDefinition, type StoredDefinition } from '../store/definitions.js';
import { findArchived, findFlag } from '../store/flags.js';
import { findAttribute } from '../store/identities.js';
import { environmentsWithKeys, findActivation, findSegment } from '../store/segments.js';
import type { Db, EnvironmentRow, Within, WorkspaceRow } from '../store/tables.js';
import {
  environmentsCalled,
  findEnvironment,
  findTrafficType,
  findWorkspace,
  listEnvironments,
} from '../store/workspaces.js';
import { checkNote, type NoteRequirement } from '../rules/members.js';
import {
  isVisible,
  isUnrestricted,
  isPlaceVisible,
  type ApiRequest,
  type Caller,
  type Step,
} from './endpoint.js';
import {
  approvalsRequired,
  badRequest,
  definitionNotFound,
  forbidden,
  notFound,
  waitsForChangeRequest,
} from './problem.js';

/*
 * Finds the objects that a path names, by id or by name. The service answers 404 for objects that the caller's key may
 * not touch too, as public documentation of such services describes it.
 */

/** The conditions of a change beside the existence of its object. */
export interface Demands {
  /** A key that is restricted to environments, or for `everything` a key with any restriction, is refused. */
  readonly reach?: 'workspace' | 'everything';
  readonly note?: NoteRequirement;
  /** Whether environments may demand an approval. */
  readonly approval?: true;
  /** Whether the change waits while a change request for the object is open. */
  readonly unrequested?: true;
  /**
   * Recognises a change that moves the kill and nothing else. An environment may exempt kills from approvals, and open
   * change requests concern neither kills nor restores.
   */
  readonly moves?: (request: ApiRequest) => 'kill' | 'restore' | undefined;
}

/** Of what all environments share. */
export const SHARED: Demands = { reach: 'workspace' };
/** Of what all environments share, with its parts in them. */
export const REMOVAL: Demands = { reach: 'workspace', note: 'both', approval: true };
/** Of an object in one environment. */
export const CHANGE: Demands = { note: 'both', approval: true, unrequested: true };

interface Asked {
  readonly db: Db;
  readonly request: ApiRequest;
  readonly demands: Demands;
}

interface InWorkspace {
  readonly workspace: WorkspaceRow;
}

interface InEnvironment extends InWorkspace {
  readonly environment: EnvironmentRow;
}

/** By the word with which an endpoint asks for the objects. */
const FIND = {
  nothing: async (asked: Asked) => Promise.resolve(checked(asked, {})),
  workspace: inWorkspace,
  /** The path may leave out the workspace. */
  environment: inEnvironment,
  trafficType: async (asked: Asked) => withTrafficType(asked, await inWorkspace(asked)),
  attribute: async (asked: Asked) => {
    const place = await withTrafficType(asked, await inWorkspace(asked));
    const { attribute: id = '' } = asked.request.params;
    const found = await findAttribute(asked.db, place.trafficType.id, id);
    return { ...place, attribute: there(found, 'attribute', id) };
  },
  identities: async (asked: Asked) => withTrafficType(asked, await inEnvironment(asked)),
  flag: async (asked: Asked) => withFlag(asked, await inWorkspace(asked)),
  /** A flag with the environments that have a definition of it. */
  flagEverywhere: async (asked: Asked) => {
    const place = await withFlag(asked, await inWorkspace(asked));
    const { id, name } = place.flag;
    const environments = approvedIn(await environmentsOfFlag(asked.db, id), asked);
    await checkNothingRequested(asked.db, place, { kind: 'flag', name });
    return { ...place, environments };
  },
  /** An archived flag with the environments of its definitions that are still there. */
  archivedFlag: async (asked: Asked) => {
    const place = await inWorkspace(asked);
    const { flag: name = '' } = asked.request.params;
    const found = await findArchived(asked.db, place.workspace.id, name);
    const archived = there(found, 'archived feature flag', name);
    const had = new Set(archived.definitions.map(({ environment_id }) => environment_id));
    const all = await listEnvironments(asked.db, place.workspace.id);
    const environments = all.filter(({ id }) => had.has(id));
    return { ...place, archived, environments: approvedIn(environments, asked) };
  },
  newDefinition: async (asked: Asked) => {
    const place = await withFlag(asked, await inEnvironment(asked));
    await checkNothingRequested(asked.db, place, { kind: 'flag', name: place.flag.name });
    return place;
  },
  definition: definitionAt,
  segment: async (asked: Asked) => withSegment(asked, await inWorkspace(asked)),
  /** A segment without keys that wait for approval in some environment. */
  segmentEverywhere: async (asked: Asked) => {
    const place = await withSegment(asked, await inWorkspace(asked));
    const { id, name } = place.segment;
    approvedIn(await environmentsWithKeys(asked.db, id), asked);
    await checkNothingRequested(asked.db, place, { kind: 'segment', name });
    return place;
  },
  newActivation: async (asked: Asked) => withSegment(asked, await inEnvironment(asked)),
  activation: async (asked: Asked) => {
    const place = await inEnvironment(asked);
    const { id, name } = place.environment;
    const { segment = '' } = asked.request.params;
    const what = `active segment of the environment ${name}`;
    const activation = there(await findActivation(asked.db, id, segment), what, segment);
    checkUnrequested(activation, asked);
    return { ...place, activation };
  },
  changeRequest: async ({ db, request }: Asked) => {
    const { changeRequest: id = '' } = request.params;
    const found = await findChangeRequest(db, id);
    const isSeen =
      found && isPlaceVisible(request.caller, found.workspace_id, found.environment_id);
    return { changeRequest: there(isSeen === true ? found : undefined, 'change request', id) };
  },
};

type PlaceName = keyof typeof FIND;
export type Places = { [At in PlaceName]: Awaited<ReturnType<(typeof FIND)[At]>> };

/** A request with the objects that its path names, in the transaction of its endpoint. */
export type Work<At extends PlaceName> = ApiRequest & Places[At] & { readonly db: Db };

/**
 * Makes a step of an endpoint: finds the objects that the path names, makes sure that the caller may do the work, and
 * does it. The shape of the body was checked before (400). All endpoints check in the same order: a key without any
 * restriction (403); workspace and environment (404); a key that reaches all environments (403); title and comment
 * (400); approvals (403); the object (404); its environments' approvals (403); open change requests (423); and last, in
 * `work`, the content of the body.
 */
export function at<At extends PlaceName, T>(
  place: At,
  demands: Demands,
  work: (work: Work<At>) => T | Promise<T>,
): Step<T> {
  return async (db, request) =>
    work({ ...request, ...(await find(place, db, request, demands)), db });
}

/** The objects of a path, under demands. @throws Problem (400, 403, 404, 423) in the order of `at`. */
export async function find<At extends PlaceName>(
  place: At,
  db: Db,
  request: ApiRequest,
  demands: Demands = {},
): Promise<Places[At]> {
  if (demands.reach === 'everything' && !isUnrestricted(request.caller)) {
    throw forbidden('This Admin API key is restricted');
  }
  return (await FIND[place]({ db, request, demands })) as Places[At];
}

function there<T>(found: T | undefined, what: string, idOrName: string): T {
  if (found === undefined) throw notFound(what, idOrName);
  return found;
}

async function inWorkspace(asked: Asked): Promise<InWorkspace> {
  const { db, request } = asked;
  const workspace = await workspaceCalled(db, request.caller, request.params['ws'] ?? '');
  return checked(asked, { workspace });
}

async function inEnvironment(asked: Asked): Promise<InEnvironment> {
  return checked(asked, await environmentAt(asked));
}

async function withTrafficType<P extends InWorkspace>({ db, request }: Asked, place: P) {
  const { trafficType: name = '' } = request.params;
  const found = await findTrafficType(db, place.workspace.id, name);
  return { ...place, trafficType: there(found, 'traffic type', name) };
}

async function withFlag<P extends InWorkspace>({ db, request }: Asked, place: P) {
  const { flag: name = '' } = request.params;
  const found = await findFlag(db, place.workspace.id, name);
  return { ...place, flag: there(found, 'feature flag', name) };
}

async function withSegment<P extends InWorkspace>({ db, request }: Asked, place: P) {
  const { segment: name = '' } = request.params;
  const found = await findSegment(db, place.workspace.id, name);
  return { ...place, segment: there(found, 'segment', name) };
}

/** Finds all by one statement. Where only the separate lookups can decide, they do. */
async function definitionAt(asked: Asked): Promise<Place & { readonly stored: StoredDefinition }> {
  const { db, request } = asked;
  const { ws = '', env = '', flag = '' } = request.params;
  const found = await findPlacedDefinition(db, [ws, env, flag]);
  const isSeen = found && isPlaceVisible(request.caller, found.workspace.id, found.environment.id);
  if (isSeen === true) {
    checked(asked, found);
    checkUnrequested(found.stored, asked);
    return found;
  }
  const place = await inEnvironment(asked);
  const stored = await findDefinition(db, place.environment.id, flag);
  if (stored === undefined) throw definitionNotFound(flag);
  checkUnrequested(stored, asked);
  return { ...place, stored };
}

/** @throws Problem (404) the workspace does not exist, or the caller's key does not see it. */
export async function workspaceCalled(
  db: Db,
  { scope }: Caller,
  idOrName: string,
): Promise<WorkspaceRow> {
  const workspace = await findWorkspace(db, idOrName);
  const isSeen = workspace !== undefined && isVisible(scope.workspaces, workspace.id);
  return there(isSeen ? workspace : undefined, 'workspace', idOrName);
}

/**
 * If the path names no workspace and environments of several have the name, the one counts whose workspace has the
 * other object in the path; several such workspaces are a 400. An id is unique.
 */
async function environmentAt({ db, request }: Asked): Promise<InEnvironment> {
  const { params, caller } = request;
  const { ws, env = '' } = params;
  if (ws !== undefined) {
    const workspace = await workspaceCalled(db, caller, ws);
    const found = await findEnvironment(db, workspace.id, env);
    const isSeen = found !== undefined && isVisible(caller.scope.environments, found.id);
    return { workspace, environment: there(isSeen ? found : undefined, 'environment', env) };
  }
  const called = (await environmentsCalled(db, env)).filter(({ id, workspace_id }) =>
    isPlaceVisible(caller, workspace_id, id),
  );
  const byId = called.filter(({ id }) => id === env);
  const candidates = byId.length === 0 ? called : byId;
  const meant = candidates.length > 1 ? await theOneMeant(db, candidates, request) : candidates[0];
  const environment = there(meant, 'environment', env);
  const workspace = there(await findWorkspace(db, environment.workspace_id), 'environment', env);
  return { workspace, environment };
}

/** If no workspace has the other object, the first counts, so that the error is about that object. */
async function theOneMeant(
  db: Db,
  candidates: readonly EnvironmentRow[],
  { params: { env = '', segment, trafficType = '' } }: ApiRequest,
): Promise<EnvironmentRow | undefined> {
  const meant: EnvironmentRow[] = [];
  for (const each of candidates) {
    const other =
      segment === undefined
        ? findTrafficType(db, each.workspace_id, trafficType)
        : findSegment(db, each.workspace_id, segment);
    if ((await other) !== undefined) meant.push(each);
  }
  if (meant.length > 1) {
    throw badRequest(`Several workspaces have an environment ${env}: name it by its id`);
  }
  return meant[0] ?? candidates[0];
}

/** Whether the caller may change something at the place. */
function checked<P extends Partial<Place>>(asked: Asked, place: P): P {
  const { request, demands } = asked;
  if (demands.reach === 'workspace') checkMayChangeWorkspace(request);
  if (demands.note !== undefined && place.workspace?.requires_title_and_comments === 1) {
    checkNote(request.caller.note, demands.note);
  }
  if (place.environment !== undefined) approvedIn([place.environment], asked);
  return place;
}

/** Where approvals are required, only an approved request makes a change, or an exempt kill. @throws Problem (403) */
export function approvedIn<E extends EnvironmentOfChange>(
  environments: readonly E[],
  { request, demands: { approval, moves } }: Pick<Asked, 'request' | 'demands'>,
): readonly E[] {
  if (approval !== true || request.publishes !== undefined) return environments;
  for (const { id, approvals_required, allow_kills } of environments) {
    if (allow_kills === 1 && moves?.(request) === 'kill') continue;
    if (approvals_required === 1) throw approvalsRequired(id);
  }
  return environments;
}

/** An object with an open change request takes only the change of that request, and kills and restores. */
function checkUnrequested(
  { open_change_request_id: id }: { readonly open_change_request_id: string | null },
  { request, demands: { unrequested, moves } }: Asked,
): void {
  if (unrequested !== true || id === null || moves?.(request) !== undefined) return;
  if (request.publishes === undefined) throw waitsForChangeRequest(id);
}

/** @throws Problem (423) */
export async function checkNothingRequested(
  db: Db,
  place: Within,
  object: RequestedObject,
): Promise<void> {
  const [open] = await openChangeRequests(db, place, object);
  if (open !== undefined) throw waitsForChangeRequest(open);
}

/** A key that is restricted to environments cannot change what all of them share. @throws Problem (403) */
export function checkMayChangeWorkspace({ caller }: ApiRequest): void {
  if (caller.scope.environments === null) return;
  throw forbidden('This Admin API key is restricted to environments');
}
