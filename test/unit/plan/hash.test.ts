import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/model/json.js';
import { formOf, type DesiredRamp } from '../../../src/model/flag/ramp.js';
import type { Change, FieldChange, Reason } from '../../../src/model/plan.js';
import { planHash } from '../../../src/plan/reviewed.js';
import { onShare } from '../../support/builders.js';
import { aChange, aField, keyChange } from '../../support/plan-builder.js';

const PLACE = { origin: 'https://admin.example.com', workspaceId: 'ws-1' };

const PAY = aChange('flag/pay@production', 'update', {
  fields: [
    aField('/defaultTreatment', 'on', 'off'),
    { path: '/targets/on', reason: 'commit', keys: keyChange(['a', 'b'], ['c']) },
  ],
});
const BETA = aChange('segment/beta@production', 'activate', { keys: keyChange(['a']) });
const GONE = aChange('flag/old', 'delete', {
  archive: true,
  fields: [aField('/description', 'Old', undefined)],
});

const hashOf = (...changes: Change[]) => planHash({ changes }, PLACE);

describe('the hash of a plan', () => {
  it('is the digest of the canonical text of the place and of what is written there', () => {
    const [two, one] = [keyChange(['a', 'b']).sha256, keyChange(['a']).sha256];
    const pay = { ...PAY, fields: PAY.fields.map((field) => ({ ...field, base: 'on' })) };
    const text =
      '{"changes":[' +
      '{"action":"delete","archive":true,"fields":[{"path":"/description"}],"id":"flag/old"},' +
      '{"action":"update","fields":[{"after":"off","before":"on","path":"/defaultTreatment"},' +
      `{"before":"on","keys":{"added":2,"removed":1,"sha256":"${two}"},"path":"/targets/on"}],"id":"flag/pay@production"},` +
      `{"action":"activate","fields":[],"id":"segment/beta@production","keys":{"added":1,"removed":0,"sha256":"${one}"}}` +
      '],"origin":"https://admin.example.com","workspace":"ws-1"}';

    expect(hashOf(GONE, pay, BETA)).toBe(`sha256:${sha256(text)}`);
  });

  it('says nothing of the order, the files, or the words for a change', () => {
    const told = { ...PAY, location: null, dependsOn: ['flag/pay'] };

    expect(hashOf(BETA, told)).toBe(hashOf(PAY, BETA));
  });

  it('differs for another starting point, and where the live value is another one', () => {
    const from = (base: number, reason: Reason) =>
      hashOf(
        aChange('flag/pay@production', 'update', {
          fields: [{ ...aField('/trafficAllocation', 24, 25), base, reason }],
        }),
      );

    expect(from(24, 'commit')).not.toBe(from(10, 'commit'));
    expect(from(24, 'conflict')).not.toBe(from(24, 'commit'));
  });

  it('has a ramp, and steps of a known one only where nothing else changes', () => {
    const ramp: DesiredRamp = {
      ...{
        key: 'default',
        rule: null,
        matchers: [],
        nth: 0,
        treatment: 'on',
        order: ['on', 'off'],
      },
      ...{ written: onShare(10).defaultRule, steps: [{ percent: 50, afterMs: 1 }], hold: false },
    };
    const record = { since: '', commit: null, from: 10, reached: 10, ladder: formOf(ramp) };
    const place = { dueMs: [], step: 0, held: null, anchors: null, isKilled: false, zone: 'UTC' };
    const laddersWith = (more: Partial<DesiredRamp> = {}) =>
      new Map([[PAY.id, [{ id: '', ramp: { ...ramp, ...more }, ...place, record }]]]);
    const ladders = laddersWith();
    const step = (from: number): FieldChange => {
      return { path: '/defaultRule', reason: 'ramp', base: onShare(from).defaultRule };
    };
    const of = (...fields: FieldChange[]) =>
      planHash({ changes: [{ ...PAY, fields }] }, PLACE, { ladders });

    expect(of(...PAY.fields, step(10))).toBe(of(...PAY.fields));
    expect(of(step(10))).not.toBe(of(step(20)));
    expect(of(step(10))).not.toBe(hashOf({ ...PAY, fields: [step(10)] }));
    expect(planHash({ changes: [PAY] }, PLACE, { ladders: laddersWith({ hold: true }) })).not.toBe(
      of(...PAY.fields),
    );
  });

  it('counts the reviewed objects only, where there was a review', () => {
    const plan = { changes: [PAY, BETA] };

    expect(planHash(plan, PLACE, { reviewed: new Set([PAY.id]) })).toBe(hashOf(PAY));
    expect(planHash(plan, PLACE, { reviewed: null })).toBe(hashOf(PAY, BETA));
  });
});
