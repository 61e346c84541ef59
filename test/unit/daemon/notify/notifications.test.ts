import { afterEach, describe, expect, it } from 'vitest';
import { FORMATS } from '../../../../src/daemon/notify/formats.js';
import { Metrics } from '../../../../src/daemon/metrics/metrics.js';
import { startNotifications } from '../../../../src/daemon/notify/notifications.js';
import type { NotifyTarget } from '../../../../src/daemon/notify/target.js';
import type { RunRecord } from '../../../../src/daemon/view.js';
import type { Reminder } from '../../../../src/model/plan.js';
import { createLog } from '../../../../src/platform/log.js';
import { aRun, aSource, appliedReport, DaemonInMemory } from '../../../support/daemon-view.js';
import { JumpingTime } from '../../../support/http-time.js';
import { startScripted, type Script } from '../../../support/http.js';
import { aChange, aReport } from '../../../support/plan-builder.js';
import { aStory } from '../../../support/plan-builder-story.js';

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const OK: Script = () => ({ status: 200, body: 'ok' });

/** A daemon whose runs are told to one scripted receiver. */
async function fixture(script: Script = OK, format: NotifyTarget['format'] = 'json') {
  const server = await startScripted(script);
  closing.push(server.close);
  const daemon = new DaemonInMemory(aSource());
  const metrics = new Metrics();
  let logged = '';
  const stream = { write: (line: string) => (logged += line) };
  const log = createLog({ level: 'debug', format: 'json', stream });
  const time = new JumpingTime();
  const url = `${server.url}/hooks/secret-path?token=secret-token`;
  const notifications = startNotifications(daemon, [{ format, url }], { log, metrics, time });
  closing.push(notifications.close);
  return {
    daemon,
    server,
    close: notifications.close,
    logged: () => logged,
    bodies: () => server.seen.map(({ body }) => JSON.parse(body) as Record<string, unknown>),
    results: async () =>
      [...(await metrics.text(daemon, 0)).matchAll(/^flaghoist_notifications_total.*$/gm)].map(
        String,
      ),
  };
}

