import { describe, expect, it } from 'vitest';
import { planDocument } from '../../../../src/report/json/plan.js';
import { differencesFrom, parseReviewedPlans } from '../../../../src/report/json/reviewed-plan.js';
import { aChange, aField, aReport, keyChange } from '../../../support/plan-builder.js';

const REPORT = aReport({
  changes: [
    aChange('flag/new-checkout@production', 'update', {
      fields: [aField('/trafficAllocation', 50, 100)],
    }),
    aChange('segment/beta@production', 'activate', { keys: keyChange(['a', 'b']) }),
  ],
});
const PLACE = { origin: REPORT.origin, workspaceId: REPORT.workspace.id };

function documentOf(members: object = {}): string {
  return JSON.stringify({ ...planDocument(REPORT, { showKeys: true }), ...members });
}

describe('parseReviewedPlans', () => {
  it('reads a plan that a later version wrote with further members', async () => {
    const [plan] = await parseReviewedPlans(documentOf({ later: true }), 'plan.json');

    expect(plan?.planHash).toBe(REPORT.planHash);
    expect(plan && differencesFrom(plan, REPORT.plan, PLACE)).toBe('');
  });

  it.each([
    ['another format', { formatVersion: 2 }, '"formatVersion" is absent or wrong'],
    ['no origin', { origin: undefined }, '"origin" is absent or wrong'],
    ['a change without an id', { changes: [{}] }, '"changes/0/id" is absent or wrong'],
  ])('names the member that is wrong: %s', async (_, members, message) => {
    await expect(parseReviewedPlans(documentOf(members), 'plan.json')).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(message) as string,
    });
  });
});
