import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { RISKS } from '../../../../src/model/impact.js';
import { REASONS } from '../../../../src/model/plan.js';
import { shownFields, shownIn } from '../../../../src/plan/reviewed.js';
import { parseReviewedPlans, planDocument, planJson } from '../../../../src/report/json/plan.js';
import { aChange, aField, aReport, aWithheld, keyChange } from '../../../support/plan-builder.js';

const schema = JSON.parse(
  readFileSync(new URL('../../../../schemas/plan.schema.json', import.meta.url), 'utf8'),
) as { $defs: { reason: { enum: string[] } } };
const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);

function problemsOf(document: unknown): unknown {
  return validate(JSON.parse(JSON.stringify(document))) ? [] : validate.errors;
}

const RAMP = aChange('flag/new-checkout@production', 'update');
const BETA = aChange('segment/beta@production', 'activate', { keys: keyChange(['a', 'b']) });

describe('planDocument', () => {
  it('has count and hash of the keys that a rule lists, and the listed values of an attribute', () => {
    const listing = { type: 'IN_LIST_STRING', strings: ['user-9'] };
    const country = { type: 'IN_LIST_STRING', attribute: 'country', strings: ['ES'] };
    const rules = [{ matchers: [listing, country], buckets: [] }];
    const fields = [aField('/rules', [], rules)];
    const report = aReport({ changes: [aChange('flag/a@staging', 'update', { fields })] });

    const hidden = planJson(planDocument(report));

    expect(hidden).not.toContain('user-');
    expect(hidden).toContain(keyChange(['user-9']).sha256);
    expect(hidden).toContain('"ES"');
    expect(planJson(planDocument(report, { showKeys: true }))).toContain('user-9');
  });

  it('says until when a change waits', () => {
    const until = '2026-12-01T08:00:00.000Z';
    const waits = aWithheld('flag/a', 'update', 'window-closed', { until });

    expect(planDocument(aReport({ withheld: [waits] })).withheld[0]).toMatchObject({ until });
  });

  it('gives the same bytes whatever order the members of a value were written in', () => {
    const one = aField('/defaultRule', undefined, [{ treatment: 'on', size: 100 }]);
    const other = aField('/defaultRule', undefined, [{ size: 100, treatment: 'on' }]);

    const [a, b] = [one, other].map((field) =>
      planJson(
        planDocument(aReport({ changes: [aChange('flag/a', 'update', { fields: [field] })] })),
      ),
    );

    expect(a).toBe(b);
  });
});

describe('plan.schema.json', () => {
  it('knows the reasons that the model knows', () => {
    expect(schema.$defs.reason.enum).toEqual([...REASONS]);
  });

  it('refuses a document with a member that the format does not know', () => {
    const document = { ...planDocument(aReport()), extra: 1 };
    expect(problemsOf(document)).not.toEqual([]);
  });

  it('tells whom a change reaches, and names individual targets only when keys are to be shown', () => {
    const count = { atLeast: 1, atMost: 1, certain: true };
    const traffic = { atLeast: 0, atMost: 12.5 };
    const move = { from: 'off', to: null, traffic, keys: count, names: ['qa-bot-7'] };
    const flag = {
      flag: 'new-checkout',
      environment: 'production',
      ...{ traffic, keys: count, listed: 7, moves: [move], bounded: true },
    };
    const impacts = new Map([[RAMP.id, { flags: [flag], risks: RISKS }]]);
    const report = aReport({ changes: [BETA, RAMP] }, { impacts });

    const [plain, shown] = [false, true].map((showKeys) => planDocument(report, { showKeys }));

    expect(problemsOf(plain)).toEqual([]);
    expect(problemsOf(shown)).toEqual([]);
    expect(plain?.changes[0]).not.toHaveProperty('impact');
    expect(plain?.changes[1]?.risks).toEqual(RISKS);
    expect(JSON.stringify(plain)).not.toContain('qa-bot-7');
    expect(shown?.changes[1]?.impact?.[0]?.moves[0]).toEqual(move);
  });
});

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
