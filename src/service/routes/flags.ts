/**
 * Endpoints of flags at the level of the workspace: everything but their definitions. A workspace that requires title
 * and comment demands them for every write that can change an environment: of these endpoints, for the deletion and the
 * archive alone.
 *
 * As public documentation of such services has it, definitions of an archived flag are no longer served, lists leave the
 * flag out, and its history stays. Decisions of our own: only `unarchive` finds an archived flag; everything else treats
 * it as deleted, but its name stays taken. It is archived under the conditions of a deletion, and comes back if everything
 * that it names exists.
 */

import { randomUUID } from 'node:crypto';
import type { WireFlag } from '../../admin-api/wire.js';
import { recordObject, timeOfChange, written } from '../change-log.js';
import type { Endpoints, Step } from '../http/endpoint.js';
import { at, REMOVAL, SHARED, type Work } from '../http/place.js';
import { badRequest, conflict } from '../http/problem.js';
import { CONTRACT_PATCH_BODY, PATCH_BODY, patchedObject } from '../rules/json-patch.js';
import {
  checkFlagName,
  CONTRACT_NEW_BODIES,
  givenText,
  NAME_SCHEMA,
  PAGE_QUERY,
  pageFrom,
  pageOf,
  textParameter,
  WORDS_BODY,
  WORDS_MEMBERS,
  type QuerySchema,
} from '../rules/members.js';
import { closed, compileSchema, type Schema } from '../rules/shape.js';
import { findDefinition, wireDefinition } from '../store/definitions.js';
import {
  archiveFlag,
  deleteFlag,
  findArchived,
  findFlag,
  listFlags,
  unarchiveFlag,
  updateFlag,
  wireFlag,
} from '../store/flags.js';
import { insert, sorted } from '../store/statement.js';
import type { Db, FlagRow } from '../store/tables.js';
import { findTrafficType, listRolloutStatuses } from '../store/workspaces.js';
import { answer, answerPage } from './answer-schemas.js';
import { checkThere, checkUnused } from './checked-definition.js';

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
    contract: { body: CONTRACT_NEW_BODIES.flag },
    summary: 'Create a flag',
    answer: answer('Flag'),
    body: closed({ name: NAME_SCHEMA, ...MEMBERS, ...WORDS_MEMBERS }, ['name']),
    write: at('trafficType', SHARED, async (work) => {
      const { db, caller, workspace, trafficType } = work;
      const given = work.body as GivenMembers & { readonly name: string };
      const { name } = given;
      checkFlagName(name);
      if (await findFlag(db, workspace.id, name)) {
        throw conflict(`Feature flag ${name} already exists`);
      }
      if (await findArchived(db, workspace.id, name)) {
        throw conflict(`Feature flag ${name} is archived`);
      }
      const row = {
        id: randomUUID(),
        workspace_id: workspace.id,
        name,
        traffic_type_id: trafficType.id,
        creation_time: caller.now,
        // The contract's Pre-Production, which is the first of every workspace that this service creates.
        rollout_status_id: written((await listRolloutStatuses(db, workspace.id))[0]).id,
        rollout_status_timestamp: caller.now,
        ...columnsOf(given),
      };
      await insert(db, 'flags', [sorted(row)]);
      return recorded(work, name, null);
    }),
  },
  'PATCH /splits/ws/:ws/:flag': {
    contract: { body: CONTRACT_PATCH_BODY },
    summary: 'Change description, tags, owners or rollout status of a flag',
    answer: answer('Flag'),
    body: PATCH_BODY,
    write: at('flag', SHARED, async (work) => {
      const flag = wireFlag(work.flag);
      // Empty lists where answers have null or nothing, so that a patch can add the first tag.
      const before = { ...flag, tags: flag.tags ?? [], owners: flag.owners ?? [] };
      // The contract does not show the shape of an owner.
      const fixed = work.isStrict === true ? [...FIXED, 'owners'] : FIXED;
      const after = patchedObject('Feature flag', before, work.body, { hasShape, fixed });
      const patched = after as GivenMembers & { readonly rolloutStatus: GivenStatus };
      const { id, name } = patched.rolloutStatus;
      // If the patch changed the id alone, the name is still that of the old status and is ignored.
      const isNamed = name !== undefined && name !== flag.rolloutStatus?.name;
      if (isNamed && id === flag.rolloutStatus?.id) {
        throw badRequest('rolloutStatus/name cannot be changed');
      }
      return changeFlag(work, columnsOf(patched), isNamed ? { id, name } : { id });
    }),
  },
  'DELETE /splits/ws/:ws/:flag': {
    contract: {},
    summary: 'Delete a flag with its definitions in all environments',
    answer: answer('True'),
    write: at('flagEverywhere', REMOVAL, async (work) => {
      await recordRemoval(work, 'delete');
      await deleteFlag(work.db, work.flag.id);
      return true;
    }),
  },
  'PUT /splits/ws/:ws/:flag/updateDescription': {
    summary: 'Change the description of a flag: the body, as JSON or as plain text',
    answer: answer('Flag'),
    takesText: true,
    write: at('flag', SHARED, async (work) => {
      // No body is an empty description.
      const description = work.body ?? '';
      if (typeof description !== 'string') throw badRequest('Body must be the description as text');
      if (description.length > MAX_DESCRIPTION) {
        throw badRequest(`A description has at most ${MAX_DESCRIPTION} characters`);
      }
      return changeFlag(work, { description });
    }),
  },
  'POST /tags/ws/:ws/object/:flag/objecttype/Split': {
    summary: 'Replace the tags of a flag',
    answer: answerPage('Tag'),
    body: { type: 'array', maxItems: 1_000, items: { type: 'string', minLength: 1 } },
    write: at('flag', SHARED, async (work) => {
      const rows = [...new Set(work.body as string[])];
      const { name: objectName } = await changeFlag(work, tagsColumn(rows));
      const page = pageFrom({}, 'objects');
      return pageOf(page, { rows, totalCount: rows.length }, (name) => {
        return { name, objectType: 'Split', objectName };
      });
    }),
  },
  'GET /splits/ws/:ws': {
    summary: 'List flags',
    answer: answerPage('Flag'),
    query: FLAG_QUERY,
    read: at('workspace', {}, async ({ db, workspace, query }) => {
      const page = pageFrom(query, 'objects');
      const filter = {
        // `tag` may be repeated, and is then a list.
        tags: [query['tag']].flat().flatMap((each) => givenText(each) ?? []),
        nameContains: givenText(query['name']),
        rolloutStatusId: givenText(query['rolloutStatus']),
      };
      return pageOf(page, await listFlags(db, workspace.id, filter, page), wireFlag);
    }),
  },
  'GET /splits/ws/:ws/:flag': {
    summary: 'Get a flag',
    answer: answer('Flag'),
    read: at('flag', {}, ({ flag }) => wireFlag(flag)),
  },
  'POST /splits/ws/:ws/:flag/archive': {
    summary: 'Take a flag away with its definitions, and keep them',
    answer: answer('Flag'),
    body: WORDS_BODY,
    write: at('flagEverywhere', REMOVAL, async (work) => {
      await recordRemoval(work, 'archive');
      await archiveFlag(work.db, work.flag, work.caller.now);
      return wireFlag(work.flag);
    }),
  },
  'POST /splits/ws/:ws/:flag/unarchive': {
    summary: 'Bring an archived flag back as it was',
    answer: answer('Flag'),
    body: WORDS_BODY,
    // Definitions in environments that were deleted meanwhile do not come back.
    write: at('archivedFlag', REMOVAL, async (work) => {
      const { db, workspace, archived, environments } = work;
      const { flag } = archived;
      if ((await findTrafficType(db, workspace.id, flag.traffic_type_id)) === undefined) {
        throw conflict(`The traffic type of feature flag ${flag.name} is not there any more`);
      }
      for (const environment of environments) {
        const uses = archived.uses.filter((each) => each.environment_id === environment.id);
        await checkThere(db, { workspace, environment }, uses, conflict);
      }
      const isThere = ({ environment_id }: { environment_id: string }) =>
        environments.some(({ id }) => id === environment_id);
      await unarchiveFlag(db, {
        flag,
        definitions: archived.definitions.filter(isThere),
        uses: archived.uses.filter(isThere),
      });
      const after = wireFlag(written(await findFlag(db, workspace.id, flag.name)));
      await recordObject(work, 'flag', null, after, 'unarchive');
      for (const environment of environments) {
        const definition = written(await findDefinition(db, environment.id, flag.name));
        const place = { ...work, environment };
        await recordObject(place, 'flag', null, wireDefinition(definition), 'unarchive');
      }
      return after;
    }),
  },
};

/** Tags are unique, in the order given. */
function columnsOf({ description = '', tags, owners = [] }: GivenMembers) {
  return {
    description,
    ...tagsColumn((tags ?? []).map(({ name }) => name)),
    owners_json: JSON.stringify(owners),
  };
}

function tagsColumn(names: readonly string[]) {
  return { tags_json: JSON.stringify([...new Set(names)]) };
}

/** A name must be that of the status with this id. */
interface GivenStatus {
  readonly id: string;
  readonly name?: string;
}

/** A change without a difference leaves no entry in the audit log. */
async function changeFlag(
  work: Work<'flag'>,
  columns: Partial<FlagRow>,
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

/** @throws Problem (409) another flag depends on this one in some environment. */
async function recordRemoval(
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
