import { checkNote } from '../rules/note.js';
import {
  findPlacedDefinition,
  type EnvironmentOfChange,
  type PlacedDefinition,
  type WorkspaceOfChange,
} from '../store/definition-lookups.js';
import { environmentsOfFlag } from '../store/definitions.js';
import { environmentsWithKeys, findSegment } from '../store/segments.js';
import type { Db, EnvironmentRow } from '../store/tables.js';
import { environmentsCalled, findTrafficType, findWorkspace } from '../store/workspaces.js';
import type { ApiRequest, Demands, Places, Step, Work } from './endpoint.js';
import {
  activationAt,
  checkMayChangeWorkspace,
  checkNothingRequested,
  checkUnrestricted,
  definitionAt,
  environmentAt,
  flagAt,
  isPlaceVisible,
  segmentAt,
  trafficTypeAt,
  workspaceAt,
} from './path-lookup.js';
import { approvalsRequired, badRequest, notFound, waitsForChangeRequest } from './problem.js';

type Find<At extends keyof Places> = (
  db: Db,
  request: ApiRequest,
  demands: Demands,
) => Promise<Places[At]>;

/**
 * Makes a step of an endpoint: finds the objects that the path names, makes sure that the caller may do the work, and
 * does it. The shape of the body was checked before (400). All endpoints check in the same order: a key without any
 * restriction (403); workspace and environment (404); a key that reaches all environments (403); title and comment
 * (400); approvals (403); the object (404); its environments' approvals (403); open change requests (423); and last, in
 * `work`, the content of the body.
 */
export function at<At extends keyof Places, T>(
  place: At,
  demands: Demands,
  work: (work: Work<At>) => Promise<T>,
): Step<T> {
  return async (db, request, store) => {
    if (demands.reach === 'everything') checkUnrestricted(request);
    return work({ ...request, ...(await FIND[place](db, request, demands)), db, store });
  };
}

const FIND: { readonly [At in keyof Places]: Find<At> } = {
  nothing: async () => Promise.resolve({}),
  workspace: inWorkspace,
  environment: inEnvironment,
  trafficType: async (db, request, demands) => {
    const { workspace } = await inWorkspace(db, request, demands);
    return { workspace, trafficType: await trafficTypeAt(db, request, workspace.id) };
  },
  identities: async (db, request, demands) => {
    const place = await inEnvironment(db, request, demands);
    return { ...place, trafficType: await trafficTypeAt(db, request, place.workspace.id) };
  },
  flag: flagInWorkspace,
  flagEverywhere: async (db, request, demands) => {
    const { workspace, flag } = await flagInWorkspace(db, request, demands);
    const environments = await environmentsOfFlag(db, flag.id);
    for (const environment of environments) checkApproval(environment, request, demands);
    await checkNothingRequested(db, { kind: 'flag', name: flag.name, workspaceId: workspace.id });
    return { workspace, flag, environments };
  },
  newDefinition: async (db, request, demands) => {
    const { workspace, environment } = await inEnvironment(db, request, demands);
    const flag = await flagAt(db, request, workspace);
    const place = { workspaceId: workspace.id, environmentId: environment.id };
    await checkNothingRequested(db, { kind: 'flag', name: flag.name, ...place });
    return { workspace, environment, flag };
  },
  definition: async (db, request, demands) => {
    const found = await placedDefinitionAt(db, request);
    if (found !== undefined) checkCaller(request, demands, found);
    const place = found ?? (await inEnvironment(db, request, demands));
    const stored = found?.stored ?? (await definitionAt(db, request, place.environment));
    checkUnrequested(stored, request, demands);
    return { ...place, stored };
  },
  segment: segmentInWorkspace,
  segmentEverywhere: async (db, request, demands) => {
    const { workspace, segment } = await segmentInWorkspace(db, request, demands);
    for (const environment of await environmentsWithKeys(db, segment.id)) {
      checkApproval(environment, request, demands);
    }
    const { name } = segment;
    await checkNothingRequested(db, { kind: 'segment', name, workspaceId: workspace.id });
    return { workspace, segment };
  },
  newActivation: async (db, request, demands) => {
    const place = await inEnvironment(db, request, demands);
    return { ...place, segment: await segmentAt(db, request, place.workspace.id) };
  },
  activation: async (db, request, demands) => {
    const place = await inEnvironment(db, request, demands);
    const activation = await activationAt(db, request, place.environment);
    checkUnrequested(activation, request, demands);
    return { ...place, activation };
  },
};

