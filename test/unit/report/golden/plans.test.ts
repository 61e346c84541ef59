import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { planText } from '../../../../src/report/text/plan.js';
import { GOLDEN_PLANS, type GoldenPlan } from './plans.js';

/** A pipe has no edge. */
const WIDTHS = { '60 columns': 60, '100 columns': 100, '200 columns': 200, 'a pipe': Infinity };
const LINES_OF_FIVE_SECONDS = 3;

function printed({ report }: GoldenPlan, width: number, color = false): string {
  return planText(report, { color, width, showKeys: false });
}

/** Every width once, and colours as they are written, with the escape character shown. */
function golden(plan: GoldenPlan): string {
  const plain = Object.entries(WIDTHS).map(
    ([name, width]) => `===== ${name}\n${printed(plan, width)}`,
  );
  const colored = printed(plan, WIDTHS['100 columns'], true).replaceAll('\u001b', '␛');
  return [...plain, `===== 100 columns, in colour\n${colored}`].join('\n');
}

describe.each(GOLDEN_PLANS)('the plan of $name', (plan) => {
  it('is printed to the last character as it was agreed on', async () => {
    await expect(golden(plan)).toMatchFileSnapshot(`./texts/${plan.name}.txt`);
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
