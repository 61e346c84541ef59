import type { ChangeNote } from './outcome.js';

/** Limits of the contract and of the services behind it, in code points. */
const MAX_TITLE = 100;
const MAX_COMMENT = 1_000;
/** Limit for the query `title=…&comment=…` in bytes, where each byte that needs percent-encoding counts as three. */
const MAX_QUERY_BYTES = 4_000;

const ELLIPSIS = '…';
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Title and comment ready to send. @param fallback replaces one that cleaning leaves empty. */
export function truncateNote(note: ChangeNote, fallback: string): ChangeNote {
  const spare = cut(cleanLine(fallback), MAX_TITLE) || 'flagkeel';
  const title = cut(cleanLine(note.title), MAX_TITLE) || spare;
  const left = MAX_QUERY_BYTES - encodedBytes(title) - 'title=&comment='.length;
  const comment = cutTo(cleanText(note.comment) || spare, MAX_COMMENT, left);
  return { title, comment: comment || cutTo(spare, MAX_COMMENT, left) };
}

/** Keeps the ending ` (+N more)` and cuts the title before it. */
export function titleWithMore(title: string, more: number): string {
  return more <= 0 ? title : titleWithEnd(title, ` (+${more} more)`);
}

/** Keeps the end of a title and cuts the text before it. @param end a few plain characters. */
export function titleWithEnd(title: string, end: string): string {
  return cut(cleanLine(title), MAX_TITLE - end.length) + end;
}

/** The result of `cleanText` as one line, with every run of white space as one space. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/gu, ' ').trim();
}

/**
 * Text that a terminal shows as it is: without control characters, direction marks, zero-width characters, halves of
 * surrogate pairs, and Admin API keys. Line feeds stay, other line ends become line feeds.
 */
export function cleanText(text: string): string {
  const cleaned = text
    .replace(/\r\n?|\p{Zl}|\p{Zp}|\u0085/gu, '\n')
    .replace(/\t/gu, ' ')
    .replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, '')
    .replace(/\p{Cs}/gu, '\uFFFD')
    .replace(/(?<![^\S\n])[^\S\n]+$/gmu, '')
    .replace(/\n{3,}/gu, '\n\n')
    .trim();
  // Last, so that an invisible character cannot hide a key from the search.
  return withoutApiKeys(cleaned);
}

/** Bytes of the text in a query, where anything but letters, digits, `-`, `.` and `_` is percent-encoded. */
export function encodedBytes(text: string): number {
  let bytes = 0;
  for (const character of text) {
    bytes += /[\w.-]/.test(character) ? 1 : 3 * Buffer.byteLength(character);
  }
  return bytes;
}

/** At most `most` UTF-16 code units, with `…` in place of the rest. In characters or code points it is never longer. */
export function limited(text: string, most: number): string {
  if (text.length <= most) return text;
  // Does not cut between the halves of a surrogate pair.
  return `${text.slice(0, most - ELLIPSIS.length).replace(/[\ud800-\udbff]$/, '')}${ELLIPSIS}`;
}

/** The text, or the longest beginning of whole characters that leaves room for `…` within `max` code points. */
export function cut(text: string, max: number): string {
  return cutTo(text, max, Number.POSITIVE_INFINITY);
}

function cutTo(text: string, max: number, maxBytes: number): string {
  // A code point has at most two units, so text beyond this never fits and is not examined.
  const head = text.slice(0, 2 * max + 2);
  if (head.length === text.length && sizeOf(head) <= max && encodedBytes(head) <= maxBytes) {
    return text;
  }
  const room = { points: max - 1, bytes: maxBytes - encodedBytes(ELLIPSIS) };
  let kept = '';
  for (const { segment } of graphemes.segment(head)) {
    room.points -= sizeOf(segment);
    room.bytes -= encodedBytes(segment);
    if (room.points < 0 || room.bytes < 0) break;
    kept += segment;
  }
  return kept.trimEnd() + ELLIPSIS;
}

function sizeOf(text: string): number {
  return Array.from(text).length;
}

/** Admin API keys of the embedded service, even in the middle of a word: behind `KEY_` one is exposed all the same. */
const API_KEY = /fka_[A-Za-z0-9_-]{16,}/g;

/** `at` counts UTF-16 code units. */
export function apiKeysIn(text: string): { readonly key: string; readonly at: number }[] {
  return [...text.matchAll(API_KEY)].map(({ index, 0: key }) => ({ key, at: index }));
}

export function withoutApiKeys(text: string): string {
  return text.replace(API_KEY, '[redacted]');
}

/** Lengths stay equal, so that positions remain valid. */
export function maskedApiKeys(text: string): string {
  return text.replace(API_KEY, (key) => `fka_${'*'.repeat(key.length - 4)}`);
}
