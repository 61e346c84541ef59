import { beforeAll, describe, expect, it } from 'vitest';
import { request } from 'node:http';
import type {
  WireDefinition,
  WireEnvironment,
  WirePage,
  WireTrafficType,
  WireWorkspace,
} from '../../src/admin-api/wire.js';
import { aDefinition, callsOf, ruleOn } from '../support/service-calls.js';
import { aService } from '../support/service.js';

/** What clients of such services are known to send, and what would break them in an answer. */
const service = aService();
const client = callsOf(service);
let ws: string;

beforeAll(async () => {
  const { objects } = await client.ok<WirePage<WireWorkspace>>('GET', '/workspaces');
  ws = objects[0]?.id ?? '';
  await client.flag('habit');
  await client.ok('POST', '/splits/ws/Default/habit/environments/staging', aDefinition());
  await client.ok('POST', '/segments/ws/Default/trafficTypes/user', { name: 'habitual' });
});

/** An empty body under a content type, which `fetch` would not send. */
async function sendEmpty(method: string, path: string): Promise<number> {
  const { hostname, port } = new URL(service.origin);
  return new Promise((resolve, reject) => {
    request(
      {
        hostname,
        port,
        method,
        path: `/internal/api/v2${path}`,
        headers: {
          authorization: `Bearer ${service.key}`,
          'content-type': 'application/json',
          'content-length': 0,
        },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    )
      .on('error', reject)
      .end();
  });
}

describe('bodies', () => {
  it.each([
    ['GET', '/workspaces'],
    ['POST', '/segments/staging/habitual'],
    ['PUT', '/splits/ws/Default/habit/environments/staging/kill'],
    ['POST', '/splits/ws/Default/habit/environments/staging/restore'],
  ])('may be empty under application/json: %s %s', async (method, path) => {
    expect(await sendEmpty(method, path)).toBe(200);
  });

  it('may be empty text in quotes on an activation', async () => {
    expect(await client.status('POST', '/segments/production/habitual', '')).toBe(200);
  });

  it.each(['text/plain', 'application/json-patch+json', 'application/x-www-form-urlencoded'])(
    'are JSON under %s too',
    async (type) => {
      const answer = await client.call(
        'PATCH',
        '/splits/ws/Default/habit',
        [{ op: 'replace', path: '/description', value: type }],
        { 'content-type': type },
      );

      expect(answer.body).toMatchObject({ description: type });
    },
  );

  it('that are a form of files are refused in words where no file is taken', async () => {
    const form =
      '--x\r\nContent-Disposition: form-data; name="file"; filename="keys.csv"\r\n\r\na\r\n--x--';
    const path = '/segments/staging/habitual/removeKeys';
    const type = { 'content-type': 'multipart/form-data; boundary=x' };
    const answer = await client.send('PUT', path, form, type);

    expect(answer.body).toMatchObject({ code: 400, message: 'Body is no JSON text' });
  });

  it('beyond the limit are refused before they are read whole', async () => {
    const large = ['x'.repeat(17 * 1024 * 1024)];
    expect(await client.status('PUT', '/segments/staging/habitual/upload', large)).toBe(413);
  });
});

describe('paths and queries', () => {
  it('may end in a slash and hold parameters that nobody knows', async () => {
    const flag = await client.ok('GET', '/splits/ws/Default/habit');

    expect(await client.ok('GET', '/splits/ws/Default/habit/?environment_id=x')).toEqual(flag);
    expect(await client.ok('GET', `/environments/ws/${ws}/?limit=20`)).toHaveLength(2);
  });

  it('name workspace, environment, traffic type and flag by id or by name', async () => {
    const environments = await client.ok<WireEnvironment[]>('GET', '/environments/ws/Default');
    const staging = environments[0]?.id ?? '';
    const path = '/splits/ws/Default/habit/environments/staging';
    const definition = await client.ok<WireDefinition>('GET', path);

    for (const workspace of ['Default', ws]) {
      for (const flag of ['habit', definition.id]) {
        for (const environment of ['staging', staging]) {
          const other = `/splits/ws/${workspace}/${flag}/environments/${environment}`;
          expect(await client.ok('GET', other)).toEqual(definition);
        }
      }
    }
    for (const trafficType of ['user', definition.trafficType.id]) {
      const created = await client.ok('POST', `/splits/ws/${ws}/trafficTypes/${trafficType}`, {
        name: `by-${trafficType}`,
      });
      expect(created).toMatchObject({ trafficType: definition.trafficType });
    }
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
    const path = '/segments/staging/habitual';
    await client.call('POST', path);
    await client.ok('PUT', `${path}/uploadKeys?replace`, { keys: ['old'] });

    await client.ok('PUT', `${path}/uploadKeys${query}`, { keys: ['new'] });

    expect(await client.ok('GET', `${path}/keys`)).toMatchObject({
      keys: keys.map((key) => ({ key })),
    });
  });

  it('remove keys by a bare list as well', async () => {
    await client.call('POST', '/segments/staging/habitual');
    await client.ok('PUT', '/segments/staging/habitual/upload', ['gone']);

    expect(await client.ok('PUT', '/segments/staging/habitual/deleteKeys', ['gone', ''])).toEqual({
      code: 200,
      message: 'Deleted 1 keys',
      details: null,
      transactionId: null,
    });
  });
});

describe('answers', () => {
  it('to the creation of a traffic type name the workspace whose list has it', async () => {
    const made = await client.ok<WireTrafficType>('POST', `/trafficTypes/ws/${ws}`, {
      name: 'device',
    });

    const list = `/trafficTypes/ws/${made.workspace?.id ?? 'unknown'}`;
    expect(await client.ok('GET', list)).toContainEqual(made);
  });

  it('hold no null in treatments and matchers', async () => {
    await client.flag('voids');
    const unused = { string: '', strings: [], number: 0, date: 0, between: {}, depends: {} };

    const answer = await client.call(
      'POST',
      '/splits/ws/Default/voids/environments/staging',
      aDefinition({
        treatments: [{ name: 'on', segments: [] }, { name: 'off' }],
        rules: [ruleOn({ type: 'BOOLEAN', attribute: 'a', bool: true, ...unused })],
      }),
    );

    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain('null');
  });
});
