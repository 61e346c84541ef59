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

const rows = readFileSync(join(ROOT, 'docs/service.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, statement, file, title, grounds] =
      /^\| (.+?) +\| `(\S+\.test\.ts)`: (.+?) +\| (.+?) +\|$/.exec(line) ?? [];
    return statement === undefined || file === undefined || title === undefined
      ? []
      : [{ statement, file, title, grounds }];
  });

describe('the table of conformance', () => {
  it('has rows', () => {
    expect(rows.length).toBeGreaterThan(25);
  });

  it.each(rows)('names a test that is there: $statement', ({ file, title }) => {
    expect(textOf(file)).toContain(`'${title}'`);
  });

  it.each(rows)('says on what that test runs: $statement', ({ file, grounds }) => {
    expect(grounds).toBe(groundsOf(file).join(', '));
  });

  it('is proved against a strict service but for what the contract leaves without a path', () => {
    const others = rows.filter(({ file }) => !groundsOf(file).includes('strict'));

    expect(others.map(({ statement }) => statement)).toEqual([
      'A segment is empty before it is deactivated',
    ]);
  });
});
