/**
 * Endpoints of the definitions of flags in environments. The contract says that a separate kill endpoint exists but not
 * its method, path or payload; `kill` and `restore` here follow public documentation of such services.
 */

import { JsonText, type ApiRequest, type Endpoint, type Work } from '../http/endpoint.js';
import { isPlaceVisible } from '../http/path-lookup.js';
import { at } from '../http/place.js';
import { CONTRACT_DEFINITION_BODY, DEFINITION_BODY } from '../rules/definition-schema.js';
import { PAGE_SIZES, pageFrom, type Page } from '../rules/paging.js';
import {
  listDefinitions,
  lookUpDefinition,
  lookUpDefinitions,
  type FoundDefinitions,
} from '../store/definition-lookups.js';
import { shownDefinitionText } from '../store/definitions.js';
import type { PreparedRead } from '../store/statement.js';
import { CONTRACT_PATCH_BODY, PATCH_BODY, WORDS_BODY } from './body-schemas.js';
import {
  createDefinition,
  patchDefinition,
  removeDefinition,
  replaceDefinition,
  reallocate,
  kill,
  restore,
} from './definition-changes.js';
import { answer, answerPage } from './answer-schemas.js';
import { PAGE_QUERY } from './query-schemas.js';

/** The contract reads with the flag's id and writes with its name. This service takes either for both. */
const PATH = '/splits/ws/:ws/:flag/environments/:env';

/** Kill and restore take PUT and POST, because clients are known to use either. */
export const DEFINITION_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['GET'],
    path: PATH,
    contract: {},
    summary: 'Get the definition of a flag in an environment',
    answer: answer('Definition'),
    read: at('definition', {}, readDefinition),
    lookUp: lookUpOne,
  },
  {
    methods: ['POST'],
    path: PATH,
    contract: { body: CONTRACT_DEFINITION_BODY },
    summary: 'Create the definition of a flag in an environment',
    answer: answer('Definition'),
    body: DEFINITION_BODY,
    write: createDefinition,
  },
  {
    methods: ['PATCH'],
    path: PATH,
    contract: { body: CONTRACT_PATCH_BODY },
    summary: 'Change the definition of a flag in an environment',
    answer: answer('Definition'),
    body: PATCH_BODY,
    write: patchDefinition,
  },
  {
    methods: ['DELETE'],
    path: PATH,
    contract: {},
    summary: 'Delete the definition of a flag in an environment',
    answer: answer('True'),
    write: removeDefinition,
  },
  {
    methods: ['PUT'],
    path: PATH,
    summary: 'Replace the definition of a flag in an environment',
    answer: answer('Definition'),
    body: DEFINITION_BODY,
    write: replaceDefinition,
  },
  {
    methods: ['GET'],
    path: '/splits/ws/:ws/environments/:env',
    summary: 'List the definitions of an environment',
    answer: answerPage('Definition'),
    query: PAGE_QUERY,
    read: at('environment', {}, readDefinitions),
    lookUp: lookUpPage,
  },
  {
    methods: ['PUT', 'POST'],
    path: `${PATH}/kill`,
    summary: 'Serve the default treatment to everybody',
    answer: answer('True'),
    body: WORDS_BODY,
    write: kill,
  },
  {
    methods: ['PUT', 'POST'],
    path: `${PATH}/restore`,
    summary: 'End a kill',
    answer: answer('True'),
    body: WORDS_BODY,
    write: restore,
  },
  {
    methods: ['POST'],
    path: `${PATH}/reallocate`,
    summary: 'Give keys to treatments anew: the definition gets new seeds',
    answer: answer('True'),
    body: WORDS_BODY,
    write: reallocate,
  },
];

async function readDefinition({ stored, isStrict }: Work<'definition'>): Promise<JsonText> {
  return Promise.resolve(new JsonText(shownDefinitionText(stored, isStrict)));
}

/**
 * Gives the answer of `readDefinition` with one statement and no transaction, because clients ask for single
 * definitions all the time. Undefined where the caller's key may not see the definition, which `readDefinition` refuses.
 */
async function lookUpOne(
  lookUp: PreparedRead,
  { params, caller, isStrict }: ApiRequest,
): Promise<JsonText | undefined> {
  const { ws = '', env = '', flag = '' } = params;
  const found = await lookUpDefinition(lookUp, [ws, env, flag]);
  const isSeen = found && isPlaceVisible(caller, found.workspace_id, found.environment_id);
  return isSeen === true ? new JsonText(shownDefinitionText(found, isStrict)) : undefined;
}

/** The answer is put together from the stored texts, without parsing them. */
async function readDefinitions({ db, environment, query }: Work<'environment'>): Promise<JsonText> {
  const page = pageFrom(query, PAGE_SIZES.objects);
  return pageText(page, await listDefinitions(db, environment, page));
}

/** The answer of `readDefinitions` with fewer statements, as `lookUpOne`: clients read such lists page by page. */
async function lookUpPage(
  lookUp: PreparedRead,
  { params, query, caller }: ApiRequest,
): Promise<JsonText | undefined> {
  const { ws = '', env = '' } = params;
  const page = pageIn(query);
  if (page === null) return undefined;
  const found = await lookUpDefinitions(lookUp, [ws, env], page);
  const isSeen = found && isPlaceVisible(caller, found.workspaceId, found.environmentId);
  return isSeen === true ? pageText(page, found) : undefined;
}

/** Null instead of an error, because the error for a missing workspace comes first. */
function pageIn(query: ApiRequest['query']): Page | null {
  try {
    return pageFrom(query, PAGE_SIZES.objects);
  } catch {
    return null;
  }
}

function pageText(
  page: Page,
  { objects, totalCount }: Pick<FoundDefinitions, 'objects' | 'totalCount'>,
): JsonText {
  const rest = JSON.stringify({ ...page, totalCount });
  return new JsonText(`{"objects":[${objects}],${rest.slice(1)}`);
}
