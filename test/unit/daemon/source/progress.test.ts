import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Metrics } from '../../../../src/daemon/metrics/metrics.js';
import { statusPage } from '../../../../src/daemon/page/status-page.js';
import { InProcessDaemon } from '../../../support/in-process-daemon.js';
import { flagSpec, PIPELINE_CONFIG, pipelineWorld } from '../../../support/pipeline-world.js';

/** The service answers everything but writes, which wait until `letGo` is called. */
describe('a daemon in the middle of a first apply', () => {
  let watched: InProcessDaemon;
  let letGo: () => void;

  beforeEach(async () => {
    let written = 0;
    const held: (() => void)[] = [];
    let isHolding = true;
    const world = await pipelineWorld(undefined, {
      middleware: (next) => (request, response) => {
        const pass = (): void => {
          next(request, response);
        };
        if (request.method === 'GET' || !isHolding) pass();
        else if (written++ === 0) pass();
        else held.push(pass);
      },
    });
    letGo = () => {
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
    watched = new InProcessDaemon(world.repository.directory, world.service, { run });
    onTestFinished(async () => {
      letGo();
      await watched.daemon.stop('SIGTERM');
    });
    watched.daemon.start();
    await expect.poll(() => held.length, { timeout: 30_000 }).toBeGreaterThan(0);
  });

  it('shows phase, steps and requests in the view, on the page and as metrics', async () => {
    const { progress } = watched.view;
    expect(progress).toMatchObject({ phase: 'apply', done: 1 });
    expect(progress?.total).toBeGreaterThan(1);

    const page = statusPage(watched.daemon, { now: Date.now(), takesRequests: false });
    expect(page).toMatch(/<progress\s[^>]*value="1"[^>]*>/);
    expect(page).toContain(`applying · 1/${String(progress?.total)} steps`);
    const metrics = await new Metrics().text(watched.daemon, Date.now());
    expect(metrics).toContain('flagkeel_progress_done{source="default",phase="apply"} 1');
  });

  it('has a log line of each change as soon as it is made', async () => {
    const changes = (): object[] =>
      watched.log
        .map((line) => JSON.parse(line) as { msg: string; object?: string; outcome?: string })
        .filter(({ msg }) => msg === 'change');
    expect(changes()).toMatchObject([{ object: 'flag/pay', outcome: 'applied' }]);

    letGo();
    await watched.rest(1);

    expect(
      changes()
        .map((each) => (each as { object: string }).object)
        .sort(),
    ).toEqual((watched.runs[0]?.plan?.changes ?? []).map(({ id }) => id).sort());
    expect(watched.view.progress).toBeNull();
  });
});
