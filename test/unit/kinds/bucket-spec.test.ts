import { describe, expect, it } from 'vitest';
import type { Buckets } from '../../../src/generated/flag.schema.d.ts';
import { bucketsOf } from '../../../src/kinds/bucket-spec.js';

describe('bucketsOf', () => {
  it.each<[Buckets, string]>([
    ['on', 'on 100'],
    [{ off: 'rest', on: 10 }, 'on 10, off 90'],
    [{ off: 0, on: 100 }, 'on 100'],
    [[{ off: 90 }, { on: 'rest' }], 'off 90, on 10'],
    [{ on: 100, off: 'rest' }, 'on 100'],
  ])('sends %j as %s', (spec, expected) => {
    const checked = bucketsOf(spec, ['on', 'off']);

    const shown = checked.ok
      ? checked.value.map(({ treatment, size }) => `${treatment} ${size}`)
      : [];
    expect(shown.join(', ')).toBe(expected);
  });

  it.each<[Buckets, string[]]>([
    ['onn', ['unknown-treatment ']],
    [{ on: 10, off: 80 }, ['bucket-sum ']],
    [{ on: 101 }, ['bucket-sum ']],
    [{ on: 'rest', off: 'rest' }, ['bucket-sum off']],
    [
      [{ on: 60 }, { off: 50 }, { off: 'rest' }],
      ['bucket-twice 2/off', 'bucket-sum '],
    ],
    [[{ on: 50 }, { on: 50 }], ['bucket-twice 1/on']],
  ])('refuses %j', (spec, expected) => {
    const checked = bucketsOf(spec, ['on', 'off']);

    const faults = checked.ok ? [] : checked.faults;
    expect(faults.map(({ code, path }) => `${code} ${path.join('/')}`)).toEqual(expected);
  });
});
