import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText, cut, encodedBytes, truncateNote } from '../../../src/model/audit-note.js';

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3_000, size: 'max' }),
  fc.string({ unit: 'grapheme', maxLength: 3_000, size: 'max' }),
  fc.string({
    unit: fc.constantFrom('👩', '\u0301', '\u200D', '\u001B', '\u202E', '\n', 'a', '\uD83D', ' '),
    maxLength: 3_000,
    size: 'max',
  }),
);

const FORBIDDEN = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

describe('words', () => {
  it('fit and are clean, whatever a commit says', () => {
    fc.assert(
      fc.property(anyText, anyText, (title, comment) => {
        const words = truncateNote({ title, comment }, 'flagkeel: update flag/x');

        expect(words.title).not.toBe('');
        expect(words.comment).not.toBe('');
        expect(Array.from(words.title).length).toBeLessThanOrEqual(100);
        expect(Array.from(words.comment).length).toBeLessThanOrEqual(1_000);
        expect(new URLSearchParams({ ...words }).toString().length).toBeLessThanOrEqual(4_000);
        expect(encodedBytes(words.title + words.comment)).toBeLessThanOrEqual(4_000);
        expect(words.title).not.toMatch(/\n/);
        expect(words.title).not.toMatch(FORBIDDEN);
        expect(words.comment).not.toMatch(FORBIDDEN);
        expect(truncateNote(words, 'x')).toEqual(words);
      }),
    );
  });

  it('are cut only where they are too long, and keep the beginning', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 50 }), (text, max) => {
        const short = cut(text, max);

        expect(Array.from(short).length).toBeLessThanOrEqual(max);
        if (Array.from(text).length <= max) expect(short).toBe(text);
        else expect(text.startsWith(short.slice(0, -1))).toBe(true);
      }),
    );
  });

  it('are clean after one cleaning', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(cleanText(cleanText(text))).toBe(cleanText(text));
      }),
    );
  });
});
