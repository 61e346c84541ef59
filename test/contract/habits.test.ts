import { beforeAll, describe, expect, it } from 'vitest';
import { request, type RequestOptions } from 'node:http';
import type { WireTrafficType } from '../../src/admin-api/wire.js';
import { expectAnswers, replacing } from '../support/exchanges.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
import { aService, TEST_SEED } from '../support/service.js';

/** What clients of such services are known to send, what no client should, and what would break them in an answer. */
const service = aService({
  seed: {
    workspaces: [
      ...TEST_SEED.workspaces,
      { name: 'Odd', environments: [{ name: 'ws' }], trafficTypes: ['user'] },
    ],
  },
});
const client = callsOf(service);
const SEGMENT = '/segments/staging/habitual';
const FLAG = '/splits/ws/Default/habit';

beforeAll(async () => {
  await client.define('habit');
  await client.segment('habitual');
});

interface Sent {
  readonly status: number | undefined;
  readonly allow: string | undefined;
  readonly text: string;
}

/** By the HTTP client of Node, because `fetch` sends neither TRACE nor an empty body under a type. */
async function send(method: string, path: string, headers: object = {}): Promise<Sent> {
  const authorization = `Bearer ${service.key}`;
  const options: RequestOptions = { method, headers: { authorization, ...headers } };
  return new Promise((resolve, reject) => {
    const sent = request(`${service.origin}/internal/api/v2${path}`, options, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const { statusCode: status, headers: answered } = response;
        resolve({ status, allow: answered.allow, text: Buffer.concat(parts).toString() });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('bodies', () => {
  it('may be empty under application/json, and empty text in quotes on an activation', async () => {
    const empty = { 'content-type': 'application/json', 'content-length': 0 };

    for (const [method, path] of [
      ['GET', '/workspaces'],
      ['POST', SEGMENT],
      ['PUT', `${at('habit')}/kill`],
      ['POST', `${at('habit')}/restore`],
    ] as const) {
      expect([path, (await send(method, path, empty)).status]).toEqual([path, 200]);
    }
    expect(await client.status('POST', '/segments/production/habitual', '')).toBe(200);
  });

  it.each(['text/plain', 'application/json-patch+json', 'application/x-www-form-urlencoded'])(
    'are JSON under %s too',
    async (type) => {
      const patch = replacing('/description', type);
      const answer = await client.call('PATCH', FLAG, patch, { 'content-type': type });

      expect(answer.body).toMatchObject({ description: type });
    },
  );

  it('that are a form of files are refused in words where no file is taken', async () => {
    const form =
      '--x\r\nContent-Disposition: form-data; name="file"; filename="keys.csv"\r\n\r\na\r\n--x--';
    const type = { 'content-type': 'multipart/form-data; boundary=x' };
    const answer = await client.send('PUT', `${SEGMENT}/removeKeys`, form, type);

    expect(answer.body).toMatchObject({ code: 400, message: 'Body is no JSON text' });
  });
});

describe('paths and queries', () => {
  it('may end in a slash and hold parameters that nobody knows', async () => {
    const flag = await client.ok('GET', FLAG);

    expect(await client.ok('GET', `${FLAG}/?environment_id=x`)).toEqual(flag);
    expect(await client.ok('GET', '/environments/ws/Default/?limit=20')).toHaveLength(2);
  });

  it('may be long, as names are', async () => {
    const name = 'n'.repeat(256);
    await client.flag(name);

    expect(await client.ok('GET', `/splits/ws/Default/${name}`)).toMatchObject({ name });
  });

  it.each(['/splits/ws/%E0%A4%A', `/splits/ws/${'n'.repeat(5_000)}`])(
    'that cannot be read are refused in the error shape',
    async (path) => {
      const answer = await client.call('GET', path);

      expect(answer.body).toMatchObject({ code: answer.status, details: '' });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
    },
  );

  it.each([
    ['?replace', ['new']],
    ['?replace=True', ['new']],
    ['?replace=true', ['new']],
    ['', ['new', 'old']],
    ['?replace=False', ['new', 'old']],
    ['?replace=false', ['new', 'old']],
  ])('upload keys by "%s", which leaves %j', async (query, keys) => {
    await client.ok('PUT', `${SEGMENT}/uploadKeys?replace`, { keys: ['old'] });

    await client.ok('PUT', `${SEGMENT}/uploadKeys${query}`, { keys: ['new'] });

    expect(await client.ok('GET', `${SEGMENT}/keys`)).toMatchObject({
      keys: keys.map((key) => ({ key })),
    });
  });

  it('remove keys by a bare list as well', async () => {
    await client.ok('PUT', `${SEGMENT}/upload`, ['gone']);

    const answer = { code: 200, message: 'Deleted 1 keys', details: null, transactionId: null };
    expect(await client.ok('PUT', `${SEGMENT}/deleteKeys`, ['gone', ''])).toEqual(answer);
  });

  it('have each parameter once, and no null character', async () => {
    await expectAnswers(
      client,
      [400, 'GET', '/workspaces?name=a&name=a'],
      [400, 'GET', '/workspaces?nameOp=IS&nameOp=IS'],
      [400, 'GET', '/workspaces?limit=1&limit=1'],
      [400, 'GET', '/environments/ws/%00'],
    );
  });
});

describe('a method that a path does not have', () => {
  it.each([
    ['TRACE', '/workspaces'],
    ['TRACE', at('any')],
    ['OPTIONS', at('any')],
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

  it('is not HEAD where it has GET: monitors ask so', async () => {
    for (const path of ['/workspaces', '/rolloutStatuses?wsId=any', '/nothing']) {
      const [got, head] = [await send('GET', path), await send('HEAD', path)];
      expect(head).toEqual({ ...got, text: '' });
    }
    expect((await send('TRACE', '/workspaces')).allow).toMatch(/\bHEAD\b/);
  });

  it('is 404 where there is no such path', async () => {
    expect((await send('TRACE', '/nothing')).status).toBe(404);
  });

  it('is no reason to pass over an environment whose name stands in a path too', async () => {
    await client.ok('POST', '/segments/ws/Odd/trafficTypes/user', { name: 'in-ws' });

    expect(await client.ok('POST', '/segments/ws/in-ws')).toMatchObject({ name: 'in-ws' });
  });
});

describe('answers', () => {
  it('to the creation of a traffic type name the workspace whose list has it', async () => {
    const path = '/trafficTypes/ws/Default';
    const made = await client.ok<WireTrafficType>('POST', path, { name: 'device' });

    const list = `/trafficTypes/ws/${made.workspace?.id ?? 'unknown'}`;
    expect(await client.ok('GET', list)).toContainEqual(made);
  });

  it('hold no null in treatments and matchers', async () => {
    await client.flag('voids');
    const unused = { string: '', strings: [], number: 0, date: 0, between: {}, depends: {} };
    const rules = [ruleOn({ type: 'BOOLEAN', attribute: 'a', bool: true, ...unused })];
    const treatments = [{ name: 'on', segments: [] }, { name: 'off' }];

    const answer = await client.call('POST', at('voids'), aDefinition({ treatments, rules }));

    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain('null');
  });
});
