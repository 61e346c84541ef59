import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { callsOf } from '../support/service-calls.js';
import { aService, TEST_SEED } from '../support/service.js';

/** Requests that the description of the service does not have. */
const service = aService({
  seed: {
    workspaces: [
      ...TEST_SEED.workspaces,
      { name: 'Odd', environments: [{ name: 'ws' }], trafficTypes: ['user'] },
    ],
  },
});
const client = callsOf(service);

interface Answer {
  readonly status: number | undefined;
  readonly allow: string | undefined;
  readonly text: string;
}

/** By the HTTP client of Node, because `fetch` refuses to send TRACE. */
async function send(method: string, path: string, key = service.key): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${service.origin}/internal/api/v2${path}`,
      { method, headers: { authorization: `Bearer ${key}` } },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => {
          const { statusCode: status, headers } = response;
          resolve({ status, allow: headers.allow, text: Buffer.concat(parts).toString() });
        });
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

const DEFINITION = '/splits/ws/Default/any/environments/staging';

describe('a method that a path does not have', () => {
  it.each([
    ['TRACE', '/workspaces'],
    ['TRACE', DEFINITION],
    ['OPTIONS', DEFINITION],
    ['QUERY', '/workspaces'],
    ['PATCH', '/rolloutStatuses'],
    ['DELETE', '/segments/staging/any/keys'],
  ])('is 405, and the answer says which it has: %s %s', async (method, path) => {
    const { status, allow, text } = await send(method, path);

    expect(status).toBe(405);
    expect(JSON.parse(text)).toMatchObject({ code: 405, details: '' });
    const has = allow?.split(', ') ?? [];
    expect(has).not.toContain(method);
    expect(has.length).toBeGreaterThan(0);
    for (const each of has) expect((await send(each, path)).status).not.toBe(405);
  });

  it('is 404 where there is no such path', async () => {
    expect((await send('TRACE', '/nothing')).status).toBe(404);
  });

  it('is no reason to pass over an environment whose name stands in a path too', async () => {
    await client.ok('POST', '/segments/ws/Odd/trafficTypes/user', { name: 'in-ws' });

    expect(await client.ok('POST', '/segments/ws/in-ws')).toMatchObject({ name: 'in-ws' });
  });
});

describe('what the description says of requests', () => {
  interface Document {
    readonly paths: Record<string, Record<string, { parameters: Parameter[] }>>;
  }
  interface Parameter {
    readonly name: string;
    readonly schema: Readonly<Record<string, unknown>>;
  }
  const document = async (): Promise<Document> =>
    (await fetch(`${service.origin}/openapi.json`)).json() as Promise<Document>;

  it('is that no text holds a null character', async () => {
    const { paths } = await document();
    const text = JSON.stringify(
      paths['/internal/api/v2/splits/ws/{ws}/trafficTypes/{trafficType}'],
    );

    for (const operations of Object.values(paths)) {
      for (const { parameters } of Object.values(operations)) {
        for (const { schema } of parameters.filter((each) => each.schema['type'] === 'string')) {
          expect(schema['pattern']).toBeDefined();
        }
      }
    }
    expect(text).toContain('"pattern":"^[^\\\\u0000]*$"');
    expect(await client.status('GET', '/environments/ws/%00')).toBe(400);
  });

  it.each(['name=a&name=a', 'nameOp=IS&nameOp=IS', 'limit=1&limit=1'])(
    'is that a parameter stands once, with one of its values: %s',
    async (query) => {
      expect(await client.status('GET', `/workspaces?${query}`)).toBe(400);
    },
  );
});