async function eventually(check: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!check()) {
    if (Date.now() > deadline) throw new Error('it never happened');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const APPLIED = () =>
  aRun(appliedReport(aReport({ changes: [aChange('flag/a@production', 'update')] })));
const DOWN = (tries = 4) =>
  aRun(null, {
    result: 'failed',
    exitCode: 6,
    summary: `no answer within 30 s, ${String(tries)} tries`,
    commit: null,
  });
const INVALID = (line: number) =>
  aRun(null, {
    result: 'invalid',
    exitCode: 3,
    summary: '1 problem',
    text: `flags/a.yaml:${String(line)}:1: error`,
  });

describe('what was to be looked at again', () => {
  it('is told once a day, however many runs find it, and not where none does', async () => {
    const { daemon, bodies, close } = await fixture();
    const due: Reminder = { id: 'flag/pay@production', what: 'review', due: '2026-10-01' };
    const report = aReport({}, { reminders: [due] });
    const at = (startedAt: string, plan = report): RunRecord => aRun(plan, { startedAt });

    daemon.end(at('2026-10-03T09:00:00.000Z'));
    daemon.end(at('2026-10-03T23:00:00.000Z'));
    daemon.end(aRun(null, { startedAt: '2026-10-04T00:00:00.000Z', result: 'interrupted' }));
    daemon.end(at('2026-10-04T01:00:00.000Z'));
    daemon.end(at('2026-10-05T01:00:00.000Z', aReport()));
    await close();

    expect(bodies().map(({ event, startedAt }) => [event, startedAt])).toEqual([
      ['reminder', '2026-10-03T09:00:00.000Z'],
      ['reminder', '2026-10-04T01:00:00.000Z'],
    ]);
    expect(bodies()[0]?.['text']).toContain('was to be reviewed by 2026-10-01');
  });
});

describe('a run', () => {
  it('that changed something is told once, with the report that the command prints', async () => {
    const { daemon, bodies, close } = await fixture();
    const run = aRun(appliedReport(aStory()));

    daemon.end(run);
    await close();

    expect(bodies()).toMatchObject([
      { formatVersion: 1, event: 'changed', source: 'shop-flags', run: run.id, text: run.text },
    ]);
  });

  it('that found nothing to do, or was only planned, is not told', async () => {
    const { daemon, bodies, close } = await fixture();

    daemon.end(aRun(aReport()));
    daemon.end(aRun(aReport({ changes: [aChange('flag/a', 'update')] }), { result: 'suspended' }));
    daemon.end(aRun(aReport(), { result: 'interrupted' }));
    await close();

    expect(bodies()).toEqual([]);
  });

  it('that fails as the one before is told once, whatever numbers differ, and so is its end', async () => {
    const { daemon, bodies, close } = await fixture();

    for (const tries of [4, 5, 6]) daemon.end(DOWN(tries));
    daemon.end(aRun(aReport(), { result: 'interrupted' }));
    daemon.end(DOWN(7));
    daemon.end(aRun(aReport()));
    daemon.end(aRun(aReport()));
    await close();

    expect(bodies().map(({ event }) => event)).toEqual(['failed', 'recovered']);
  });

  it('that fails in another way is told, and so is one that fails again later', async () => {
    const { daemon, bodies, close } = await fixture();

    for (const run of [DOWN(), INVALID(3), INVALID(3), INVALID(4)]) daemon.end(run);
    daemon.end(APPLIED());
    daemon.end(DOWN());
    await close();

    expect(bodies().map(({ event, result }) => [event, result])).toEqual([
      ['failed', 'failed'],
      ['failed', 'invalid'],
      ['failed', 'invalid'],
      ['recovered', 'applied'],
      ['failed', 'failed'],
    ]);
  });

  it('that fails as before but wrote something is told', async () => {
    const { daemon, bodies, close } = await fixture();
    const partial = (members: object) =>
      aRun({ ...appliedReport(aStory()), ...members }, { result: 'partial' });

    daemon.end(partial({}));
    daemon.end(partial({ outcomes: new Map() }));
    daemon.end(partial({ outcomes: new Map() }));
    await close();

    expect(bodies()).toHaveLength(2);
  });

  it('of one source says nothing about the failures of another', async () => {
    const { daemon, bodies, close } = await fixture();
    daemon.show(aSource({ name: 'bank-flags' }));

    daemon.end(DOWN(), 'shop-flags');
    daemon.end(DOWN(), 'bank-flags');
    daemon.end(aRun(aReport()), 'bank-flags');
    await close();

    expect(bodies().map(({ event, source }) => [event, source])).toEqual([
      ['failed', 'shop-flags'],
      ['failed', 'bank-flags'],
      ['recovered', 'bank-flags'],
    ]);
  });
});

describe('a message in the format of Slack', () => {
  it('shows the report as it is, and calls nobody whatever a commit says', async () => {
    const { daemon, bodies, close } = await fixture(OK, 'slack');
    const subject = '<!channel> *bold* ```` <https://evil.example|x> & \u202Egnp';

    daemon.end({ ...APPLIED(), subject, text: `${subject}\n` });
    await close();

    const text = JSON.stringify(bodies());
    expect(text).not.toMatch(/<!|<http|\u202E/);
    expect(text).toContain('at 3f9c2ab &lt;!channel&gt; ∗bold∗');
    expect(text.match(/```/g)).toHaveLength(2);
  });

  it('is within what Slack takes, and cut between lines', async () => {
    const { daemon, bodies, close } = await fixture(OK, 'slack');
    const text = `${'& a line of the report'.padEnd(60, '.')}\n`.repeat(500);

    daemon.end({ ...APPLIED(), text, subject: '&'.repeat(5_000) });
    await close();

    const blocks = bodies()[0]?.['blocks'] as { text: { text: string; verbatim: boolean } }[];
    expect(blocks.map((block) => block.text.text.length <= 3_000)).toEqual([true, true]);
    expect(blocks.every((block) => block.text.verbatim)).toBe(true);
    expect(blocks[1]?.text.text).toMatch(/\.\n…\n```$/);
  });
});

describe('the way of a message', () => {
  it.each(FORMATS)(
    'is a POST of JSON, and no secret of its address is logged: %s',
    async (format) => {
      const { daemon, server, close, logged, results } = await fixture(
        () => ({ status: 404 }),
        format,
      );

      daemon.end(APPLIED());
      await close();

      expect(
        server.seen.map(({ method, url, headers }) => [method, url, headers['content-type']]),
      ).toEqual([['POST', '/hooks/secret-path?token=secret-token', 'application/json']]);
      expect(logged()).toContain('it answered 404');
      expect(logged()).not.toMatch(/secret/);
      expect(await results()).toEqual([
        `flaghoist_notifications_total{format="${format}",result="failed"} 1`,
      ]);
    },
  );

  it('is tried again while the other side is down, and not for ever', async () => {
    const { daemon, server, results } = await fixture((_, nth) =>
      nth < 2 ? 'reset' : { status: 503 },
    );

    daemon.end(APPLIED());
    await eventually(() => server.seen.length === 5);
    daemon.end(APPLIED());
    await eventually(() => server.seen.length === 10);

    expect((await results()).join()).toContain('result="failed"');
  });

  it('comes through in the end, in the order of the runs', async () => {
    const { daemon, server, bodies, results } = await fixture((_, nth) => ({
      status: nth === 0 ? 429 : 200,
      headers: { 'retry-after': '2' },
    }));
    const [first, second] = [APPLIED(), APPLIED()];

    daemon.end(first);
    daemon.end(second);
    await eventually(() => server.seen.length === 3);
    await eventually(() => true);

    expect(bodies().map(({ run }) => run)).toEqual([first.id, first.id, second.id]);
    expect((await results()).join()).toContain('result="sent"');
  });

  it('follows no redirect', async () => {
    const { daemon, server, close } = await fixture(() => ({
      status: 307,
      headers: { location: '/elsewhere' },
    }));

    daemon.end(APPLIED());
    await close();

    expect(server.lines()).toEqual(['POST /hooks/secret-path']);
  });

  it('holds nobody up: a receiver that never answers is left behind', async () => {
    const { daemon, close, results } = await fixture(() => 'hang');

    for (let i = 0; i < 60; i += 1) daemon.end(APPLIED());
    await close();

    // One under way, fifty that wait, and the oldest given up for newer ones.
    expect(await results()).toEqual([
      'flaghoist_notifications_total{format="json",result="dropped"} 9',
      'flaghoist_notifications_total{format="json",result="failed"} 51',
    ]);
  });
});
