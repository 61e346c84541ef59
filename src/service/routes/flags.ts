/**
 * Endpoints of flags at the level of the workspace: everything but their definitions. A workspace that requires title
 * and comment demands them for every write that can change an environment: of these endpoints, for the deletion alone.
 */

import { randomUUID } from 'node:crypto';
import type { WireFlag, WirePage } from '../../admin-api/wire.js';
import { recordObject, timeOfChange, written } from '../change-log.js';
import type { Endpoints, Step } from '../http/endpoint.js';
import { at, REMOVAL, SHARED, type Work } from '../http/place.js';
import { badRequest, conflict } from '../http/problem.js';
import {
  applyPatch,
  CONTRACT_PATCH_BODY,
  PATCH_BODY,
  type PatchOperation,
} from '../rules/json-patch.js';
import {
  checkFlagName,
  CONTRACT_NEW_OBJECT_BODY,
  givenText,
  NAME_SCHEMA,
  PAGE_QUERY,
  PAGE_SIZES,
  pageFrom,
  textParameter,
  WORDS_MEMBERS,
  type QuerySchema,
} from '../rules/members.js';
import { checkShape, checkUntouched, closed, compileSchema, type Schema } from '../rules/shape.js';
import { findDefinition, wireDefinition } from '../store/definitions.js';
import {
  deleteFlag,
  findArchived,
  findFlag,
  listFlags,
  updateFlag,
  wireFlag,
} from '../store/flags.js';
import { insert, sorted } from '../store/statement.js';
import type { Db, FlagRow } from '../store/tables.js';
import { listRolloutStatuses } from '../store/workspaces.js';
import { answer, answerPage } from './answer-schemas.js';
import { checkUnused } from './checked-definition.js';

const MAX_DESCRIPTION = 10_000;

/** What clients may set. The contract leaves the shape of owners and tags open; public documentation shows these. */
const MEMBERS = {
  description: { type: 'string', maxLength: MAX_DESCRIPTION },
  tags: {
    type: ['array', 'null'],
    maxItems: 1_000,
    items: closed({ name: { type: 'string', minLength: 1, maxLength: 256 } }, ['name']),
  },
  owners: {
    type: 'array',
    maxItems: 1_000,
    items: closed({ id: { type: 'string' }, type: { enum: ['User', 'Team'] } }, ['id', 'type']),
  },
} satisfies Readonly<Record<string, Schema>>;

interface GivenMembers {
  readonly description?: string;
  readonly tags?: readonly { readonly name: string }[] | null;
  readonly owners?: readonly unknown[];
}

/** Members that a patch cannot change. Name and traffic type are fixed when a flag is created. */
const FIXED = ['id', 'name', 'trafficType', 'creationTime', 'rolloutStatusTimestamp'] as const;

const hasShape = compileSchema(
  closed(
    {
      ...Object.fromEntries(FIXED.map((name) => [name, true])),
      ...MEMBERS,
      rolloutStatus: closed({ id: { type: 'string' }, name: { type: 'string' } }, ['id']),
    },
    ['rolloutStatus'],
  ),
);

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

