import { describe, expect, it } from 'vitest';
import { readSpecs } from '../../../src/specs/read-specs.js';
import { dueMoments } from '../../../src/timing/ladder.js';
import { treeOf } from '../../support/spec-tree.js';
import { examplesOf, fieldsOf, projectText } from './page.js';

const PAGE = projectText('docs/ramps.md');
const HOUR_MS = 3_600_000;

describe('docs/ramps.md', () => {
  it('shows a valid repository, whose ladder is the one of the page', async () => {
    const result = await readSpecs(treeOf(examplesOf(PAGE)));

    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
    const production = result.desired.flags.get('new-checkout')?.environments.get('production');
    const [ofRule, ofDefault] = production?.ramps ?? [];
    expect(ofDefault?.steps.map(({ percent }) => percent)).toEqual([10, 25, 50, 100]);
    expect(ofDefault && dueMoments(ofDefault, 0, [])).toEqual(
      [0, 6, 18, 42].map((hours) => hours * HOUR_MS),
    );
    expect(ofRule?.startMs).toBe(Date.parse('2026-11-23T08:00:00Z'));
  });

  it('names every field of a ramp', () => {
    const { $defs } = JSON.parse(projectText('schemas/flag.schema.json')) as {
      $defs: Record<string, unknown>;
    };
    const config = JSON.parse(projectText('schemas/config.schema.json')) as {
      properties: { checks: { additionalProperties: unknown } };
    };
    const fields = [
      ...[...fieldsOf($defs['longRamp']), ...fieldsOf($defs['rampStep'])],
      ...fieldsOf(config.properties.checks.additionalProperties),
    ];

    expect(fields.filter((field) => !new RegExp(`\`[^\`]*\\b${field}\``).test(PAGE))).toEqual([]);
  });
});
