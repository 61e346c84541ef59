import { expect, it } from 'vitest';
import type { ActualSegment } from '../../../../src/model/actual.js';
import {
  aDesired,
  desiredFlag,
  desiredSegment,
  liveFlag,
  liveSegment,
} from '../../../support/builders.js';
import { planOf } from '../../../support/planning.js';

const [, flag] = liveFlag('pay');
const [, segment] = liveSegment('beta');
const unlisted: ActualSegment = {
  ...segment,
  environments: new Map([['staging', { active: true }]]),
};
const none = new Map<string, never>();

it.each<[string, Parameters<typeof planOf>[1]]>([
  ['flag "pay" was not observed', { segments: [['beta', segment]] }],
  [
    'flag/pay@staging was not observed',
    { flags: [['pay', { ...flag, definitions: none }]], segments: [['beta', segment]] },
  ],
  ['segment "beta" was not observed', { flags: [['pay', flag]] }],
  [
    'segment/beta@staging was not observed',
    { flags: [['pay', flag]], segments: [['beta', { ...segment, environments: none }]] },
  ],
  [
    'the keys of a segment were not listed',
    { flags: [['pay', flag]], segments: [['beta', unlisted]] },
  ],
])('no plan is made of what nobody looked at: %s', (message, live) => {
  const desired = aDesired({
    flags: [desiredFlag('pay', { environments: { staging: {} } })],
    segments: [desiredSegment('beta', { staging: ['a'] })],
  });

  expect(() => planOf(desired, live)).toThrow(`bug: ${message}`);
});
