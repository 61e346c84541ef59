import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TESTS = [join(ROOT, 'test/contract'), join(ROOT, 'test/unit/service')];

function textOf(file: string): string {
  const folder = TESTS.find((each) => readdirSync(each).includes(file));
  if (folder === undefined) throw new Error(`there is no test file ${file}`);
  return readFileSync(join(folder, file), 'utf8');
}

const rows = readFileSync(join(ROOT, 'docs/service.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, statement, file, title] =
      /^\| (.+?) +\| `(\S+\.test\.ts)`: (.+?) +\|$/.exec(line) ?? [];
    return statement === undefined || file === undefined || title === undefined
      ? []
      : [{ statement, file, title }];
  });

describe('the table of conformance', () => {
  it('has rows', () => {
    expect(rows.length).toBeGreaterThan(25);
  });

  it.each(rows)('names a test that is there: $statement', ({ file, title }) => {
    expect(textOf(file)).toContain(`'${title}'`);
  });
});
