/**
 * Endpoints of flags at the level of the workspace: everything but their definitions.
 *
 * The contract shows create, edit (PATCH with patch operations) and delete. It has no operation that lists flags or
 * gets one; those here, the plain-text change of a description and the replacement of tags follow public documentation
 * of such services.
 *
 * Rules of the contract: the traffic type of a new flag comes from the path alone; a new flag has the rollout status
 * Pre-Production and no definitions; description, tags and rollout status are edited here and not in an environment; a
 * deletion removes the definitions in all environments and answers `true`. A workspace that requires title and comment
 * demands them for every write that can change an environment: of these endpoints, for the deletion alone.
 */

import { randomUUID } from 'node:crypto';
import type { WireFlag, WirePage } from '../../admin-api/wire.js';
import { recordChange } from '../change-log.js';
import type { ApiRequest, Endpoint } from '../http/endpoint.js';
import {
  checkMayChangeWorkspace,
  checkNoApproval,
  checkNothingRequested,
  checkNoteFor,
  flagAt,
  trafficTypeAt,
  workspaceAt,
} from '../http/path-lookup.js';
import { badRequest, conflict } from '../http/problem.js';
import { definitionDifference, differenceOf } from '../rules/difference.js';
import {
  descriptionFrom,
  flagMembersFrom,
  flagPatched,
  NEW_FLAG_SCHEMA,
  type FlagContent,
  type GivenFlagMembers,
} from '../rules/flag.js';
import type { PatchOperation } from '../rules/json-patch.js';
import { checkFlagName } from '../rules/names.js';
import { PAGE_SIZES, pageFrom } from '../rules/paging.js';
import { findArchived } from '../store/archive.js';
import {
  environmentsOfFlag,
  findDefinition,
  usersOf,
  wireDefinition,
} from '../store/definitions.js';
import {
  deleteFlag,
  findFlag,
  insertFlag,
  listFlags,
  updateFlag,
  wireFlag,
  type FlagFilter,
  type StoredFlag,
} from '../store/flags.js';
import type { Db, RolloutStatusRow, WorkspaceRow } from '../store/tables.js';
import { listRolloutStatuses } from '../store/workspaces.js';
import {
  KEYS_ARRAY_BODY,
  CONTRACT_NEW_OBJECT_BODY,
  CONTRACT_PATCH_BODY,
  PATCH_BODY,
} from './body-schemas.js';
import { answer, answerPage } from './answer-schemas.js';
import { FLAG_QUERY } from './query-schemas.js';

export const FLAG_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['POST'],
    path: '/splits/ws/:ws/trafficTypes/:trafficType',
    contract: { body: CONTRACT_NEW_OBJECT_BODY },
    summary: 'Create a flag',
    answer: answer('Flag'),
    body: NEW_FLAG_SCHEMA,
    write: createFlag,
  },
  {
    methods: ['PATCH'],
    path: '/splits/ws/:ws/:flag',
    contract: { body: CONTRACT_PATCH_BODY },
    summary: 'Change description, tags, owners or rollout status of a flag',
    answer: answer('Flag'),
    body: PATCH_BODY,
    write: patchFlag,
  },
  {
    methods: ['DELETE'],
    path: '/splits/ws/:ws/:flag',
    contract: {},
    summary: 'Delete a flag with its definitions in all environments',
    answer: answer('True'),
    write: removeFlag,
  },
  {
    methods: ['PUT'],
    path: '/splits/ws/:ws/:flag/updateDescription',
    summary: 'Change the description of a flag: the body, as JSON or as plain text',
    answer: answer('Flag'),
    takesText: true,
    write: async (db, request) =>
      changeFlag(db, request, () => ({ description: descriptionFrom(request.body) })),
  },
  {
    methods: ['POST'],
    path: '/tags/ws/:ws/object/:flag/objecttype/Split',
    summary: 'Replace the tags of a flag',
    answer: answerPage('Tag'),
    body: { ...KEYS_ARRAY_BODY, maxItems: 1_000, items: { type: 'string', minLength: 1 } },
    write: replaceTags,
  },
  {
    methods: ['GET'],
    path: '/splits/ws/:ws',
    summary: 'List flags',
    answer: answerPage('Flag'),
    query: FLAG_QUERY,
    read: readFlags,
  },
  {
    methods: ['GET'],
    path: '/splits/ws/:ws/:flag',
    summary: 'Get a flag',
    answer: answer('Flag'),
    read: async (db, request) =>
      wireFlag(await flagAt(db, request, await workspaceAt(db, request))),
  },
];

