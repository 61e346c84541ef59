import { createColors } from 'picocolors';
import { displayWidth } from './text-width.js';

/** What a piece of text is, so that colour can follow it. Nothing is said by colour alone. */
export type Tone = 'plain' | 'strong' | 'faint' | 'add' | 'change' | 'remove' | 'alarm';

/** Cleaned text of one tone. A no-break space in it holds words together on one line; it is printed as a space. */
export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

/** One paragraph; empty spans are an empty line. */
export interface Line {
  readonly indent: number;
  readonly spans: readonly Span[];
}

export interface Layout {
  readonly color: boolean;
  /** Columns; words longer than that stand out over the edge rather than being cut. */
  readonly width: number;
}

export const EMPTY_LINE: Line = { indent: 0, spans: [] };

/** Further columns by which the second and later rows of a paragraph stand in. */
const HANG = 4;

export function span(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}

/** Keeps `text` on one row. */
export function glue(text: string): string {
  return text.replaceAll(' ', '\u00a0');
}

/** Rows of text, each ended by a line feed. Without colour the same text as with it. */
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

/** A row that begins with `::` is a command to the runner of a workflow, spaces before it or not. */
function unlikeCommand(words: readonly Word[]): readonly Word[] {
  const start = words.map((word) => word.map(({ text }) => text).join('')).join(' ');
  return start.trimStart().startsWith('::') ? [[span('·')], ...words] : words;
}

type Word = readonly Span[];

interface Row {
  readonly indent: number;
  readonly words: readonly Word[];
}

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

/** The row's text with one span where neighbours have the same tone; spaces between tones are plain. */
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

/** A word may consist of pieces of several tones. */
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
