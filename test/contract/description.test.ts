import { readFileSync, writeFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { expectAnswers } from '../support/exchanges.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
import { type ServiceDescription, descriptionOf } from '../support/service-description.js';
import { aService, type TestService } from '../support/service.js';

/** What the service says of itself. That its answers are so is checked at every call of the other tests. */
const service = aService({ strict: false });
const strict = aService({ strict: true });
const client = callsOf(service);

async function documentOf<T>({ origin }: Pick<TestService, 'origin'>): Promise<T> {
  return (await fetch(`${origin}/openapi.json`)).json() as Promise<T>;
}

function operationsOf({ paths }: Pick<ServiceDescription, 'paths'>): string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path.replace('/internal/api/v2', '')}`),
  );
}

interface Parameter {
  readonly schema: Readonly<Record<string, unknown>>;
}

const pathOf = (operation: string): string => operation.slice(operation.indexOf(' '));

describe('a strict service', () => {
  it('answers no operation that it does not describe', async () => {
    const described = new Set(operationsOf(await descriptionOf(strict.origin)));
    const others = operationsOf(await descriptionOf(service.origin)).filter(
      (operation) => !described.has(operation),
    );

    const statuses = await Promise.all(
      others.map(async (operation) => {
        const [method = '', path = ''] = operation.split(' ');
        const response = await fetch(
          `${strict.origin}/internal/api/v2${path.replaceAll(/[{}]/g, '')}`,
          { method: method.toUpperCase(), headers: { authorization: `Bearer ${strict.key}` } },
        );
        return `${operation} ${response.status}`;
      }),
    );

    expect(others.length).toBeGreaterThan(20);
    const paths = new Set(operationsOf(await descriptionOf(strict.origin)).map(pathOf));
    expect(statuses).toEqual(
      others.map((operation) => `${operation} ${paths.has(pathOf(operation)) ? 405 : 404}`),
    );
  });

  it('refuses what the contract does not show in the error shape', async () => {
    const shape = { code: 404, transactionId: expect.any(String) as string };

    await expectAnswers(
      callsOf(strict),
      [404, 'GET', '/splits/ws/Default', undefined, shape],
      [404, 'GET', '/trafficTypes/ws/Default', undefined, shape],
      [404, 'GET', '/nothing', undefined, shape],
    );
  });
});

describe('the description', () => {
  it('is OpenAPI 3.1, without a key, and has an id of its own for each operation', async () => {
    const { openapi, paths } = await documentOf<{
      readonly openapi: string;
      readonly paths: Record<string, Record<string, { operationId: string }>>;
    }>(service);

    const operations = Object.values(paths).flatMap((each) => Object.values(each));
    const ids = operations.map(({ operationId }) => operationId);
    expect(openapi).toBe('3.1.0');
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('says of each parameter that is text that it holds no null character', async () => {
    const { paths } = await documentOf<{
      readonly paths: Record<string, Record<string, { parameters: readonly Parameter[] }>>;
    }>(service);

    const operations = Object.values(paths).flatMap((each) => Object.values(each));
    const schemas = operations.flatMap(({ parameters }) => parameters.map(({ schema }) => schema));
    const texts = schemas.filter(({ type }) => type === 'string');
    expect(texts.map(({ pattern }) => pattern)).not.toContain(undefined);
    expect(texts.map(({ pattern }) => pattern)).toContain('^[^\\u0000]*$');
  });

  it('has words for every operation, and for whatever has a place for them', async () => {
    const blank: string[] = [];
    const text = JSON.stringify(await documentOf(service), (name, member: unknown) => {
      const isText = name === 'summary' || name === 'description';
      if (isText && typeof member === 'string' && member.trim() === '') blank.push(name);
      return member;
    });

    expect(text).toContain('"summary"');
    expect(blank).toEqual([]);
  });

  it('describes bodies and parameters with schemas that are schemas', async () => {
    const ajv = new Ajv2020({ strict: false });
    const document = await documentOf<{
      readonly components: { readonly schemas: Record<string, object> };
    }>(service);
    const schemas = [...Object.values(document.components.schemas), ...schemasIn(document)];

    expect(schemas.length).toBeGreaterThan(20);
    for (const schema of schemas) expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
  });
});

const DEFINITION = at('described');
const NUMBER = { type: 'EQUAL_NUMBER', attribute: 'age', number: 18 };
const test = (changed: object): object[] => [
  { op: 'test', path: '/name', value: 'Default', ...changed },
];
const matching = (matcher: object): object => aDefinition({ rules: [ruleOn(matcher)] });

describe('a body', () => {
  beforeAll(async () => {
    await client.define('described');
  });

  it.each([
    ['PATCH', '/workspaces/Default', test({})],
    ['PATCH', '/workspaces/Default', test({ more: { members: [1] } })],
    ['PATCH', '/workspaces/Default', [{ op: 'copy', from: '/name', path: '/name' }]],
    ['POST', '/apiKeys', { name: 'ci', workspace: 'Default' }],
    ['POST', '/workspaces', { name: 'other', requiresTitleAndComments: true }],
    ['PUT', DEFINITION, matching(NUMBER)],
    ['PUT', DEFINITION, matching({ ...NUMBER, strings: [] })],
    ['PUT', DEFINITION, matching({ type: 'OF_TOMORROW', anything: [{ at: 'all' }] })],
  ])('that is taken fits its description: %s %s %j', async (method, path, body) => {
    await expectAnswers(client, [200, method, path, body]);
    expect((await descriptionOf(service.origin)).takes(method, path, body)).toBe(true);
  });

  it.each([
    ['PATCH', '/workspaces/Default', [{ op: 'test', path: '/name' }]],
    ['PATCH', '/workspaces/Default', [{ op: 'copy', path: '/name' }]],
    ['PATCH', '/workspaces/Default', test({ path: 'name' })],
    ['PATCH', '/workspaces/Default', test({ path: '/a~2' })],
    ['PATCH', '/workspaces/Default', test({ value: '\0' })],
    ['PATCH', '/workspaces/Default', test({ more: { '\0': 1 } })],
    ['PATCH', '/workspaces/Default', test(JSON.parse('{"__proto__":{}}') as object)],
    ['POST', '/splits/ws/Default/trafficTypes/user', { name: '' }],
    ['POST', '/segments/ws/Default/trafficTypes/user', { name: '0' }],
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

describe('a query', () => {
  it.each([
    ['/workspaces', 'limit', '', 200],
    ['/workspaces', 'limit', '3', 200],
    ['/workspaces', 'limit', '1000000000000000', 400],
    ['/workspaces', 'nameOp', '', 200],
    ['/workspaces', 'nameOp', 'LIKE', 400],
    ['/changeRequests', 'limit', '1000000000000000', 400],
    ['/changeRequests', 'after', '', 200],
    ['/changeRequests', 'after', 'page-2', 400],
  ])('of %s with %s=%s is as described', async (path, name, value, status) => {
    await expectAnswers(client, [status, 'GET', `${path}?${name}=${value}`]);
    const description = await descriptionOf(service.origin);
    expect(description.takesQuery('GET', path, name, value)).toBe(status === 200);
  });

  it('of an upload with another word for replace is not as described, and refused', async () => {
    const path = `${await client.segment('replaced')}/uploadKeys`;

    await expectAnswers(client, [400, 'PUT', `${path}?replace=perhaps`, { keys: [] }]);

    const description = await descriptionOf(service.origin);
    expect(description.takesQuery('PUT', path, 'replace', 'perhaps')).toBe(false);
    expect(description.takesQuery('PUT', path, 'replace', 'True')).toBe(true);
  });
});

describe('a form with a file of keys', () => {
  it.each([
    ['a\r\nb\n\n"c, ""d"", e"\n', true],
    ['', true],
    ['a,b', false],
    ['a"b', false],
    ['"a', false],
  ])('fits its description where it can be read: %j', async (file, isTaken) => {
    await client.call('POST', '/segments/ws/Default/trafficTypes/user', { name: 'of-a-file' });
    await client.ok('POST', '/segments/staging/of-a-file', '');
    const path = '/segments/staging/of-a-file/upload';
    const form = `--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n${file}\r\n--x--\r\n`;

    const answer = await client.send('PUT', path, form);

    const description = await descriptionOf(service.origin);
    expect([answer.status, answer.text]).toEqual([isTaken ? 200 : 400, answer.text]);
    expect(description.takes('PUT', path, { file }, 'multipart/form-data')).toBe(isTaken);
  });
});

/** What clients were made by. `UPDATE_FIXTURES=1` writes it, when it is to be another. */
const KNOWN_DESCRIPTION = new URL('../fixtures/service/description.yaml', import.meta.url);

describe('what clients are made by', () => {
  it('is as it was: every parameter, body and answer, and what a strict service says otherwise', async () => {
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
});

/** What each operation takes and what it answers by 200, and each shape, without words for people. */
async function describedParts(of: TestService): Promise<Record<string, unknown>> {
  const document = await documentOf<{
    readonly paths: Record<string, Record<string, Record<string, unknown>>>;
    readonly components: { readonly schemas: Record<string, unknown> };
  }>(of);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody, responses }]) => {
      const { 200: answer } = responses as Record<string, unknown>;
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

  it('shows every operation that the description has, with its parameters', async () => {
    const text = await (await page()).text();
    const sections = new Map(
      [...text.matchAll(/<section>\s*<h3>(\w+) (\S+)<\/h3>([^]*?)<\/section>/g)].map(
        ([, method = '', path = '', rest = '']) => [`${method.toLowerCase()} ${path}`, rest],
      ),
    );

    const { paths } = await descriptionOf(service.origin);
    expect([...sections.keys()].sort()).toEqual(operationsOf({ paths }).sort());
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        const { parameters, summary } = operation as {
          readonly parameters: readonly { readonly name: string }[];
          readonly summary: string;
        };
        const section = sections.get(`${method} ${path.replace('/internal/api/v2', '')}`);
        for (const { name } of parameters) expect(section).toContain(`<dt>${name}</dt>`);
        expect(section).toContain(
          `<p>${summary.replaceAll("'", '&#39;').replaceAll('"', '&quot;')}`,
        );
        expect(section).toContain('<h4>Answer</h4>');
      }
    }
    expect(text).toContain('href="/openapi.json"');
  });

  it('says what the bodies and answers are', async () => {
    const text = await (await page()).text();

    expect(text).toContain('  keys: [string]\n');
    expect(text).toContain('  openChangeRequestId?: string | null\n');
    expect(text).toContain('<pre>[Environment]</pre>');
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
    const response = await fetch(`${strict.origin}/docs`, {
      headers: { authorization: `Bearer ${strict.key}` },
    });

    expect(response.status).toBe(404);
  });
});
