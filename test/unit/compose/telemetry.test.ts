import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTelemetry } from '../../../src/compose/telemetry.js';
import { observe, traced, tracedRun } from '../../../src/platform/spans.js';
import type { CountedMetric } from '../../../src/platform/prometheus.js';
import { OtlpReceiver } from '../../support/otlp.js';

const END = { exitCode: 0, result: 'in-sync', plan: null };
const READY: CountedMetric = {
  name: 'flagkeel_ready',
  help: '',
  type: 'gauge',
  points: [{ labels: { source: 'shop' }, value: 1 }],
};

let collector: OtlpReceiver;
let troubles: string[];

beforeEach(async () => {
  collector = await OtlpReceiver.start();
  troubles = [];
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await collector.server.close();
});

/** One run with these variables. @returns the paths that the collector was asked for, sorted; null: nothing was opened. */
async function runWith(variables: Readonly<Record<string, string>>): Promise<string[] | null> {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const telemetry = await openTelemetry(variables, {
    isLasting: false,
    metrics: async () => Promise.resolve([READY]),
    onTrouble: (why) => troubles.push(why),
    hasParent: true,
  });
  if (!telemetry) return null;
  const forget = observe(telemetry);
  const run = { name: 'reconcile', source: 'shop' };
  await tracedRun(
    run,
    async () => traced('plan', async () => Promise.resolve()),
    () => END,
  );
  forget();
  await telemetry.close();
  return collector.server.seen.map(({ url }) => url).toSorted();
}

const endpoint = (): Record<string, string> => ({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });

describe('the variables of OpenTelemetry', () => {
  it('send both signals to the one endpoint, below its path', async () => {
    const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/behind/a/proxy` };
    expect(await runWith(variables)).toEqual([
      '/behind/a/proxy/v1/metrics',
      '/behind/a/proxy/v1/traces',
    ]);
    expect(troubles).toEqual([]);
  });

  it.each([
    ['none is set', {}],
    ['the endpoint is empty', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
    ['the SDK is disabled', { OTEL_SDK_DISABLED: 'TRUE' }],
    ['no exporter is wanted', { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }],
  ])('send nothing, and say nothing, where %s', async (_, variables) => {
    const isSet = Object.keys(variables).length > 0;
    expect(await runWith({ ...(isSet && endpoint()), ...variables })).toBeNull();
    expect(troubles).toEqual([]);
  });

  it('send one signal where the other is turned off, or has no endpoint', async () => {
    expect(await runWith({ ...endpoint(), OTEL_TRACES_EXPORTER: 'none' })).toEqual(['/v1/metrics']);
    vi.unstubAllEnvs();
    const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/as-it-stands` };
    expect(await runWith(own)).toEqual(['/as-it-stands', '/v1/metrics']);
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, /is no URL$/],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /go by http alone$/],
  ])('say why nothing can be sent with %j', async (variables, why) => {
    expect(await runWith({ ...endpoint(), ...variables })).toBeNull();
    expect(troubles).toHaveLength(2);
    for (const each of troubles) expect(each).toMatch(why);
  });

  it('make a trace of its own of each run where the trace of the job is not one', async () => {
    await runWith({ ...endpoint(), TRACEPARENT: 'not-a-parent' });

    const [plan, run] = collector.spans;
    expect([plan?.name, run?.name]).toEqual(['plan', 'flagkeel reconcile']);
    expect(run?.parentSpanId).toBeUndefined();
    expect(plan?.parentSpanId).toBe(run?.spanId);
  });

  it('sample as they say', async () => {
    expect(await runWith({ ...endpoint(), OTEL_TRACES_SAMPLER: 'always_off' })).toEqual([
      '/v1/metrics',
    ]);
  });
});

describe('a collector that refuses', () => {
  it('is told of once, with its status and none of its words', async () => {
    await collector.server.close();
    collector = await OtlpReceiver.start(() => ({ status: 401, body: 'who are you?' }));
    await runWith(endpoint());

    expect(collector.server.seen).toHaveLength(2);
    expect(troubles).toEqual(['it answered 401']);
  });
});
