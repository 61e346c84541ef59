import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/model/run.js';
import { planText } from '../../../src/report/plan-text.js';
import type { PlanReport } from '../../../src/report/plan-report.js';
import { aChange, aField, aReport, aWithheld, keyChange } from '../../support/plan-builder.js';
import { aStory } from '../../support/plan-builder-story.js';

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
  return { ...story, outcomes, converged };
}

describe('a plan', () => {
  it('tells what will be, by environment in their order', () => {
    expect(text(aStory())).toMatchInlineSnapshot(`
      "Workspace Default at https://admin.example.com, commit 3f9c2ab

      workspace level
        + flag/search will be created · flags/search.yaml:1
            description "Search, rewritten" · tags search, web

      staging
        + flag/search will be created · flags/search.yaml:1
            treatments on, off · targets of on +2 −0 keys · defaultTreatment off · 1 rule ·
                defaultRule on 50 %, off 50 %

      production
        ~ segment/beta will be updated · segments/beta.yaml:1
            +120 −3 keys
        ~ flag/new-checkout will be updated · flags/checkout/new-checkout.yaml:18 · 9d41c0f Ramp checkout
            to 25 %
            targets of on: +1 −0 keys
            trafficAllocation: 90 → 100 % (drift)
            ~ rule 1 "staff in the EU": if in segment staff and country in [ES, FR], serve on 10 → 50 %,
                off 90 → 50 %
            ~ rule 1 → 2: if in segment contractors, serve off 100 %
            defaultRule: on 10 → 25 %, off 90 → 75 %
        ~ flag/payments will be updated · kill: ordered in git · kills/production.yaml:2
            !! killed: no → YES (everyone gets the default treatment)
        - flag/banner will be deleted · prune: no longer in git

      Withheld
        ! flag/legacy@production would be updated: changed outside git, which is reported here and not
            reverted · flags/legacy.yaml:1
            defaultTreatment: on → off
            → run with --revert-drift, or take the change over with drift --adopt

      Not managed here: 12 flags, 1 segment.
      40 unchanged hidden
      planHash sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a
      Plan: 2 to create, 3 to update, 1 to delete, 9 requests; 40 unchanged; 1 withheld.
      "
    `);
  });

  it('hangs its paragraphs in on a narrow terminal and names keys when asked to', () => {
    expect(text(aStory(), 60, true)).toMatchInlineSnapshot(`
      "Workspace Default at https://admin.example.com, commit
          3f9c2ab

      workspace level
        + flag/search will be created · flags/search.yaml:1
            description "Search, rewritten" · tags search, web

      staging
        + flag/search will be created · flags/search.yaml:1
            treatments on, off · targets of on +2 −0 keys: +
                qa-bot-1, user-7 · defaultTreatment off · 1 rule ·
                defaultRule on 50 %, off 50 %

      production
        ~ segment/beta will be updated · segments/beta.yaml:1
            +120 −3 keys: + user-001, user-002, user-003,
                user-004, user-005, … 115 more; − gone-001,
                gone-002, gone-003
        ~ flag/new-checkout will be updated ·
            flags/checkout/new-checkout.yaml:18 · 9d41c0f Ramp
            checkout to 25 %
            targets of on: +1 −0 keys: + user-1
            trafficAllocation: 90 → 100 % (drift)
            ~ rule 1 "staff in the EU": if in segment staff and
                country in [ES, FR], serve on 10 → 50 %,
                off 90 → 50 %
            ~ rule 1 → 2: if in segment contractors, serve
                off 100 %
            defaultRule: on 10 → 25 %, off 90 → 75 %
        ~ flag/payments will be updated · kill: ordered in git ·
            kills/production.yaml:2
            !! killed: no → YES (everyone gets the default
                treatment)
        - flag/banner will be deleted · prune: no longer in git

      Withheld
        ! flag/legacy@production would be updated: changed outside
            git, which is reported here and not reverted ·
            flags/legacy.yaml:1
            defaultTreatment: on → off
            → run with --revert-drift, or take the change over
                with drift --adopt

      Not managed here: 12 flags, 1 segment.
      40 unchanged hidden
      planHash
          sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a
      Plan: 2 to create, 3 to update, 1 to delete, 9 requests; 40
          unchanged; 1 withheld.
      "
    `);
  });

  it('says in colour what it says without', () => {
    const colored = planText(aStory(), { color: true, width: 100, showKeys: false });

    expect(stripVTControlCharacters(colored)).toBe(text(aStory()));
    expect(colored).toContain('\u001b[1m\u001b[31m!! killed: no → YES\u001b[39m\u001b[22m');
  });

  it('puts an environment that nobody ordered behind those in order', () => {
    const changes = ['flag/a@zoo', 'flag/a@production', 'flag/a'].map((id) =>
      aChange(id, 'update'),
    );

    const titles = text(aReport({ changes })).match(/^(?:workspace level|zoo|production)$/gm);

    expect(titles).toEqual(['workspace level', 'production', 'zoo']);
  });

  it('names the commit, the service, local changes, and what the run could not know', () => {
    const report = aReport(
      { changes: [aChange('flag/a', 'update')], observed: 'touched' },
      { revision: { commit: null, dirty: true }, stateless: true },
    );

    expect(text(report)).toMatchInlineSnapshot(`
      "Workspace Default at https://admin.example.com, no commit with local changes

      workspace level
        ~ flag/a will be updated · flags/a.yaml:1

      Stateless: drift cannot be told from a change in git, and nothing is pruned.
      Only what changed in git was looked at; drift elsewhere was not.
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
        '  ✗ production: 12 deletions, the limit is 5 (maxDeletes)',
        '  ✗ 41 % of the keys would be removed, the limit is 20 % (maxKeyRemovalPercent)',
        '      → once reviewed, this plan and no other passes with --approve',
        `          ${report.planHash}`,
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
        '  ~ flag/a will be updated · conflict: changed in git and outside git · flags/a.yaml:1',
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
      { changes: [change], withheld: [aWithheld(evil, 'update', 'suspended', { wayOut: evil })] },
      {
        words: new Map([[change.id, { title: evil, comment: evil }]]),
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

describe('an apply', () => {
  it('tells what was done, in another tense than the plan', () => {
    expect(text(applied([], true))).toMatchInlineSnapshot(`
      "Workspace Default at https://admin.example.com, commit 3f9c2ab

      workspace level
        + flag/search created · flags/search.yaml:1
            description "Search, rewritten" · tags search, web

      staging
        + flag/search created · flags/search.yaml:1
            treatments on, off · targets of on +2 −0 keys · defaultTreatment off · 1 rule ·
                defaultRule on 50 %, off 50 %

      production
        ~ segment/beta updated · segments/beta.yaml:1
            +120 −3 keys
        ~ flag/new-checkout updated · flags/checkout/new-checkout.yaml:18 · 9d41c0f Ramp checkout to 25 %
            targets of on: +1 −0 keys
            trafficAllocation: 90 → 100 % (drift)
            ~ rule 1 "staff in the EU": if in segment staff and country in [ES, FR], serve on 10 → 50 %,
                off 90 → 50 %
            ~ rule 1 → 2: if in segment contractors, serve off 100 %
            defaultRule: on 10 → 25 %, off 90 → 75 %
        ~ flag/payments updated · kill: ordered in git · kills/production.yaml:2
            !! killed: no → YES (everyone gets the default treatment)
        - flag/banner deleted · prune: no longer in git

      Withheld
        ! flag/legacy@production would be updated: changed outside git, which is reported here and not
            reverted · flags/legacy.yaml:1
            defaultTreatment: on → off
            → run with --revert-drift, or take the change over with drift --adopt

      Not managed here: 12 flags, 1 segment.
      40 unchanged hidden
      Applied: 2 created, 3 updated, 1 deleted; 40 unchanged; 1 withheld. In sync but for what is
          withheld.
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
      "Workspace Default at https://admin.example.com, commit 3f9c2ab

      workspace level
        + flag/search created · flags/search.yaml:1
            description "Search, rewritten" · tags search, web

      staging
        + flag/search created · flags/search.yaml:1
            treatments on, off · targets of on +2 −0 keys · defaultTreatment off · 1 rule ·
                defaultRule on 50 %, off 50 %

      production
        ✗ segment/beta partly applied, then failed: cannot add keys to segment "beta": the service is
            read-only (REJECTED, status 400, transaction t-17) · segments/beta.yaml:1
            +120 −3 keys
        ○ flag/new-checkout skipped: needs segment/beta@production · flags/checkout/new-checkout.yaml:18 ·
            9d41c0f Ramp checkout to 25 %
            targets of on: +1 −0 keys
            trafficAllocation: 90 → 100 % (drift)
            ~ rule 1 "staff in the EU": if in segment staff and country in [ES, FR], serve on 10 → 50 %,
                off 90 → 50 %
            ~ rule 1 → 2: if in segment contractors, serve off 100 %
            defaultRule: on 10 → 25 %, off 90 → 75 %
        ~ flag/payments updated · kill: ordered in git · kills/production.yaml:2
            !! killed: no → YES (everyone gets the default treatment)
        - flag/banner deleted · prune: no longer in git

      Withheld
        ! flag/legacy@production would be updated: changed outside git, which is reported here and not
            reverted · flags/legacy.yaml:1
            defaultTreatment: on → off
            → run with --revert-drift, or take the change over with drift --adopt

      Not managed here: 12 flags, 1 segment.
      40 unchanged hidden
      Applied: 2 created, 1 updated, 1 deleted; 1 failed, 1 skipped; 40 unchanged; 1 withheld. Not in
          sync: differences are left after the apply.
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
      /\nApplied: 2 created, 0 updated, 0 deleted; 1 unchanged\. In sync\.\n$/,
    );
  });

  it('counts a change that the apply never came to as skipped', () => {
    const report = aReport({ changes: [aChange('flag/a', 'create')] }, { outcomes: new Map() });

    expect(text(report)).toContain('○ flag/a skipped: the apply ended before it');
    expect(text(report)).toContain('0 created, 0 updated, 0 deleted; 1 skipped; 0 unchanged.\n');
  });
});

