import { beforeEach, describe, expect, it } from 'vitest';
import { callsOf, type ServiceCalls } from '../support/service-calls.js';
import { startTestService, type TestService } from '../support/service.js';

/** The hook by which other tests make the real service fail. */
let service: TestService;
let client: ServiceCalls;

beforeEach(async () => {
  service = await startTestService();
  client = callsOf(service);
  return async () => service.stop();
});

const PATH = '/splits/ws/Default/trafficTypes/user';

describe('a fault', () => {
  it('comes once, for the request that matches', async () => {
    service.failNext({ method: 'POST', path: /trafficTypes/ }, 503);

    const other = await client.call('GET', '/workspaces');
    const first = await client.call('POST', PATH, { name: 'a' });
    const second = await client.call('POST', PATH, { name: 'a' });

    expect([other.status, first.status, second.status]).toEqual([200, 503, 200]);
  });

  it('before the request leaves nothing done', async () => {
    service.failNext({ method: 'POST' }, 'reset-before');

    await expect(client.call('POST', PATH, { name: 'a' })).rejects.toThrow();

    expect(await client.status('GET', '/splits/ws/Default/a')).toBe(404);
  });

  it('after the request leaves all of it done', async () => {
    service.failNext({ method: 'POST' }, 'reset-after');

    await expect(client.call('POST', PATH, { name: 'a' })).rejects.toThrow();

    expect(await client.status('GET', '/splits/ws/Default/a')).toBe(200);
  });

  it('that hangs answers nothing, and does not keep the service from stopping', async () => {
    service.failNext({}, 'hang');
    const call = client.call('GET', '/workspaces').catch(() => 'no answer');
    while (service.requests.length === 0) {
      const waited = await Promise.race([call, new Promise((r) => setTimeout(r, 50, 'waiting'))]);
      if (waited === 'waiting') break;
    }
    const before = Date.now();

    await service.stop();

    expect(await call).toBe('no answer');
    expect(Date.now() - before).toBeLessThan(2_000);
  });
});

describe('the record of requests', () => {
  it('tells method, path, query and status of each, and null where there was no answer', async () => {
    await client.call('GET', '/workspaces?limit=3');
    service.failNext({}, 'reset-before');
    await client.call('DELETE', '/splits/ws/Default/a').catch(() => undefined);

    expect(service.requests).toEqual([
      {
        method: 'GET',
        path: '/internal/api/v2/workspaces',
        query: { limit: '3' },
        status: 200,
      },
      {
        method: 'DELETE',
        path: '/internal/api/v2/splits/ws/Default/a',
        query: {},
        status: null,
      },
    ]);
  });
});
