import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SERVICE_METRICS, ServiceMetrics } from '../../src/service/metrics.js';
import { aDefinition, callsOf } from '../support/service-calls.js';
import { aService } from '../support/service.js';

const service = aService({ metrics: new ServiceMetrics() });

async function metrics(): Promise<string> {
  const answer = await fetch(`${service.origin}/metrics`);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  return answer.text();
}

describe('the metrics of the service', () => {
  it('count requests by route and status, and the objects that there are', async () => {
    const client = callsOf(service);
    await client.flag('a-flag');
    await client.ok('POST', '/splits/ws/Default/a-flag/environments/staging', aDefinition());
    await client.segment('seg');
    await client.ok('PUT', '/segments/staging/seg/upload', ['k1', 'k2', 'k3']);
    await client.call('GET', '/splits/ws/Default/no-flag');
    await client.call('GET', '/no-such-path');

    const text = await metrics();

    const route = 'route="/internal/api/v2/splits/ws/:ws/:flag"';
    expect(text).toContain(`requests_total{method="GET",${route},status="404"} 1`);
    expect(text).toContain('requests_total{method="GET",route="none",status="404"} 1');
    expect(text).toContain(`request_duration_seconds_count{method="GET",${route}} 1`);
    expect(text).toMatch(/^flagkeel_admin_store_errors_total 0$/m);
    const objects = [...text.matchAll(/objects\{kind="(\S+)"\} (\d+)/g)].map(([, kind, count]) => [
      kind,
      Number(count),
    ]);
    expect(Object.fromEntries(objects)).toMatchObject({
      workspace: 1,
      flag: 1,
      definition: 1,
      segment: 1,
      activation: 1,
      'segment-key': 3,
    });
    expect(text).not.toContain('no-flag');
    expect(text).not.toContain('no-such-path');
  });

  it('are those that the page about the service explains', () => {
    const page = readFileSync('docs/service.md', 'utf8');
    const explained = [...page.matchAll(/^\| `(flagkeel_admin_\w+)` +\| (.*?) +\|/gm)];

    expect(explained.map(([, name, labels = '']) => [name, labels.match(/\w+/g) ?? []])).toEqual(
      Object.entries(SERVICE_METRICS).map(([name, { labels }]) => [name, labels]),
    );
  });
});
