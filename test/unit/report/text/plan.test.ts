import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Impact } from '../../../../src/model/impact.js';
import type { FieldChange } from '../../../../src/model/plan.js';
import type { Outcome } from '../../../../src/model/outcome.js';
import { planSummary, planText } from '../../../../src/report/text/plan.js';
import type { PlanReport } from '../../../../src/report/plan-report.js';
import {
  aChange,
  aField,
  aReport,
  aWithheld,
  judged,
  keyChange,
} from '../../../support/plan-builder.js';
import { aStory } from '../../../support/plan-builder-story.js';

function text(report: PlanReport, width = 100, showKeys = false): string {
  return planText(report, { color: false, width, showKeys });
}

/** The story, with what became of its changes in their order. */
function applied(endings: readonly Outcome[], converged: boolean): PlanReport {
  const story = aStory();
  const outcomes = new Map(
    story.plan.changes.map(({ id }, index): [string, Outcome] => {
      return [id, endings[index] ?? { status: 'applied' }];
    }),
  );
  return judged({ ...story, outcomes, converged });
}

describe('a plan', () => {
  it('tells what will be by object: risks first, the protected environment before the others', () => {
    expect(text(aStory())).toMatchInlineSnapshot(`
      "flag/payments in production will be updated: killed · kill: ordered in git · !! kills: everybody
          gets the default treatment · and 5 more changes
      Workspace Default at https://admin.example.com, commit 3f9c2ab

      flag/payments · kills/production.yaml:2
        ~ production will be updated: killed · kill: ordered in git
            !! killed: no → YES (everyone gets the default treatment)

      flag/banner
        - production will be deleted · prune: no longer in git

      segment/beta · segments/beta.yaml:1
        ~ production will be updated: +120 −3 keys

      flag/new-checkout · flags/checkout/new-checkout.yaml:18 · 9d41c0f Ramp checkout to 25 %
        ~ production will be updated: on 10 → 25 %, traffic 90 → 100 %
            targets of on: +1 −0 keys
            trafficAllocation: 90 → 100 % (drift)
            ~ rule 1 "staff in the EU": if in segment staff and country in [ES, FR], serve on 10 → 50 %,
                off 90 → 50 %
            ~ rule 1 → 2: if in segment contractors, serve off 100 %
            defaultRule: on 10 → 25 %, off 90 → 75 %

      + flag/search · new flag: staging on 50 %, 1 rule, 2 targets · flags/search.yaml:1

      Withheld
        ! flag/legacy@production would be updated: changed outside git, which is reported here and not
            reverted · flags/legacy.yaml:1
            defaultTreatment: on → off
            → run \`flagkeel drift --adopt --only flag/legacy\` to write what is live into the files, and
                commit, or run \`flagkeel reconcile --revert-drift --only flag/legacy\` to write what git
                says

      Not managed here: 12 flags, 1 segment.
      New objects are shown in short; --verbose shows all of them.
      40 unchanged hidden
      planHash sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a
      Plan: 2 to create, 3 to update, 1 to delete, 9 requests; 40 unchanged; 1 withheld
          (flag/legacy@production); 1 risk: flag/payments@production kills: everybody gets the default
          treatment.
      "
    `);
  });

  it('hangs its paragraphs in on a narrow terminal and names keys when asked to', () => {
    expect(text(aStory(), 60, true)).toMatchInlineSnapshot(`
      "flag/payments in production will be updated: killed · kill:
          ordered in git · !! kills: everybody gets the default
          treatment · and 5 more changes
      Workspace Default at https://admin.example.com, commit
          3f9c2ab

      flag/payments · kills/production.yaml:2
        ~ production will be updated: killed · kill: ordered in
            git
            !! killed: no → YES (everyone gets the default
                treatment)

      flag/banner
        - production will be deleted · prune: no longer in git

      segment/beta · segments/beta.yaml:1
        ~ production will be updated: +120 −3 keys
            +120 −3 keys: + user-001, user-002, user-003,
                user-004, user-005, … 115 more; − gone-001,
                gone-002, gone-003

      flag/new-checkout · flags/checkout/new-checkout.yaml:18 ·
          9d41c0f Ramp checkout to 25 %
        ~ production will be updated: on 10 → 25 %,
            traffic 90 → 100 %
            targets of on: +1 −0 keys: + user-1
            trafficAllocation: 90 → 100 % (drift)
            ~ rule 1 "staff in the EU": if in segment staff and
                country in [ES, FR], serve on 10 → 50 %,
                off 90 → 50 %
            ~ rule 1 → 2: if in segment contractors, serve
                off 100 %
            defaultRule: on 10 → 25 %, off 90 → 75 %

      flag/search · flags/search.yaml:1
        + staging will be created
            treatments on, off · targets of on +2 −0 keys: +
                qa-bot-1, user-7 · defaultTreatment off ·
                defaultRule on 50 %, off 50 %
            rule 1: if in segment contractors, serve off 100 %
        + the flag itself will be created
            description "Search, rewritten" · tags search, web

      Withheld
        ! flag/legacy@production would be updated: changed outside
            git, which is reported here and not reverted ·
            flags/legacy.yaml:1
            defaultTreatment: on → off
            → run \`flagkeel drift --adopt --only flag/legacy\` to
                write what is live into the files, and commit, or
                run
                \`flagkeel reconcile --revert-drift --only flag/legacy\`
                to write what git says

      Not managed here: 12 flags, 1 segment.
      40 unchanged hidden
      planHash
          sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a
      Plan: 2 to create, 3 to update, 1 to delete, 9 requests; 40
          unchanged; 1 withheld (flag/legacy@production); 1 risk:
          flag/payments@production kills: everybody gets the
          default treatment.
      "
    `);
  });

  it('says in colour what it says without', () => {
    const colored = planText(aStory(), { color: true, width: 100, showKeys: false });

    expect(stripVTControlCharacters(colored)).toBe(text(aStory()));
    expect(colored).toContain('\u001b[1m\u001b[31m!! killed: no → YES\u001b[39m\u001b[22m');
  });

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

  it('says in the headline of an update by how much', () => {
    const shares = (sizes: readonly number[]) =>
      sizes.map((size, index) => ({ treatment: `t${String(index)}`, size }));
    const headline = (...fields: readonly FieldChange[]): string => {
      const changes = [aChange('flag/a@production', 'update', { fields })];
      return /(?<=updated).*/.exec(text(aReport({ changes }, {})))?.[0] ?? '';
    };
    const rule = (before: readonly number[], after: readonly number[]): string =>
      headline(aField('/defaultRule', shares(before), shares(after)));

    expect(rule([25, 75], [40, 60])).toBe(': t0 25 → 40 %');
    expect(rule([20, 30, 50], [30, 40, 30])).toBe(': t0 20 → 30 %, t1 30 → 40 %, t2 50 → 30 %');
    expect(headline(aField('/killed', true, false))).toBe(': no longer killed');
    expect(headline(aField('/defaultTreatment', 'on', 'off'))).toBe('');
    const rules = (...names: readonly string[]) =>
      names.map((string) => ({ matchers: [{ type: 'IN_SEGMENT', string }], buckets: [] }));
    expect(headline(aField('/rules', rules('a'), rules('a', 'b', 'c')))).toBe(': 2 rules added');
    expect(headline(aField('/rules', rules('a', 'b'), rules('b', 'a')))).toBe(': 1 rule moved');
  });

  it('tells once what happens to many objects alike, unless it is risky or every one is asked for', () => {
    const created = Array.from({ length: 300 }, (_, index) => `flag/new-${String(index)}`);
    const changes = [
      ...created.flatMap((id) => [aChange(id, 'create'), aChange(`${id}@staging`, 'create')]),
      ...created.slice(0, 12).map((_, index) => aChange(`segment/s${String(index)}`, 'delete')),
    ];
    const report = aReport({ changes });

    const printed = text(report);
    expect(printed).toContain(
      '+ 300 new flags in flags: new-0, new-1, new-2, … 297 more · staging 300\n',
    );
    expect(printed.match(/- the segment itself will be deleted/g)).toHaveLength(12);
    const whole = planText(report, { color: false, width: 100, showKeys: false, verbose: true });
    expect(whole.match(/\+ the flag itself will be created/g)).toHaveLength(300);
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

  it('counts in its last line the risks that it marks', () => {
    const change = aChange('flag/a@production', 'update', {
      reason: 'kill',
      fields: [aField('/killed', false, true)],
    });
    const impact: Impact = { flags: [], risks: ['all-of-production', 'kills'] };
    const impacts = new Map([[change.id, impact]]);

    expect(text(aReport({ changes: [change] }))).toMatch(
      /; 0 unchanged; 1 risk: flag\/a@production/,
    );
    expect(text(aReport({ changes: [change] }, { impacts }))).toMatch(
      /; 2 risks: flag\/a@production/,
    );
  });

  it('names the commit, the service, local changes, and what the run could not know', () => {
    const report = aReport(
      { changes: [aChange('flag/a', 'update')], observed: 'touched' },
      { revision: { commit: null, dirty: true }, stateless: true },
    );

    expect(text(report)).toMatchInlineSnapshot(`
      "flag/a will be updated
      Workspace Default at https://admin.example.com, no commit with local changes

      flag/a · flags/a.yaml:1
        ~ the flag itself will be updated

      Stateless: drift cannot be told from a change in git, and nothing is pruned.
      Only what changed in git, or was open before, was looked at; drift elsewhere was not.
      planHash sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a
      Plan: 0 to create, 1 to update, 0 to delete, 0 requests; 0 unchanged.
      "
    `);
  });

  it('says which guard refused it, and by how much', () => {
    const report = aReport(
      { changes: [aChange('flag/a@production', 'delete', { reason: 'prune', location: null })] },
      {
        guardFindings: [
          { guard: 'maxDeletes', environment: 'production', found: 12, limit: 5 },
          { guard: 'maxKeyRemovalPercent', environment: null, found: 41, limit: 20 },
        ],
      },
    );

    expect(text(report)).toContain(
      [
        'Refused by a guard, nothing is sent',
        '  ✗ production: 12 deletions, the limit is 5 (maxDeletes); flag/a@production deleted, commit 3f9c2ab',
        '  ✗ 41 % of the keys would be removed, the limit is 20 % (maxKeyRemovalPercent)',
        '      → run',
        `          \`flagkeel reconcile --approve ${report.planHash}\``,
        '          to let this plan and no other pass, once reviewed',
      ].join('\n'),
    );
  });

  it('marks a field whose reason is not that of the change, and shows the base of a conflict', () => {
    const buckets = (on: number) => [{ treatment: 'on', size: on }];
    const conflict = aChange('flag/a@production', 'update', {
      reason: 'conflict',
      fields: [
        {
          path: '/defaultRule',
          reason: 'conflict',
          base: buckets(10),
          before: buckets(30),
          after: buckets(25),
        },
        aField('/baselineTreatment', 'on', 'off'),
      ],
    });

    expect(text(aReport({ changes: [conflict] }))).toContain(
      [
        'flag/a · flags/a.yaml:1',
        '  ~ production will be updated: on 30 → 25 % · conflict: changed in git and outside git',
        '      defaultRule: on 30 → 25 % (base: on 10 %)',
        '      baselineTreatment: on → off (commit)',
      ].join('\n'),
    );
  });

  it('keeps the keys of identities to itself', () => {
    const keys = { ...keyChange(['user-7']), changed: ['user-1042', 'user-1043'] };
    const change = aChange('identities/user@production', 'update', { keys });

    expect(text(aReport({ changes: [change] }))).toContain('      +1 ~2 identities\n');
    expect(text(aReport({ changes: [change] }))).not.toContain('user-');
    expect(text(aReport({ changes: [change] }), 100, true)).toContain(
      '      +1 ~2 identities: + user-7; ~ user-1042, user-1043\n',
    );
  });

  it('says which identities left git and stay, and why others are not written', () => {
    const left = { ...keyChange([], ['user-7']), changed: ['user-8', 'user-9'] };
    const stays = aWithheld('identities/user@staging', 'delete', 'stays-on-service', {
      keys: left,
      location: null,
    });
    const unknown = aWithheld('identities/user@production', 'create', 'not-remembered', {
      keys: { ...keyChange(['user-1']), changed: [] },
    });

    const lines = text(aReport({ withheld: [stays, unknown] }));

    expect(lines).toContain(
      [
        '  ! identities/user@staging no longer in git, and stays on the service',
        '      −1 identity',
        '      attributes of 2 identities',
      ].join('\n'),
    );
    expect(lines).toMatch(/identities\/user@production would be written: nothing is remembered/);
    expect(text(aReport({ withheld: [stays] }), 100, true)).toContain('−1 identity: user-7\n');
  });

  it('tells the identities that were refused by reason, without their keys', () => {
    const change = aChange('identities/user@staging', 'create', {
      keys: { ...keyChange(['user-1', 'user-2', 'user-3']), changed: [] },
    });
    const failed = [
      { key: 'user-1', status: 400, message: 'user-1 has a bad plan' },
      { key: 'user-2', status: 400, message: 'user-2 has a bad plan' },
    ];
    const outcome: Outcome = {
      status: 'failed',
      partly: true,
      error: { code: 'IDENTITIES_REFUSED', message: 'cannot', status: null, transactionId: null },
      identities: { written: ['user-3'], failed },
    };
    const report = aReport({ changes: [change] }, { outcomes: new Map([[change.id, outcome]]) });

    expect(text(report)).toContain('      2 refused (status 400 "… has a bad plan")\n');
    expect(text(report)).not.toContain('user-1');
    expect(text(report, 100, true)).toContain(
      '1 refused (status 400 "user-1 has a bad plan"): user-1',
    );
  });

  it('lets no text of others act on the terminal', () => {
    const evil = 'a\u001b[2J\u202e\nPlan: 9 to create';
    const change = aChange(`flag/${evil}`, 'update', {
      location: { file: evil, line: 1, column: 1 },
      fields: [aField('/description', evil, `${evil}!`), aField(`/${evil}`, evil, null)],
      keys: keyChange([evil], [evil]),
    });
    const report = aReport(
      {
        changes: [change],
        withheld: [aWithheld(evil, 'update', 'drift-reported', { because: evil })],
      },
      {
        notes: new Map([[change.id, { title: evil, comment: evil }]]),
        commits: new Map([[change.id, evil]]),
        workspace: { id: evil, name: evil },
        origin: evil,
      },
    );

    const printed = text(report, 100, true);

    expect(printed).not.toMatch(/[\u001b\u202e]|^Plan: 9 to create/m);
    expect(printed.match(/^Plan: /gm)).toHaveLength(1);
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
  it('tells what was done, in another tense than the plan', () => {
    expect(text(applied([], true))).toMatchInlineSnapshot(`
      "flag/payments in production updated: killed · kill: ordered in git · !! kills: everybody gets the
          default treatment · and 5 more changes
      Workspace Default at https://admin.example.com, commit 3f9c2ab

      flag/payments · kills/production.yaml:2
        ~ production updated: killed · kill: ordered in git
            !! killed: no → YES (everyone gets the default treatment)

      flag/banner
        - production deleted · prune: no longer in git

      segment/beta · segments/beta.yaml:1
        ~ production updated: +120 −3 keys

      flag/new-checkout · flags/checkout/new-checkout.yaml:18 · 9d41c0f Ramp checkout to 25 %
        ~ production updated: on 10 → 25 %, traffic 90 → 100 %
            targets of on: +1 −0 keys
            trafficAllocation: 90 → 100 % (drift)
            ~ rule 1 "staff in the EU": if in segment staff and country in [ES, FR], serve on 10 → 50 %,
                off 90 → 50 %
            ~ rule 1 → 2: if in segment contractors, serve off 100 %
            defaultRule: on 10 → 25 %, off 90 → 75 %

      + flag/search · new flag created: staging on 50 %, 1 rule, 2 targets · flags/search.yaml:1

      Withheld
        ! flag/legacy@production would be updated: changed outside git, which is reported here and not
            reverted · flags/legacy.yaml:1
            defaultTreatment: on → off
            → run \`flagkeel drift --adopt --only flag/legacy\` to write what is live into the files, and
                commit, or run \`flagkeel reconcile --revert-drift --only flag/legacy\` to write what git
                says

      Not managed here: 12 flags, 1 segment.
      New objects are shown in short; --verbose shows all of them.
      40 unchanged hidden
      Applied: 2 created, 3 updated, 1 deleted; 40 unchanged; 1 withheld. Waiting: flag/legacy@production
          changed on the service, which the config leaves so; 45 other objects in sync.
      "
    `);
  });

  it('says what failed and why, and what was skipped for it', () => {
    const error = {
      code: 'REJECTED' as const,
      message: 'cannot add keys to segment "beta": the service is read-only',
      status: 400,
      transactionId: 't-17',
    };
    const endings: Outcome[] = [
      { status: 'applied' },
      { status: 'applied' },
      { status: 'failed', error, partly: true },
      { status: 'skipped', why: 'needs segment/beta@production' },
    ];

    expect(text(applied(endings, false))).toMatchInlineSnapshot(`
      "segment/beta in production partly applied, then failed: cannot add keys to segment "beta": the
          service is read-only (REJECTED, status 400, transaction t-17) · and 5 more changes, 1 more risk
      Workspace Default at https://admin.example.com, commit 3f9c2ab

      segment/beta · segments/beta.yaml:1
        ✗ production partly applied, then failed: cannot add keys to segment "beta": the service is
            read-only (REJECTED, status 400, transaction t-17)
            +120 −3 keys

      flag/new-checkout · flags/checkout/new-checkout.yaml:18 · 9d41c0f Ramp checkout to 25 %
        ○ production skipped: needs segment/beta@production
            targets of on: +1 −0 keys
            trafficAllocation: 90 → 100 % (drift)
            ~ rule 1 "staff in the EU": if in segment staff and country in [ES, FR], serve on 10 → 50 %,
                off 90 → 50 %
            ~ rule 1 → 2: if in segment contractors, serve off 100 %
            defaultRule: on 10 → 25 %, off 90 → 75 %

      flag/payments · kills/production.yaml:2
        ~ production updated: killed · kill: ordered in git
            !! killed: no → YES (everyone gets the default treatment)

      flag/banner
        - production deleted · prune: no longer in git

      + flag/search · new flag created: staging on 50 %, 1 rule, 2 targets · flags/search.yaml:1

      Withheld
        ! flag/legacy@production would be updated: changed outside git, which is reported here and not
            reverted · flags/legacy.yaml:1
            defaultTreatment: on → off
            → run \`flagkeel drift --adopt --only flag/legacy\` to write what is live into the files, and
                commit, or run \`flagkeel reconcile --revert-drift --only flag/legacy\` to write what git
                says

      Not managed here: 12 flags, 1 segment.
      New objects are shown in short; --verbose shows all of them.
      40 unchanged hidden
      Applied: 2 created, 1 updated, 1 deleted; 1 failed, 1 skipped; 40 unchanged; 1 withheld. Not in
          sync: segment/beta@production failed: \`flagkeel reconcile --only segment/beta\`;
          flag/new-checkout@production not sent: \`flagkeel reconcile --only flag/new-checkout\`;
          flag/legacy@production changed on the service, which the config leaves so; 43 other objects in
          sync.
      "
    `);
  });

  it('ends with one line when all of it went well', () => {
    const report = aReport(
      {
        changes: [aChange('flag/a', 'create'), aChange('segment/b@staging', 'activate')],
        unchanged: ['flag/c'],
      },
      {
        outcomes: new Map([
          ['flag/a', { status: 'applied' }],
          ['segment/b@staging', { status: 'applied' }],
        ]),
        converged: true,
      },
    );

    expect(text(report)).toMatch(
      /\nApplied: 2 created, 0 updated, 0 deleted; 1 unchanged\. In sync: 3 objects equal\.\n$/,
    );
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

  it('is one line that says so, and where', () => {
    expect(text(aReport({ unchanged }))).toBe(IN_SYNC);
  });

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

  it('is not called in sync while something is withheld', () => {
    const report = aReport({
      unchanged,
      withheld: [
        aWithheld('flag/old', 'delete', 'prune-off', {
          location: null,
        }),
      ],
    });

    expect(text(report)).toMatchInlineSnapshot(`
      "Nothing to write · flag/old would be deleted: no longer in git, and pruning is off
      Workspace Default at https://admin.example.com, commit 3f9c2ab

      Withheld
        ! flag/old would be deleted: no longer in git, and pruning is off
            → run \`flagkeel reconcile --prune --only flag/old\` to delete it, or write \`prune: true\` into
                flagkeel.yaml to have every run do that

      43 unchanged hidden
      planHash sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a
      Plan: 0 to create, 0 to update, 0 to delete, 0 requests; 43 unchanged; 1 withheld (flag/old).
      "
    `);
  });

  it('says a suspension once, with who asked for it and until when', () => {
    const held = ['flag/a', 'flag/b'].map((id) => aWithheld(id, 'update', 'suspended'));
    const until = '2026-10-03T14:00:00.000Z';
    const suspended = { reason: 'ana: INC-4711\u001b[31m', until };

    const printed = text(aReport({ withheld: held }, { suspended }), 200);

    expect(printed.match(/Suspended until/g)).toHaveLength(1);
    expect(printed).toContain(`Suspended until ${until}: ana: INC-4711`);
    expect(printed).not.toMatch(/→ resume|suspend: true|\u001b/);
  });
});
