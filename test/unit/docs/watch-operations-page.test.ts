import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../../src/daemon/metrics/metrics.js';
import type { Metric } from '../../../src/platform/prometheus.js';
import { unknownPlaceholders } from '../../../src/daemon/notify/formats.js';
import { jsonBody } from '../../../src/daemon/notify/formats.js';
import { STANDINGS } from '../../../src/model/verdict.js';
import { aRun, aSource, DaemonInMemory } from '../../support/daemon-view.js';
import { aLiveFlag } from '../../support/daemon-story.js';
import { startTestOperations } from '../../support/operations.js';
import { aReport } from '../../support/plan-builder.js';
import { bare, projectText, rowsOf, sectionOf } from './page.js';

const PAGE = projectText('docs/watch-operations.md');

describe('docs/watch-operations.md', () => {
  it('explains exactly the metrics that there are', () => {
    const rows = rowsOf(sectionOf(PAGE, '## Metrics'));

    expect(rows).toEqual(
      Object.entries<Metric>(METRICS).map(([name, { type, labels, help }]) => [
        `\`${name}\``,
        type,
        labels.map((label) => `\`${label}\``).join(', '),
        help,
      ]),
    );
  });

  it('names no metric that there is not', () => {
    const named = [...PAGE.matchAll(/\bflagkeel_[a-z_]+/g)].map(([name]) => name);

    const known = Object.keys(METRICS);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('explains exactly the spans of a run that there are', () => {
    const section = sectionOf(PAGE, '## OpenTelemetry');
    const code = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => projectText(`src/${file}`))
      .join('\n');
    const namesIn = (pattern: RegExp): string[] => [
      ...new Set([...code.matchAll(pattern)].map(([, name = '']) => name)),
    ];

    const stages = rowsOf(section)[1]?.[0]?.split(', ').map(bare) ?? [];
    const traced = namesIn(/\btraced\(\s*'([^']+)'/g);
    expect([...stages, 'write'].toSorted()).toEqual(traced.toSorted());
    const attributes = namesIn(/'((?:flagkeel|http|url|server|vcs)\.[a-z_.]+)':/g);
    expect(attributes.length).toBeGreaterThan(10);
    for (const each of attributes) expect(section).toContain(`\`${each}\``);
  });

  it('installs the SDK in the versions that the tests load', () => {
    const section = sectionOf(PAGE, '## OpenTelemetry');
    const named = [...section.matchAll(/(@opentelemetry\/[a-z-]+)@(\S+)/g)];
    const { devDependencies } = JSON.parse(projectText('package.json')) as {
      devDependencies: Readonly<Record<string, string>>;
    };

    const ours = Object.entries(devDependencies).filter(([name]) => name.startsWith('@opentel'));
    expect(Object.fromEntries(named.map(([, name, version]) => [name, version]))).toEqual(
      Object.fromEntries(ours),
    );
  });

  it('explains exactly the members of a notification', () => {
    const of = { kind: 'changed', source: aSource(), run: aRun(aReport()), objects: [] } as const;
    const body = jsonBody(of);

    const rows = rowsOf(sectionOf(PAGE, '### A message as JSON'));
    expect(rows.map(([member]) => bare(member))).toEqual(Object.keys(body));
    // Each of them may stand in a template.
    const all = Object.keys(body).map((member) => `{${member}}`);
    expect(unknownPlaceholders(`{title} ${all.join(' ')}`)).toEqual([]);
  });

  it('says of every standing what status its commit gets', () => {
    const rows = rowsOf(sectionOf(PAGE, '## Commit statuses')).map(([standing = '']) => standing);

    const named = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
    expect([...new Set(named)].toSorted()).toEqual(STANDINGS.toSorted());
  });

  it('lists endpoints that are there', async () => {
    const run = aRun(aReport());
    const flags = [{ environment: 'production', total: 1, flags: [aLiveFlag('pay', 10)] }];
    await using operations = await startTestOperations(
      new DaemonInMemory(aSource({ runs: [run], flags })),
    );
    const endpoints = rowsOf(sectionOf(PAGE, '## Endpoints')).map(([cell]) => bare(cell));

    const answers = await Promise.all(
      endpoints.map(async (endpoint) => {
        const [method, path] = endpoint.includes(' ') ? endpoint.split(' ') : ['GET', endpoint];
        const response = await fetch(
          operations.url + (path ?? '').replace('ID', run.id).replace('SOURCE/F', 'shop-flags/pay'),
          {
            method: method ?? '',
          },
        );
        await response.body?.cancel();
        return [endpoint, response.status];
      }),
    );

    // Those that write are off here.
    expect(answers).toEqual(
      endpoints.map((endpoint) => [endpoint, endpoint.startsWith('POST') ? 403 : 200]),
    );
  });
});
