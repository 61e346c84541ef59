import { describe, expect, it } from 'vitest';
import { liveUsesOf, targetedSegments, usesOf } from '../../../src/plan/planned-change.js';
import { dependingOn, inSegment, liveDefinition } from '../../support/builders.js';

const BETA = { id: 'segment/beta@staging', treatments: [] };
const CART = { id: 'flag/cart@staging', treatments: ['on'] };

describe('what rules name', () => {
  const rules = [...inSegment('beta').rules, ...dependingOn('cart').rules];
  const plain = {
    matchers: [{ type: 'MATCHES_STRING', attribute: 'mail', string: 'beta' }],
    buckets: [{ treatment: 'on', size: 100 }],
  };

  it('is segments, and flags with the treatments that are asked for', () => {
    const ofNothing = { ...plain, matchers: [{ type: 'IN_SPLIT' }] };

    const all = usesOf([...rules, plain, ofNothing, ...rules], 'staging');
    expect(all).toEqual([BETA, CART, BETA, CART]);
  });

  it('is told of an answer in whatever spelling', () => {
    const definition = liveDefinition('pay', 'staging', { rules: inSegment('beta').rules });
    const matcher = { type: 'IN_SPLIT', depends: { splitName: 'cart', treatment: 'on' } };
    const [rule] = definition.rules;
    if (!rule) throw new Error('no rule');
    const spelt = { ...rule, condition: { ...rule.condition, matchers: [matcher] } };

    expect(liveUsesOf({ ...definition, rules: [rule, spelt] }, 'staging')).toEqual([BETA, CART]);
  });
});

it('names segments that a treatment targets whole', () => {
  const definition = liveDefinition('pay', 'staging', inSegment('beta'));
  const treatments = definition.treatments.map((each, index) =>
    index === 0 ? { ...each, segments: ['vip', 'crew'] } : each,
  );
  const targeted = [
    { id: 'segment/vip@staging', treatments: [] },
    { id: 'segment/crew@staging', treatments: [] },
  ];

  expect(targetedSegments({ ...definition, treatments }, 'staging')).toEqual(targeted);
  expect(liveUsesOf({ ...definition, treatments }, 'staging')).toEqual([BETA, ...targeted]);
});
