import { isDeepStrictEqual, stripVTControlCharacters } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { planDocument, type PlanDocument } from '../../../../src/report/json/plan.js';
import { planMarkdown } from '../../../../src/report/markdown/plan.js';
import { planText } from '../../../../src/report/text/plan.js';
import { projectText } from '../../docs/page.js';
import { GOLDEN_PLANS, type GoldenPlan } from './plans.js';

const schema = JSON.parse(projectText('schemas/plan.schema.json')) as object;
const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);

function problemsOf(document: unknown): unknown {
  return validate(JSON.parse(JSON.stringify(document))) ? [] : validate.errors;
}

/** A pipe has no edge. */
const WIDTHS = { '60 columns': 60, '100 columns': 100, '200 columns': 200, 'a pipe': Infinity };
const LINES_OF_FIVE_SECONDS = 3;

function printed({ report }: GoldenPlan, width: number, color = false, showKeys = false): string {
  return planText(report, { color, width, showKeys });
}

/**
 * In colour, with the escape character shown: a test below derives from it what is printed without colour and at other
 * widths. The long plans show that in full, and the names of keys.
 */
function golden(plan: GoldenPlan): string {
  const colored = printed(plan, WIDTHS['100 columns'], true).replaceAll('\u001b', '␛');
  if (!plan.inFull) return colored;
  return [
    `===== a pipe\n${printed(plan, Infinity, false, true)}`,
    `===== 60 columns\n${printed(plan, WIDTHS['60 columns'])}`,
    `===== 100 columns, in colour\n${colored}`,
  ].join('\n');
}

/** The members that are not as in the other document, and of each change those that are not. */
function news(document: PlanDocument, other: PlanDocument): object {
  const differing = (after: object, before: object): object => {
    const known = new Map(Object.entries(before));
    return Object.fromEntries(
      Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(value, known.get(name))),
    );
  };
  const changes = document.changes.map((change, at) => {
    return { id: change.id, ...differing(change, other.changes[at] ?? {}) };
  });
  return { ...differing(document, other), changes };
}

/** As a comment on a pull request. */
function comment({ report }: GoldenPlan): string {
  return planMarkdown(report, {
    ...{ subject: 'merge', target: 'main', planUrl: 'https://ci.example/run/7?a=(b)' },
    madeAt: new Date('2026-11-21T22:10:09Z'),
  });
}

describe.each(GOLDEN_PLANS)('the plan of $name', (plan) => {
  it('is printed to the last character as it was agreed on', async () => {
    await expect(golden(plan)).toMatchFileSnapshot(`./texts/${plan.name}.txt`);
    await expect(comment(plan)).toMatchFileSnapshot(`./comments/${plan.name}.md`);
  });

  it('is a JSON document of the format, which names keys only when asked to', async () => {
    const hidden = planDocument(plan.report);
    const shown = planDocument(plan.report, { showKeys: true });

    expect([problemsOf(hidden), problemsOf(shown)]).toEqual([[], []]);
    expect(JSON.stringify(hidden) + comment(plan)).not.toMatch(/"(?:user|gone|qa-bot)-\d/);
    if (!plan.inFull) return;
    const documents = plan.before
      ? news(hidden, planDocument(plan.before))
      : [hidden, news(shown, hidden)];
    // A long list of keys is one line.
    const short = (_: string, value: unknown): unknown =>
      Array.isArray(value) && value.length > 9 ? value.join(' ') : value;
    await expect(`${JSON.stringify(documents, short, 2)}\n`).toMatchFileSnapshot(
      `./documents/${plan.name}.json`,
    );
  });

  it('is understood in five seconds, from its first three lines', () => {
    // A line that is broken into rows on a narrow terminal is one line to the eye.
    const lines = printed(plan, Infinity)
      .split('\n')
      .filter((line) => line !== '');

    expect(lines.slice(0, LINES_OF_FIVE_SECONDS).join('\n')).toContain(plan.inFiveSeconds);
  });

  it('says the same in colour and without, and breaks between words alone', () => {
    const words = printed(plan, Infinity).split(/\s+/);

    for (const width of Object.values(WIDTHS)) {
      const plain = printed(plan, width);
      expect(stripVTControlCharacters(printed(plan, width, true))).toBe(plain);
      expect(plain.split(/\s+/)).toEqual(words);
    }
  });
});
