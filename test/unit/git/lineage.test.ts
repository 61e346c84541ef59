import { expect, it } from 'vitest';
import { Lineage } from '../../../src/git/lineage.js';

it.each([
  ['of nothing', [], [['one', 'two', false]]],
  [
    'that grows: what holds of a head holds of all later ones',
    ['base one', 'one two', 'two three'],
    [
      ['base', 'three', true],
      ['one', 'two', true],
      ['three', 'two', false],
    ],
  ],
  [
    'with a side: nothing is known of heads from before it was seen',
    ['one two', 'two three', 'side three', 'three four'],
    [
      ['side', 'four', true],
      ['side', 'two', false],
    ],
  ],
  [
    'that was left is forgotten',
    ['one two', 'one other'],
    [
      ['one', 'other', true],
      ['two', 'other', false],
      ['one', 'two', false],
    ],
  ],
] as const)('a line %s', (_, kept, answers) => {
  const lineage = new Lineage();
  for (const pair of kept) {
    const [a = '', b = ''] = pair.split(' ');
    lineage.keep(a, b);
  }

  expect(answers.map(([a, b]) => [a, b, lineage.has(a, b)])).toEqual(answers);
});
