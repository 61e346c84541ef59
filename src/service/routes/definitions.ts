import { JsonText, type ApiRequest, type Endpoint } from '../endpoint.js';
import { definitionAt, environmentAt, isVisible, workspaceAt } from '../places.js';
import { DEFINITION_SCHEMA } from '../rules/definition-schema.js';
import { PAGE_SIZES, pageFrom } from '../rules/paging.js';
import { lookUpDefinition } from '../store/definition-lookup.js';
import { definitionText, listDefinitions } from '../store/definitions.js';
import type { LookUp } from '../store/lookup.js';
import type { Db } from '../store/tables.js';
import { PATCH_BODY } from './body-schemas.js';
import {
  createDefinition,
  patchDefinition,
  removeDefinition,
  replaceDefinition,
  setKilled,
} from './definition-changes.js';
import { answer, answerPage } from './answer-schemas.js';
import { PAGE_QUERY } from './query-schemas.js';

const PATH = '/splits/ws/:ws/:flag/environments/:env';

export const DEFINITION_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['GET'],
    path: PATH,
    inContract: true,
    summary: 'Get the definition of a flag in an environment',
    answer: answer('Definition'),
    read: readDefinition,
    lookUp: lookUpOne,
  },
  {
    methods: ['POST'],
    path: PATH,
    inContract: true,
    summary: 'Create the definition of a flag in an environment',
    answer: answer('Definition'),
    body: DEFINITION_SCHEMA,
    write: createDefinition,
  },
  {
    methods: ['PATCH'],
    path: PATH,
    inContract: true,
    summary: 'Change the definition of a flag in an environment',
    answer: answer('Definition'),
    body: PATCH_BODY,
    write: patchDefinition,
  },
  {
    methods: ['DELETE'],
    path: PATH,
    inContract: true,
    summary: 'Delete the definition of a flag in an environment',
    answer: answer('True'),
    write: removeDefinition,
  },
  {
    methods: ['PUT'],
    path: PATH,
    inContract: false,
    summary: 'Replace the definition of a flag in an environment',
    answer: answer('Definition'),
    body: DEFINITION_SCHEMA,
    write: replaceDefinition,
  },
  {
    methods: ['GET'],
    path: '/splits/ws/:ws/environments/:env',
    inContract: false,
    summary: 'List the definitions of an environment',
    answer: answerPage('Definition'),
    query: PAGE_QUERY,
    read: readDefinitions,
  },
  {
    methods: ['PUT', 'POST'],
    path: `${PATH}/kill`,
    inContract: false,
    summary: 'Serve the default treatment to everybody',
    answer: answer('True'),
    write: async (db, request) => setKilled(db, request, true),
  },
  {
    methods: ['PUT', 'POST'],
    path: `${PATH}/restore`,
    inContract: false,
    summary: 'End a kill',
    answer: answer('True'),
    write: async (db, request) => setKilled(db, request, false),
  },
];

async function readDefinition(db: Db, request: ApiRequest): Promise<JsonText> {
  const workspace = await workspaceAt(db, request);
  const environment = await environmentAt(db, request, workspace);
  return new JsonText(definitionText(await definitionAt(db, request, environment)));
}

async function lookUpOne(
  lookUp: LookUp,
  { params, caller }: ApiRequest,
): Promise<JsonText | undefined> {
  const { ws = '', env = '', flag = '' } = params;
  const found = await lookUpDefinition(lookUp, [ws, env, flag]);
  if (found === undefined || !isVisible(caller.scope.workspaces, found.workspaceId))
    return undefined;
  if (!isVisible(caller.scope.environments, found.environmentId)) return undefined;
  return new JsonText(found.text, `flag/${flag}`);
}

async function readDefinitions(db: Db, request: ApiRequest): Promise<JsonText> {
  const workspace = await workspaceAt(db, request);
  const environment = await environmentAt(db, request, workspace);
  const page = pageFrom(request.query, PAGE_SIZES.objects);
  const { definitions, totalCount } = await listDefinitions(db, environment, page);
  const objects = `[${definitions.map(definitionText).join(',')}]`;
  const rest = JSON.stringify({ ...page, totalCount });
  return new JsonText(`{"objects":${objects},${rest.slice(1)}`);
}
