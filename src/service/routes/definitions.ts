/**
 * Endpoints of the definitions of flags in environments. The contract says that a separate kill endpoint exists but not
 * its method, path or payload; `kill` and `restore` here follow public documentation of such services.
 */

import type { WireDefinition } from '../../admin-api/wire.js';
import { recordChange, recordObject, timeOfChange, written } from '../change-log.js';
import { isPlaceVisible, type ApiRequest, type Endpoints } from '../http/endpoint.js';
import { at, CHANGE, type Work } from '../http/place.js';
import { letOthersRunIfLong } from '../parts.js';
import { CONTRACT_DEFINITION_BODY, DEFINITION_BODY } from '../rules/definition-schema.js';
import {
  checkBelongs,
  definitionPatched,
  definitionReplaced,
  killAlone,
  type DefinitionContent,
  type Use,
} from '../rules/definition.js';
import { CONTRACT_PATCH_BODY, PATCH_BODY, type PatchOperation } from '../rules/json-patch.js';
import { WORDS_BODY, PAGE_QUERY, pageFrom, type Page } from '../rules/members.js';
import type { AuditAction } from '../store/tables.js';
import {
  listDefinitions,
  lookUpDefinition,
  lookUpDefinitions,
  lookUpPlace,
  type FoundDefinitions,
} from '../store/definition-lookups.js';
import {
  deleteDefinition,
  findDefinition,
  insertDefinition,
  reseedDefinition,
  shownDefinitionText,
  updateDefinition,
  wireDefinition,
  type StoredDefinition,
} from '../store/definitions.js';
import type { LookUp } from '../store/statement.js';
import { answer, answerPage } from './answer-schemas.js';
import { checkedDefinition, checkUnused, newUses } from './checked-definition.js';

export const createDefinition = at('newDefinition', CHANGE, async (work) => {
  const { db, flag, environment } = work;
  const given = work.body as object;
  const { content, uses } = await checkedDefinition(db, work, { flag, before: null }, given);
  const ids = { flag_id: flag.id, environment_id: environment.id };
  await insertDefinition(db, ids, content, uses, work.caller.now);
  const after = written(await findDefinition(db, environment.id, flag.name));
  await recordObject(work, 'flag', null, wireDefinition(after));
  return shownDefinitionText(after, work.isStrict);
});

export const replaceDefinition = at('definition', CHANGE, async (work) =>
  change(work, (before) => {
    checkBelongs(work.body as object, before);
    return definitionReplaced(before, work.body as object);
  }),
);

/** Kills may be exempt from approvals (`allowKills` of the environment); the end of a kill never is. */
export const kill = at('definition', { ...CHANGE, moves: () => 'kill' }, async (work) =>
  setKilled(work, true),
);

export const restore = at('definition', { ...CHANGE, moves: () => 'restore' }, async (work) =>
  setKilled(work, false),
);

export const removeDefinition = at('definition', CHANGE, async (work): Promise<true> => {
  const { db, stored } = work;
  await checkUnused(db, work, { kind: 'flag', name: stored.flag_name });
  await deleteDefinition(db, stored.flag_id, stored.environment_id);
  await recordObject(work, 'flag', wireDefinition(stored), null);
  return true;
});

/** The contract reads with the flag's id and writes with its name. This service takes either for both. */
const PATH = '/splits/ws/:ws/:flag/environments/:env';

/** Kill and restore take PUT and POST, because clients are known to use either. */
export const DEFINITION_ENDPOINTS: Endpoints = {
  [`GET ${PATH}`]: {
    contract: {},
    summary: 'Get the definition of a flag in an environment',
    answer: answer('Definition'),
    read: at('definition', {}, ({ stored, isStrict }) => shownDefinitionText(stored, isStrict)),
    lookUp: lookUpOne,
  },
  [`POST ${PATH}`]: {
    contract: { body: CONTRACT_DEFINITION_BODY },
    summary: 'Create the definition of a flag in an environment',
    answer: answer('Definition'),
    body: DEFINITION_BODY,
    write: createDefinition,
  },
  [`PATCH ${PATH}`]: {
    contract: { body: CONTRACT_PATCH_BODY },
    summary: 'Change the definition of a flag in an environment',
    answer: answer('Definition'),
    body: PATCH_BODY,
    // If the workspace requires title and comment and they are missing, the contract answers this operation alone with a
    // 400 without a body.
    write: at(
      'definition',
      {
        ...CHANGE,
        note: 'both-or-empty-answer',
        moves: ({ body }) => killAlone(body as PatchOperation[]),
      },
      async (work) =>
        change(work, (before) =>
          definitionPatched(before, work.body as PatchOperation[], work.isStrict),
        ),
    ),
  },
  [`DELETE ${PATH}`]: {
    contract: {},
    summary: 'Delete the definition of a flag in an environment',
    answer: answer('True'),
    write: removeDefinition,
  },
  [`PUT ${PATH}`]: {
    summary: 'Replace the definition of a flag in an environment',
    answer: answer('Definition'),
    body: DEFINITION_BODY,
    write: replaceDefinition,
  },
  'GET /splits/ws/:ws/environments/:env': {
    summary: 'List the definitions of an environment',
    answer: answerPage('Definition'),
    query: PAGE_QUERY,
    read: at('environment', {}, async ({ db, environment, query }) => {
      const page = pageFrom(query, 'objects');
      return pageText(page, await listDefinitions(db, environment, page));
    }),
    lookUp: lookUpPage,
  },
  [`PUT,POST ${PATH}/kill`]: {
    summary: 'Serve the default treatment to everybody',
    answer: answer('True'),
    body: WORDS_BODY,
    write: kill,
  },
  [`PUT,POST ${PATH}/restore`]: {
    summary: 'End a kill',
    answer: answer('True'),
    body: WORDS_BODY,
    write: restore,
  },
  [`POST ${PATH}/reallocate`]: {
    summary: 'Give keys to treatments anew: the definition gets new seeds',
    answer: answer('True'),
    body: WORDS_BODY,
    write: at('definition', CHANGE, async (work) => {
      const { db, stored } = work;
      const time = timeOfChange(work.caller, stored.last_update_time);
      await reseedDefinition(db, stored, time);
      await recordChange(work, {
        kind: 'flag',
        name: stored.flag_name,
        action: 'reallocate',
        difference: [{ path: '/lastUpdateTime', before: stored.last_update_time, after: time }],
      });
      return true;
    }),
  },
};

