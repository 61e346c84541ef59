import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { groundsOf } from '../../support/contract-projects.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TESTS = join(ROOT, 'test/contract');

function textOf(file: string): string {
  return readFileSync(join(TESTS, file), 'utf8');
}

const page = readFileSync(join(ROOT, 'docs/service.md'), 'utf8');
const section = /^## Conformance to the contract\n([\s\S]*?)^## /m.exec(page)?.[1] ?? '';
/** Without its head and the line below it. */
const lines = section
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2);

const rows = lines.flatMap((line) => {
  const [, statement, file, title, grounds] =
    /^\| (.+?) +\| `(\S+\.test\.ts)`: (.+?) +\| (.+?) +\|$/.exec(line) ?? [];
  return statement === undefined || file === undefined || title === undefined
    ? []
    : [{ statement, file, title, grounds }];
});

describe('the table of conformance', () => {
  it('has no row that says nothing of a test', () => {
    expect(rows.length).toBeGreaterThan(30);
    expect(lines.filter((line) => !rows.some(({ title }) => line.includes(title)))).toEqual([]);
    expect(rows).toHaveLength(lines.length);
  });

  it.each(rows)('names a test that is there, and on what it runs: $statement', (row) => {
    const before = textOf(row.file).split(`'${row.title}'`);

    expect(before).toHaveLength(2);
    // The call that the title is the first argument of: `it(`, or what `it.each(…)` gave.
    expect(before[0]).toMatch(/(?:\bit|\))\(\s*$/);
    expect(before[0]).not.toMatch(/\.(?:skip|todo|fails|skipIf|runIf)\b[^;]*$/);
    expect(row.grounds).toBe(groundsOf(row.file).join(', '));
  });

  it('is proved against a strict service but for what the contract leaves without a path or a shape', () => {
    const others = rows.filter(({ file }) => !groundsOf(file).includes('strict'));

    expect(others.map(({ statement }) => statement)).toEqual([
      'Owners exist at the level of the project',
      'A file of keys has the limit of an upload',
      'Attributes of identities are for viewing; no targeting uses them',
      '`openChangeRequestId` is null while no change is requested, then the id of the request',
      'A segment is empty before it is deactivated',
    ]);
  });
});
