import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { flagkeel } from '../support/cli.js';
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp.js';
import { useScenario } from '../support/scenario.js';
import { flagText, UNPROTECTED_CONFIG } from '../support/spec-texts.js';

import { examplesOf } from '../unit/docs/page.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CI_SPAN = 'b7ad6b7169203331';
const CANARY = 'canary-of-the-collector';

/** As `docs/watch-operations.md` has an operator fill it: the file, and packages that are no copy of the program's. */
const folder = mkdtempSync(join(tmpdir(), 'flagkeel-otel-'));

beforeAll(() => {
  const recipe = examplesOf(readFileSync('docs/watch-operations.md', 'utf8'))['otel/otel.mjs'];
  writeFileSync(join(folder, 'otel.mjs'), recipe ?? '');
  cpSync('node_modules/@opentelemetry', join(folder, 'node_modules/@opentelemetry'), {
    recursive: true,
    filter: (path) => !/\/build\/(?:esm|esnext)$|\.(?:map|d\.ts)$/.test(path),
  });
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const scenario = useScenario();
let collector: OtlpReceiver;

beforeEach(async () => {
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
});

/** Writes on standard error, when the program ends, which packages of OpenTelemetry it had loaded. */
function tellingPackages(): string {
  const file = join(folder, 'packages.cjs');
  writeFileSync(
    file,
    `process.on('exit', () => {
       const all = Object.keys(require('node:module')._cache).flatMap((path) => path.match(/@opentelemetry.([\\w-]+)/)?.[1] ?? []);
       process.stderr.write('packages: ' + [...new Set(all)].join(' '));
     });`,
  );
  return `--require ${file}`;
}

const asked = (): Record<string, string> => ({
  ...scenario.env,
  NODE_OPTIONS: `--import ${join(folder, 'otel.mjs')}`,
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_HEADERS: `x-token=${CANARY}`,
});

const named = (name: string): ReceivedSpan[] =>
  collector.spans.filter((span) => span.name === name);

describe('a run with the SDK that the docs load', () => {
  it('is one trace below the span of the CI job, with writes and requests and no secret', async () => {
    const env = {
      ...asked(),
      TRACEPARENT: `00-${TRACE}-${CI_SPAN}-01`,
      OTEL_SERVICE_NAME: 'flags-of-the-shop',
      OTEL_RESOURCE_ATTRIBUTES: 'team=pay',
      FLAGKEEL_FORGE_TOKEN: 'canary-of-the-forge',
    };
    const words = ['--comment', 'what-an-operator-wrote'];
    const { code, stderr } = await scenario.runWith({ env }, 'reconcile', ...words);

    expect(code, stderr).toBe(0);
    // Nothing but the progress of a run that takes longer than half a second.
    expect(stderr).toMatch(/^((reading the|looking|applying).*\n)*$/);
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
    const parent = writes.find(({ spanId }) => spanId === created?.parentSpanId);
    expect(parent?.attributes['flagkeel.object']).toBe('flag/pay@staging');
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

  it('ends as without it where the collector refuses', async () => {
    const deaf = await OtlpReceiver.start(() => ({ status: 401, body: 'who are you?' }));
    const env = { ...asked(), OTEL_EXPORTER_OTLP_ENDPOINT: deaf.url };
    const { code, stdout, stderr } = await scenario.runWith({ env }, 'reconcile');
    await deaf.server.close();

    expect(code).toBe(0);
    expect(stdout).toContain('In sync');
    expect(stderr).toContain('Unauthorized');
    expect(stderr).not.toContain(CANARY);
    expect(deaf.server.lines()).toContain('POST /v1/traces');
  });
});

it('a run without an SDK loads no package of OpenTelemetry: the API is built in', async () => {
  const env = { ...asked(), NODE_OPTIONS: tellingPackages() };
  const { directory } = scenario.repository;
  const loadedBy = async (...words: string[]): Promise<string | undefined> => {
    const { stderr } = await flagkeel(words, { env });
    return /packages: (.*)$/.exec(stderr)?.[1];
  };

  expect(await loadedBy('plan', '--url', scenario.service.origin, directory)).toBe('');
  expect(await loadedBy('validate', directory)).toBe('');
  expect(await loadedBy('--version')).toBe('');
  expect(collector.server.seen).toEqual([]);
});

it('a daemon with the SDK that the docs load sends a trace for each run by the id of its log, while it runs', async () => {
  const env = {
    ...asked(),
    OTEL_BSP_SCHEDULE_DELAY: '20',
    TRACEPARENT: `00-${TRACE}-${CI_SPAN}-01`,
  };
  const daemon = scenario.watch(['--interval', '1h'], env);
  const head = scenario.repository.git('rev-parse', 'HEAD').trim();
  const { run } = await daemon.ran(head, 'applied');
  const isThere = (): boolean => named('flagkeel reconcile').length > 0;
  await expect.poll(isThere, { timeout: 30_000 }).toBe(true);

  const [root] = named('flagkeel reconcile');
  expect(root?.parentSpanId).toBeUndefined();
  expect(root?.attributes).toMatchObject({
    'flagkeel.source': 'default',
    'flagkeel.run.id': run,
    'vcs.ref.head.revision': head,
    'flagkeel.result': 'applied',
  });
  expect(collector.resource).toMatchObject({ 'service.name': 'flagkeel' });
  expect(await daemon.stop('SIGTERM')).toBe(143);
});
