import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callsOf } from '../support/service-calls.js';
import { type ServiceDescription, descriptionOf } from '../support/service-description.js';
import { startTestService, type TestService } from '../support/service.js';

/** What the service says of itself. That its answers are so is checked at every call of the other tests. */
let service: TestService;
let strict: TestService;

beforeAll(async () => {
  [service, strict] = await Promise.all([
    startTestService({ strict: false }),
    startTestService({ strict: true }),
  ]);
});

afterAll(async () => {
  await Promise.all([service.stop(), strict.stop()]);
});

/** The tables of the contract, word for word but for the names of parameters. */
const CONTRACT = [
  'get /workspaces',
  'get /environments/ws/{ws}',
  'get /rolloutStatuses',
  'post /splits/ws/{ws}/trafficTypes/{trafficType}',
  'get /splits/ws/{ws}/{flag}/environments/{env}',
  'post /splits/ws/{ws}/{flag}/environments/{env}',
  'patch /splits/ws/{ws}/{flag}/environments/{env}',
  'patch /splits/ws/{ws}/{flag}',
  'delete /splits/ws/{ws}/{flag}/environments/{env}',
  'delete /splits/ws/{ws}/{flag}',
  'post /segments/ws/{ws}/trafficTypes/{trafficType}',
  'get /segments/ws/{ws}',
  'post /trafficTypes/{trafficType}/environments/{env}/identities',
  'post /segments/{env}/{segment}',
  'put /segments/{env}/{segment}/upload',
  'get /segments/{env}/{segment}/keys',
  'put /segments/{env}/{segment}/removeKeys',
  'delete /segments/ws/{ws}/{segment}',
];

function operationsOf({ paths }: Pick<ServiceDescription, 'paths'>): string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path.replace('/internal/api/v2', '')}`),
  );
}

const pathOf = (operation: string): string => operation.slice(operation.indexOf(' '));

describe('a strict service', () => {
  it('describes the operations of the contract and no other', async () => {
    const description = await descriptionOf(strict.origin);

    expect(operationsOf(description).sort()).toEqual([...CONTRACT].sort());
  });

  it('answers no other', async () => {
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
    const client = callsOf(strict);

    for (const path of ['/splits/ws/Default', '/trafficTypes/ws/Default', '/nothing']) {
      const answer = await client.call('GET', path);

      expect(answer.body).toMatchObject({ code: 404, transactionId: expect.any(String) as string });
    }
  });
});

describe('the description', () => {
  it('is OpenAPI 3.1, without a key, and has an id of its own for each operation', async () => {
    const response = await fetch(`${service.origin}/openapi.json`);
    const document = (await response.json()) as {
      readonly openapi: string;
      readonly paths: Record<string, Record<string, { operationId: string }>>;
    };

    const ids = Object.values(document.paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => operationId),
    );
    expect(response.status).toBe(200);
    expect(document.openapi).toBe('3.1.0');
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('describes bodies and parameters with schemas that are schemas', async () => {
    const ajv = new Ajv2020({ strict: false });
    const document = (await (await fetch(`${service.origin}/openapi.json`)).json()) as {
      readonly components: { readonly schemas: Record<string, object> };
    };
    const schemas = [...Object.values(document.components.schemas), ...schemasIn(document)];

    expect(schemas.length).toBeGreaterThan(20);
    for (const schema of schemas) expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
  });
});

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
    expect(text).toContain('  baselineTreatment?: string | null\n');
    expect(text).toContain('<pre>[Environment]</pre>');
    expect(text).not.toMatch(/undefined|\[object Object/);
  });

  it('loads and runs nothing, and is open without a key', async () => {
    const { status, headers } = await page();

    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'unsafe-inline'",
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
