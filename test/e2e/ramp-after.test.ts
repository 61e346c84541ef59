import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { InProcessDaemon } from '../support/in-process-daemon.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { flagSpec, PIPELINE_CONFIG } from '../support/pipeline-world.js';
import { useScenario } from '../support/scenario.js';

const scenario = useScenario();

beforeEach(() => {
  // The clock on the wall alone: timers, sockets and git take the time that they take.
  vi.useFakeTimers({ toFake: ['Date'] });
});

afterEach(() => {
  vi.useRealTimers();
});

it('a daemon brings production after staging by the clock alone, also one that was restarted between', async () => {
  const { repository, service } = scenario;
  const live = await liveWorkspace(service);
  const share = async (environment: string): Promise<number> => {
    const { defaultRule } = await live.ok<{ defaultRule: { treatment: string; size: number }[] }>(
      'GET',
      `/splits/ws/${live.id}/shop/environments/${environment}`,
    );
    return defaultRule.find(({ treatment }) => treatment === 'on')?.size ?? 0;
  };
  vi.setSystemTime(new Date('2027-01-05T09:00Z'));
  const staging = 'ramp: { start: 2027-01-05T09:00Z, steps: "50, 1h, 100" }';
  const production = 'ramp: { start: { after: staging, for: 1d }, steps: "10, 6h, 50" }';
  scenario.commit(
    {
      'flagkeel.yaml': PIPELINE_CONFIG,
      'flags/shop.yaml': flagSpec('shop', { on: 0, staging, production }),
    },
    'Ramp the shop',
  );
  const start = (): InProcessDaemon => {
    const daemon = new InProcessDaemon(repository.directory, service, { intervalMs: 50 });
    daemon.daemon.start();
    return daemon;
  };
  let watching = start();
  const story: string[] = [];
  const then = async (time: string): Promise<void> => {
    const before = watching.runs.length;
    vi.setSystemTime(new Date(time));
    await watching.rest(before + 1);
    const shares = [await share(live.staging), await share(live.production)];
    const due = watching.view.nextDue?.slice(5, 16) ?? 'the end';
    story.push(`${time.slice(5, 16)} ${shares.join(' %, ')} %; ${due}`);
  };
  await watching.rest(1);

  await then('2027-01-05T10:00Z');
  await then('2027-01-05T10:01Z');
  await watching.daemon.stop('SIGTERM');
  watching = start();
  await watching.rest(1);
  await then('2027-01-06T10:01Z');
  await then('2027-01-06T16:01Z');

  expect(story).toEqual([
    '01-05T10:00 100 %, 0 %; 01-05T10:01',
    '01-05T10:01 100 %, 0 %; 01-06T10:01',
    '01-06T10:01 100 %, 10 %; 01-06T16:01',
    '01-06T16:01 100 %, 50 %; the end',
  ]);
  await watching.daemon.stop('SIGTERM');
});
