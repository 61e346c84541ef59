import { describe, expect, it } from 'vitest';
import type { FieldChange, Reason } from '../../../src/model/plan.js';
import {
  liveUsesOf,
  splitFields,
  targetedSegments,
  usesOf,
} from '../../../src/plan/planned-change.js';
import { rulesIn, type FieldRules } from '../../../src/plan/policy.js';
import {
  anEnvironment,
  aPolicy,
  dependingOn,
  inSegment,
  liveDefinition,
} from '../../support/builders.js';
import { aField, refOf } from '../../support/plan-builder.js';

describe('a field that no reviewed plan shows', () => {
  const subject = { ref: refOf('flag/pay@production'), location: null };
  const fields = (...reasons: Reason[]): FieldChange[] =>
    reasons.map((reason) => ({ ...aField(`/${reason}`, 1, 2), reason }));
  const split = (of: FieldChange[], rules: Partial<FieldRules>) =>
    splitFields(
      subject,
      of,
      { ...rulesIn(aPolicy(), anEnvironment('production')), ...rules },
      undefined,
    );
  const closed = { why: 'frozen', until: null, untilText: null };

  it.each<[string, Reason, Partial<FieldRules>, held: string[]]>([
    ['is held back for a review', 'drift', {}, ['not-reviewed', 'drift']],
    ['is of a commit where a ramp begins', 'ramp', {}, ['not-reviewed', 'commit']],
    ['is a step of its ramp during a freeze', 'ramp', { closed }, ['window-closed', 'ramp']],
  ])('%s', (_, reason, rules, held) => {
    const { allowed, withheld } = split(fields(reason), { shows: () => false, ...rules });

    expect(allowed).toEqual([]);
    expect(withheld.map((each) => [each.why, each.reason])).toEqual([held]);
  });

  it('is looked for by itself, as an update', () => {
    const both = fields('commit', 'drift');
    const [shown, other] = both;
    const shows: FieldRules['shows'] = ({ action, fields: [field, ...more] }) =>
      action === 'update' && field === shown && more.length === 0;

    const { allowed, withheld } = split(both, { shows });
    expect(allowed).toEqual([shown]);
    expect(withheld).toMatchObject([{ why: 'not-reviewed', fields: [other] }]);
  });
});

const BETA = { id: 'segment/beta@staging', treatments: [] };
const CART = { id: 'flag/cart@staging', treatments: ['on'] };

it('rules name segments, and flags with the treatments that are asked for', () => {
  const rules = [...inSegment('beta').rules, ...dependingOn('cart').rules];
  const plain = {
    matchers: [{ type: 'MATCHES_STRING', attribute: 'mail', string: 'beta' }],
    buckets: [{ treatment: 'on', size: 100 }],
  };
  const ofNothing = { ...plain, matchers: [{ type: 'IN_SPLIT' }] };

  const all = usesOf([...rules, plain, ofNothing, ...rules], 'staging');
  expect(all).toEqual([BETA, CART, BETA, CART]);
});

it('a definition uses segments that a treatment targets whole', () => {
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
