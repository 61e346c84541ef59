import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  identitiesDifference,
  identitiesSha256,
  identityGroups,
  withWritten,
  type Attributes,
  type Identities,
} from '../../../src/model/identities.js';

const key = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', '10', '9', 'é', 'a b'),
  fc.string({ unit: 'grapheme', maxLength: 4 }),
);
const attributes = fc.dictionary(
  fc.constantFrom('plan', 'seats', '__proto__'),
  fc.constantFrom('', 'pro', 'free'),
  { noNullPrototype: true },
);
const identities: fc.Arbitrary<Identities> = fc
  .uniqueArray(fc.tuple(key, attributes), { maxLength: 6, selector: ([name]) => name })
  .map((entries) => new Map<string, Attributes>(entries));

const NOTHING = { added: [], changed: [], gone: [], thinned: [] };

describe('what is remembered of identities', () => {
  it('differs in nothing from the identities that it was made of, also after it was a file', () => {
    fc.assert(
      fc.property(identities, (some) => {
        const file = JSON.stringify(identityGroups(some));
        const read = JSON.parse(file) as ReturnType<typeof identityGroups>;

        expect(identitiesDifference(some, read)).toEqual(NOTHING);
      }),
    );
  });

  it('is the same for the same identities in another order', () => {
    fc.assert(
      fc.property(identities, (some) => {
        const turned = new Map([...some].reverse());

        expect(JSON.stringify(identityGroups(turned))).toBe(JSON.stringify(identityGroups(some)));
        expect(identitiesSha256(turned)).toBe(identitiesSha256(some));
      }),
    );
  });

  it('holds what was written on top of it, and all that was not as it was', () => {
    fc.assert(
      fc.property(identities, identities, (before, later) => {
        const both = new Map([...before, ...later]);

        expect(withWritten(identityGroups(before), later)).toEqual(identityGroups(both));
      }),
    );
  });

  it('tells which keys are new, which have other attributes, which are gone, and which lost attributes', () => {
    const before = new Map<string, Attributes>([
      ['same', { plan: 'pro' }],
      ['other value', { plan: 'pro' }],
      ['fewer', { plan: 'pro', seats: '5' }],
      ['more', { plan: 'pro' }],
      ['gone', {}],
    ]);
    const after = new Map<string, Attributes>([
      ['new', {}],
      ['same', { plan: 'pro' }],
      ['other value', { plan: 'free' }],
      ['fewer', { plan: 'pro' }],
      ['more', { plan: 'pro', seats: '5' }],
    ]);

    expect(identitiesDifference(after, identityGroups(before))).toEqual({
      added: ['new'],
      changed: ['fewer', 'more', 'other value'],
      gone: ['gone'],
      thinned: ['fewer'],
    });
  });
});