describe('nothing to do', () => {
  const unchanged = Array.from({ length: 43 }, (_, index) => `flag/${String(index)}`);

  it('is one line that says so', () => {
    expect(text(aReport({ unchanged }))).toBe('In sync: 43 objects equal, nothing to write.\n');
  });

  it('is the same line after an apply that had nothing to apply', () => {
    const report = aReport({ unchanged }, { outcomes: new Map(), converged: true });
    expect(text(report)).toBe('In sync: 43 objects equal, nothing to write.\n');
  });

  it('is not called in sync where the second look found differences', () => {
    const report = aReport({ unchanged }, { outcomes: new Map(), converged: false });
    expect(text(report)).toBe(
      'Applied: 0 created, 0 updated, 0 deleted; 43 unchanged. Not in sync: differences are left after the\n    apply.\n',
    );
  });

  it('is not called in sync while something is withheld', () => {
    const report = aReport({
      unchanged,
      withheld: [
        aWithheld('flag/old', 'delete', 'prune-off', {
          location: null,
          wayOut: 'set prune: true, or declare it again',
        }),
      ],
    });

    expect(text(report)).toMatchInlineSnapshot(`
      "Workspace Default at https://admin.example.com, commit 3f9c2ab

      Withheld
        ! flag/old would be deleted: no longer in git, and pruning is off
            → set prune: true, or declare it again

      43 unchanged hidden
      planHash sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a
      Plan: 0 to create, 0 to update, 0 to delete, 0 requests; 43 unchanged; 1 withheld.
      "
    `);
  });
});
