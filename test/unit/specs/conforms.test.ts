import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conforms } from '../../../src/specs/conforms.js';
import { kindOf } from '../../../src/specs/load-files.js';
import { parseFile } from '../../../src/specs/parse-file.js';
import { SCHEMA_NAMES, schemaErrors, type SchemaName } from '../../../src/specs/schemas.js';

const ROOT = join(import.meta.dirname, '../../..');
const RUNS = 500;

interface Sample {
  readonly name: SchemaName;
  readonly value: unknown;
}

/** The files of the example, whose kinds tell what schema they are of, and the daemon's sources. */
async function samples(): Promise<Sample[]> {
  const example = join(ROOT, 'specs-example');
  const files: Sample[] = [];
  for (const path of readdirSync(example, { recursive: true, encoding: 'utf8' })) {
    const kind = path.endsWith('.yaml') ? kindOf(path) : undefined;
    if (kind === undefined || kind === 'keys' || kind === 'identities-csv') continue;
    const { value } = await parseFile(kind, readFileSync(join(example, path)));
    files.push({ name: kind, value });
  }
  const sources = [{ name: 'shop', directory: 'shop', interval: '5m' }];
  const rule = { if: { segment: 'staff' }, serve: { on: 50, off: 'rest' } };
  const overlay = { flag: 'cart', environment: 'dev', rules: [rule], defaultRule: 'off' };
  return [
    ...files,
    { name: 'watch', value: { sources } },
    { name: 'flag-overlay', value: overlay },
  ];
}

const ODD: readonly unknown[] = [
  ...['', 'x', '😀', 'rest', 'exact', '2026-10-03', '5m', 'on'],
  ...[null, true, 0, -1, 1.5, 100, 101, 1e21, Number.NaN],
  ...[[], [''], ['a', 'a'], [{}], {}, { on: 50 }, { surely: 'unknown' }],
];

/** The value with one thing in it replaced, taken out, or put in; which one follows from `where`. */
function broken(value: unknown, where: readonly number[], odd: unknown): unknown {
  const [first = 0, ...rest] = where;
  if (typeof value !== 'object' || value === null || first === 0) return odd;
  const names = Object.keys(value);
  const name = names[first % (names.length + 1)];
  const copy = structuredClone(value) as Record<string, unknown>;
  if (name === undefined) return Array.isArray(copy) ? [...copy, odd] : { ...copy, odd };
  const isTakenOut = rest.length === 0 && odd === null && !Array.isArray(copy);
  if (isTakenOut) Reflect.deleteProperty(copy, name);
  else copy[name] = broken(copy[name], rest, odd);
  return copy;
}

describe('the quick look at what a schema says', async () => {
  const all = await samples();

  it('has an example of each schema, and finds it right', () => {
    expect([...new Set(all.map(({ name }) => name))].toSorted()).toEqual([...SCHEMA_NAMES].sort());
    expect(all.filter(({ name, value }) => !conforms(name, value))).toEqual([]);
  });

  it('says of every value what the library says', async () => {
    const where = fc.array(fc.nat(12), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...all),
        where,
        fc.constantFrom(...ODD),
        async ({ name, value }, path, odd) => {
          const changed = broken(value, path, odd);
          const errors = await schemaErrors(name, changed);
          expect(conforms(name, changed)).toBe(errors.length === 0);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
