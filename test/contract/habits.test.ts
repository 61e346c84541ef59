import { beforeAll, describe, expect, it } from 'vitest';
import { request } from 'node:http';
import type {
  WireDefinition,
  WireEnvironment,
  WirePage,
  WireWorkspace,
} from '../../src/admin-api/wire.js';
import { aDefinition, callsOf, ruleOn, type ServiceCalls } from '../support/service-calls.js';
import { startTestService, type TestService } from '../support/service.js';

/** What clients of such services are known to send, and what would break them in an answer. */
let service: TestService;
let client: ServiceCalls;
let ws: string;

beforeAll(async () => {
  service = await startTestService();
  client = callsOf(service);
  const { objects } = await client.ok<WirePage<WireWorkspace>>('GET', '/workspaces');
  ws = objects[0]?.id ?? '';
  await client.ok('POST', '/splits/ws/Default/trafficTypes/user', { name: 'habit' });
  await client.ok('POST', '/splits/ws/Default/habit/environments/staging', aDefinition());
  await client.ok('POST', '/segments/ws/Default/trafficTypes/user', { name: 'habitual' });
  return async () => service.stop();
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
    expect((await client.call('POST', '/segments/production/habitual', '')).status).toBe(200);
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
    const answer = await client.send(
      'PUT',
      '/segments/staging/habitual/removeKeys',
      '--x\r\nContent-Disposition: form-data; name="file"; filename="keys.csv"\r\n\r\na\r\n--x--',
      { 'content-type': 'multipart/form-data; boundary=x' },
    );

    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 400, message: 'Body is no JSON text' });
  });

  it('that would poison a prototype are refused', async () => {
    const answer = await client.send(
      'POST',
      '/splits/ws/Default/trafficTypes/user',
      '{"name":"poison","__proto__":{"x":1}}',
    );

    expect(answer.status).toBe(400);
  });

  it('beyond the limit are refused before they are read whole', async () => {
    const answer = await client.send(
      'PUT',
      '/segments/staging/habitual/upload',
      JSON.stringify(['x'.repeat(17 * 1024 * 1024)]),
    );

    expect(answer.body).toMatchObject({ code: 413 });
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
    await client.ok('POST', '/splits/ws/Default/trafficTypes/user', { name });

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

  it.each(['?replace', '?replace=True', '?replace=true'])('replace keys by %s', async (query) => {
    await client.call('POST', '/segments/staging/habitual');
    await client.ok('PUT', '/segments/staging/habitual/upload', ['old']);

    await client.ok('PUT', `/segments/staging/habitual/uploadKeys${query}`, { keys: ['new'] });

    expect(await client.ok('GET', '/segments/staging/habitual/keys')).toMatchObject({
      keys: [{ key: 'new' }],
    });
  });

  it.each(['', '?replace=False', '?replace=false'])('append keys by "%s"', async (query) => {
    await client.call('POST', '/segments/production/habitual');
    await client.ok('PUT', `/segments/production/habitual/uploadKeys${query}`, {
      keys: [`k${query}`],
    });
    await client.ok('PUT', `/segments/production/habitual/upload${query}`, ['other']);

    const { keys } = await client.ok<{ keys: { key: string }[] }>(
      'GET',
      '/segments/production/habitual/keys',
    );
    expect(keys).toContainEqual({ key: `k${query}` });
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
  it('are 200 for all that succeeds', async () => {
    const answers = [
      await client.call('POST', '/splits/ws/Default/trafficTypes/user', { name: 'ok' }),
      await client.call('POST', '/splits/ws/Default/ok/environments/staging', aDefinition()),
      await client.call('DELETE', '/splits/ws/Default/ok'),
      await client.call('POST', '/environments/ws/Default', { name: 'ok' }),
      await client.call('DELETE', '/environments/ws/Default/ok'),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  it('hold no null in treatments and matchers', async () => {
    await client.ok('POST', '/splits/ws/Default/trafficTypes/user', { name: 'voids' });
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

  it('take a key as x-api-key', async () => {
    const response = await fetch(`${service.origin}/internal/api/v2/workspaces`, {
      headers: { 'x-api-key': service.key },
    });

    expect(response.status).toBe(200);
  });

  it('of the list of keys count by `count`', async () => {
    const page = await client.ok('GET', '/segments/staging/habitual/keys');

    expect(page).toHaveProperty('count');
    expect(page).not.toHaveProperty('totalCount');
  });

  it('say 409 to what is there already', async () => {
    const answers = [
      await client.call('POST', '/splits/ws/Default/trafficTypes/user', { name: 'habit' }),
      await client.call('POST', '/splits/ws/Default/habit/environments/staging', aDefinition()),
      await client.call('POST', '/segments/ws/Default/trafficTypes/user', { name: 'habitual' }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([409, 409, 409]);
  });

  it('say 404 to a workspace, environment, traffic type or flag that is not there', async () => {
    const answers = [
      await client.call('GET', '/environments/ws/none'),
      await client.call('GET', '/splits/ws/Default/habit/environments/none'),
      await client.call('POST', '/splits/ws/Default/trafficTypes/none', { name: 'x' }),
      await client.call('POST', '/splits/ws/Default/none/environments/staging', aDefinition()),
      await client.call('GET', '/segments/none/habitual/keys'),
      await client.call('POST', '/segments/staging/none'),
    ];

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
  });
});
