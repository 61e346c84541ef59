import { beforeAll, describe, expect, it } from 'vitest';

import {
  expectAnswers,
  expectRefusedMembers,
  replacing,
  type Exchange,
} from '../support/exchanges.js';
import { at, callsOf, ruleOn } from '../support/service-calls.js';
import { aService, TEST_SEED } from '../support/service.js';

/** What a strict service refuses: everything that the contract does not show. */
const service = aService({ seed: TEST_SEED, strict: true });
const client = callsOf(service);

const WORDS = ['title', 'comment'];
const DEFINITION = [
  ...['id', 'name', 'environment', 'trafficType', 'killed', 'treatments', 'defaultTreatment'],
  ...['baselineTreatment', 'trafficAllocation', 'rules', 'defaultRule'],
];
const NEW = ['name', 'description'];
const OPERATION = ['op', 'path', 'value'];
const PAGE = ['limit', 'offset'];

interface Form {
  readonly query: readonly string[];
  /** Members of the body, or of each element of a list. null: there is no body. */
  readonly body: readonly string[] | null;
  readonly isList?: boolean;
}

/**
 * The requests of the contract. Title and comment may stand in the query of each change, because a workspace can require
 * them of changes; so may the page of the keys of a segment, whose answer echoes `limit` and `offset`. Of identities the
 * contract says that they have fields which it does not show: these are the ones that answers have.
 */
const CONTRACT: Readonly<Record<string, Form>> = {
  'get /workspaces': { query: PAGE, body: null },
  'get /environments/ws/{ws}': { query: [], body: null },
  'get /rolloutStatuses': { query: ['wsId'], body: null },
  'post /splits/ws/{ws}/trafficTypes/{trafficType}': { query: WORDS, body: NEW },
  'get /splits/ws/{ws}/{flag}/environments/{env}': { query: [], body: null },
  'post /splits/ws/{ws}/{flag}/environments/{env}': { query: WORDS, body: DEFINITION },
  'patch /splits/ws/{ws}/{flag}/environments/{env}': {
    query: WORDS,
    body: OPERATION,
    isList: true,
  },
  'patch /splits/ws/{ws}/{flag}': { query: WORDS, body: OPERATION, isList: true },
  'delete /splits/ws/{ws}/{flag}/environments/{env}': { query: WORDS, body: null },
  'delete /splits/ws/{ws}/{flag}': { query: WORDS, body: null },
  'post /segments/ws/{ws}/trafficTypes/{trafficType}': { query: WORDS, body: NEW },
  'get /segments/ws/{ws}': { query: PAGE, body: null },
  'post /trafficTypes/{trafficType}/environments/{env}/identities': {
    query: WORDS,
    body: ['key', 'values', 'trafficTypeId', 'environmentId', 'organizationId'],
    isList: true,
  },
  'post /segments/{env}/{segment}': { query: WORDS, body: null },
  'put /segments/{env}/{segment}/upload': { query: WORDS, body: [], isList: true },
  'get /segments/{env}/{segment}/keys': { query: PAGE, body: null },
  'put /segments/{env}/{segment}/removeKeys': { query: WORDS, body: ['keys', 'comment'] },
  'delete /segments/ws/{ws}/{segment}': { query: WORDS, body: null },
};

const FLAGS = '/splits/ws/Default/trafficTypes/user';
const SEGMENTS = '/segments/ws/Default/trafficTypes/user';
const TRIED = at('tried');

beforeAll(async () => {
  await client.define('tried');
  await client.flag('empty');
  await client.ok('PUT', `${await client.segment('kept')}/upload`, ['a', 'b']);
});

interface Members {
  readonly properties?: Readonly<Record<string, unknown>>;
}

interface BodySchema extends Members {
  readonly type?: unknown;
  readonly items?: Members & { readonly anyOf?: readonly Members[] };
}

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: BodySchema }>> };
}

function formOf({ parameters, requestBody }: Operation): Form {
  const query = parameters.flatMap((each) => (each.in === 'query' ? [each.name] : []));
  if (requestBody === undefined) return { query: query.sort(), body: null };
  expect(Object.keys(requestBody.content)).toEqual(['application/json']);
  const schema = requestBody.content['application/json']?.schema ?? {};
  const parts = schema.items ? [schema.items, ...(schema.items.anyOf ?? [])] : [schema];
  const names = parts.flatMap((part) => Object.keys(part.properties ?? {}));
  const isList = schema.type === 'array';
  return {
    query: query.sort(),
    body: [...new Set(names)].sort(),
    ...(isList ? { isList } : {}),
  };
}

