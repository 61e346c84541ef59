import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp.js';
import { useScenario } from '../support/scenario.js';
import { flagText, UNPROTECTED_CONFIG } from '../support/spec-texts.js';
import { Watching } from '../support/watching.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CI_SPAN = 'b7ad6b7169203331';
const CANARY = 'canary-of-the-collector';

const scenario = useScenario();
let collector: OtlpReceiver;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'flagkeel-otlp-'));
  collector = await OtlpReceiver.start();
  scenario.commit(
    {
      'flagkeel.yaml': UNPROTECTED_CONFIG,
      'flags/pay.yaml': flagText('pay', 10, { staging: '' }),
      'segments/vip.yaml':
        'segment: vip\ntrafficType: user\nenvironments: { staging: { keys: [customer-7] } }\n',
    },
    'Ship what-a-person-wrote',
  );
});

afterEach(async () => {
  await collector.server.close();
  rmSync(folder, { recursive: true });
});

/** Writes on standard error, when the program ends, how many modules of OpenTelemetry it had loaded. */
function tellingModules(): string {
  const file = join(folder, 'modules.cjs');
  writeFileSync(
    file,
    `process.on('exit', () => {
       const all = Object.keys(require('node:module')._cache);
       process.stderr.write('modules: ' + all.filter((path) => path.includes('opentelemetry')).length);
     });`,
  );
  return `--require ${file}`;
}

const asked = (): Record<string, string> => ({
  ...scenario.env,
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_HEADERS: `x-token=${CANARY}`,
});

const named = (name: string): ReceivedSpan[] =>
  collector.spans.filter((span) => span.name === name);

describe('a run where OTEL_EXPORTER_OTLP_ENDPOINT is set', () => {
  it('is one trace below the span of the CI job, with writes and requests and no secret, and is counted', async () => {
    const env = {
      ...asked(),
      TRACEPARENT: `00-${TRACE}-${CI_SPAN}-01`,
      OTEL_SERVICE_NAME: 'flags-of-the-shop',
      OTEL_RESOURCE_ATTRIBUTES: 'team=pay',
      FLAGKEEL_FORGE_TOKEN: 'canary-of-the-forge',
    };
    const words = ['--comment', 'what-an-operator-wrote'];
    const { code, stderr } = await scenario.runWith({ env }, 'reconcile', ...words);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    expect(collector.resource).toMatchObject({ 'service.name': 'flags-of-the-shop', team: 'pay' });
    const [root] = named('flagkeel reconcile');
    expect(root).toMatchObject({ parentSpanId: CI_SPAN, kind: 1 });
    expect(root?.attributes).toMatchObject({
      'flagkeel.workspace': 'Default',
      'flagkeel.result': 'applied',
      'flagkeel.exit_code': 0,
      'vcs.ref.head.revision': scenario.repository.git('rev-parse', 'HEAD').trim(),
    });
    const parts = collector.spans.filter(
      ({ kind, parentSpanId }) => kind === 1 && parentSpanId === root?.spanId,
    );
    expect(parts.map(({ name }) => name)).toEqual([
      ...['read specs', 'read state', 'read the service', 'plan'],
      ...['apply', 'verify', 'write state'],
    ]);
    const [apply] = named('apply');
    const writes = named('write');
    expect(writes.every(({ parentSpanId }) => parentSpanId === apply?.spanId)).toBe(true);
    expect(writes.map(({ attributes }) => attributes)).toContainEqual({
      'flagkeel.object': 'flag/pay@staging',
      'flagkeel.action': 'create-definition',
      'flagkeel.attempt': 1,
      'flagkeel.result': 'succeeded',
    });
    const requests = collector.spans.filter(({ kind }) => kind === 3);
    const sent = scenario.service.requests.map(({ method }) => method);
    expect(requests.map(({ attributes }) => attributes['http.request.method']).toSorted()).toEqual(
      sent.toSorted(),
    );
    const route = '/splits/ws/:workspace/:flag/environments/:environment';
    const [created] = named(`POST ${route}`);
    expect(created?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'url.template': route,
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(scenario.service.origin).port),
    });
    expect(writes.map(({ spanId }) => spanId)).toContain(created?.parentSpanId);
    const pointsOf = (name: string) =>
      collector.metrics.find((metric) => metric.name === name)?.points ?? [];
    const source = scenario.repository.directory;
    expect(pointsOf('flagkeel_runs_total')).toEqual([`source=${source} result=applied 1`]);
    expect(pointsOf('flagkeel_run_duration_seconds')).toEqual([
      `source=${source} result=applied 1`,
    ]);
    expect(pointsOf('flagkeel_changes_total')).toContain(
      `source=${source} kind=flag action=create outcome=applied 2`,
    );
    expect(pointsOf('flagkeel_service_requests_total')).toContain(
      `method=POST route=${route} status=200 1`,
    );
    // No key, no header, nothing that people wrote, and no key of a segment.
    expect(collector.server.seen[0]?.headers['x-token']).toBe(CANARY);
    const bodies = collector.server.seen.map(({ body }) => body).join('\n');
    const secrets = [scenario.service.key, CANARY, 'canary-of-the-forge', 'customer-7'];
    for (const each of [...secrets, 'what-a-person-wrote', 'what-an-operator-wrote']) {
      expect(bodies).not.toContain(each);
    }
  });

  it('shows a request that was sent again, and a write that failed', async () => {
    scenario.service.failNext({ method: 'GET', path: /\/workspaces/ }, 503);
    scenario.service.failNext({ method: 'POST', path: /splits\/.*trafficTypes/ }, 404);
    const { code } = await scenario.runWith({ env: asked() }, 'reconcile');

    expect(code).toBe(5);
    const [away, again] = named('GET /workspaces');
    expect(away).toMatchObject({ status: 2, attributes: { 'error.type': '503' } });
    expect(again).toMatchObject({ status: 0, attributes: { 'http.request.resend_count': 1 } });
    const failed = named('write').filter(({ status }) => status === 2);
    expect(failed.map(({ attributes }) => attributes)).toMatchObject([
      { 'flagkeel.object': 'flag/pay', 'flagkeel.result': 'failed', 'error.type': 'REJECTED' },
    ]);
    expect(named('flagkeel reconcile')).toMatchObject([
      { status: 2, attributes: { 'flagkeel.result': 'partial', 'flagkeel.exit_code': 5 } },
    ]);
  });

  it('ends as without it where the collector never answers, and says so once', async () => {
    const silent = await OtlpReceiver.start(() => 'hang');
    const env = {
      ...asked(),
      OTEL_EXPORTER_OTLP_ENDPOINT: silent.url,
      // Longer than the test: only the bound of our own ends it.
      OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
    };
    const { code, stdout, stderr } = await scenario.runWith({ env }, 'reconcile');
    await silent.server.close();

    expect(code).toBe(0);
    expect(stdout).toContain('In sync');
    expect(stderr).toBe('warning: OpenTelemetry: not everything was sent: no answer in time\n');
    expect(silent.server.lines()).toContain('POST /v1/traces');
  });

  it('loads what that needs, which no other run does', async () => {
    const env = { ...scenario.env, NODE_OPTIONS: tellingModules() };
    const plainly = await scenario.runWith({ env }, 'plan');
    const observed = await scenario.runWith({ env: { ...asked(), ...env } }, 'plan');

    expect(plainly.stderr).toMatch(/modules: 0$/);
    expect(observed.stderr).toMatch(/modules: \d{2,}$/);
    expect(named('flagkeel plan')).toMatchObject([
      { attributes: { 'flagkeel.result': 'planned' } },
    ]);
  });
});

