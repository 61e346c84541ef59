import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { directoryTree } from '../../../src/git/trees.js';
import { readSpecs } from '../../../src/specs/read-specs.js';

const FIXTURES = join(import.meta.dirname, '../../fixtures/invalid');

it.each(readdirSync(FIXTURES))(
  'a broken config repository gives one diagnostic for each mistake: %s',
  async (name) => {
    const expected = readFileSync(join(FIXTURES, name, 'expected-codes.txt'), 'utf8');

    const result = await readSpecs(await directoryTree(join(FIXTURES, name)));

    const diagnostics = result.ok ? result.warnings : result.diagnostics;
    const lines = diagnostics.map(
      ({ code, location: { file, line, column } }) => `${code} ${file}:${line}:${column}\n`,
    );
    expect(result.ok).toBe(false);
    expect(lines.join('')).toBe(expected);
  },
);
