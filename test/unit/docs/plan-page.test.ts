import { describe, expect, it } from 'vitest';
import { REASONS } from '../../../src/model/plan.js';
import { DEFAULT_GUARDS } from '../../../src/plan/guards/guards.js';
import { bare, projectText, rowsOf, sectionOf } from './page.js';

const PAGE = projectText('docs/plan.md');

describe('docs/plan.md', () => {
  it('explains exactly the reasons that there are', () => {
    const explained = rowsOf(sectionOf(PAGE, '## Three states')).map(([reason]) => bare(reason));

    expect(explained.toSorted()).toEqual(REASONS.toSorted());
  });

  it('names the strongest reason first', () => {
    expect(sectionOf(PAGE, '## Three states').replaceAll('\n', ' ')).toContain(REASONS.join(', '));
  });

  it('has a way out for exactly what can be withheld', () => {
    const { $defs } = JSON.parse(projectText('schemas/plan.schema.json')) as {
      $defs: { withheld: { properties: { why: { enum: string[] } } } };
    };
    const whys = $defs.withheld.properties.why.enum;

    const rows = rowsOf(sectionOf(PAGE, '## What is withheld'));

    expect(rows.map(([why]) => bare(why)).toSorted()).toEqual(whys.toSorted());
    expect(rows.filter(([, because, wayOut]) => because === '' || wayOut === '')).toEqual([]);
  });

  it('says what the guards are by default', () => {
    const rows = rowsOf(sectionOf(PAGE, '## Guards'));

    const said = Object.fromEntries(rows.map(([guard, limit]) => [bare(guard), Number(limit)]));

    expect(said).toEqual(DEFAULT_GUARDS);
  });
});
