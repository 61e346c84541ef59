import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import {
  appliedWorld,
  flagSpec,
  killList,
  pipelineWorld,
  PROTECTED_PIPELINE,
} from '../../support/pipeline-world.js';

const SEGMENT = `segment: beta
environments:
  production: { keys: [ana] }
`;

it('tells a write that was made, though its answer was lost and the service was away from then on', async () => {
  const world = await appliedWorld({ 'segments/beta.yaml': SEGMENT });
  world.repository.commit('Let ben in', {
    'segments/beta.yaml': SEGMENT.replace('ana', 'ana, ben'),
  });
  const upload = { method: 'PUT', path: /\/beta\// };
  world.service.failNext(upload, 'reset-after');
  for (let tries = 0; tries < 40; tries += 1) world.service.failNext(upload, 503);

  const done = await world.applied({ timeout: 3_000 });

  expect(done.converged).toBe(true);
  expect(done.outcomes.get('segment/beta@production')).toMatchObject({ status: 'applied' });
});

it('tells a kill that was made, though nobody answered it', async () => {
  const world = await appliedWorld();
  const { repository, service } = world;
  repository.commit('Kill pay', killList('{ pay: { reason: INC-1 } }'));
  const kill = { method: 'PATCH', path: /\/pay\// };
  service.failNext(kill, 'reset-after');
  for (let tries = 0; tries < 40; tries += 1) service.failNext(kill, 503);

  const done = await world.applied({ timeout: 3_000 });

  expect(done.kills.results.get('flag/pay@production')).toMatchObject({ status: 'failed' });
  const { stdout } = await world.command('history', 'flag/pay');
  expect(stdout).toMatch(/failed kill .*flag\/pay@production: Kill pay/);
});

it('leaves what somebody set in a definition that it had created and could not look at', async () => {
  let isAway = false;
  const { repository, live, ...world } = await pipelineWorld(undefined, {
    middleware: (next) => (request, response) => {
      if (isAway) response.writeHead(503).end();
      else next(request, response);
      if (request.method === 'POST' && request.url?.includes(live.production))
        response.once('finish', () => (isAway = true));
    },
  });
  repository.commit('Add pay', {
    'flagkeel.yaml': PROTECTED_PIPELINE,
    'flags/pay.yaml': flagSpec('pay'),
  });
  expect((await world.applied({ timeout: 3_000 })).unverified).toContain('503');
  isAway = false;
  await live.set('pay', { trafficAllocation: 40 });

  const done = await world.applied();

  expect(done.plan.withheld).toMatchObject([
    { id: 'flag/pay@production', why: 'drift-reported', fields: [{ path: '/trafficAllocation' }] },
  ]);
  expect(await live.definition('pay')).toMatchObject({ trafficAllocation: 40 });
});

it.each([
  ['flag/pay@production', /\/pay\/environments\/[^/]+$/],
  ['segment/beta@production', /\/segments\/[^/]+\/beta$/],
] as const)(
  'a signal while the answer to a creation is lost is a failure whose fate is unknown, and the next run knows %s as its own',
  async (id, path) => {
    const control = new AbortController();
    const isCreation = ({ method, url }: IncomingMessage): boolean =>
      method === 'POST' && path.test(new URL(url ?? '', 'http://service').pathname);
    const { repository, service, ...world } = await pipelineWorld(undefined, {
      middleware: (next) => (request, response) => {
        if (isCreation(request)) control.abort('SIGTERM');
        next(request, response);
      },
    });
    repository.commit('Add pay and beta', {
      'flagkeel.yaml': PROTECTED_PIPELINE,
      'flags/pay.yaml': flagSpec('pay').replace(/  staging.*\n/, ''),
      'segments/beta.yaml': SEGMENT,
    });
    service.failNext({ method: 'POST', path }, 'reset-after');

    const first = await world.applied({ signal: control.signal, concurrency: 1 });

    expect(first.outcomes.get(id)).toMatchObject({ status: 'failed', fateUnknown: true });
    const next = await world.applied();
    expect(next.plan.withheld).toEqual([]);
    expect(next.converged).toBe(true);
  },
);
