import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { healthOf, isReady } from '../../../../src/daemon/health.js';
import { watchedWorld } from '../../../support/in-process-daemon.js';
import { flagSpec } from '../../../support/pipeline-world.js';

type Answer = 'never' | { readonly status: number; readonly body: unknown } | undefined;

const PAUSING = new Set([429, 503]);
const PAUSE: Answer = { status: 429, body: { code: 429, message: 'slow down' } };
/** How long a confirmation waits for its answer, and a little more. */
const LONGER_THAN_PATIENCE_MS = 3_000;
const REFUSED: Answer = { status: 401, body: { code: 401, message: 'unknown key' } };

/** In sync. Without a schedule, nothing but confirmations asks the service after the first run. */
async function inSync(flags: readonly string[] = ['pay']) {
  const unanswered: ServerResponse[] = [];
  const service: { answer: Answer; isMeant: (path: string) => boolean } = {
    ...{ answer: undefined, isMeant: () => true },
  };
  const { watched, world } = await watchedWorld(flags, {
    service: {
      middleware: (next) => (request, response) => {
        const { answer } = service;
        if (answer === undefined || !service.isMeant(request.url ?? '')) {
          next(request, response);
          return;
        }
        if (answer === 'never') {
          unanswered.push(response);
          return;
        }
        const pause = PAUSING.has(answer.status) && { 'retry-after': '60' };
        response.writeHead(answer.status, { 'content-type': 'application/json', ...pause });
        response.end(answer.body === '<html>' ? answer.body : JSON.stringify(answer.body));
      },
    },
    options: () => ({ intervalMs: 100 }),
  });
  const state = () => [healthOf(watched.view).verdict.headline, isReady(watched.view)];
  const isUnknown = (): boolean => watched.view.standings?.whole === 'unknown';
  const beginRun = async (): Promise<void> => {
    const files = flags.map((name) => [`flags/${name}.yaml`, flagSpec(name, { on: 20 })]);
    world.repository.commit('More', Object.fromEntries(files) as Record<string, string>);
    await watched.until(() => watched.view.phase === 'running', 'the run');
  };
  // The end of a daemon waits for its writes.
  onTestFinished(() => {
    service.answer = undefined;
    for (const response of unanswered) response.destroy();
  });
  return { watched, service, state, isUnknown, beginRun };
}

const IN_SYNC = [expect.stringMatching(/^In sync: \d+ objects equal$/), true];

it('a service that answers stays in sync, and of one that refuses the key nothing is known until it is back, without a run', async () => {
  const { watched, service, state, isUnknown } = await inSync();
  const before = watched.view.confirmed;
  await watched.until(() => watched.view.confirmed !== before, 'a confirmation');
  expect(state()).toEqual(IN_SYNC);
  const confirmed = watched.view.confirmed ?? '';
  service.answer = REFUSED;

  await watched.until(isUnknown, 'the end of what was known');

  expect(state()).toEqual(['The service refuses the key', false]);
  const { counts } = watched.view.standings ?? {};
  expect(counts).toMatchObject({ live: 0, unknown: expect.any(Number) as number });
  expect(watched.view.confirmed?.slice(0, 13)).toBe(confirmed.slice(0, 13));
  expect(watched.runs).toHaveLength(1);

  service.answer = undefined;
  await watched.until(() => !isUnknown(), 'what is known again');

  expect(state()).toEqual(IN_SYNC);
});

it('a service that answers again is asked at once by what failed meanwhile, and is away once in the log, whatever it counts', async () => {
  const { watched, service, isUnknown } = await inSync();
  let left = 3_600;
  const message = (): string => `try again in ${String((left -= 1))} s`;
  service.answer = { status: 401, body: { code: 401, toJSON: () => ({ message: message() }) } };
  await watched.until(isUnknown, 'the end of what was known');
  // So often that the next try is many seconds away.
  for (let runs = 2; runs <= 7; runs += 1) {
    watched.daemon.trigger(null, 'request');
    await watched.until(() => watched.runs.length >= runs, 'a run that fails');
  }
  await watched.until(() => watched.view.phase === 'backing-off');
  service.answer = undefined;
  const began = performance.now();

  await watched.until(() => watched.runs.at(-1)?.result === 'in-sync', 'the run after it');

  expect(performance.now() - began).toBeLessThan(10_000);
  const log = watched.log.join('');
  expect(log.match(/service out of reach/g)).toHaveLength(1);
  expect(log.match(/"run ended"/g)).toHaveLength(3);
});