/**
 * @throws Problem (400) the name is not allowed.
 * @throws Problem (403) the key is restricted to environments, and a flag is shared by all of them.
 * @throws Problem (404) the workspace or the traffic type does not exist.
 * @throws Problem (409) the workspace has a flag of this name.
 */
async function createFlag(db: Db, request: ApiRequest): Promise<WireFlag> {
  const workspace = await workspaceAt(db, request);
  checkMayChangeWorkspace(request);
  const trafficType = await trafficTypeAt(db, request, workspace.id);
  const body = request.body as GivenFlagMembers & { readonly name: string };
  const { description, tags, owners } = flagMembersFrom(body);
  checkFlagName(body.name);
  if (await findFlag(db, workspace.id, body.name)) {
    throw conflict(`Feature flag ${body.name} already exists`);
  }
  if (await findArchived(db, workspace.id, body.name)) {
    throw conflict(`Feature flag ${body.name} is archived`);
  }
  const { now } = request.caller;
  await insertFlag(db, {
    id: randomUUID(),
    workspace_id: workspace.id,
    name: body.name,
    description,
    traffic_type_id: trafficType.id,
    creation_time: now,
    rollout_status_id: (await firstRolloutStatus(db, workspace)).id,
    rollout_status_timestamp: now,
    tags_json: JSON.stringify(tags),
    owners_json: JSON.stringify(owners),
  });
  return recorded(db, request, workspace, { action: 'create', before: null, name: body.name });
}

/**
 * The contract gives every new flag the status Pre-Production, which is the first of every
 * workspace that this service creates.
 */
async function firstRolloutStatus(db: Db, workspace: WorkspaceRow): Promise<RolloutStatusRow> {
  const [first] = await listRolloutStatuses(db, workspace.id);
  if (first === undefined) throw new Error('bug: a workspace without rollout statuses');
  return first;
}

/** Applies patch operations to the flag in the form of answers. */
async function patchFlag(db: Db, request: ApiRequest): Promise<WireFlag> {
  const operations = request.body as PatchOperation[];
  return changeFlag(db, request, (flag) => flagPatched(flag, operations, request.isStrict));
}

/**
 * Changes a flag, and answers its new state. Members that `next` leaves out stay as they are. A change without a
 * difference leaves no entry in the audit log.
 */
async function changeFlag(
  db: Db,
  request: ApiRequest,
  next: (before: WireFlag) => Partial<FlagContent>,
): Promise<WireFlag> {
  const workspace = await workspaceAt(db, request);
  checkMayChangeWorkspace(request);
  const flag = await flagAt(db, request, workspace);
  const before = wireFlag(flag);
  const { description, tags, owners, rolloutStatus } = next(before);
  await updateFlag(db, flag.id, {
    description: description ?? flag.description,
    tags_json: tags === undefined ? flag.tags_json : JSON.stringify(tags),
    owners_json: owners === undefined ? flag.owners_json : JSON.stringify(owners),
    ...(await movedTo(db, request, workspace, flag, rolloutStatus)),
  });
  return recorded(db, request, workspace, { action: 'update', before, name: flag.name });
}

/** @throws Problem (400) the workspace has no such rollout status. */
export async function moveRolloutStatus(db: Db, request: ApiRequest, id: string): Promise<void> {
  await changeFlag(db, request, () => ({ rolloutStatus: { id } }));
}

/** A tag with the object that has it, in the shape of public documentation. */
interface TagAnswer {
  readonly name: string;
  readonly objectType: 'Split';
  readonly objectName: string;
}

/** Replaces all tags of a flag by the given ones, without repetitions. */
async function replaceTags(db: Db, request: ApiRequest): Promise<WirePage<TagAnswer>> {
  const tags = [...new Set(request.body as string[])];
  const flag = await changeFlag(db, request, () => ({ tags }));
  const objects = tags.map((name) => ({
    name,
    objectType: 'Split' as const,
    objectName: flag.name,
  }));
  return { objects, offset: 0, limit: PAGE_SIZES.objects.usual, totalCount: objects.length };
}

/**
 * The columns that a move to another rollout status changes; empty if the flag has that status already. The contract
 * updates `rolloutStatusTimestamp` with a move and restricts no moves, so this service allows all of them.
 *
 * @throws Problem (400) the workspace has no such rollout status.
 */