/** A change without a difference writes nothing, neither a time nor an entry in the audit log. */
async function change(
  work: Work<'definition'>,
  next: (before: WireDefinition) => DefinitionContent,
): Promise<string> {
  const { db, stored } = work;
  const before = wireDefinition(stored);
  const content = next(before);
  const body_json = JSON.stringify(content.body);
  await letOthersRunIfLong(body_json);
  // Most members are written in a fixed order. Matchers and the further members of treatments keep the order in which
  // the client sent them, so that another order counts as a change.
  const isSame = Number(content.killed) === stored.killed && body_json === stored.body_json;
  if (isSame) return shownDefinitionText(stored, work.isStrict);
  const uses = await newUses(db, work, before, content);
  const after = await saveChanged(work, before, { killed: content.killed, body_json, uses });
  return shownDefinitionText(after, work.isStrict);
}

/** Does not look at the rest of the definition, so that even a broken one can be killed. */
async function setKilled(work: Work<'definition'>, killed: boolean): Promise<true> {
  const { stored } = work;
  if (stored.killed === Number(killed)) return true;
  const { body_json } = stored;
  await saveChanged(work, wireDefinition(stored), { killed, body_json, uses: null });
  return true;
}

/** A change that moves `killed` counts as a kill or a restore in the audit log, whatever else it changes. */
async function saveChanged(
  work: Work<'definition'>,
  before: WireDefinition,
  { killed, body_json, uses }: { killed: boolean; body_json: string; uses: readonly Use[] | null },
): Promise<StoredDefinition> {
  const last_update_time = timeOfChange(work.caller, work.stored.last_update_time);
  const after = { ...work.stored, killed: Number(killed), body_json, last_update_time };
  await updateDefinition(work.db, after, uses);
  await letOthersRunIfLong(body_json);
  const moved: AuditAction = killed ? 'kill' : 'restore';
  const action = before.killed === killed ? 'update' : moved;
  await recordObject(work, 'flag', before, wireDefinition(after), action);
  return after;
}

/**
 * Gives the answer of `read` with one statement and no transaction, because clients ask for single definitions all the
 * time. Undefined where the caller's key may not see the definition, which `read` refuses.
 */
async function lookUpOne(lookUp: LookUp, request: ApiRequest): Promise<string | undefined> {
  const { ws = '', env = '', flag = '' } = request.params;
  const found = await lookUpDefinition(lookUp, [ws, env, flag]);
  const isSeen = found && isPlaceVisible(request.caller, found.workspace_id, found.environment_id);
  return isSeen === true ? shownDefinitionText(found, request.isStrict) : undefined;
}

/** The answer of `read` with fewer statements, as `lookUpOne`: clients read such lists page by page. */
async function lookUpPage(
  lookUp: LookUp,
  { params, query, caller }: ApiRequest,
): Promise<string | undefined> {
  const { ws = '', env = '' } = params;
  const place = await lookUpPlace(lookUp, [ws, env]);
  if (!place || !isPlaceVisible(caller, place.workspace_id, place.environment_id)) return undefined;
  const page = pageFrom(query, 'objects');
  const found = await lookUpDefinitions(lookUp, place, page);
  return found && pageText(page, found);
}

function pageText(page: Page, { objects, totalCount }: FoundDefinitions): string {
  const rest = JSON.stringify({ ...page, totalCount });
  return `{"objects":[${objects}],${rest.slice(1)}`;
}
