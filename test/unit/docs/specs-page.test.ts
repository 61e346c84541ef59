import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { matcherOf } from '../../../src/model/matcher/condition.js';
import { COMPARISONS } from '../../../src/model/matcher/matchers.js';
import type { ConditionSpec } from '../../../src/generated/flag.schema.d.js';
import { readSpecs } from '../../../src/specs/read-specs.js';
import { SPEC_KINDS } from '../../../src/model/ref.js';
import { treeOf } from '../../support/spec-tree.js';
import { bare, examplesOf, fieldsOf, projectText, rowsOf, sectionOf } from './page.js';

const PAGE = projectText('docs/specs.md');

describe('the examples of docs/specs.md', () => {
  it('are one valid repository, without warnings', async () => {
    const result = await readSpecs(treeOf(examplesOf(PAGE)));

    expect(result.ok ? result.warnings : result.diagnostics).toEqual([]);
  });

  it('show every kind of file', () => {
    const folders = Object.keys(examplesOf(PAGE)).map((path) => path.replace(/\/.*/, ''));

    expect(new Set(folders)).toEqual(
      new Set(['flagkeel.yaml', 'flags', 'segments', 'identities', 'kills', 'tests']),
    );
  });

  it('say in words what they are read as', async () => {
    const result = await readSpecs(treeOf(examplesOf(PAGE)));

    if (!result.ok) throw new Error('the examples are invalid');
    const { flags, segments, identities } = result.desired;
    const staging = flags.get('new-checkout')?.environments.get('staging');
    expect(staging?.fields.defaultRule).toEqual([
      { treatment: 'off', size: 90 },
      { treatment: 'on', size: 10 },
    ]);
    expect(staging?.fields.trafficAllocation).toBe(100);
    expect(segments.get('staff')?.environments.get('production')?.keys?.keys).toEqual([
      'user-1042',
      'user-2001',
    ]);
    const places = identities.get('user')?.environments.keys() ?? [];
    expect([...places]).toEqual(['production', 'staging']);
  });
});

describe('the table of conditions', () => {
  const rows = rowsOf(sectionOf(PAGE, '### Conditions'));

  it.each(rows)('%s is %s', (condition, type) => {
    const matcher = matcherOf(parse(bare(condition), { version: '1.2' }) as ConditionSpec);

    expect(matcher).toMatchObject({ ok: true, value: { type } });
  });

  it('has every comparison', () => {
    const shown = rows.flatMap(([condition]) => Object.keys(parse(bare(condition)) as object));

    const words = ['segment', 'flag', 'treatments', 'attribute', 'matcher'];
    expect(new Set(shown)).toEqual(new Set([...Object.keys(COMPARISONS), ...words]));
  });
});

it.each(SPEC_KINDS)('docs/specs.md names every field of a %s', (name) => {
  const fields = fieldsOf(JSON.parse(projectText(`schemas/${name}.schema.json`)));

  // Codes of lint are fields of `lint.levels`, and have a page of their own.
  const text = PAGE + projectText('docs/lint.md');
  const missing = [...fields].filter((field) => !new RegExp(`\\b${field}\\b`).test(text));

  expect(fields.size).toBeGreaterThan(0);
  expect(missing).toEqual([]);
});
