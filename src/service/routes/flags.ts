/**
 * Endpoints of flags at the level of the workspace: everything but their definitions. A workspace that requires title
 * and comment demands them for every write that can change an environment: of these endpoints, for the deletion alone.
 */

import { randomUUID } from 'node:crypto';
import type { WireFlag, WirePage } from '../../admin-api/wire.js';
import { recordObject, written } from '../change-log.js';
import type { ApiRequest, Endpoints, Step } from '../http/endpoint.js';
import { at, type Demands, type Work } from '../http/place.js';
import { badRequest, conflict } from '../http/problem.js';
import {
  descriptionFrom,
  flagMembersFrom,
  flagPatched,
  NEW_FLAG_SCHEMA,
  type FlagContent,
  type GivenFlagMembers,
} from '../rules/flag.js';
import { CONTRACT_PATCH_BODY, PATCH_BODY, type PatchOperation } from '../rules/json-patch.js';
import {
  checkFlagName,
  CONTRACT_NEW_OBJECT_BODY,
  givenText,
  PAGE_SIZES,
  pageFrom,
  textParameter,
  PAGE_QUERY,
  type QuerySchema,
} from '../rules/members.js';
import { sorted, insert } from '../store/statement.js';
import { findDefinition, wireDefinition } from '../store/definitions.js';
import {
  deleteFlag,
  findArchived,
  findFlag,
  listFlags,
  updateFlag,
  wireFlag,
  type FlagFilter,
} from '../store/flags.js';
import type { Db } from '../store/tables.js';
import { listRolloutStatuses } from '../store/workspaces.js';
import { checkUnused } from './checked-definition.js';
import { answer, answerPage } from './answer-schemas.js';

const FLAG_QUERY: QuerySchema = {
  ...PAGE_QUERY,
  name: textParameter('Part of the name, in any case.'),
  tag: {
    ...textParameter('May be repeated: flags that have all of them.'),
    type: 'array',
    items: { type: 'string' },
  },
  rolloutStatus: textParameter('Id of a rollout status.'),
};

/** A flag is shared by all environments. */
const SHARED: Demands = { reach: 'workspace' };

export const REMOVAL: Demands = { reach: 'workspace', note: 'both', approval: true };

export const FLAG_ENDPOINTS: Endpoints = {
  'POST /splits/ws/:ws/trafficTypes/:trafficType': {
    contract: { body: CONTRACT_NEW_OBJECT_BODY },
    summary: 'Create a flag',
    answer: answer('Flag'),
    body: NEW_FLAG_SCHEMA,
    write: at('trafficType', SHARED, createFlag),
  },
  'PATCH /splits/ws/:ws/:flag': {
    contract: { body: CONTRACT_PATCH_BODY },
    summary: 'Change description, tags, owners or rollout status of a flag',
    answer: answer('Flag'),
    body: PATCH_BODY,
    write: at('flag', SHARED, async (work) =>
      changeFlag(work, (flag) => flagPatched(flag, work.body as PatchOperation[], work.isStrict)),
    ),
  },
  'DELETE /splits/ws/:ws/:flag': {
    contract: {},
    summary: 'Delete a flag with its definitions in all environments',
    answer: answer('True'),
    write: at('flagEverywhere', REMOVAL, removeFlag),
  },
  'PUT /splits/ws/:ws/:flag/updateDescription': {
    summary: 'Change the description of a flag: the body, as JSON or as plain text',
    answer: answer('Flag'),
    takesText: true,
    write: at('flag', SHARED, async (work) =>
      changeFlag(work, () => ({ description: descriptionFrom(work.body) })),
    ),
  },
  'POST /tags/ws/:ws/object/:flag/objecttype/Split': {
    summary: 'Replace the tags of a flag',
    answer: answerPage('Tag'),
    body: { type: 'array', maxItems: 1_000, items: { type: 'string', minLength: 1 } },
    write: at('flag', SHARED, replaceTags),
  },
  'GET /splits/ws/:ws': {
    summary: 'List flags',
    answer: answerPage('Flag'),
    query: FLAG_QUERY,
    read: at('workspace', {}, readFlags),
  },
  'GET /splits/ws/:ws/:flag': {
    summary: 'Get a flag',
    answer: answer('Flag'),
    read: at('flag', {}, async ({ flag }) => Promise.resolve(wireFlag(flag))),
  },
};

async function createFlag(work: Work<'trafficType'>): Promise<WireFlag> {
  const { db, workspace, trafficType } = work;
  const { now } = work.caller;
  const body = work.body as GivenFlagMembers & { readonly name: string };
  const { description, tags, owners } = flagMembersFrom(body);
  checkFlagName(body.name);
  if (await findFlag(db, workspace.id, body.name)) {
    throw conflict(`Feature flag ${body.name} already exists`);
  }
  if (await findArchived(db, workspace.id, body.name)) {
    throw conflict(`Feature flag ${body.name} is archived`);
  }
  const row = {
    id: randomUUID(),
    workspace_id: workspace.id,
    name: body.name,
    description,
    traffic_type_id: trafficType.id,
    creation_time: now,
    // The contract's Pre-Production, which is the first of every workspace that this service creates.
    rollout_status_id: written((await listRolloutStatuses(db, workspace.id))[0]).id,
    rollout_status_timestamp: now,
    tags_json: JSON.stringify(tags),
    owners_json: JSON.stringify(owners),
  };
  await insert(db, 'flags', [sorted(row)]);
  return recorded(work, body.name, null);
}

