import { readFileSync, writeFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { expectAnswers, type Exchange } from '../support/exchanges.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
import { type ServiceDescription, descriptionOf } from '../support/service-description.js';
import { aService, type TestService } from '../support/service.js';

/** What the service says of itself. That its answers are so is checked at every call of the other tests. */
const service = aService({ strict: false });
const strict = aService({ strict: true });
const client = callsOf(service);

async function documentOf({ origin }: Pick<TestService, 'origin'>): Promise<Document> {
  return (await fetch(`${origin}/openapi.json`)).json() as Promise<Document>;
}

function operationsOf({ paths }: Pick<ServiceDescription, 'paths'>): string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path.replace('/internal/api/v2', '')}`),
  );
}

const pathOf = (operation: string): string => operation.slice(operation.indexOf(' '));

it('a strict service refuses what it does not describe: 405 on a path that it has, 404 on another', async () => {
  const described = operationsOf(await descriptionOf(strict.origin));
  const paths = new Set(described.map(pathOf));
  const others = operationsOf(await descriptionOf(service.origin)).filter(
    (operation) => !described.includes(operation),
  );

  expect(others.length).toBeGreaterThan(20);
  await expectAnswers(
    callsOf(strict),
    ...['get /nothing', ...others].map((operation): Exchange => {
      const [method = '', path = ''] = operation.split(' ');
      const code = paths.has(pathOf(operation)) ? 405 : 404;
      const shape = { code, transactionId: expect.any(String) as string };
      return [code, method.toUpperCase(), path.replaceAll(/[{}]/g, ''), undefined, shape];
    }),
  );
});

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object> };
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly { readonly name: string; readonly schema: Schema }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, unknown>>;
}

type Schema = Readonly<Record<string, unknown>>;

it('the description is OpenAPI 3.1 with ids, words wherever they have a place, and schemas that are schemas', async () => {
  const document = await documentOf(service);
  const operations = Object.values(document.paths).flatMap((each) => Object.values(each));
  const ids = operations.map(({ operationId }) => operationId);
  const parameters = operations.flatMap((each) => each.parameters.map(({ schema }) => schema));
  const patterns = parameters
    .filter(({ type }) => type === 'string')
    .map((each) => each['pattern']);
  const blank: string[] = [];
  const text = JSON.stringify(document, (name, member: unknown) => {
    const isText = name === 'summary' || name === 'description';
    if (isText && typeof member === 'string' && member.trim() === '') blank.push(name);
    return member;
  });
  const schemas = [...Object.values(document.components.schemas), ...schemasIn(document)];

  expect(document.openapi).toBe('3.1.0');
  expect(new Set(ids).size).toBe(ids.length);
  // Each parameter that is text holds no null character.
  expect(patterns).not.toContain(undefined);
  expect(patterns).toContain('^[^\\u0000]*$');
  expect(text).toContain('"summary"');
  expect(blank).toEqual([]);
  expect(schemas.length).toBeGreaterThan(20);
  const ajv = new Ajv2020({ strict: false });
  for (const schema of schemas) expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
});

const DEFINITION = at('described');
const NUMBER = { type: 'EQUAL_NUMBER', attribute: 'age', number: 18 };
const test = (changed: object): object[] => [
  { op: 'test', path: '/name', value: 'Default', ...changed },
];
const matching = (matcher: object): object => aDefinition({ rules: [ruleOn(matcher)] });

beforeAll(async () => {
  await client.define('described');
  await client.segment('described');
});

describe('a body', () => {
  // Calls of all tests make sure of what is taken that it fits its description.
  it.each([
    ['PATCH', '/workspaces/Default', [{ op: 'test', path: '/name' }]],
    ['PATCH', '/workspaces/Default', [{ op: 'copy', path: '/name' }]],
    ['PATCH', '/workspaces/Default', test({ path: 'name' })],
    ['PATCH', '/workspaces/Default', test({ path: '/a~2' })],
    ['PATCH', '/workspaces/Default', test({ value: '\0' })],
    ['PATCH', '/workspaces/Default', test({ more: { '\0': 1 } })],
    ['PATCH', '/workspaces/Default', test(JSON.parse('{"__proto__":{}}') as object)],
    ['POST', '/splits/ws/Default/trafficTypes/user', { name: '' }],
    ['POST', '/segments/ws/Default/trafficTypes/user', { name: '-0' }],
    ['POST', '/environments/ws/Default', { name: 'a\u001fb' }],
    ['PUT', '/segments/staging/any/upload', ['']],
    ['POST', '/workspaces', { name: ' ' }],
    ['POST', '/apiKeys', { name: ' ' }],
    ['POST', '/apiKeys', { name: 'wide', workspace: '' }],
    ['POST', '/apiKeys', { name: 'wide', environments: [{ id: '' }] }],
    ['POST', '/workspaces', { name: 'third', requiresTitleAndComments: {} }],
    ['PUT', DEFINITION, matching({ ...NUMBER, negat: true })],
    ['PUT', DEFINITION, matching({ ...NUMBER, attribute: null })],
    ['PUT', DEFINITION, matching({ ...NUMBER, strings: null })],
    ['PUT', DEFINITION, matching({ type: 'STARTS_WITH_STRING', strings: ['a'], attribute: null })],
    ['PUT', DEFINITION, matching({ type: 'EQUAL_NUMBER', attribute: 'age' })],
    ['PUT', DEFINITION, matching({ type: 'OF_TOMORROW', anything: '\0' })],
  ])('that does not fit its description is refused: %s %s %j', async (method, path, body) => {
    await expectAnswers(client, [400, method, path, body]);
    expect((await descriptionOf(service.origin)).takes(method, path, body)).toBe(false);
  });

  it('with a member that would be the prototype of its object is refused for that', async () => {
    const answer = await client.send('POST', '/workspaces', '{"__proto__":{}}');

    expect(answer.body).toMatchObject({
      code: 400,
      message: 'Body is no JSON text, or has a member __proto__ or constructor',
    });
  });
});

const UPLOAD = '/segments/staging/described/uploadKeys';

it.each([
  ['GET', '/workspaces', 'limit', '', 200],
  ['GET', '/workspaces', 'limit', '3', 200],
  ['GET', '/workspaces', 'limit', '1000000000000000', 400],
  ['GET', '/workspaces', 'nameOp', '', 200],
  ['GET', '/workspaces', 'nameOp', 'LIKE', 400],
  ['GET', '/changeRequests', 'limit', '1000000000000000', 400],
  ['GET', '/changeRequests', 'after', '', 200],
  ['GET', '/changeRequests', 'after', 'page-2', 400],
  ['PUT', UPLOAD, 'replace', 'True', 200],
  ['PUT', UPLOAD, 'replace', 'perhaps', 400],
])('a query of %s %s with %s=%s is as described', async (method, path, name, value, status) => {
  const body = method === 'PUT' ? { keys: [] } : undefined;
  await expectAnswers(client, [status, method, `${path}?${name}=${value}`, body]);
  const description = await descriptionOf(service.origin);
  expect(description.takesQuery(method, path, name, value)).toBe(status === 200);
});

/** What clients were made by. `UPDATE_FIXTURES=1` writes it, when it is to be another. */
const KNOWN_DESCRIPTION = new URL('../fixtures/service/description.yaml', import.meta.url);

it('what clients are made by is as it was: every parameter, body and answer, and what a strict service says otherwise', async () => {
  const usual = await describedParts(service);
  const strictly = Object.entries(await describedParts(strict)).filter(
    ([name, part]) => JSON.stringify(part) !== JSON.stringify(usual[name]),
  );
  const described = { ...usual, strict: Object.fromEntries(strictly) };

  if (process.env['UPDATE_FIXTURES'] === '1') {
    writeFileSync(KNOWN_DESCRIPTION, stringify(described, { aliasDuplicateObjects: false }));
  }
  expect(described).toEqual(parse(readFileSync(KNOWN_DESCRIPTION, 'utf8')));
});

/** What each operation takes and what it answers by 200, and each shape, without words for people. */
async function describedParts(of: TestService): Promise<Record<string, unknown>> {
  const document = await documentOf(of);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody, responses }]) => {
      const { 200: answer } = responses;
      return [`${method} ${path}`, withoutWords({ parameters, requestBody, answer })];
    }),
  );
  const shapes = Object.entries(document.components.schemas).map(([name, schema]) => [
    name,
    withoutWords(schema),
  ]);
  return Object.fromEntries([...operations, ...shapes]) as Record<string, unknown>;
}

/** Without the pattern, too, that every text has. */
function withoutWords(value: unknown): unknown {
  const isWords = (name: string, member: unknown): boolean =>
    (name === 'description' && typeof member === 'string') || member === '^[^\\u0000]*$';
  const text = JSON.stringify(value, (name, member: unknown) =>
    isWords(name, member) ? undefined : member,
  );
  return JSON.parse(text);
}

/** What stands under the name `schema`, anywhere. */
function schemasIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
    name === 'schema' && typeof member === 'object' && member !== null
      ? [member]
      : schemasIn(member),
  );
}

describe('the page for people', () => {
  const page = async (): Promise<Response> => fetch(`${service.origin}/docs`);

  it('shows every operation that the description has, with parameters, bodies and answers', async () => {
    const text = await (await page()).text();
    const sections = new Map(
      [...text.matchAll(/<section>\s*<h3>(\w+) (\S+)<\/h3>([^]*?)<\/section>/g)].map(
        ([, method = '', path = '', rest = '']) => [`${method.toLowerCase()} ${path}`, rest],
      ),
    );

    const { paths } = await documentOf(service);
    expect([...sections.keys()].sort()).toEqual(operationsOf({ paths }).sort());
    for (const part of [
      'href="/openapi.json"',
      '<dt>limit</dt>',
      '<h4>Answer</h4>',
      '  keys: [string]\n',
      '  openChangeRequestId?: string | null\n',
      '<pre>[Environment]</pre>',
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toMatch(/undefined|\[object Object/);
  });

  it('loads and runs nothing, and is open without a key', async () => {
    const { status, headers } = await page();

    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']*'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(await (await page()).text()).not.toMatch(/<script|<img|<link|src=|https?:/);
  });

  it('is not there in a strict service', async () => {
    const headers = { authorization: `Bearer ${strict.key}` };

    expect((await fetch(`${strict.origin}/docs`, { headers })).status).toBe(404);
  });
});