async function inWorkspace(db: Db, request: ApiRequest, demands: Demands) {
  const workspace = await workspaceAt(db, request);
  checkCaller(request, demands, { workspace });
  return { workspace };
}

async function inEnvironment(db: Db, request: ApiRequest, demands: Demands) {
  const place = await environmentOf(db, request);
  checkCaller(request, demands, place);
  return place;
}

async function environmentOf(db: Db, request: ApiRequest): Promise<Places['environment']> {
  const { ws, segment, trafficType = '' } = request.params;
  if (ws === undefined) {
    return environmentByItself(db, request, async (workspaceId) => {
      const other =
        segment === undefined
          ? findTrafficType(db, workspaceId, trafficType)
          : findSegment(db, workspaceId, segment);
      return (await other) !== undefined;
    });
  }
  const workspace = await workspaceAt(db, request);
  return { workspace, environment: await environmentAt(db, request, workspace) };
}

function checkCaller(
  request: ApiRequest,
  demands: Demands,
  { workspace, environment }: { workspace: WorkspaceOfChange; environment?: EnvironmentOfChange },
): void {
  if (demands.reach === 'workspace') checkMayChangeWorkspace(request);
  if (demands.note !== undefined && workspace.requires_title_and_comments === 1) {
    checkNote(request.caller.note, demands.note);
  }
  if (environment !== undefined) checkApproval(environment, request, demands);
}

async function flagInWorkspace(db: Db, request: ApiRequest, demands: Demands) {
  const { workspace } = await inWorkspace(db, request, demands);
  return { workspace, flag: await flagAt(db, request, workspace) };
}

async function segmentInWorkspace(db: Db, request: ApiRequest, demands: Demands) {
  const { workspace } = await inWorkspace(db, request, demands);
  return { workspace, segment: await segmentAt(db, request, workspace.id) };
}

/**
 * An environment that requires approvals takes a change only from an approved request. A kill may be exempt.
 *
 * @throws Problem (403)
 */
export function checkApproval(
  environment: EnvironmentOfChange,
  request: ApiRequest,
  { approval, moves }: Demands,
): void {
  if (approval !== true || request.publishes !== undefined) return;
  if (environment.allow_kills === 1 && moves?.(request) === 'kill') return;
  if (environment.approvals_required === 1) throw approvalsRequired(environment.id);
}

/**
 * An object with an open change request takes only the change of that request, and kills and restores, which touch
 * nothing else.
 */
function checkUnrequested(
  stored: { readonly open_change_request_id: string | null },
  request: ApiRequest,
  { unrequested, moves }: Demands,
): void {
  const id = stored.open_change_request_id;
  if (unrequested !== true || id === null || moves?.(request) !== undefined) return;
  if (request.publishes === undefined) throw waitsForChangeRequest(id);
}

/** All of them by one statement. Gives undefined where only the separate lookups can decide. */
async function placedDefinitionAt(
  db: Db,
  { params, caller }: ApiRequest,
): Promise<PlacedDefinition | undefined> {
  const { ws = '', env = '', flag = '' } = params;
  const found = await findPlacedDefinition(db, [ws, env, flag]);
  const isSeen = found && isPlaceVisible(caller, found.workspace.id, found.environment.id);
  return isSeen === true ? found : undefined;
}

/**
 * The environment of a path that names no workspace. An id is unique. If environments of several workspaces have the
 * name, the one counts whose workspace `knows` the other object in the path; several such workspaces are a 400.
 */
async function environmentByItself(
  db: Db,
  { params, caller }: ApiRequest,
  knows: (workspaceId: string) => Promise<boolean>,
): Promise<Places['environment']> {
  const idOrName = params['env'] ?? '';
  const called = (await environmentsCalled(db, idOrName)).filter(({ id, workspace_id }) =>
    isPlaceVisible(caller, workspace_id, id),
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
  for (const each of candidates) if (await knows(each.workspace_id)) knowing.push(each);
  if (knowing.length > 1) {
    throw badRequest(`Several workspaces have an environment ${name}: name it by its id`);
  }
  return knowing[0] ?? candidates[0];
}
