import { describe, expect, it } from 'vitest';
import { shareBar, shareTexts, type Shares } from '../../../src/report/html/parts.js';

const FLAG: Shares = {
  killed: false,
  defaultRule: [
    { treatment: 'off', size: 50 },
    { treatment: 'on', size: 30 },
    { treatment: 'new', size: 20 },
  ],
  trafficAllocation: 50,
  defaultTreatment: 'off',
};

const classesOf = (text: string): string[] =>
  [...text.matchAll(/class="(?:key )?((?:off|tone)\d*)"/g)].map(([, name = '']) => name);

describe('the shares of a flag', () => {
  it('show the default treatment in grey, whatever its place, and the rest of the traffic too', () => {
    const { text } = shareBar(FLAG);

    // Grey is the ground of the bar.
    expect(classesOf(text)).toEqual(['tone0', 'tone1']);
    expect([...text.matchAll(/x="(\d+)" width="(\d+)"/g)].map(([, ...at]) => at)).toEqual([
      ['25', '15'],
      ['40', '10'],
    ]);
  });

  it('have a legend of words with the colours of the bar', () => {
    const { text } = shareTexts(FLAG);

    expect(classesOf(text)).toEqual(['off', 'tone0', 'tone1']);
    expect(
      text
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    ).toBe('off 50 %, on 30 %, new 20 %');
  });

  it('are pale while a kill keeps them from being served', () => {
    expect(shareBar({ ...FLAG, killed: true }).text).toContain('class="share unserved"');
    expect(shareBar(FLAG).text).not.toContain('unserved');
  });
});
