import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { METRICS } from '../../../src/daemon/metrics/metrics.js';
import type { Metric } from '../../../src/platform/prometheus.js';
import { bare, projectText, rowsOf, sectionOf } from '../docs/page.js';

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly templating: { readonly list: readonly { readonly name: string; query: unknown }[] };
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly description: string;
  readonly datasource: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; h: number };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

const ALL = Object.entries<Metric>(METRICS);
const dashboard = JSON.parse(projectText('deploy/grafana/flagkeel.json')) as Dashboard;
const rules = parse(projectText('deploy/prometheus/alerts.yaml')) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Alert[] }[];
};
const alerts = rules.groups.flatMap((group) => group.rules);

/** Every expression with the texts that show labels of its result. */
const queries = [
  ...dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({ where: title, expr, shown: legendFormat })),
  ),
  ...dashboard.annotations.list.map(({ expr }) => ({ where: 'annotation', expr, shown: '' })),
  ...alerts.map(({ alert, expr, annotations }) => ({
    where: alert,
    expr,
    shown: `${annotations.summary} ${annotations.description}`,
  })),
];

/** Prometheus makes three series of a histogram. */
function metricOf(series: string): Metric | undefined {
  const found = ALL.find(([name, { type }]) =>
    type === 'histogram'
      ? /^(.*)_(?:bucket|sum|count)$/.exec(series)?.[1] === name
      : name === series,
  );
  return found?.[1];
}

function seriesOf(expr: string): string[] {
  return [...expr.matchAll(/\bflagkeel_[a-z_]+/g)].map(([name]) => name);
}

/** Labels that an expression, or a text about its result, names. */
function labelsOf(expr: string, shown: string): string[] {
  const matched = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner = '']) =>
    [...inner.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label),
  );
  const grouped = [...expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(/, */),
  );
  const written = [...shown.matchAll(/\{\{ *(?:\$labels\.)?(\w+) *\}\}/g)].map(([, l = '']) => l);
  return [...matched, ...grouped, ...written];
}

/** Those that Prometheus and its histograms add. */
const OF_EVERY_SERIES = ['instance', 'job', 'le'];

describe('the dashboard and the alerts', () => {
  it.each(queries)('$where: asks for metrics and labels that there are', ({ expr, shown }) => {
    const series = seriesOf(expr);
    const known = series.flatMap((name) => metricOf(name)?.labels ?? []);

    expect(series).not.toEqual([]);
    expect(series.filter((name) => metricOf(name) === undefined)).toEqual([]);
    const unknown = labelsOf(expr, shown).filter(
      (label) => ![...known, ...OF_EVERY_SERIES].includes(label),
    );
    expect(unknown).toEqual([]);
  });

  it('names results of runs that there are', () => {
    const schema = projectText('schemas/status.schema.json');
    const named = queries.flatMap(({ expr }) =>
      [...expr.matchAll(/flagkeel_runs_total\{result=~"([^"]+)"/g)].flatMap(([, list = '']) =>
        list.split('|'),
      ),
    );

    expect(named).not.toEqual([]);
    expect(named.filter((result) => !schema.includes(`"${result}"`))).toEqual([]);
  });
});

it('the dashboard reads from the chosen source, shows objects and trouble, and no panel lies upon another', () => {
  const { panels, templating } = dashboard;
  expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'source']);
  expect(new Set(panels.map(({ datasource }) => datasource.uid))).toEqual(
    new Set(['${datasource}']),
  );
  const shown = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => seriesOf(expr)));
  expect(shown).toEqual(expect.arrayContaining(['flagkeel_objects', 'flagkeel_trouble']));
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(panels.filter(({ title, description }) => !title || !description)).toEqual([]);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
});

it('the alerts say how urgent they are, what is wrong and what follows; docs/deploy.md explains each', () => {
  const levels = ['critical', 'warning', 'info'];
  const vague = alerts.filter(
    ({ labels, annotations: { summary, description } }) =>
      !levels.includes(labels.severity) || !summary || !description,
  );
  expect(vague).toEqual([]);
  const rows = rowsOf(sectionOf(projectText('docs/deploy.md'), '## Alerts'));
  expect(rows.map(([alert, severity]) => [bare(alert), severity])).toEqual(
    alerts.map(({ alert, labels }) => [alert, labels.severity]),
  );
});
