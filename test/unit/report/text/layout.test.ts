import { describe, expect, it } from 'vitest';
import { cut, displayWidth } from '../../../../src/report/text/layout.js';

describe('the width of a text', () => {
  it.each([
    ['checkout', 8],
    ['日本', 4],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    ['a\u200bb', 2],
    ['क्षि', 2],
  ])('is what a terminal gives to %s', (text, columns) => {
    expect(displayWidth(text)).toBe(columns);
  });

  it('is kept to by a cut, which never goes through a character', () => {
    expect(cut('日本語', 6)).toBe('日本語');
    expect(cut('日本語', 4)).toBe('日…');
    expect(cut('a👩‍👩‍👧b', 3)).toBe('a…');
  });
});
