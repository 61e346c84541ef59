import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { InProcessDaemon } from '../support/in-process-daemon.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { operationsOver } from '../support/operations.js';
import { flagSpec, PIPELINE_CONFIG } from '../support/pipeline-world.js';
import { useScenario } from '../support/scenario.js';
import { cliRun } from '../support/terminal.js';

const scenario = useScenario();
const TOKEN = 'token-of-the-pipeline';

beforeEach(() => {
  // The clock on the wall alone: timers, sockets and git take the time that they take.
  vi.useFakeTimers({ toFake: ['Date'] });
});

afterEach(() => {
  vi.useRealTimers();
});

it('a pipeline starts a ramp over HTTP; a restarted daemon and a plan elsewhere know of it', async () => {
  const { repository, service } = scenario;
  const live = await liveWorkspace(service);
  const clock = (time: string): void => {
    vi.setSystemTime(new Date(time));
  };
  const share = async (): Promise<number | undefined> => {
    const path = `/splits/ws/${live.id}/shop/environments/${live.production}`;
    const { defaultRule } = await live.ok<{ defaultRule: { treatment: string; size: number }[] }>(
      'GET',
      path,
    );
    return defaultRule.find(({ treatment }) => treatment === 'on')?.size;
  };
  scenario.commit(
    {
      'flagkeel.yaml': PIPELINE_CONFIG,
      'flags/shop.yaml': flagSpec('shop', {
        on: 0,
        production: 'ramp: { start: signal, steps: "10, 6h, 25" }',
      }),
    },
    'Ramp the shop',
  );
  clock('2027-01-04T09:00Z');
  const signalled = async (watched: InProcessDaemon) => {
    await using operations = await operationsOver(watched.daemon, {
      tokens: [`${TOKEN} ci start`],
    });
    const response = await fetch(`${operations.url}/ramps/shop@production/start`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    return [response.status, await response.json()];
  };
  const first = new InProcessDaemon(repository.directory, service);
  first.daemon.start();
  await first.rest(1);
  expect([await share(), first.view.nextDue]).toEqual([undefined, null]);

  const asked = await signalled(first);
  await first.rest(2);
  const answer = {
    source: 'default',
    ramp: 'shop@production',
    startedAt: '2027-01-04T09:00:00.000Z',
  };
  expect(asked).toEqual([202, { ...answer, kept: false }]);
  expect([await share(), first.view.nextDue]).toEqual([10, '2027-01-04T15:00:00.000Z']);
  await first.daemon.stop('SIGTERM');

  clock('2027-01-04T15:00Z');
  const second = new InProcessDaemon(repository.directory, service);
  second.daemon.start();
  await second.rest(1);
  expect([await share(), await signalled(second)]).toEqual([25, [200, { ...answer, kept: true }]]);
  await second.daemon.stop('SIGTERM');
  const { stdout } = await cliRun(
    [
      'plan',
      '--url',
      service.origin,
      '--at',
      '2027-01-04T10:00Z',
      '--format',
      'json',
      repository.directory,
    ],
    { FLAGKEEL_API_KEY: service.key },
  );
  const plan = JSON.parse(stdout) as { ramps?: { step: number; signal?: { at: string } }[] };
  expect(plan.ramps?.map(({ step, signal }) => [step, signal?.at])).toEqual([
    [0, answer.startedAt],
  ]);
});