it('a service that asks an idle daemon for a long pause is not away, and one that is unavailable for as long is', async () => {
  const [paused, away] = [await inSync(), await inSync()];
  paused.service.answer = PAUSE;
  away.service.answer = { status: 503, body: 'maintenance' };

  const { watched } = away;
  await watched.until(() => watched.view.troubles.length > 0, 'a trouble');
  await setTimeout(LONGER_THAN_PATIENCE_MS);

  expect(watched.view.troubles).toMatchObject([
    { what: 'service', why: 'cannot reach the service: the service answered 503' },
  ]);
  expect([paused.watched.view.troubles, paused.state()]).toEqual([[], IN_SYNC]);
});

it('a service that is away for two reasons in turn has each once in the log', async () => {
  const { watched, service } = await inSync();
  const reasons = ['down', '<html>'].map((body, index) => ({
    status: index === 0 ? 500 : 200,
    body,
  }));
  const troubles = () => JSON.stringify(watched.view.troubles);

  for (const answer of [...reasons, ...reasons]) {
    const before = troubles();
    service.answer = answer;
    await watched.until(() => troubles() !== before, 'the next reason');
  }

  expect(watched.log.join('').match(/service out of reach/g)).toHaveLength(2);
});

it('a service that answers confirmations, and nothing to runs, is asked again no sooner than it is backed off', async () => {
  const { watched, service, beginRun } = await inSync();
  Object.assign(service, { answer: REFUSED, isMeant: (path: string) => path.includes('/splits/') });
  await beginRun();

  await setTimeout(4_000);

  // After one second, two and four, less up to a half.
  expect(watched.runs.length).toBeLessThan(6);
});

it('a service that stops answering during a run is away long before the run gives up, and there again while it waits', async () => {
  const { watched, service, state, isUnknown, beginRun } = await inSync();
  service.answer = 'never';
  await beginRun();
  const began = performance.now();

  await watched.until(isUnknown, 'the end of what was known');

  expect(performance.now() - began).toBeLessThan(20_000);
  expect(watched.runs).toHaveLength(1);
  expect(state()).toEqual(['The service cannot be reached', false]);

  service.answer = undefined;
  await watched.until(() => !isUnknown(), 'what is known again');

  expect(watched.runs).toHaveLength(1);
  expect(isReady(watched.view)).toBe(true);
});

it('a service that leaves so many writes unanswered that no confirmation has its turn is away', async () => {
  const { watched, service, isUnknown, beginRun } = await inSync(Array.from('abcdefghij'));
  let isHanging = false;
  const isMeant = (path: string): boolean => (isHanging ||= path.includes('title='));
  Object.assign(service, { answer: 'never', isMeant });
  await beginRun();

  await watched.until(isUnknown, 'the end of what was known');

  // A look at the files, before they are committed, may have been a run of its own.
  expect(watched.view.phase).toBe('running');
});

it('a service that asks a run for a long pause, or takes long for some of its requests, is not away', async () => {
  const worlds = [await inSync(), await inSync()];
  for (const [index, { service, beginRun }] of worlds.entries()) {
    const answer = index === 0 ? PAUSE : 'never';
    Object.assign(service, { answer, isMeant: (path: string) => path.includes('/splits/') });
    await beginRun();
  }

  await setTimeout(LONGER_THAN_PATIENCE_MS);

  for (const { watched } of worlds) {
    expect(watched.runs).toHaveLength(1);
    expect([watched.view.troubles, isReady(watched.view)]).toEqual([[], true]);
  }
});
