import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../../src/model/diagnostic.js';
import type { Impact } from '../../../../src/model/impact.js';
import { failureMarkdown, planMarkdown } from '../../../../src/report/markdown/plan.js';
import { planText } from '../../../../src/report/text/plan.js';
import type { Outcomes } from '../../../../src/model/outcome.js';
import type { PlanReport } from '../../../../src/report/plan-report.js';
import { readMarkdown } from '../../../support/markdown-reading.js';
import { GOLDEN_PLANS } from '../golden/plans.js';
import { aChange, aField, aReport, aWithheld, keyChange } from '../../../support/plan-builder.js';
import { aStory } from '../../../support/plan-builder-story.js';

const ID = 'flag/new-checkout@production';
const RISKY: Impact = { flags: [], risks: ['all-of-production', 'kills'] };
/** What a plan of ours is made of; nothing else may come of what others wrote. */
const OUR_ELEMENTS = new Set(
  'a blockquote br code details h3 h4 li p pre strong sub summary table tbody td th thead tr ul'.split(
    ' ',
  ),
);

const RAMP: Impact = {
  flags: [
    {
      flag: 'new-checkout',
      environment: 'production',
      traffic: { atLeast: 15, atMost: 15 },
      keys: { atLeast: 0, atMost: 0, certain: true },
      listed: 0,
      moves: [
        {
          from: 'off',
          to: 'on',
          traffic: { atLeast: 15, atMost: 15 },
          keys: { atLeast: 0, atMost: 0, certain: true },
          names: [],
        },
      ],
      bounded: false,
    },
  ],
  risks: [],
};

function onOff(on: number): object[] {
  return [
    { treatment: 'on', size: on },
    { treatment: 'off', size: 100 - on },
  ];
}

/** The first table as a reader sees it, row by row. */
function tableOf(markdown: string): string[][] {
  const [table = ''] = /<table>[^]*?<\/table>/.exec(readMarkdown(markdown).html) ?? [];
  return [...table.matchAll(/<tr>([^]*?)<\/tr>/g)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd]>([^]*?)<\/t[hd]>/g)].map(([, cell = '']) =>
      cell
        .replaceAll('<br>', '\n')
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll('&quot;', '"'),
    ),
  );
}

const HOSTILE = [
  '`` ``` ```` code',
  '</details></summary></code></pre><script>alert(1)</script>',
  '@octocat @org/team cc @everyone',
  'fixes #123, GH-7, !12, ~bug, %1, $3, &4, octo/repo#9',
  '👩‍💻 🏳️‍🌈 :tada:',
  'abc\u202Etxt.exe\u2066',
  '<!-- never closed',
  '::error file=a.yaml::gotcha',
  '\n::set-output name=x::y\n##[add-mask]x',
  '| a | b |\n| --- | --- |',
  '# heading\n---\n1. list\n- list\n> quote',
  '[link](https://evil.example) https://evil.example www.evil.example me@evil.example ![x](y)',
  '/close\n/approve',
  '$\\alpha$ ~~~ *a* _b_ __c__ [^1]',
  '\ud800 lone',
];

function hostile(text: string): PlanReport {
  const id = `flag/${text}@production`;
  const change = aChange(ID, 'update', {
    id,
    ref: { kind: 'flag', name: text, environment: text },
    location: { file: `flags/${text}.yaml`, line: 1, column: 1 },
    fields: [aField('/description', text, `${text}!`), aField(`/${text}`, text, [text])],
  });
  return aReport(
    { changes: [change], withheld: [aWithheld(id, 'update', 'live-kill', { because: text })] },
    {
      notes: new Map([[id, { title: text, comment: text }]]),
      environments: ['staging', text],
      workspace: { id: 'w', name: text },
      impacts: new Map([[id, RISKY]]),
      unknowns: [{ code: 'no-git', message: text }],
    },
  );
}

