import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { healthOf, isReady } from '../../../../src/daemon/health.js';
import type { PipelineWorld } from '../../../support/pipeline-world.js';
import { InProcessDaemon } from '../../../support/in-process-daemon.js';
import { flagSpec, PIPELINE_CONFIG, pipelineWorld } from '../../../support/pipeline-world.js';

/** Without a schedule, nothing but confirmations asks the service after the first run. */
const INTERVAL_MS = 100;

describe('a daemon that was in sync, and whose service', () => {
  let world: PipelineWorld;
  let watched: InProcessDaemon;
  let answer: { readonly status: number; readonly body: unknown } | undefined;

  beforeEach(async () => {
    answer = undefined;
    world = await pipelineWorld(undefined, {
      middleware: (next) => (request, response) => {
        if (answer === undefined) {
          next(request, response);
          return;
        }
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer.body));
      },
    });
    world.repository.commit('Add pay', {
      'flagkeel.yaml': PIPELINE_CONFIG,
      'flags/pay.yaml': flagSpec('pay'),
    });
    const { directory } = world.repository;
    watched = new InProcessDaemon(directory, world.service, { intervalMs: INTERVAL_MS });
    onTestFinished(async () => watched.daemon.stop('SIGTERM'));
    watched.daemon.start();
    await watched.rest(1);
  });

  const headline = (): string => healthOf(watched.view).verdict.headline;
  const isUnknown = (): boolean => watched.view.standings?.whole === 'unknown';

  it('answers, stays in sync and ready, and says when it was confirmed last', async () => {
    const before = watched.view.confirmed;

    await watched.until(() => watched.view.confirmed !== before, 'a confirmation');

    expect(headline()).toMatch(/^In sync: \d+ objects equal$/);
    expect(isReady(watched.view)).toBe(true);
    expect(watched.runs).toHaveLength(1);
  });

  it('goes away, is not in sync, not ready, and knows nothing any more', async () => {
    const confirmed = watched.view.confirmed ?? '';
    await world.service.stop();

    await watched.until(isUnknown, 'the end of what was known');

    expect(headline()).toBe('The service cannot be reached');
    expect(isReady(watched.view)).toBe(false);
    const { counts } = watched.view.standings ?? {};
    expect(counts).toMatchObject({ live: 0, unknown: expect.any(Number) as number });
    expect(watched.view.confirmed?.slice(0, 13)).toBe(confirmed.slice(0, 13));
    expect(watched.runs).toHaveLength(1);
  });

  it.each<[string, typeof answer, string]>([
    [
      'refuses the key',
      { status: 401, body: { code: 401, message: 'unknown key' } },
      'The service refuses the key',
    ],
    [
      'lacks an environment',
      { status: 200, body: [] },
      'The service lacks the workspace or an environment',
    ],
  ])('%s, is unknown, and the headline says which it is', async (_, refusal, expected) => {
    answer = refusal;

    await watched.until(isUnknown, 'the end of what was known');

    expect(headline()).toBe(expected);
    expect(isReady(watched.view)).toBe(false);
  });

  it('comes back, is known again as of the last look', async () => {
    answer = { status: 401, body: { code: 401, message: 'unknown key' } };
    await watched.until(isUnknown, 'the end of what was known');
    answer = undefined;

    await watched.until(() => !isUnknown(), 'what is known again');

    expect(headline()).toMatch(/^In sync: /);
    expect(isReady(watched.view)).toBe(true);
  });
});
