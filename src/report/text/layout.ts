import { createColors } from 'picocolors';
import stringWidth from 'string-width';

/** What a piece of text is, so that colour can follow it. No information is in the colour alone. */
export type Tone = 'plain' | 'strong' | 'faint' | 'add' | 'change' | 'remove' | 'alarm';

/**
 * Cleaned text of one tone. A no-break space holds words together on one line and is printed as a
 * space.
 */
export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

/** A paragraph about one field. */
export type FieldLine = readonly Span[];

/** One paragraph; without spans it is an empty line. */
export interface Line {
  readonly indent: number;
  readonly spans: readonly Span[];
}

/** How lines become rows of text. */
export interface Layout {
  readonly color: boolean;
  /** Columns. A longer word stands out over the edge and is not cut. */
  readonly width: number;
}

/** Parts sections from each other. */
export const EMPTY_LINE: Line = { indent: 0, spans: [] };

/** Further columns by which every row of a paragraph but the first is indented. */
const HANG = 4;

export function span(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}

/** A line without its tones. */
export function plainText(line: FieldLine): string {
  return line.map(({ text }) => text).join('');
}

/** Keeps a text on one row. */
export function noBreak(text: string): string {
  return text.replaceAll(' ', '\u00a0');
}

/** Rows of text, each ended by a line feed. The text is the same with and without colour. */
export function renderLines(lines: readonly Line[], layout: Layout): string {
  const paint = painter(layout.color);
  return lines
    .flatMap((line) => rows(line, layout.width))
    .map((row) => {
      const text = merged(unlikeCommand(row.words)).map(paint).join('');
      return text === '' ? '\n' : `${' '.repeat(row.indent)}${text}\n`;
    })
    .join('');
}

/**
 * A row that does not begin with `::`: the runner of a workflow takes such a row for a command,
 * even behind spaces.
 */
function unlikeCommand(words: readonly Word[]): readonly Word[] {
  const start = words.map((word) => word.map(({ text }) => text).join('')).join(' ');
  return start.trimStart().startsWith('::') ? [[span('·')], ...words] : words;
}

/** What is never broken; it may consist of pieces of several tones. */
type Word = readonly Span[];

interface Row {
  readonly indent: number;
  readonly words: readonly Word[];
}

/** Breaks a paragraph into rows of the given width. */
function rows(line: Line, width: number): Row[] {
  const done: Row[] = [];
  let row: { indent: number; words: Word[] } = { indent: line.indent, words: [] };
  let column = line.indent;
  for (const word of wordsOf(line.spans)) {
    const size = word.reduce((sum, piece) => sum + displayWidth(piece.text), 0);
    if (row.words.length > 0 && column + 1 + size > width) {
      done.push(row);
      row = { indent: line.indent + HANG, words: [] };
      column = row.indent;
    }
    column += (row.words.length > 0 ? 1 : 0) + size;
    row.words.push(word);
  }
  return [...done, row];
}

/**
 * The text of a row, with one span where neighbours have the same tone. Spaces between two tones
 * are plain.
 */
function merged(words: readonly Word[]): Span[] {
  const spans: { text: string; tone: Tone }[] = [];
  for (const [index, word] of words.entries()) {
    for (const [place, { text, tone }] of word.entries()) {
      const last = spans.at(-1);
      const space = index > 0 && place === 0 ? ' ' : '';
      if (last?.tone === tone) last.text += space + text;
      else if (last && space !== '') spans.push({ text: space, tone: 'plain' }, { text, tone });
      else spans.push({ text, tone });
    }
  }
  return spans;
}

/** The words of a paragraph. Only ordinary spaces part words. */
function wordsOf(spans: readonly Span[]): Word[] {
  const words: Span[][] = [[]];
  for (const { text, tone } of spans) {
    for (const [index, part] of text.split(' ').entries()) {
      if (index > 0) words.push([]);
      if (part !== '') words.at(-1)?.push({ text: part, tone });
    }
  }
  return words.filter((word) => word.length > 0);
}

/** How a span is printed. */
function painter(color: boolean): (piece: Span) => string {
  const colors = createColors(color);
  const paints: Readonly<Record<Tone, (text: string) => string>> = {
    plain: (text) => text,
    strong: colors.bold,
    faint: colors.dim,
    add: colors.green,
    change: colors.yellow,
    remove: colors.red,
    alarm: (text) => colors.bold(colors.red(text)),
  };
  return ({ text, tone }) => paints[tone](text.replaceAll('\u00a0', ' '));
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Columns that a terminal gives to cleaned text, by the widths of the Unicode standard. */
export function displayWidth(text: string): number {
  // Nearly all text is plain, and there is much of it.
  return PLAIN.test(text) ? text.length : stringWidth(text);
}

/** Characters that have one column each. */
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * The text, or as much of it as fits into so many columns with `…` at its end. No character is cut
 * in two.
 */
export function cut(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let kept = '';
  let width = 1;
  for (const { segment } of graphemes.segment(text)) {
    width += displayWidth(segment);
    if (width > columns) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
