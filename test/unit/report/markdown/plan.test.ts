import { describe, expect, it } from 'vitest';
import type { Impact } from '../../../../src/model/impact.js';
import { failureMarkdown } from '../../../../src/report/markdown/failure.js';
import { planMarkdown } from '../../../../src/report/markdown/plan.js';
import type { PlanReport } from '../../../../src/report/plan-report.js';
import { readMarkdown } from '../../../support/markdown-reading.js';
import { aChange, aField, aReport, aWithheld, keyChange } from '../../../support/plan-builder.js';
import { aStory } from '../../../support/plan-builder-story.js';

const ID = 'flag/new-checkout@production';
const RISKY: Impact = { flags: [], risks: ['all-of-production', 'kills'] };
/** What a plan of ours is made of; nothing else may come of what others wrote. */
const OUR_ELEMENTS = new Set(
  'a blockquote code details h3 h4 li p pre strong sub summary table tbody td th thead tr ul'.split(
    ' ',
  ),
);

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
    { changes: [change], withheld: [aWithheld(id, 'update', 'live-kill', { wayOut: text })] },
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
  it('says where drift was not looked for, and nothing of it after a look at everything', () => {
    const changes = [aChange('flag/a', 'update')];
    const said = 'drift elsewhere was not';
    expect(planMarkdown(aReport({ changes, observed: 'touched' }))).toContain(said);
    expect(planMarkdown(aReport({ changes }))).not.toContain(said);
  });

  it('begins with the verdict, and then the risks, unfolded', () => {
    const { html } = readMarkdown(
      planMarkdown({ ...aStory(), impacts: new Map([[ID, RISKY]]) }, { subject: 'merge' }),
    );

    expect(html.split('\n').slice(0, 6)).toEqual([
      '<h3>⚠️ Merging this creates 2, updates 3, deletes 1 in the workspace, <code>staging</code>, <code>production</code>, with 2 risks to look at; 1 change is held back</h3>',
      '<ul>',
      '<li>⚠️ <strong>deleted</strong>: <code>flag/banner@production</code></li>',
      '<li>⚠️ <strong>100 % of production</strong>: <code>flag/new-checkout@production</code></li>',
      '<li>⚠️ <strong>kills: everybody gets the default treatment</strong>: <code>flag/new-checkout@production</code></li>',
      '</ul>',
    ]);
  });

  it('has a table for each environment, and details folded', () => {
    const { html } = readMarkdown(planMarkdown(aStory()));

    expect(html.match(/<h4>.*<\/h4>/g)).toEqual([
      '<h4>workspace level: 1 change</h4>',
      '<h4>staging: 1 change</h4>',
      '<h4>production: 4 changes</h4>',
      '<h4>Held back: 1</h4>',
    ]);
    expect(html).toContain('<td>changed, +120 −3 keys</td>');
    expect(html.match(/<details>/g)).toHaveLength(6);
  });

  it('marks each change by a sign that forges colour', () => {
    const fences = planMarkdown(aStory()).match(/(?<=```diff\n).*/g);

    expect(fences?.map((row) => row.slice(0, 2)).toSorted()).toEqual([
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
          aWithheld('flag/theirs@staging', 'update', 'not-reviewed'),
          aWithheld('flag/held@staging', 'update', 'live-kill'),
        ],
      }),
      { subject: 'merge' },
    );

    expect(text.indexOf('flag/held@staging')).toBeLessThan(text.indexOf('Already different'));
    expect(text).toMatch(/Already different before this pull request: 1 change<[^]*flag\/theirs/);
    expect(text).toContain(
      '### Merging this updates 1 in <code>staging</code>; 1 change is held back',
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
      const many = Array.from({ length: Math.ceil(size / 400) }, (_, index) =>
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

    expect(text).toContain('<summary><code>flag/b&#64;production</code></summary>');
    expect(text).not.toContain('<summary><code>flag/a&#64;production</code></summary>');
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
