import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { RISKS } from '../../../../src/model/impact.js';
import type { Outcome } from '../../../../src/model/outcome.js';
import { REASONS } from '../../../../src/model/plan.js';
import { planDocument, planJson } from '../../../../src/report/json/plan.js';
import { aChange, aField, aReport, aWithheld, keyChange } from '../../../support/plan-builder.js';

const schema = JSON.parse(
  readFileSync(new URL('../../../../schemas/plan.schema.json', import.meta.url), 'utf8'),
) as { $defs: { reason: { enum: string[] } } };
const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);

function problemsOf(document: unknown): unknown {
  return validate(JSON.parse(JSON.stringify(document))) ? [] : validate.errors;
}

const RAMP = aChange('flag/new-checkout@production', 'update', {
  location: { file: 'flags/checkout/new-checkout.yaml', line: 18, column: 3 },
  fields: [
    {
      ...aField('/defaultRule', [{ treatment: 'on', size: 10 }], [{ treatment: 'on', size: 25 }]),
      base: [{ treatment: 'on', size: 10 }],
    },
    { path: '/targets/on', reason: 'drift', keys: keyChange(['user-1'], ['user-2']) },
  ],
  dependsOn: ['segment/beta@production'],
});
const BETA = aChange('segment/beta@production', 'activate', { keys: keyChange(['a', 'b']) });
const GONE = aWithheld('flag/old', 'delete', 'prune-off', {
  location: null,
  reason: 'prune',
});
const WORDS = new Map([
  ['flag/new-checkout@production', { title: 'Ramp to 25 %', comment: '3f9c2ab ana: Ramp' }],
]);

describe('planDocument', () => {
  it('has every member that the format promises', () => {
    const report = aReport(
      { changes: [BETA, RAMP], withheld: [GONE], unchanged: ['flag/a', 'flag/b'] },
      { notes: WORDS },
    );

    const document = planDocument(report);

    expect(problemsOf(document)).toEqual([]);
    expect(document.summary).toEqual({
      create: 1,
      update: 1,
      delete: 0,
      unchanged: 2,
      withheld: 1,
      requests: 0,
    });
    expect(document.changes[1]).toEqual({
      id: 'flag/new-checkout@production',
      kind: 'flag',
      name: 'new-checkout',
      environment: 'production',
      action: 'update',
      reason: 'commit',
      file: 'flags/checkout/new-checkout.yaml',
      line: 18,
      title: 'Ramp to 25 %',
      comment: '3f9c2ab ana: Ramp',
      fields: [
        {
          path: '/defaultRule',
          reason: 'commit',
          base: [{ size: 10, treatment: 'on' }],
          before: [{ size: 10, treatment: 'on' }],
          after: [{ size: 25, treatment: 'on' }],
        },
        {
          path: '/targets/on',
          reason: 'drift',
          keys: { added: 1, removed: 1, sha256: keyChange(['user-1']).sha256 },
        },
      ],
      dependsOn: ['segment/beta@production'],
    });
    expect(document.withheld[0]).toMatchObject({
      id: 'flag/old',
      file: null,
      line: null,
      title: null,
      why: 'prune-off',
      wayOut:
        'run `flagkeel reconcile --prune --only flag/old` to delete it, or write `prune: true` into flagkeel.yaml to have every run do that',
    });
  });

  it('says after an apply how each change ended', () => {
    const error = { code: 'REJECTED' as const, message: 'no', status: 400, transactionId: 't-1' };
    const report = aReport(
      { changes: [BETA, RAMP, aChange('flag/late', 'update')] },
      {
        outcomes: new Map([
          [BETA.id, { status: 'applied' }],
          [RAMP.id, { status: 'failed', error, partly: false }],
        ]),
        converged: false,
      },
    );

    const document = planDocument(report);

    expect(problemsOf(document)).toEqual([]);
    expect(document.converged).toBe(false);
    expect(document.changes.map((each) => [each.outcome, each.error])).toEqual([
      ['applied', undefined],
      ['failed', error],
      ['skipped', undefined],
    ]);
  });

  it('shows keys in full only when asked to', () => {
    const listing = [{ matchers: [{ type: 'IN_LIST_STRING', strings: ['user-9'] }], buckets: [] }];
    const rules = aChange('flag/a@staging', 'update', { fields: [aField('/rules', [], listing)] });
    const report = aReport({ changes: [BETA, RAMP, rules] });

    const hidden = planJson(planDocument(report));
    const shown = planDocument(report, { showKeys: true });

    expect(hidden).not.toContain('user-');
    expect(hidden).toContain(keyChange(['user-9']).sha256);
    expect(problemsOf(shown)).toEqual([]);
    expect(shown.changes[0]?.keys).toMatchObject({ addedKeys: ['a', 'b'], removedKeys: [] });
    expect(planJson(shown)).toContain('user-9');
  });

  it('keeps the listed values of an attribute, which are no keys', () => {
    const matcher = { type: 'IN_LIST_STRING', attribute: 'country', strings: ['ES'] };
    const fields = [aField('/rules', [], [{ matchers: [matcher], buckets: [] }])];

    const text = planJson(
      planDocument(aReport({ changes: [aChange('flag/a', 'update', { fields })] })),
    );

    expect(text).toContain('"ES"');
  });

  it('counts identities, and what was refused of them, unless it is told to name keys', () => {
    const keys = { ...keyChange(['user-1', 'user-2']), changed: ['user-3'] };
    const change = aChange('identities/user@staging', 'update', { keys });
    const stays = aWithheld('identities/user@staging', 'delete', 'stays-on-service', {
      keys: { ...keyChange([], ['user-4']), changed: [] },
    });
    const outcome: Outcome = {
      status: 'failed',
      partly: true,
      error: { code: 'IDENTITIES_REFUSED', message: 'cannot', status: null, transactionId: null },
      identities: {
        written: ['user-1', 'user-3'],
        failed: [{ key: 'user-2', status: 400, message: 'no user-2' }],
      },
    };
    const outcomes = new Map([[change.id, outcome]]);
    const report = aReport({ changes: [change], withheld: [stays] }, { outcomes });

    const hidden = planDocument(report);
    const shown = planDocument(report, { showKeys: true });

    expect(problemsOf(hidden)).toEqual([]);
    expect(problemsOf(shown)).toEqual([]);
    expect(planJson(hidden)).not.toContain('user-');
    expect(hidden.changes[0]?.keys).toMatchObject({ added: 2, changed: 1, removed: 0 });
    expect(hidden.changes[0]?.error?.refused).toEqual([{ status: 400, message: 'no …', count: 1 }]);
    expect(shown.changes[0]?.keys?.changedKeys).toEqual(['user-3']);
    expect(shown.changes[0]?.error?.refused).toEqual([
      { status: 400, message: 'no user-2', count: 1, keys: ['user-2'] },
    ]);
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

  it('knows what is archived, also where that is withheld', () => {
    const goes = aChange('flag/pay', 'delete', { archive: true });
    const document = planDocument(aReport({ changes: [goes] }));
    expect(document.changes[0]).toMatchObject({ action: 'delete', archive: true });
    expect(problemsOf(document)).toEqual([]);
  });

  it('describes every field', () => {
    const bare: string[] = [];
    const visit = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [name, member] of Object.entries(node)) {
        if (path.endsWith('/properties') || path.endsWith('/$defs')) {
          if (!('description' in (member as object))) bare.push(`${path}/${name}`);
        }
        visit(member, `${path}/${name}`);
      }
    };
    visit(schema, '');
    expect(bare).toEqual([]);
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