/** Members that `next` leaves out stay as they are. A change without a difference leaves no entry in the audit log. */
async function changeFlag(
  work: Work<'flag'>,
  next: (before: WireFlag) => Partial<FlagContent>,
): Promise<WireFlag> {
  const { db, flag } = work;
  const before = wireFlag(flag);
  const { description, tags, owners, rolloutStatus } = next(before);
  await updateFlag(db, flag.id, {
    description: description ?? flag.description,
    tags_json: tags === undefined ? flag.tags_json : JSON.stringify(tags),
    owners_json: owners === undefined ? flag.owners_json : JSON.stringify(owners),
    ...(await movedTo(work, rolloutStatus)),
  });
  return recorded(work, flag.name, before);
}

/** @throws Problem (400) the workspace has no such rollout status. */
export function moveRolloutStatus(id: string): Step<WireFlag> {
  return at('flag', SHARED, async (work) => changeFlag(work, () => ({ rolloutStatus: { id } })));
}

async function replaceTags(work: Work<'flag'>): Promise<WirePage<object>> {
  const tags = [...new Set(work.body as string[])];
  const { name: objectName } = await changeFlag(work, () => ({ tags }));
  const objects = tags.map((name) => ({ name, objectType: 'Split', objectName }));
  return { objects, offset: 0, limit: PAGE_SIZES.objects.usual, totalCount: objects.length };
}

/** @throws Problem (400) the workspace has no such rollout status. */
export async function checkRolloutStatus(
  db: Db,
  workspaceId: string,
  wanted: FlagContent['rolloutStatus'],
): Promise<void> {
  const statuses = await listRolloutStatuses(db, workspaceId);
  if (!statuses.some(({ id, name }) => id === wanted.id && name === (wanted.name ?? name))) {
    throw badRequest(`There is no rollout status ${Object.values(wanted).join(' ')}`);
  }
}

/**
 * Empty if the flag has that status already. The contract updates `rolloutStatusTimestamp` with a move and restricts
 * no moves.
 */
async function movedTo(
  { db, caller, workspace, flag }: Work<'flag'>,
  wanted: FlagContent['rolloutStatus'] = { id: flag.rollout_status_id },
): Promise<{ rollout_status_id?: string; rollout_status_timestamp?: number }> {
  if (wanted.id === flag.rollout_status_id) return {};
  await checkRolloutStatus(db, workspace.id, wanted);
  const later = Math.max(caller.now, flag.rollout_status_timestamp + 1);
  return { rollout_status_id: wanted.id, rollout_status_timestamp: later };
}

async function recorded(
  work: Work<'workspace'>,
  name: string,
  before: WireFlag | null,
): Promise<WireFlag> {
  const after = written(await findFlag(work.db, work.workspace.id, name));
  return recordObject(work, 'flag', before, wireFlag(after));
}

async function removeFlag(work: Work<'flagEverywhere'>): Promise<true> {
  await recordRemoval(work, 'delete');
  await deleteFlag(work.db, work.flag.id);
  return true;
}

/** @throws Problem (409) another flag depends on this one in some environment. */
export async function recordRemoval(
  work: Work<'flagEverywhere'>,
  action: 'delete' | 'archive',
): Promise<void> {
  const { db, workspace, flag } = work;
  const { name } = flag;
  await checkUnused(db, { kind: 'flag', name, workspaceId: workspace.id });
  // Each environment gets an entry of its own, as if its definition had been deleted by itself.
  for (const environment of work.environments) {
    const definition = written(await findDefinition(db, environment.id, name));
    await recordObject({ ...work, environment }, 'flag', wireDefinition(definition), null, action);
  }
  await recordObject(work, 'flag', wireFlag(flag), null, action);
}

async function readFlags({ db, workspace, query }: Work<'workspace'>): Promise<WirePage<WireFlag>> {
  const page = pageFrom(query, PAGE_SIZES.objects);
  const { flags, totalCount } = await listFlags(db, workspace.id, flagFilter(query), page);
  return { objects: flags.map(wireFlag), ...page, totalCount };
}

function flagFilter({ name, rolloutStatus, tag }: ApiRequest['query']): FlagFilter {
  return {
    /** `tag` may be repeated, and is then a list. */
    tags: [tag].flat().filter((each) => givenText(each) !== undefined) as string[],
    nameContains: givenText(name),
    rolloutStatusId: givenText(rolloutStatus),
  };
}
