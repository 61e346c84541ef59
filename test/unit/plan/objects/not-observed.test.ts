import { expect, it } from 'vitest';
import type { ActualFlag, ActualSegment } from '../../../../src/model/actual.js';
import {
  aDesired,
  desiredFlag,
  desiredSegment,
  liveFlag,
  liveSegment,
} from '../../../support/builders.js';
import { planOf } from '../../../support/planning.js';

const [pay, flag] = liveFlag('pay');
const [beta, segment] = liveSegment('beta');
const unlisted: ActualSegment['environments'] = new Map([['staging', { active: true }]]);
const nowhere = new Map<string, never>();

it.each<[string, ActualFlag | null, ActualSegment | null]>([
  ['flag "pay" was not observed', null, segment],
  ['flag/pay@staging was not observed', { ...flag, definitions: nowhere }, segment],
  ['segment "beta" was not observed', flag, null],
  ['segment/beta@staging was not observed', flag, { ...segment, environments: nowhere }],
  ['the keys of a segment were not listed', flag, { ...segment, environments: unlisted }],
])('no plan is made of what nobody looked at: %s', (message, flag, segment) => {
  const desired = aDesired({
    flags: [desiredFlag('pay', { environments: { staging: {} } })],
    segments: [desiredSegment('beta', { staging: ['a'] })],
  });
  const live = {
    flags: flag ? [[pay, flag]] : [],
    segments: segment ? [[beta, segment]] : [],
  } satisfies Parameters<typeof planOf>[1];

  expect(() => planOf(desired, live)).toThrow(`bug: ${message}`);
});
