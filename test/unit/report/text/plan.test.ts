import { describe, expect, it } from 'vitest';
import type { Impact } from '../../../../src/model/impact.js';
import type { Change, FieldChange, Plan } from '../../../../src/model/plan.js';
import { planMarkdown } from '../../../../src/report/markdown/plan.js';
import { planSummary, planText } from '../../../../src/report/text/plan.js';
import type { PlanReport } from '../../../../src/report/plan-report.js';
import { aChange, aField, aLiveKill, aReport, aWithheld } from '../../../support/plan-builder.js';
import { aStory } from '../../../support/plan-builder-story.js';

function text(report: PlanReport, width = 100, showKeys = false): string {
  return planText(report, { color: false, width, showKeys });
}

describe('a plan', () => {
  it('shows the protected environment first, then the last applied, the object itself last', () => {
    const places = ['', '@zoo', '@dev', '@production', '@staging'];
    const changes = places.map((place) => aChange(`flag/a${place}`, 'update'));
    const environments = ['production', 'dev', 'staging'];

    const printed = text(aReport({ changes }, { environments }));

    expect(printed.match(/(?<=^ {2}~ ).*(?= will)/gm)).toEqual([
      'production',
      'staging',
      'dev',
      'zoo',
      'the flag itself',
    ]);
  });

  it('calls live kills no changes in its first line', () => {
    const withheld = [aWithheld('flag/a@staging', 'update', 'suspended')];
    const liveKills = [aLiveKill('flag/b@staging'), aLiveKill('flag/c@staging')];
    const firstLine = (plan: Partial<Plan>) => text(aReport(plan), 200).split('\n')[0];

    expect(firstLine({ withheld, liveKills })).toMatch(/ · and 2 live kills$/);
    expect(firstLine({ liveKills })).toMatch(/ · and 1 more live kill$/);
    const two = [...withheld, aWithheld('flag/d@staging', 'update', 'suspended')];
    expect(firstLine({ withheld: two, liveKills })).toMatch(/ · and 1 more change, 2 live kills$/);
  });

  it('shows the heaviest object first, and counts the identities of many traffic types', () => {
    const names = ['half', 'whole', 'killed', 'usual', 'third'];
    const [half, whole, kill, usual, third] = names.map((name) =>
      aChange(`flag/${name}@production`, 'update', {
        fields: [aField(name === 'killed' ? '/killed' : '/trafficAllocation', false, true)],
      }),
    ) as [Change, Change, Change, Change, Change];
    const shifting = (percent: number): Impact => {
      const traffic = { atLeast: percent, atMost: percent };
      const place = { flag: 'any', environment: 'production', listed: 0, bounded: false };
      const keys = { atLeast: 0, atMost: 0, certain: true };
      return { flags: [{ ...place, traffic, keys, moves: [] }], risks: ['most-of-production'] };
    };
    const impacts = new Map([
      [half.id, shifting(50)],
      [whole.id, shifting(100)],
      [third.id, { ...shifting(33), risks: [] }],
    ]);
    const types = Array.from({ length: 12 }, (_, at) =>
      aChange(`identities/t${String(at)}@production`, 'update'),
    );

    const printed = text(aReport({ changes: [usual, half, kill, third, whole] }, { impacts }));
    expect(printed.match(/^flag\/\w+$|^flag\/\w+(?= ·)/gm)).toEqual([
      'flag/whole',
      'flag/half',
      'flag/killed',
      'flag/third',
      'flag/usual',
    ]);
    expect(text(aReport({ changes: types }))).toMatch(/^12 identities in production/);
  });

  it('says once what all changes of an object, or of the plan, have in common', () => {
    const ids = ['flag/a@production', 'flag/a@staging', 'flag/b@staging'];
    const changes = ids.map((id, index) =>
      aChange(id, 'update', { location: { file: 'flags/x.yaml', line: index + 1, column: 1 } }),
    );
    const titled = (titles: readonly string[]): string => {
      const notes = ids.map((id, index): [string, { title: string; comment: string }] => [
        id,
        { title: titles[index] ?? '', comment: '' },
      ]);
      const printed = text(aReport({ changes }, { notes: new Map(notes) }));
      return printed.split('\n').slice(0, 9).join('\n');
    };

    expect(titled(['Ramp', 'Ramp', 'Ramp'])).toBe(
      [
        'flag/a in production will be updated · and 2 more changes',
        'Workspace Default at https://admin.example.com, commit 3f9c2ab · all by Ramp',
        '',
        'flag/a',
        '  ~ production will be updated · flags/x.yaml:1',
        '  ~ staging will be updated · flags/x.yaml:2',
        '',
        'flag/b · flags/x.yaml:3',
        '  ~ staging will be updated',
      ].join('\n'),
    );
    expect(titled(['Ramp', 'Ramp', 'Other'])).toContain('flag/a · Ramp\n');
    expect(titled(['Ramp', 'Test', 'Other'])).toContain('updated · flags/x.yaml:1 · Ramp\n');
  });

  it('says in the headline how many rules an update adds or moves, and nothing of other fields', () => {
    const headline = (field: FieldChange): string => {
      const changes = [aChange('flag/a@production', 'update', { fields: [field] })];
      return /(?<=updated).*/.exec(text(aReport({ changes }, {})))?.[0] ?? '';
    };
    const rules = (...names: readonly string[]) =>
      names.map((string) => ({ matchers: [{ type: 'IN_SEGMENT', string }], buckets: [] }));

    expect(headline(aField('/rules', rules('a'), rules('a', 'b', 'c')))).toBe(': 2 rules added');
    expect(headline(aField('/rules', rules('a', 'b'), rules('b', 'a')))).toBe(': 1 rule moved');
    expect(headline(aField('/defaultTreatment', 'on', 'off'))).toBe('');
  });

  it('tells once what happens to many objects alike, unless it is risky or every one is asked for', () => {
    const names = Array.from({ length: 12 }, (_, index) => String(index));
    const changes = names.flatMap((name) => [
      aChange(`flag/new-${name}`, 'create'),
      aChange(`segment/s${name}`, 'delete'),
    ]);
    const report = aReport({ changes });

    expect(
      text(report).match(/^\+ 12 new flags in flags: new-0, new-1, new-2, … 9 more/gm),
    ).toHaveLength(1);
    expect(text(report).match(/- the segment itself will be deleted/g)).toHaveLength(12);
    const whole = planText(report, { color: false, width: 100, showKeys: false, verbose: true });
    expect(whole.match(/\+ the flag itself will be created/g)).toHaveLength(12);
  });

  it('counts many new objects by folder, and shows each risky one by itself', () => {
    const added = (name: string, folder: string, size: number) => {
      const location = { file: `flags/${folder}/${name}.yaml`, line: 1, column: 1 };
      const rule = aField('/defaultRule', undefined, [{ treatment: 'on', size }]);
      return [
        aChange(`flag/${name}`, 'create', { location }),
        aChange(`flag/${name}@production`, 'create', { location, fields: [rule] }),
      ];
    };
    const changes = [
      ...Array.from({ length: 8 }, (_, at) => added(`pay-${String(at)}`, 'pay', at)).flat(),
      ...Array.from({ length: 3 }, (_, at) => added(`shop-${String(at)}`, 'shop', at)).flat(),
      ...added('all', 'pay', 100),
    ];
    const impact = { flags: [], risks: ['all-of-production'] } as const;
    const report = aReport({ changes }, { impacts: new Map([['flag/all@production', impact]]) });

    expect(
      text(report)
        .split('\n')
        .filter((line) => /^ *(\+|!!)/.test(line)),
    ).toEqual([
      '+ flag/all · new flag: production on 100 % · flags/pay/all.yaml:1',
      '      !! 100 % of production',
      '+ 8 new flags in flags/pay: pay-0, pay-1, pay-2, … 5 more · production 8',
      '+ 3 new flags in flags/shop: shop-0, shop-1, shop-2 · production 3',
    ]);
  });

  it('does not fold what differs, or what failed', () => {
    const ids = Array.from({ length: 20 }, (_, index) => `flag/f${String(index)}@staging`);
    const changes = ids.map((id, index) =>
      aChange(id, 'update', {
        fields: [aField('/trafficAllocation', 10, index < 10 ? 20 : 20 + index)],
      }),
    );
    const error = { code: 'REJECTED' as const, message: 'no', status: 400, transactionId: null };
    const outcomes = new Map(
      ids.map((id) => [id, { status: 'failed', error, partly: false } as const]),
    );

    expect(text(aReport({ changes })).match(/^(10 flags(?=:)|flag\/f1\d)/gm)).toEqual([
      '10 flags',
      ...Array.from({ length: 10 }, (_, index) => `flag/f1${String(index)}`),
    ]);
    expect(text(aReport({ changes }, { outcomes })).match(/✗ staging failed/g)).toHaveLength(20);
  });
});