describe('a daemon where OTEL_EXPORTER_OTLP_ENDPOINT is set', () => {
  it('sends a trace for each run by the id of its log, and its metrics, while it runs', async () => {
    const soon = { OTEL_BSP_SCHEDULE_DELAY: '20', OTEL_METRIC_EXPORT_INTERVAL: '50' };
    const env = { ...asked(), ...soon, OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
    const place = ['--url', scenario.service.origin, scenario.repository.directory];
    const daemon = new Watching(['--interval', '1h', '--schedule', 'off', ...place], env);
    try {
      const head = scenario.repository.git('rev-parse', 'HEAD').trim();
      const { run } = await daemon.ran(head, 'applied');
      const isThere = (): boolean => named('flagkeel reconcile').length > 0;
      const isCounted = (): boolean =>
        collector.metrics.some(({ name }) => name === 'flagkeel_ready');
      await expect.poll(() => isThere() && isCounted(), { timeout: 30_000 }).toBe(true);

      const [root] = named('flagkeel reconcile');
      expect(root?.parentSpanId).toBeUndefined();
      expect(root?.attributes).toMatchObject({
        'flagkeel.source': 'default',
        'flagkeel.run.id': run,
        'vcs.ref.head.revision': head,
        'flagkeel.result': 'applied',
      });
      expect(collector.resource).toHaveProperty(['service.instance.id']);
      await collector.server.close();
      const said = await daemon.line(({ msg }) => msg.startsWith('not taken'));
      expect(said).toMatchObject({ level: 'warn' });
    } finally {
      await daemon.stop('SIGTERM');
    }
    expect(daemon.end).toBe(143);
    expect(daemon.lines.filter(({ msg }) => msg.startsWith('not taken'))).toHaveLength(1);
  });
});
