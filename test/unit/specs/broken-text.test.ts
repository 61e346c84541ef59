import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SpecCache } from '../../../src/specs/cache.js';
import { readSpecs } from '../../../src/specs/read-specs.js';
import { directoryTree, treeOf } from '../../support/spec-tree.js';

const KEY = 'fka_0123456789abcdefgh';
const SCRAPS =
  '{|}|[|]|:|-|"|&a|*a|!t|null|\n|  |#|? |0|"*"|rest|<<: |\u0000|__proto__: 1\n|constructor: {}\n'.split(
    '|',
  );

it('never throws on a spec with a scrap of text put in, and never shows a key', async () => {
  const tree = directoryTree(join(import.meta.dirname, '../../../specs-example'));
  const files: Record<string, string> = {};
  for (const { path } of tree.list()) files[path] = (await tree.read(path)).toString();
  const memory = new SpecCache();
  const anywhere = fc.record({
    path: fc.constantFrom(...Object.keys(files)),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(12),
    scrap: fc.constantFrom(...SCRAPS, KEY),
  });

  await fc.assert(
    fc.asyncProperty(anywhere, async ({ path, at, cut, scrap }) => {
      const text = files[path] ?? '';
      const from = Math.floor(at * text.length);
      const broken = text.slice(0, from) + scrap + text.slice(from + cut);

      const result = await readSpecs(treeOf({ ...files, [path]: broken }), memory);

      if (!result.ok) expect(JSON.stringify(result)).not.toContain(KEY);
    }),
    { numRuns: 300 },
  );
});
