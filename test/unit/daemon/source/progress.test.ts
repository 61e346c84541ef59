import { expect, it, onTestFinished } from 'vitest';
import { Metrics } from '../../../../src/daemon/metrics/metrics.js';
import { statusPage } from '../../../../src/daemon/page/status-page.js';
import { InProcessDaemon } from '../../../support/in-process-daemon.js';
import { flagSpec, PIPELINE_CONFIG, pipelineWorld } from '../../../support/pipeline-world.js';

it('a daemon in the middle of a first apply shows phase, steps and requests in view, page and metrics, and logs each change as soon as it is made', async () => {
  const held: (() => void)[] = [];
  let written = 0;
  let isHolding = true;
  // The service answers everything but writes, which wait after the first one.
  const world = await pipelineWorld(undefined, {
    middleware: (next) => (request, response) => {
      const pass = (): void => {
        next(request, response);
      };
      if (request.method === 'GET' || !isHolding || written++ === 0) pass();
      else held.push(pass);
    },
  });
  const letGo = (): void => {
    isHolding = false;
    for (const pass of held.splice(0)) pass();
  };
  world.repository.commit('Add two flags', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/pay.yaml': flagSpec('pay'),
    'flags/search.yaml': flagSpec('search'),
  });
  const { origin: url } = world.service;
  const run = { url, environment: [], lockTimeout: 0, concurrency: 1 };
  const watched = new InProcessDaemon(world.repository.directory, world.service, { run });
  onTestFinished(async () => {
    letGo();
    await watched.daemon.stop('SIGTERM');
  });
  const changes = () =>
    watched.log
      .map((line) => JSON.parse(line) as { msg: string; object: string; outcome?: string })
      .filter(({ msg }) => msg === 'change');
  watched.daemon.start();
  await expect.poll(() => held.length, { timeout: 30_000 }).toBeGreaterThan(0);

  const { progress } = watched.view;
  expect(progress).toMatchObject({ phase: 'apply', done: 1 });
  expect(progress?.total).toBeGreaterThan(1);
  const page = statusPage(watched.daemon, { now: Date.now(), takesRequests: false });
  expect(page).toMatch(/<progress\s[^>]*value="1"[^>]*>/);
  expect(page).toContain(`applying · 1/${String(progress?.total)} steps`);
  const metrics = await new Metrics().text(watched.daemon, Date.now());
  expect(metrics).toContain('flagkeel_progress_done{source="default",phase="apply"} 1');
  expect(changes()).toMatchObject([{ object: 'flag/pay', outcome: 'applied' }]);

  letGo();
  const { plan } = await watched.rest(1);

  const objects = changes().map(({ object }) => object);
  expect(objects.sort()).toEqual((plan?.changes ?? []).map(({ id }) => id).sort());
  expect(watched.view.progress).toBeNull();
});