async function movedTo(
  db: Db,
  { caller }: ApiRequest,
  workspace: WorkspaceRow,
  flag: StoredFlag,
  wanted: FlagContent['rolloutStatus'] = { id: flag.rollout_status_id },
): Promise<{ rollout_status_id?: string; rollout_status_timestamp?: number }> {
  if (wanted.id === flag.rollout_status_id) return {};
  const statuses = await listRolloutStatuses(db, workspace.id);
  if (!statuses.some(({ id, name }) => id === wanted.id && name === (wanted.name ?? name))) {
    throw badRequest(`There is no rollout status ${Object.values(wanted).join(' ')}`);
  }
  const later = Math.max(caller.now, flag.rollout_status_timestamp + 1);
  return { rollout_status_id: wanted.id, rollout_status_timestamp: later };
}

/** Records a creation or a change, and answers the flag as the store has it afterwards. */
async function recorded(
  db: Db,
  { caller }: ApiRequest,
  workspace: WorkspaceRow,
  change: { action: 'create' | 'update'; before: WireFlag | null; name: string },
): Promise<WireFlag> {
  const flag = await findFlag(db, workspace.id, change.name);
  if (flag === undefined) throw new Error('bug: a flag vanished within a transaction');
  const after = wireFlag(flag);
  await recordChange(db, caller, {
    kind: 'flag',
    name: change.name,
    action: change.action,
    workspaceId: workspace.id,
    difference: differenceOf(change.before, after),
  });
  return after;
}

/**
 * Deletes a flag with its definitions in all environments.
 *
 * @throws Problem (400) the workspace requires title and comment, and one is missing.
 * @throws Problem (403) one of the environments with a definition requires approvals.
 * @throws Problem (409) another flag depends on this one in some environment.
 * @throws Problem (423) a change request for one of its definitions is open.
 */
async function removeFlag(db: Db, request: ApiRequest): Promise<true> {
  const flag = await takenAway(db, request, 'delete');
  await deleteFlag(db, flag.id);
  return true;
}

/**
 * Makes sure that a flag may be removed from all environments, and records the removal with the content of its
 * definitions.
 *
 * @throws Problem as `removeFlag` does.
 */
export async function takenAway(
  db: Db,
  request: ApiRequest,
  action: 'delete' | 'archive',
): Promise<StoredFlag> {
  const workspace = await workspaceAt(db, request);
  checkMayChangeWorkspace(request);
  checkNoteFor(workspace, request, 'both');
  const flag = await flagAt(db, request, workspace);
  const environments = await environmentsOfFlag(db, flag.id);
  for (const environment of environments) checkNoApproval(environment, request);
  await checkNothingRequested(db, { kind: 'flag', name: flag.name, workspaceId: workspace.id });
  const users = await usersOf(db, { kind: 'flag', name: flag.name, workspaceId: workspace.id });
  const [user] = users.filter((each) => each.flag !== flag.name);
  if (user !== undefined) {
    throw conflict(
      `Feature flag ${flag.name} is used by ${user.flag} in the environment ${user.environment}`,
    );
  }
  const change = {
    kind: 'flag',
    name: flag.name,
    action,
    workspaceId: workspace.id,
  } as const;
  // Each environment gets an entry of its own, as if its definition had been deleted by itself.
  for (const environment of environments) {
    const definition = await findDefinition(db, environment.id, flag.name);
    if (definition === undefined)
      throw new Error('bug: a definition vanished within a transaction');
    const difference = definitionDifference(wireDefinition(definition), null);
    await recordChange(db, request.caller, { ...change, environment, difference });
  }
  const difference = differenceOf(wireFlag(flag), null);
  await recordChange(db, request.caller, { ...change, difference });
  return flag;
}

/** One page of flags, sorted by name; `totalCount` counts all that match the filter. */
async function readFlags(db: Db, request: ApiRequest): Promise<WirePage<WireFlag>> {
  const workspace = await workspaceAt(db, request);
  const page = pageFrom(request.query, PAGE_SIZES.objects);
  const { flags, totalCount } = await listFlags(db, workspace.id, flagFilter(request.query), page);
  return { objects: flags.map(wireFlag), ...page, totalCount };
}

/** Empty parameters count as not given. `tag` may be repeated, and is then a list. */
function flagFilter({ name, rolloutStatus, tag }: ApiRequest['query']): FlagFilter {
  const tags = (Array.isArray(tag) ? tag : [tag]).filter(
    (each): each is string => typeof each === 'string' && each !== '',
  );
  return {
    tags,
    ...(typeof name === 'string' && name !== '' ? { nameContains: name } : {}),
    ...(typeof rolloutStatus === 'string' && rolloutStatus !== ''
      ? { rolloutStatusId: rolloutStatus }
      : {}),
  };
}
