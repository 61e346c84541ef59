import { afterEach, describe, expect, it } from 'vitest';
import { AdminClient } from '../../../../src/admin-api/http/admin-client.js';
import { routeOf, type SentRequest } from '../../../../src/admin-api/http/request.js';
import { inOrder, startScripted, type Reply, type ScriptedServer } from '../../../support/http.js';
import { JumpingTime } from '../../../support/http-time.js';

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function clientOver(...replies: Reply[]) {
  const server: ScriptedServer = await startScripted(inOrder(...replies));
  const sent: Pick<SentRequest, 'method' | 'route' | 'status'>[] = [];
  const turns: number[] = [];
  let retries = 0;
  const client = new AdminClient({
    url: server.url,
    key: () => 'key',
    version: '0',
    time: new JumpingTime(),
    traffic: {
      onRequest: ({ method, route, status }) => sent.push({ method, route, status }),
      onTurn: (waitMs) => turns.push(waitMs),
      onRetry: () => (retries += 1),
    },
  });
  closing.push(
    async () => client.close(),
    async () => server.close(),
  );
  return { client, sent, turns, retries: () => retries };
}

describe('what a client tells of its traffic', () => {
  it('counts each try by route and status, never by name', async () => {
    const { client, sent, turns, retries } = await clientOver(
      { status: 503, body: {} },
      { status: 200, body: {} },
    );

    await client.get({ path: ['splits', 'ws', 'ws-1', 'secret-plan'], what: 'read a flag' });

    const route = '/splits/ws/:workspace/:flag';
    expect(sent).toEqual([
      { method: 'GET', route, status: 503 },
      { method: 'GET', route, status: 200 },
    ]);
    expect(turns).toHaveLength(2);
    expect(retries()).toBe(1);
  });

  it('has no status where no answer came', async () => {
    const { client, sent } = await clientOver('reset', { status: 200, body: [] });

    await client.get({ path: ['workspaces'], what: 'read workspaces' });

    expect(sent.map(({ status }) => status)).toEqual([null, 200]);
  });
});

describe('routeOf', () => {
  it.each([
    [['segments', 'ws', 'W', 'S'], '/segments/ws/:workspace/:segment'],
    [['segments', 'E', 'S', 'keys'], '/segments/:environment/:segment/keys'],
    [['splits', 'ws', 'W', 'environments', 'E'], '/splits/ws/:workspace/environments/:environment'],
    [['something', 'new', 'user-1042'], 'other'],
  ])('of %j is %s', (path, route) => {
    expect(routeOf(path)).toBe(route);
  });
});
