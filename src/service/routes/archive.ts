/**
 * Archiving a flag, and bringing it back. As public documentation of such services has it, definitions of an archived
 * flag are no longer served, lists leave the flag out, and its history stays.
 *
 * Decisions of our own: only `unarchive` finds an archived flag; everything else treats it as deleted, but its name
 * stays taken. It is archived under the conditions of a deletion, and comes back if everything that it names exists.
 */

import type { WireFlag } from '../../admin-api/wire.js';
import { recordObject, written } from '../change-log.js';
import type { Endpoints } from '../http/endpoint.js';
import { at, checkApproval, REMOVAL, type Work } from '../http/place.js';
import { conflict, notFound } from '../http/problem.js';
import { findDefinition, wireDefinition } from '../store/definitions.js';
import { archiveFlag, findArchived, findFlag, unarchiveFlag, wireFlag } from '../store/flags.js';
import { findTrafficType, listEnvironments } from '../store/workspaces.js';
import { WORDS_BODY } from '../rules/members.js';
import { answer } from './answer-schemas.js';
import { checkThere } from './checked-definition.js';
import { recordRemoval } from './flags.js';

export const ARCHIVE_ENDPOINTS: Endpoints = {
  'POST /splits/ws/:ws/:flag/archive': {
    summary: 'Take a flag away with its definitions, and keep them',
    answer: answer('Flag'),
    body: WORDS_BODY,
    write: at('flagEverywhere', REMOVAL, archive),
  },
  'POST /splits/ws/:ws/:flag/unarchive': {
    summary: 'Bring an archived flag back as it was',
    answer: answer('Flag'),
    body: WORDS_BODY,
    write: at('workspace', REMOVAL, unarchive),
  },
};

async function archive(work: Work<'flagEverywhere'>): Promise<WireFlag> {
  await recordRemoval(work, 'archive');
  await archiveFlag(work.db, work.flag, work.caller.now);
  return wireFlag(work.flag);
}

/** Definitions in environments that were deleted meanwhile do not come back. */
async function unarchive(work: Work<'workspace'>): Promise<WireFlag> {
  const { db, workspace } = work;
  const nameOrId = work.params['flag'] ?? '';
  const archived = await findArchived(db, workspace.id, nameOrId);
  if (archived === undefined) throw notFound('archived feature flag', nameOrId);
  const { flag } = archived;
  const had = new Set(archived.definitions.map((each) => each.environment_id));
  const environments = (await listEnvironments(db, workspace.id)).filter(({ id }) => had.has(id));
  for (const environment of environments) {
    checkApproval(environment, { request: work, demands: REMOVAL });
  }
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
}
