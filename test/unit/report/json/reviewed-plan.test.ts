import { describe, expect, it } from 'vitest';
import { parseReviewedPlans, planDocument } from '../../../../src/report/json/plan.js';
import { shownFields, shownIn } from '../../../../src/plan/shown.js';
import { aChange, aField, aReport, keyChange } from '../../../support/plan-builder.js';

const REPORT = aReport({
  changes: [
    aChange('flag/new-checkout@production', 'update', {
      fields: [aField('/trafficAllocation', 50, 100)],
    }),
    aChange('segment/beta@production', 'activate', { keys: keyChange(['a', 'b']) }),
  ],
});
const FACTS = {
  place: { origin: REPORT.origin, workspaceId: REPORT.workspace.id },
  ladders: new Map(),
};

function documentOf(members: object = {}): string {
  const report = { ...REPORT, shown: shownFields(REPORT.plan, {}) };
  return JSON.stringify({ ...planDocument(report, { showKeys: true }), ...members });
}

describe('parseReviewedPlans', () => {
  it('reads a plan that a later version wrote with further members', async () => {
    const [plan] = await parseReviewedPlans(documentOf({ later: true }), 'plan.json');

    expect(plan?.planHash).toBe(REPORT.planHash);
    const { shows } = shownIn(plan ? [plan] : []);
    expect(REPORT.plan.changes.map((change) => shows(change, FACTS))).toEqual([true, true]);
  });

  it.each([
    ['no format', { formatVersion: undefined }, '"formatVersion" is absent or wrong'],
    [
      'a newer format',
      { formatVersion: 2 },
      'it has format 2, which a newer flagkeel wrote; this version reads 1',
    ],
    ['no origin', { origin: undefined }, '"origin" is absent or wrong'],
    ['a change without an id', { changes: [{}] }, '"changes/0/id" is absent or wrong'],
  ])('names the member that is wrong: %s', async (_, members, message) => {
    await expect(parseReviewedPlans(documentOf(members), 'plan.json')).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(message) as string,
    });
  });
});
