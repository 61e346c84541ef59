import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeRepository, type Files } from '../support/git.js';
import { InProcessDaemon } from '../support/in-process-daemon.js';
import { liveWorkspace } from '../support/live-workspace.js';
import { flagSpec, PIPELINE_CONFIG } from '../support/pipeline-world.js';
import { startTestService } from '../support/service.js';

/** Weekdays from nine to five; and Wednesday is frozen. */
const CONFIG = PIPELINE_CONFIG.replace('production: {}', 'production: { windows: [office] }')
  .concat(`windows:
  office: { days: [mon, tue, wed, thu, fri], from: 09:00, to: 17:00, zone: UTC }
freezes:
  inventory: { from: 2026-01-07, to: 2026-01-07, zone: UTC }
`);
const RAMP = 'ramp: "30m, 10, 1d, 25, 1d, 50, 1d, 100"';

beforeEach(() => {
  // The clock on the wall alone: timers, sockets and git take the time that they take.
  vi.useFakeTimers({ toFake: ['Date'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A change as the audit log of the service tells of it. */
interface Told {
  readonly time: number;
  readonly environmentId: string | null;
  readonly name: string;
  readonly action: string;
  readonly title: string;
  readonly comment: string;
}

it('a daemon climbs a ladder over a freeze with an approval, a kill and a weekend, by the clock alone', async () => {
  const repository = makeRepository();
  const service = await startTestService();
  const live = await liveWorkspace(service);
  /** Commits on the branch at this moment. */
  const commit = (time: string, message: string, files: Files): void => {
    repository.write(files);
    repository.git('add', '--all');
    const dates = { GIT_AUTHOR_DATE: time, GIT_COMMITTER_DATE: time };
    const person = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.com'];
    execFileSync('git', [...person, 'commit', '--quiet', '-m', message], {
      cwd: repository.directory,
      env: { ...process.env, ...dates },
    });
  };
  const share = async (): Promise<string> => {
    const { killed } = await live.definition('shop');
    return `${await live.share('shop')} %${killed ? ', killed' : ''}`;
  };
  vi.setSystemTime(new Date('2026-01-05T09:30Z'));
  const spec = flagSpec('shop', { on: 0, production: RAMP });
  commit('2026-01-05T09:30Z', 'Ramp the shop', {
    'flagkeel.yaml': CONFIG,
    'flags/shop.yaml': spec,
    'flags/pay.yaml': flagSpec('pay'),
  });
  const watching = new InProcessDaemon(repository.directory, service, { intervalMs: 50 });
  const story: string[] = [];
  /** Sets the clock, waits for what this brings, and notes what the service has then. */
  const then = async (time: string, message?: string, files: Files = {}): Promise<void> => {
    const before = watching.runs.length;
    vi.setSystemTime(new Date(time));
    if (message !== undefined) commit(time, message, files);
    await watching.rest(before + 1);
    story.push(`${time} ${await share()}; ${watching.view.nextDue?.slice(0, 16) ?? 'the end'}`);
  };
  watching.daemon.start();
  await watching.rest(1);

  await then('2026-01-05T10:00Z');
  await then('2026-01-06T10:00Z');
  await then('2026-01-07T12:00Z', 'Stop', {
    'kills/production.yaml': 'kills: { shop: { reason: INC-1 } }\n',
  });
  await then('2026-01-07T13:00Z', 'Repair pay', {
    'flags/pay.yaml': flagSpec('pay', { on: 20 }),
  });
  const held = watching.runs.at(-1)?.plan?.heldHash ?? '';
  vi.setSystemTime(new Date('2026-01-07T13:30Z'));
  const end = { until: '2026-01-07T14:30:00.000Z', reason: 'INC-2' };
  watching.daemon.override('default', { approval: { hash: held, by: 'ana', ...end } });
  await watching.rest(watching.runs.length + 1);
  await then('2026-01-08T12:00Z', 'Go on', { 'kills/production.yaml': 'kills: {}\n' });
  await then('2026-01-09T12:00Z');
  const friday = watching.runs.length;
  vi.setSystemTime(new Date('2026-01-10T12:30Z'));
  const { requests } = service;
  // Confirmations alone ask on: for the environments of the workspace.
  const asked = () => requests.filter(({ path }) => !path.includes('/environments/ws/')).length;
  const before = asked();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect([watching.runs.length, asked()]).toEqual([friday, before]);
  await then('2026-01-12T09:00Z');

  expect(story).toEqual([
    '2026-01-05T10:00Z 10 %; 2026-01-06T10:00',
    // Wednesday is frozen.
    '2026-01-06T10:00Z 25 %; 2026-01-08T09:00',
    '2026-01-07T12:00Z 25 %, killed; 2026-01-08T12:00',
    '2026-01-07T13:00Z 25 %, killed; 2026-01-08T00:00',
    // It goes on from where it stands: the wait for the next step counts anew.
    '2026-01-08T12:00Z 25 %; 2026-01-09T12:00',
    // Saturday and Sunday are closed.
    '2026-01-09T12:00Z 50 %; 2026-01-12T09:00',
    '2026-01-12T09:00Z 100 %; the end',
  ]);
  const { objects } = await live.ok<{ objects: readonly Told[] }>(
    'GET',
    `/auditLog/ws/${live.id}?limit=100`,
  );
  const told = objects.filter(({ environmentId }) => environmentId === live.production).reverse();
  expect(
    told.map(
      ({ time, action, name, title }) =>
        `${new Date(time).toISOString().slice(0, 16)} ${action} ${name}: ${title}`,
    ),
  ).toEqual([
    '2026-01-05T09:30 create pay: Ramp the shop',
    '2026-01-05T09:30 create shop: Ramp the shop',
    '2026-01-05T10:00 update shop: Ramp flag/shop@production: on to 10 %, step 1 of 4',
    '2026-01-06T10:00 update shop: Ramp flag/shop@production: on to 25 %, step 2 of 4',
    '2026-01-07T12:00 kill shop: Stop',
    '2026-01-07T13:30 update pay: Repair pay',
    '2026-01-08T12:00 restore shop: Go on',
    '2026-01-09T12:00 update shop: Ramp flag/shop@production: on to 50 %, step 3 of 4',
    '2026-01-12T09:00 update shop: Ramp flag/shop@production: on to 100 %, step 4 of 4',
  ]);
  const approved = told.find(({ title }) => title === 'Repair pay')?.comment;
  expect(approved).toContain(`frozen by "inventory": approved as ${held} by ana`);
  await watching.daemon.stop('end');
  await service.stop();
});
