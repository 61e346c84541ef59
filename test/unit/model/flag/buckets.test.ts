import { describe, expect, it } from 'vitest';
import type { Buckets } from '../../../../src/generated/flag.schema.d.js';
import { bucketsOf } from '../../../../src/model/flag/from-spec.js';

const TREATMENTS = ['on', 'off'];

describe('bucketsOf', () => {
  it.each<[Buckets, string]>([
    ['on', 'on 100'],
    [{ off: 'rest', on: 10 }, 'on 10, off 90'],
    [{ off: 0, on: 100 }, 'on 100'],
    [[{ off: 90 }, { on: 'rest' }], 'off 90, on 10'],
    [{ on: 100, off: 'rest' }, 'on 100'],
  ])('sends %j as %s', (spec, expected) => {
    const checked = bucketsOf(spec, TREATMENTS);

    const shown = checked.ok
      ? checked.value.map(({ treatment, size }) => `${treatment} ${size}`)
      : [];
    expect(shown.join(', ')).toBe(expected);
  });

  it.each<[Buckets, string[]]>([
    ['onn', ['unknown-treatment at value of /: the flag has no treatment "onn"']],
    [{ onn: 100 }, ['unknown-treatment at key of /onn: the flag has no treatment "onn"']],
    [
      { on: 10, off: 80 },
      ['bucket-sum at value of /: the sizes sum to 90, not to 100 (one of them may be "rest")'],
    ],
    [
      { on: 101 },
      ['bucket-sum at value of /: the sizes sum to 101, not to 100 (one of them may be "rest")'],
    ],
    [
      { on: 101, off: 'rest' },
      [
        'bucket-sum at value of /: the sizes sum to 101 before "rest"; they cannot be more than 100',
      ],
    ],
    [{ on: 'rest', off: 'rest' }, ['bucket-sum at value of /off: only one bucket can be "rest"']],
    [
      [{ on: 60 }, { off: 50 }, { off: 'rest' }],
      [
        'bucket-twice at key of /2/off: "off" has a bucket already',
        'bucket-sum at value of /: the sizes sum to 110 before "rest"; they cannot be more than 100',
      ],
    ],
    [[{ on: 50 }, { on: 50 }], ['bucket-twice at key of /1/on: "on" has a bucket already']],
  ])('refuses %j', (spec, expected) => {
    const checked = bucketsOf(spec, TREATMENTS);

    const faults = checked.ok ? [] : checked.faults;
    const shown = faults.map(
      ({ code, at, path, message }) => `${code} at ${at} of /${path.join('/')}: ${message}`,
    );
    expect(shown).toEqual(expected);
  });

  it('tells which treatments an unknown one could have been', () => {
    expect(bucketsOf('onn', TREATMENTS)).toMatchObject({
      faults: [{ unknown: { name: 'onn', candidates: TREATMENTS } }],
    });
  });
});