export const FLAG_ENDPOINTS: Endpoints = {
  'POST /splits/ws/:ws/trafficTypes/:trafficType': {
    contract: { body: CONTRACT_NEW_OBJECT_BODY },
    summary: 'Create a flag',
    answer: answer('Flag'),
    body: closed({ name: NAME_SCHEMA, ...MEMBERS, ...WORDS_MEMBERS }, ['name']),
    write: at('trafficType', SHARED, createFlag),
  },
  'PATCH /splits/ws/:ws/:flag': {
    contract: { body: CONTRACT_PATCH_BODY },
    summary: 'Change description, tags, owners or rollout status of a flag',
    answer: answer('Flag'),
    body: PATCH_BODY,
    write: at('flag', SHARED, patchFlag),
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
    write: at('flag', SHARED, replaceDescription),
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

type Columns = Partial<Pick<FlagRow, 'description' | 'tags_json' | 'owners_json'>>;

/** Tags are unique, in the order given. */
function columnsOf({ description = '', tags, owners = [] }: GivenMembers): Required<Columns> {
  return {
    description,
    ...tagsColumn((tags ?? []).map(({ name }) => name)),
    owners_json: JSON.stringify(owners),
  };
}

function tagsColumn(names: readonly string[]) {
  return { tags_json: JSON.stringify([...new Set(names)]) };
}

async function createFlag(work: Work<'trafficType'>): Promise<WireFlag> {
  const { db, workspace, trafficType } = work;
  const { now } = work.caller;
  const body = work.body as GivenMembers & { readonly name: string };
  const { name } = body;
  checkFlagName(name);
  if (await findFlag(db, workspace.id, name)) throw conflict(`Feature flag ${name} already exists`);
  if (await findArchived(db, workspace.id, name)) {
    throw conflict(`Feature flag ${name} is archived`);
  }
  const row = {
    id: randomUUID(),
    workspace_id: workspace.id,
    name,
    traffic_type_id: trafficType.id,
    creation_time: now,
    // The contract's Pre-Production, which is the first of every workspace that this service creates.
    rollout_status_id: written((await listRolloutStatuses(db, workspace.id))[0]).id,
    rollout_status_timestamp: now,
    ...columnsOf(body),
  };
  await insert(db, 'flags', [sorted(row)]);
  return recorded(work, name, null);
}

/** A name must be that of the status with this id. */
interface GivenStatus {
  readonly id: string;
  readonly name?: string;
}

/** The patch sees empty lists where answers have null or nothing, so that it can add the first tag. */
async function patchFlag(work: Work<'flag'>): Promise<WireFlag> {
  const flag = wireFlag(work.flag);
  const before = { ...flag, tags: flag.tags ?? [], owners: flag.owners ?? [] };
  const after = applyPatch(before, work.body as PatchOperation[]);
  checkShape(hasShape, after, 'Feature flag');
  const patched = after as GivenMembers & { readonly rolloutStatus: GivenStatus };
  // The contract does not show the shape of an owner.
  checkUntouched(before, patched, work.isStrict === true ? [...FIXED, 'owners'] : FIXED);
  const { id, name } = patched.rolloutStatus;
  // If the patch changed the id alone, the name is still that of the old status and is ignored.
  const isNamed = name !== undefined && name !== flag.rolloutStatus?.name;
  if (isNamed && id === flag.rolloutStatus?.id) {
    throw badRequest('rolloutStatus/name cannot be changed');
  }
  return changeFlag(work, columnsOf(patched), isNamed ? { id, name } : { id });
}

/** A change without a difference leaves no entry in the audit log. */
async function changeFlag(
  work: Work<'flag'>,
  columns: Columns,
  status: GivenStatus = { id: work.flag.rollout_status_id },
): Promise<WireFlag> {
  const { db, caller, workspace, flag } = work;
  const isMoved = status.id !== flag.rollout_status_id;
  if (isMoved) await checkRolloutStatus(db, workspace.id, status);
  await updateFlag(db, flag.id, {
    ...columns,
    rollout_status_id: status.id,
    // The contract updates it with a move.
    rollout_status_timestamp: isMoved
      ? timeOfChange(caller, flag.rollout_status_timestamp)
      : flag.rollout_status_timestamp,
  });
  return recorded(work, flag.name, wireFlag(flag));
}

/** @throws Problem (400) the workspace has no such rollout status. */
export function moveRolloutStatus(id: string): Step<WireFlag> {
  return at('flag', SHARED, async (work) => changeFlag(work, {}, { id }));
}

/** From JSON text or plain text; no body is an empty description. */
async function replaceDescription(work: Work<'flag'>): Promise<WireFlag> {
  const description = work.body ?? '';
  if (typeof description !== 'string') throw badRequest('Body must be the description as text');
  if (description.length > MAX_DESCRIPTION) {
    throw badRequest(`A description has at most ${MAX_DESCRIPTION} characters`);
  }
  return changeFlag(work, { description });
}

async function replaceTags(work: Work<'flag'>): Promise<WirePage<object>> {
  const tags = [...new Set(work.body as string[])];
  const { name: objectName } = await changeFlag(work, tagsColumn(tags));
  const objects = tags.map((name) => ({ name, objectType: 'Split', objectName }));
  return { objects, offset: 0, limit: PAGE_SIZES.objects.usual, totalCount: objects.length };
}

/** @throws Problem (400) the workspace has no such rollout status. The contract restricts no moves. */
export async function checkRolloutStatus(
  db: Db,
  workspaceId: string,
  wanted: GivenStatus,
): Promise<void> {
  const statuses = await listRolloutStatuses(db, workspaceId);
  if (!statuses.some(({ id, name }) => id === wanted.id && name === (wanted.name ?? name))) {
    throw badRequest(`There is no rollout status ${Object.values(wanted).join(' ')}`);
  }
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
  const { db, flag } = work;
  const { name } = flag;
  await checkUnused(db, work, { kind: 'flag', name });
  // Each environment gets an entry of its own, as if its definition had been deleted by itself.
  for (const environment of work.environments) {
    const definition = written(await findDefinition(db, environment.id, name));
    await recordObject({ ...work, environment }, 'flag', wireDefinition(definition), null, action);
  }
  await recordObject(work, 'flag', wireFlag(flag), null, action);
}

async function readFlags({ db, workspace, query }: Work<'workspace'>): Promise<WirePage<WireFlag>> {
  const page = pageFrom(query, PAGE_SIZES.objects);
  const filter = {
    // `tag` may be repeated, and is then a list.
    tags: [query['tag']].flat().flatMap((each) => givenText(each) ?? []),
    nameContains: givenText(query['name']),
    rolloutStatusId: givenText(query['rolloutStatus']),
  };
  const { flags, totalCount } = await listFlags(db, workspace.id, filter, page);
  return { objects: flags.map(wireFlag), ...page, totalCount };
}
