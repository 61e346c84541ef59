import { describe, expect, it } from 'vitest';
import { METRICS, Metrics } from '../../../../src/daemon/metrics/metrics.js';
import type { SourceView } from '../../../../src/daemon/view.js';
import {
  aRampStanding,
  aRun,
  aSource,
  appliedReport,
  DaemonInMemory,
  minutesAgo,
  NOW,
} from '../../../support/daemon-view.js';
import { startTestOperations } from '../../../support/operations.js';
import { aChange, aLiveKill, aReport, COMMIT } from '../../../support/plan-builder.js';
import { aStory } from '../../../support/plan-builder-story.js';

const NEWER = { commit: 'ab'.repeat(20), subject: 'Newer', committedAt: minutesAgo(1) };

async function samplesOf(metrics: Metrics, daemon: DaemonInMemory): Promise<string[]> {
  const text = await metrics.text(daemon, NOW);
  return text.split('\n').filter((line) => line.startsWith('flagkeel_'));
}

async function gauges(members: Partial<SourceView>): Promise<string[]> {
  return samplesOf(new Metrics(), new DaemonInMemory(aSource(members)));
}

const SHOP = 'source="shop-flags"';

const STORY = { runs: [aRun(appliedReport(aStory()))] };
const plan = (...report: Parameters<typeof aReport>): Partial<SourceView> => ({
  runs: [aRun(aReport(...report))],
});
const EXPIRED = { id: 'flag/a@production', what: 'expiry', due: '2026-10-01' } as const;
const RAMPS = [null, 'a freeze'].map((held) => aRampStanding('flag/a@production', held));
const RAMPING = aRun({ ...aReport(), ramps: RAMPS });
const GOOD = aRun(aReport(), { startedAt: minutesAgo(9), durationMs: 0 });

describe('the metrics of a source', () => {
  it.each<[string, Partial<SourceView>, readonly string[]]>([
    [
      'in sync',
      {},
      [
        ...['ready 1', 'leader 1', 'suspended 0', 'pinned 0', 'lag_seconds 0'],
        `applied_commit_timestamp_seconds ${String(NOW / 1_000 - 180)}`,
      ],
    ],
    ['not ready', { firstSync: false }, ['ready 0']],
    ['that stands by', { leader: false }, ['leader 0']],
    ['suspended by request', { suspended: { reason: '', until: null } }, ['suspended 1']],
    ['resumed', { runs: [aRun(aReport(), { result: 'suspended' })] }, ['suspended 0']],
    ['pinned', { pinned: { reason: '', until: minutesAgo(-5), commit: COMMIT } }, ['pinned 1']],
    ['behind by a minute', { seen: NEWER }, ['lag_seconds 60']],
    [
      'with a flag that was to be gone',
      plan({}, { reminders: [EXPIRED] }),
      ['reminders,what="expiry" 1'],
    ],
    [
      'with drift that is withheld',
      STORY,
      ['drift_objects,environment="production" 1', 'withheld_objects,environment="production" 1'],
    ],
    [
      'with a flag that is killed on the service and not by git',
      plan({ liveKills: [aLiveKill('flag/pay@production')] }),
      ['live_kills,environment="production" 1'],
    ],
    [
      'beside objects that nobody declares, also after a run over what was touched alone',
      {
        runs: [
          aRun(aReport({ observed: 'touched', unmanaged: null })),
          aRun(aReport({ unmanaged: { flags: 12, segments: 3 } })),
        ],
      },
      ['unmanaged_objects,kind="flag" 12', 'unmanaged_objects,kind="segment" 3'],
    ],
    ['with a ramp that is held, and one that goes on', { runs: [RAMPING] }, ['held_ramps 1']],
    [
      'whose last good run is older than its last',
      { runs: [aRun(null, { result: 'failed' }), GOOD] },
      [`last_success_timestamp_seconds ${String(NOW / 1_000 - 540)}`],
    ],
  ])('%s', async (_, members, expected) => {
    const samples = (await gauges(members)).map((line) =>
      line.replace('flagkeel_', '').replace(`{${SHOP}`, '').replace('}', ''),
    );

    expect(expected.filter((sample) => !samples.includes(sample))).toEqual([]);
  });

  it('end with what they are about', async () => {
    const metrics = new Metrics();
    await samplesOf(metrics, new DaemonInMemory(aSource({ name: 'gone-tomorrow' })));

    const after = await samplesOf(metrics, new DaemonInMemory(aSource()));

    expect(after.filter((line) => line.includes('gone-tomorrow'))).toEqual([]);
  });
});

