import { expect, it } from 'vitest';
import { openLists, wayOut } from '../../../../src/daemon/page/object-lists.js';
import { planText } from '../../../../src/report/text/plan.js';
import { aRun, aSource } from '../../../support/daemon-view.js';
import { aChange, aField, aReport, aWithheld } from '../../../support/plan-builder.js';
import type { PlanReport } from '../../../../src/report/plan-report.js';

const LOCATION = { file: 'flags/held.yaml', line: 3, column: 1 };
const LAYOUT = { color: false, width: 1_000, showKeys: false, verbose: true };

const words = (text: string): string =>
  text
    .replaceAll('</div>', ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ');

function pageOf(report: PlanReport): string {
  const location = 'https://github.com/shop/flags.git';
  return openLists(aSource({ location, runs: [aRun(report)] })).text;
}

it('what the service keeps is archived, and what it does not is deleted', () => {
  const changes = [
    aChange('flag/kept', 'delete', { archive: true }),
    aChange('flag/gone', 'delete'),
  ];
  const withheld = [aWithheld('flag/held', 'delete', 'window-closed', { archive: true })];
  const page = words(pageOf(aReport({ changes, withheld })));

  expect(page).toContain('! flag/held would be archived');
  expect(page).toContain('- flag/kept will be archived');
  expect(page).toContain('- flag/gone will be deleted');
});

it('says of what is withheld what the text report says, with a link to its line', () => {
  const fields = [aField('/defaultRule', bucketsOf(10), bucketsOf(25))];
  const held = aWithheld('flag/held@production', 'update', 'drift-reported', {
    location: LOCATION,
    fields,
  });
  const report = aReport({ withheld: [held] });
  const [, section = ''] = /Withheld\n([^]*?)\n\n/.exec(planText(report, LAYOUT)) ?? [];
  const said = words(section).trim().replace(' · flags/held.yaml:3', '');

  expect(said).toMatch(/on 10 → 25 %/);
  expect(words(pageOf(report))).toContain(said);
  expect(pageOf(report)).toContain(`/blob/${report.revision.commit ?? ''}/flags/held.yaml#L3"`);
});

it('shows the first rows and counts the others, and cuts long ones before the way out', () => {
  const fields = Array.from({ length: 30 }, (_, at) => aField(`/f${String(at)}`, 1, 2));
  const because = 'ask ana';
  const withheld = Array.from({ length: 60 }, (_, at) =>
    aWithheld(`flag/f${String(at)}`, 'update', 'drift-reported', { fields, because }),
  );
  const page = words(pageOf(aReport({ withheld })));

  expect(page.match(/and 21 more → ask ana/g)).toHaveLength(50);
  expect(page).toContain('and 10 more: see the plan of the last run');
});

function bucketsOf(on: number): object[] {
  return [
    { treatment: 'on', size: on },
    { treatment: 'off', size: 100 - on },
  ];
}

it('shows the command of a way out as code, and never cuts it', () => {
  const only = Array.from({ length: 60 }, (_, at) => ['--only', `flag/f${String(at)}`]).flat();
  const run = ['drift', '--adopt', ...only];
  const way = wayOut({ because: null, ways: [{ run, to: 'keep it' }] }).text;

  expect(way).toContain(`<code><bdi>flagkeel ${run.join(' ')}</bdi></code>`);
  expect(words(way)).toMatch(/^→ run flagkeel drift .* to keep it$/);
});
