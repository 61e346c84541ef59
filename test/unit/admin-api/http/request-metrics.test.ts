import { afterEach, expect, it } from 'vitest';
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

it('a client counts each try by route and status, never by name, and without an answer', async () => {
  const { client, sent, turns, retries } = await clientOver(
    ...(['reset', { status: 503, body: {} }, { status: 200, body: {} }] as const),
  );

  await client.get({ path: ['splits', 'ws', 'ws-1', 'secret-plan'], what: 'read a flag' });

  const route = '/splits/ws/:workspace/:flag';
  expect(sent).toEqual([null, 503, 200].map((status) => ({ method: 'GET', route, status })));
  expect([turns.length, retries()]).toEqual([3, 2]);
});

it.each([
  [['segments', 'ws', 'W', 'S'], '/segments/ws/:workspace/:segment'],
  [['segments', 'E', 'S', 'keys'], '/segments/:environment/:segment/keys'],
  [['splits', 'ws', 'W', 'environments', 'E'], '/splits/ws/:workspace/environments/:environment'],
  [['something', 'new', 'user-1042'], 'other'],
])('the route of %j is %s', (path, route) => {
  expect(routeOf(path)).toBe(route);
});