describe('what is counted', () => {
  it('are runs by result, and their changes by what became of them', async () => {
    const daemon = new DaemonInMemory(aSource());
    const metrics = new Metrics();
    await using operations = await startTestOperations(daemon, { metrics });
    const changes = [
      aChange('flag/a@production', 'update'),
      aChange('segment/b@production', 'activate'),
    ];
    const report = appliedReport(aReport({ changes }));
    const failure = {
      status: 'failed',
      partly: false,
      error: { code: 'REJECTED', message: '', status: 400, transactionId: null },
    } as const;

    daemon.end(aRun(report));
    daemon.end(
      aRun(
        { ...report, outcomes: new Map([['flag/a@production', failure]]) },
        { result: 'partial' },
      ),
    );
    daemon.end(aRun(aReport({ changes }), { result: 'suspended' }));

    const text = await (await fetch(`${operations.url}/metrics`)).text();
    const samples = text.split('\n');
    expect(samples.filter((line) => /^flagkeel_(runs|changes)_total/.test(line)).sort()).toEqual([
      `flagkeel_changes_total{${SHOP},kind="flag",action="update",outcome="applied"} 1`,
      `flagkeel_changes_total{${SHOP},kind="flag",action="update",outcome="failed"} 1`,
      `flagkeel_changes_total{${SHOP},kind="segment",action="activate",outcome="applied"} 1`,
      `flagkeel_changes_total{${SHOP},kind="segment",action="activate",outcome="skipped"} 1`,
      `flagkeel_runs_total{${SHOP},result="applied"} 1`,
      `flagkeel_runs_total{${SHOP},result="partial"} 1`,
      `flagkeel_runs_total{${SHOP},result="suspended"} 1`,
    ]);
    expect(samples).toContain(
      `flagkeel_run_duration_seconds_bucket{le="2.5",${SHOP},result="applied"} 1`,
    );
  });

  it('are the guards that refused a run, each once', async () => {
    const daemon = new DaemonInMemory(aSource());
    const metrics = new Metrics();
    const finding = { guard: 'maxDeletes', environment: 'production', found: 6, limit: 5 } as const;
    const guardFindings = [finding, { ...finding, environment: 'staging' }];

    metrics.noteRun(aSource(), aRun(aReport({}, { guardFindings }), { result: 'refused' }));

    expect(await samplesOf(metrics, daemon)).toContain(
      `flagkeel_guard_refusals_total{${SHOP},guard="maxDeletes"} 1`,
    );
  });

  it('is the traffic to the service, tries without an answer among it', async () => {
    const metrics = new Metrics();
    const way = { method: 'GET', route: '/workspaces', origin: 'http://service.test' } as const;
    const request = { ...way, durationMs: 40, triesBefore: 0 };

    metrics.traffic.onTurn(1_500);
    metrics.traffic.onRequest({ ...request, status: null });
    metrics.traffic.onRetry();
    metrics.traffic.onRequest({ ...request, status: 200 });

    expect(await samplesOf(metrics, new DaemonInMemory())).toEqual(
      expect.arrayContaining([
        'flagkeel_service_requests_total{method="GET",route="/workspaces",status="none"} 1',
        'flagkeel_service_requests_total{method="GET",route="/workspaces",status="200"} 1',
        'flagkeel_service_request_duration_seconds_count{method="GET",route="/workspaces"} 2',
        'flagkeel_service_wait_seconds_total 1.5',
        'flagkeel_service_retries_total 1',
      ]),
    );
  });

  it('is nothing of another daemon in the same process', async () => {
    const [one, other] = [new Metrics(), new Metrics()];

    one.noteWebhook('accepted');

    const webhooks = 'flagkeel_webhooks_total{result="accepted"} 1';
    expect(await samplesOf(one, new DaemonInMemory())).toContain(webhooks);
    expect(await samplesOf(other, new DaemonInMemory())).not.toContain(webhooks);
  });
});

describe('/metrics', () => {
  it('is text as Prometheus reads it, with every metric and those of the process', async () => {
    await using operations = await startTestOperations(new DaemonInMemory(aSource()));

    const response = await fetch(`${operations.url}/metrics`);
    const text = await response.text();

    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    const announced = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, ...words]) => words);
    expect(announced).toEqual(
      expect.arrayContaining(Object.entries(METRICS).map(([name, { type }]) => [name, type])),
    );
    expect(announced).toContainEqual(['process_resident_memory_bytes', 'gauge']);
  });
});