describe('a plan as Markdown', () => {
  it.each(['<!-- flagkeel:plan 0123 -->', '<!--\nFlagkeel:plan 0123 -->'])(
    'has no marker of ours in text of others: %j',
    (text) => {
      const location = { file: text, line: 1, column: 1 };
      const problem: Diagnostic = {
        ...{ severity: 'error', code: 'wrong-value', message: text, location },
        excerpt: { text, from: 0, to: 1 },
      };

      expect(planMarkdown(hostile(text))).not.toMatch(/<!--/);
      expect(failureMarkdown(text, [problem])).not.toMatch(/<!--/);
    },
  );

  it('says where drift was not looked for, and nothing of it after a look at everything', () => {
    const changes = [aChange('flag/a', 'update')];
    const said = 'drift elsewhere was not';
    expect(planMarkdown(aReport({ changes, observed: 'touched' }))).toContain(said);
    expect(planMarkdown(aReport({ changes }))).not.toContain(said);
  });

  it('begins with the first line of the text, the numbers, and then the risks, unfolded', () => {
    const { html } = readMarkdown(
      planMarkdown({ ...aStory(), impacts: new Map([[ID, RISKY]]) }, { subject: 'merge' }),
    );

    expect(html.split('\n').slice(0, 7)).toEqual([
      '<h3>⚠️ flag/new-checkout in production will be updated: on 10 → 25 %, traffic 90 → 100 % · reaches nobody · !! 100 % of production · and 5 more changes, 2 more risks</h3>',
      '<p>Merging this creates 2, updates 3, deletes 1 in <code>production</code>, <code>staging</code>, the workspace; 1 change is held back.</p>',
      '<ul>',
      '<li>⚠️ <strong>deleted</strong>: <code>flag/banner@production</code></li>',
      '<li>⚠️ <strong>100 % of production</strong>: <code>flag/new-checkout@production</code></li>',
      '<li>⚠️ <strong>kills: everybody gets the default treatment</strong>: <code>flag/new-checkout@production</code>, <code>flag/payments@production</code></li>',
      '</ul>',
    ]);
  });

  it('says the only risk in the headline, and not once more', () => {
    const changes = [aChange('flag/pay@production', 'update')];
    const impacts = new Map([['flag/pay@production', { ...RISKY, risks: ['all-of-production'] }]]);
    const { html } = readMarkdown(planMarkdown(aReport({ changes }, { impacts } as object)));

    expect(html).toMatch(
      /^<h3>⚠️ flag\/pay in production will be updated · reaches nobody · !! 100 % of production<\/h3>\n<table>/,
    );
    expect(html).not.toContain('<li>');
  });

  it.each(GOLDEN_PLANS.filter(({ name }) => name !== 'in-sync'))(
    'begins with the first line of the text: $name',
    ({ report }) => {
      const [line = ''] = planText(report, { color: false, width: Infinity, showKeys: false })
        .trimStart()
        .split('\n');
      const { html } = readMarkdown(planMarkdown(report, { subject: 'merge' }));

      const [, title = ''] = /^<h3>(?:⛔ |⚠️ )?(.*)<\/h3>/.exec(html) ?? [];
      expect(title.replaceAll('\u2060', '')).toBe(line);
    },
  );

  it('opens no more than five of many risky objects', () => {
    const names = Array.from({ length: 9 }, (_, index) => `flag/f-${String(index)}@production`);
    const changes = names.map((id) => aChange(id, 'update'));
    const impacts = new Map(names.map((id) => [id, RISKY]));
    const { html } = readMarkdown(planMarkdown(aReport({ changes }, { impacts })));

    expect(html.match(/<details open>/g)).toHaveLength(5);
    expect(html.match(/<details>/g)).toHaveLength(4);
  });

  it('has objects down and environments across, protected ones first, with what happens in the cell', () => {
    const story = aStory({
      impacts: new Map([[ID, RAMP]]),
      killReasons: new Map([['flag/payments@production', 'INC-6012 double charges, by ana']]),
    });

    expect(tableOf(planMarkdown(story))).toEqual([
      ['object', 'production', 'staging', 'workspace level', 'commit'],
      ['flag/payments ⚠️', 'killed: INC-6012 double charges, by ana', '', '', ''],
      ['flag/banner', 'deleted (prune)', '', '', ''],
      ['segment/beta', '+120 −3 keys', '', '', ''],
      [
        'flag/new-checkout',
        [
          'on 10 → 25 %, traffic 90 → 100 % (drift)',
          '█░░░░░░░░░ → ███░░░░░░░',
          'targets of on: +1 −0 keys',
          '~ rule 1 "staff in the EU": if in segment staff and country in [ES, FR], serve on 10 → 50 %, off 90 → 50 %',
          '~ rule 1 → 2: if in segment contractors, serve off 100 %',
          'reaches: 15 % off → on',
        ].join('\n'),
        '',
        '',
        'Ramp checkout to 25 %',
      ],
      [
        'flag/search',
        '',
        'new: on 50 %\nrule 1: if in segment contractors, serve off 100 %',
        'new',
        '',
      ],
    ]);
    const { html } = readMarkdown(planMarkdown(story));
    expect(html.match(/<details open><summary>.*(?=<.summary>)/g)).toEqual(
      ['flag/payments', 'flag/banner'].map((key) => `<details open><summary><code>${key}</code>`),
    );
    expect(html.match(/<details>/g)).toHaveLength(3);
  });

  it.each([
    [0, 1, '░░░░░░░░░░ → █░░░░░░░░░'],
    [99, 100, '█████████░ → ██████████'],
    [50, 0, '█████░░░░░ → ░░░░░░░░░░'],
  ])('draws %d and %d per cent as bars that lie about neither end', (before, after, drawn) => {
    const fields = [aField('/defaultRule', onOff(before), onOff(after))];

    expect(planMarkdown(aReport({ changes: [aChange(ID, 'update', { fields })] }))).toContain(
      drawn.replace(' → ', '</code> → <code>'),
    );
  });

  it.each([
    ['serves a part of a part', { '/trafficAllocation': 40 }, 'new: on 5 % of 40 % of the traffic'],
    ['is killed', { '/killed': true }, 'new: killed: INC-1'],
    ['serves the default treatment alone', { '/defaultRule': onOff(0) }, 'new: off 100 %'],
  ])('says of a new flag that %s', (_, values, said) => {
    const all = { '/defaultTreatment': 'off', '/defaultRule': onOff(5), ...values };
    const fields = Object.entries(all).map(([path, value]) => aField(path, undefined, value));
    const changes = [aChange(ID, 'create', { fields })];
    const report = aReport({ changes }, { killReasons: new Map([[ID, 'INC-1']]) });

    expect(tableOf(planMarkdown(report))[1]?.[1]).toBe(said);
  });

  it('says a title once that all changes share', () => {
    const changes = ['staging', 'production'].map((name) => aChange(`flag/a@${name}`, 'update'));
    const notes = new Map(changes.map(({ id }) => [id, { title: 'Ramp a', comment: '' }]));
    const text = planMarkdown(aReport({ changes }, { notes }));

    expect(text).toContain('All of it: Ramp a\n');
    expect(tableOf(text)[0]).toEqual(['object', 'production', 'staging']);
  });

  it('tells of many objects with which the same happens in one row, and names them below', () => {
    const names = Array.from({ length: 12 }, (_, index) => `flag-${String(index)}`);
    const changes = names.map((name) => aChange(`flag/${name}@staging`, 'create'));
    const text = planMarkdown(aReport({ changes }));

    expect(tableOf(text).slice(1)).toEqual([['12 flags: flag-0, flag-1, flag-2, … 9 more', 'new']]);
    expect(text.match(/<details>/g)).toHaveLength(1);
    expect(text).toContain('flag-11');
  });

  it('goes on in a further table where there are more environments than fit side by side', () => {
    const environments = Array.from({ length: 8 }, (_, index) => `e${String(index)}`);
    const changes = environments.map((name) => aChange(`flag/a@${name}`, 'update'));
    const text = planMarkdown(aReport({ changes }, { environments }));

    expect(text.match(/^\| object.*/gm)).toEqual([
      '| object | e7 | e6 | e5 | e4 | e3 | e2 |',
      '| object | e1 | e0 |',
    ]);
  });

  it('says of a failed change that it failed', () => {
    const outcomes: Outcomes = new Map([[ID, { status: 'skipped', why: 'interrupted' }]]);
    const report = aReport({ changes: [aChange(ID, 'update')] }, { outcomes, converged: false });

    expect(tableOf(planMarkdown(report))[1]?.[1]).toBe('skipped\nchanged');
  });

  it('has the caveats of the text, and as a comment on a pull request no count of what is unmanaged', () => {
    const report = aReport(
      {
        unmanaged: { flags: 12, segments: 1 },
        notCompared: [{ id: 'segment/s@production', what: 'keys', why: 'counted' }],
      },
      { held: ['flag/broken'], stateless: true },
    );
    const text = planMarkdown(report);

    expect(text).toContain(
      '- ⚠️ Left as they are, because their specs or what they name are invalid',
    );
    expect(text).toContain('- ⚠️ Stateless');
    expect(text).toContain('Keys were counted and not compared&#58; segment/s');
    expect(text).toContain('Not managed here&#58; 12 flags, 1 segment.');
    expect(planMarkdown(report, { subject: 'merge' })).not.toContain('Not managed here');
  });

  it('has caveats of what changes, and none of the rest', () => {
    const of = (name: string) => ({
      closed: [{ environment: name, why: 'freeze', untilText: null }],
      reminders: [{ id: `flag/${name}@${name}`, what: 'expiry', due: '2026-10-01' }],
      leftToPeople: [{ id: `flag/${name}`, fields: [`of ${name}`] }],
      notCompared: [{ id: `segment/${name}@${name}`, what: 'keys', why: 'counted' }],
    });
    const [here, there] = [of('here'), of('elsewhere')];
    const ids = ['flag/here@here', 'segment/here@here'] as const;
    const text = planMarkdown(
      aReport(
        {
          changes: ids.map((id) => aChange(id, 'update')),
          notCompared: [...here.notCompared, ...there.notCompared],
        } as object,
        {
          closed: [...here.closed, ...there.closed],
          reminders: [...here.reminders, ...there.reminders],
          leftToPeople: [...here.leftToPeople, ...there.leftToPeople],
        } as object,
      ),
      { subject: 'merge' },
    );

    expect(text).toMatch(/here is closed to changes[^]*here&#64;\u2060?here was to be gone/);
    expect(text).toMatch(/counted and not compared&#58; segment\/here[^]*People own of here/);
    expect(text).not.toContain('elsewhere');
  });

  it('says once that a flag goes, and names it again where the headline is about another', () => {
    const gone = aChange('flag/banner@production', 'delete', { reason: 'prune' });
    const risky = aChange('flag/pay@production', 'update');
    const impacts = new Map([['flag/pay@production', RISKY]]);
    const alone = planMarkdown(aReport({ changes: [gone] }), { subject: 'merge' });
    const beside = planMarkdown(aReport({ changes: [gone, risky] }, { impacts }));

    expect(alone).toMatch(/^### flag\/banner in production will be deleted/);
    expect(alone).not.toContain('- ⚠️ **deleted**');
    expect(beside).toContain('- ⚠️ **deleted**');
  });

  it('marks each change by a sign that forges colour', () => {
    const rows = planMarkdown(aStory()).match(/^[!+~-] (?!⚠).*/gm);

    expect(rows?.map((row) => row.slice(0, 2)).toSorted()).toEqual([
      '! ',
      '! ',
      '! ',
      '! ',
      '+ ',
      '+ ',
      '- ',
    ]);
  });

  it('counts the keys of segments and names none', () => {
    const text = planMarkdown(aStory());

    expect(text).toContain('+120 −3 keys');
    expect(text).not.toContain('user-001');
    expect(text).not.toContain('qa-bot-1');
  });

  it('tells what was different already from what the pull request causes', () => {
    const text = planMarkdown(
      aReport({
        changes: [aChange('flag/mine@staging', 'update')],
        withheld: [
          aWithheld('flag/theirs@staging', 'update', 'not-reviewed', { reason: 'drift' }),
          aWithheld('flag/held@staging', 'update', 'live-kill'),
        ],
      }),
      { subject: 'merge' },
    );

    expect(text.indexOf('flag/held@staging')).toBeLessThan(text.indexOf('Already different'));
    expect(text).toMatch(
      /Already different before this pull request: 1 change \(<code>flag\/theirs&#64;staging<\/code>; 1 changed outside git\)<[^]*flag\/theirs/,
    );
    expect(text).toMatch(/^### flag\/mine in staging will be updated\n/);
    expect(text).toContain(
      'Merging this updates 1 in <code>staging</code>; 1 change is held back.\n',
    );
  });

  it('says how a merge goes on, of what it is, and where the rest is', () => {
    const text = planMarkdown(aStory(), {
      subject: 'merge',
      target: 'main',
      planUrl: 'https://ci.example/run/7?a=(b)',
      madeAt: new Date('2026-11-21T22:10:09Z'),
    });

    const { html, links } = readMarkdown(text);
    expect(html).toContain(`plan <code>sha256:${'0a'.repeat(32)}</code>`);
    expect(text).toContain('commit <code>3f9c2ab</code>');
    expect(html).toContain('made 2026-11-21 22:10 UTC');
    expect(links).toEqual(['https://ci.example/run/7?a=%28b%29']);
    expect(text).toContain('After the merge into <code>main</code>');
  });

  it.each([
    ['nothing to write', aReport(), '### ✅ Applying this writes nothing'],
    [
      'a guard',
      aReport(
        { changes: [aChange(ID, 'delete')] },
        { guardFindings: [{ guard: 'maxDeletes', environment: null, found: 9, limit: 5 }] },
      ),
      '### ⛔ A guard refuses this',
    ],
  ])('says of %s what it means', (_, report, start) => {
    expect(planMarkdown(report).startsWith(start)).toBe(true);
  });

  it.each(HOSTILE)('shows %j as text, and nothing comes of it', (text) => {
    const markdown = planMarkdown(hostile(text), { subject: 'merge', target: text, planUrl: text });

    expectHarmless(markdown);
  });

  it.each(HOSTILE)('shows %j harmlessly where there is no plan', (text) => {
    const location = { file: text, line: 1, column: 1 };
    const excerpt = { text, from: 0, to: 1 };
    const markdown = failureMarkdown(text, [
      { severity: 'error', code: 'x', location, message: text, excerpt },
    ]);

    expectHarmless(markdown);
  });

  it.each([1, 60_000, 65_536, 5_000_000])(
    'stays whole and in its budget with %d characters',
    (size) => {
      const one = aChange(ID, 'update', {
        fields: [aField('/description', 'a', '`'.repeat(size))],
      });
      // A few thousand changes are far beyond the budget, as the largest text is.
      const many = Array.from({ length: Math.min(Math.ceil(size / 400), 2_500) }, (_, index) =>
        aChange(`flag/f-${String(index)}@production`, 'update', {
          fields: [aField('/description', '<', '|'.repeat(150))],
        }),
      );
      const impacts = new Map(many.map(({ id }) => [id, RISKY]));

      for (const changes of [[one], many]) {
        const text = planMarkdown(aReport({ changes }, { impacts }), { subject: 'merge' });

        expect(text.length).toBeLessThanOrEqual(60_000);
        expectHarmless(text);
        expect(text).toContain(`plan <code>sha256`);
        if (changes === many) expect(text).toContain('**100 % of production**');
        if (changes.length > 1_000) expect(text).toMatch(/Cut to fit: \d+ × table, \d+ × detail/);
      }
    },
    60_000,
  );

  it('cuts what matters least first, and counts it', () => {
    const changes = ['a', 'b'].map((name) =>
      aChange(`flag/${name}@production`, 'update', {
        fields: [aField('/rules', name, `${name} `.repeat(500))],
        keys: keyChange([]),
      }),
    );
    const impacts = new Map([['flag/b@production', RISKY]]);

    const text = planMarkdown(aReport({ changes }, { impacts }), { budget: 3_000 });

    expect(text).toContain('<summary><code>flag/b</code></summary>');
    expect(text).not.toContain('<summary><code>flag/a</code></summary>');
    expect(text).toContain('Cut to fit: 1 × detail.');
  });
});

function expectHarmless(markdown: string): void {
  const { balanced, prose, elements, links } = readMarkdown(markdown);
  expect(balanced).toBe(true);
  expect(elements.filter((name) => !OUR_ELEMENTS.has(name))).toEqual([]);
  expect(links).toEqual([]);
  expect(prose).not.toMatch(/@[\w-]|(?:^|\W)[#!~$%&][\w"]|GH-\d|:\w+:|:\/\/|www\.|\[\^\w/);
  // Markdown itself goes to the output of a job, too.
  expect(markdown).not.toMatch(/^\s*::|##\[/m);
  expect(markdown).not.toMatch(/^\s*\/\w/m);
  expect(markdown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
}