describe('the summary of a plan', () => {
  const layout = { color: false, width: 200 };

  it('is its last line alone', () => {
    expect(planSummary(aStory(), layout)).toBe(
      text(aStory(), 200).split('\n').slice(-2).join('\n'),
    );
  });

  it('has the refusal of a guard above it', () => {
    const guardFindings = [
      { guard: 'maxDeletes', environment: 'production', found: 12, limit: 5 } as const,
    ];
    const lines = planSummary(aReport({}, { guardFindings }), layout).split('\n');
    expect(lines.slice(0, 2)).toEqual([
      'Refused by a guard, nothing is sent',
      '  ✗ production: 12 deletions, the limit is 5 (maxDeletes)',
    ]);
  });
});

describe('an apply', () => {
  it('does not call a plan refused that an approval let pass', () => {
    const id = 'flag/a@production';
    const report = aReport(
      { changes: [aChange(id, 'update')] },
      {
        guardFindings: [{ guard: 'maxShift', environment: 'production', id, found: 50, limit: 20 }],
        outcomes: new Map([[id, { status: 'applied' }]]),
        converged: true,
      },
    );
    const refused = /refuses|nothing is sent|--approve|⛔/;
    expect(text(report, 200)).not.toMatch(refused);
    expect(text(report, 200)).toContain(
      'Refused by a guard, and approved\n  ! flag/a@production: ',
    );
    expect(planSummary(report, { color: false, width: 200 })).not.toMatch(/guard/);
    const markdown = planMarkdown(report);
    expect(markdown).not.toMatch(refused);
    expect(markdown).toContain('refused by a guard, and approved');
  });

  it('counts a change that the apply never came to as skipped', () => {
    const report = aReport({ changes: [aChange('flag/a', 'create')] }, { outcomes: new Map() });

    expect(text(report)).toContain('○ the flag itself skipped: the apply ended before it');
    expect(text(report)).toContain('0 created, 0 updated, 0 deleted; 1 skipped; 0 unchanged.\n');
  });
});

describe('nothing to do', () => {
  const unchanged = Array.from({ length: 43 }, (_, index) => `flag/${String(index)}`);

  const IN_SYNC =
    'In sync: 43 objects equal, nothing to write in workspace Default at https://admin.example.com.\n';

  it('is the same line after an apply that had nothing to apply', () => {
    const report = aReport({ unchanged }, { outcomes: new Map(), converged: true });
    expect(text(report)).toBe(IN_SYNC);
  });

  it('is not called in sync where the second look found differences', () => {
    const left = [aChange('flag/7', 'update')];
    const report = aReport({ unchanged }, { outcomes: new Map(), converged: false, left });
    expect(text(report)).toContain(
      'Applied: 0 created, 0 updated, 0 deleted; 43 unchanged. Not in sync: flag/7 written, but different\n    on the service: `flagkeel reconcile --only flag/7`; 42 other objects in sync.\n',
    );
  });
});
