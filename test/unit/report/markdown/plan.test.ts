import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../../src/model/diagnostic.js';
import type { Impact, Risk } from '../../../../src/model/impact.js';
import { failureMarkdown, planMarkdown } from '../../../../src/report/markdown/plan.js';
import { planText } from '../../../../src/report/text/plan.js';
import type { PlanReport } from '../../../../src/report/plan-report.js';
import { readMarkdown } from '../../../support/markdown-reading.js';
import { GOLDEN_PLANS } from '../golden/plans.js';
import { aChange, aField, aReport, aWithheld, keyChange } from '../../../support/plan-builder.js';
import { onOff } from '../../../support/on-off.js';

const ID = 'flag/new-checkout@production';
const RISKY: Impact = { flags: [], risks: ['all-of-production', 'kills'] };
/** What a plan of ours is made of; nothing else may come of what others wrote. */
const OUR_ELEMENTS = new Set(
  'a blockquote br code details h3 h4 li p pre strong sub summary table tbody td th thead tr ul'.split(
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

  it.each(GOLDEN_PLANS.filter(({ name }) => name !== 'in-sync'))(
    'begins with the first line of the text: $name',
    ({ report }) => {
      const [line = ''] = planText(report, { color: false, width: Infinity, showKeys: false })
        .trimStart()
        .split('\n');
      const { html } = readMarkdown(planMarkdown(report, { subject: 'merge' }));

      const [, title = ''] = /^<h3>(?:⛔ |⚠️ )?(.*)<\/h3>/.exec(html) ?? [];
      expect(title.replaceAll('\u2060', '').replaceAll('&quot;', '"')).toBe(line);
    },
  );

  it('counts what is not managed, though not on a pull request', () => {
    const report = aReport({ unmanaged: { flags: 12, segments: 1 } });

    expect(planMarkdown(report)).toContain('Not managed here&#58; 12 flags, 1 segment.');
    expect(planMarkdown(report, { subject: 'merge' })).not.toContain('Not managed here');
  });

  it('opens no more than five of many risky objects', () => {
    const names = Array.from({ length: 9 }, (_, index) => `flag/f-${String(index)}@production`);
    const changes = names.map((id) => aChange(id, 'update'));
    const impacts = new Map(names.map((id) => [id, RISKY]));
    const { html } = readMarkdown(planMarkdown(aReport({ changes }, { impacts })));

    expect(html.match(/<details open>/g)).toHaveLength(5);
    expect(html.match(/<details>/g)).toHaveLength(4);
  });

  it('names the risk of the largest change first, whatever its rank', () => {
    const risky = (name: string, percent: number, risk: Risk) => {
      const traffic = { atLeast: percent, atMost: percent };
      const keys = { atLeast: 0, atMost: 0, certain: true };
      const place = { flag: name, environment: 'production', listed: 0, bounded: false };
      const impact: Impact = { flags: [{ ...place, traffic, keys, moves: [] }], risks: [risk] };
      return [`flag/${name}@production`, impact] as const;
    };
    const impacts = [
      risky('small', 10, 'all-of-production'),
      risky('large', 90, 'serves-nobody'),
    ] as const;
    const changes = impacts.map(([id]) => aChange(id, 'update'));
    const text = planMarkdown(aReport({ changes }, { impacts: new Map(impacts) }));

    expect(text.match(/(?<=^- ⚠️ \*\*).*(?=\*\*)/gm)).toEqual([
      'serves nobody',
      '100 % of production',
    ]);
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

    expect(readMarkdown(planMarkdown(report)).html).toContain(`<td><strong>${said}</strong>`);
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

  it.each([1, 60_000, 1_000_000])(
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