describe('the operations of a strict service', () => {
  it('have the parameters and members of the contract and no other', async () => {
    const response = await fetch(`${service.origin}/openapi.json`);
    const { paths } = (await response.json()) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    };
    const forms = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => [
        `${method} ${path.replace('/internal/api/v2', '')}`,
        formOf(operation),
      ]),
    );

    const sorted = Object.entries(CONTRACT).map(([name, form]) => [
      name,
      { ...form, query: form.query.toSorted(), body: form.body?.toSorted() ?? null },
    ]);
    expect(Object.fromEntries(forms)).toEqual(Object.fromEntries(sorted));
  });
});

describe('a strict service', () => {
  it('removes no other keys with an upload, whatever the query asks for', async () => {
    const path = '/segments/staging/kept';

    await expectAnswers(
      client,
      [400, 'PUT', `${path}/upload?replace=true`, ['c'], { code: 400, details: '' }],
      [200, 'GET', `${path}/keys`, undefined, { keys: [{ key: 'a' }, { key: 'b' }] }],
    );
  });

  it('refuses parameters that the contract does not show', async () => {
    const paths = [
      '/workspaces?name=Default',
      '/workspaces?nameOp=IS',
      '/environments/ws/Default?limit=20',
      '/segments/ws/Default?name=kept',
      '/segments/staging/kept/keys?after=a',
      `${TRIED}?title=t`,
    ];

    await expectAnswers(client, ...paths.map((path): Exchange => [400, 'GET', path]));
  });

  it.each<[string, object]>([
    ['flagSets', { flagSets: [{ id: 'set', type: 'FlagSet' }] }],
    ['impressionsDisabled', { impressionsDisabled: true }],
    ['title', { title: 't' }],
    ['creationTime', { creationTime: 1 }],
    ['configurations', { treatments: [{ name: 'on', configurations: '{}' }, { name: 'off' }] }],
    [
      'segments of a treatment',
      { treatments: [{ name: 'on', segments: ['kept'] }, { name: 'off' }] },
    ],
    ['a made-up matcher type', { rules: [ruleOn({ type: 'OF_TOMORROW', anything: 1 })] }],
    ['rules: null', { rules: null }],
    ['baselineTreatment: null', { baselineTreatment: null }],
    ['keys: null', { treatments: [{ name: 'on', keys: null }, { name: 'off' }] }],
    ['a plain text as environment', { environment: 'staging' }],
  ])('refuses a definition with %s, by POST and by PATCH', async (_, wrong) => {
    await expectRefusedMembers(client, { absent: at('empty'), kept: TRIED }, wrong);
  });

  it.each<[string, string, unknown]>([
    ['POST', FLAGS, { name: 'more', owners: [] }],
    ['POST', FLAGS, { name: 'more', tags: [{ name: 'web' }] }],
    ['POST', FLAGS, { name: 'more', comment: 'c' }],
    ['POST', FLAGS, { name: 'more', description: null }],
    [
      'PATCH',
      '/splits/ws/Default/tried',
      [{ op: 'add', path: '/owners', value: [{ id: 'u', type: 'User' }] }],
    ],
    ['POST', SEGMENTS, { name: 'more', title: 't' }],
    ['POST', '/segments/staging/kept', ''],
    ['POST', '/segments/staging/kept', { comment: 'c' }],
    ['DELETE', TRIED, { comment: 'c' }],
    ['PUT', '/segments/staging/kept/removeKeys', { keys: ['a'], title: 't' }],
  ])('refuses %s %s with %j', async (method, path, body) => {
    expect((await client.call(method, path, body)).body).toMatchObject({ code: 400 });
  });

  it.each([
    { op: 'test', path: '/killed', value: false },
    { op: 'copy', from: '/defaultTreatment', path: '/baselineTreatment' },
    { op: 'move', from: '/treatments/0', path: '/treatments/1' },
  ])('knows no patch operation but replace, add and remove: $op', async (operation) => {
    const own = { ...operation, from: '/description', path: '/description', value: '' };

    await expectAnswers(
      client,
      [400, 'PATCH', TRIED, [operation]],
      [400, 'PATCH', '/splits/ws/Default/tried', [own]],
      [200, 'PATCH', TRIED, replacing('/killed', false)],
    );
  });

  it('takes an upload of keys as a bare array alone', async () => {
    const path = '/segments/staging/kept/upload';
    const form =
      '--x\r\nContent-Disposition: form-data; name="file"; filename="keys.csv"\r\n\r\na\r\n--x--';

    expect(await client.status('PUT', path, { keys: ['a'] })).toBe(400);
    expect((await client.send('PUT', path, form)).status).toBe(400);
    await client.ok('PUT', path, ['a']);
  });

  it('takes a key as Authorization: Bearer alone', async () => {
    const other = { authorization: 'Basic x', 'x-api-key': service.key };

    expect((await client.call('GET', '/workspaces', undefined, other)).status).toBe(401);
    await client.ok('GET', '/workspaces');
  });
});
