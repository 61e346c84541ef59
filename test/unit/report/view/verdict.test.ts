import { expect, it } from 'vitest';
import { wholeText } from '../../../../src/report/view/verdict.js';
import { aReport, aWithheld } from '../../../support/plan-builder.js';

const held = (...names: readonly string[]): string =>
  wholeText(
    aReport({
      withheld: names.map((name) => aWithheld(`flag/${name}@production`, 'update', 'adopt-needed')),
    }),
  );

it('the command that ends a hold of many objects is for the first of them, and says how many are left', () => {
  expect(held('a', 'b', 'c')).toContain(
    ': `flagkeel reconcile --adopt --only flag/a --only flag/b --only flag/c`',
  );
  expect(held('a', 'b', 'c')).not.toContain('likewise');
  expect(held('a', 'b', 'c', 'd', 'e')).toContain(
    ': `flagkeel reconcile --adopt --only flag/a --only flag/b --only flag/c`, and likewise for 2 more',
  );
});
