import { createColors } from 'picocolors';
import stringWidth from 'string-width';

/** Decides the colour, which carries no information of its own. */
export type Tone = 'plain' | 'strong' | 'faint' | 'add' | 'change' | 'remove' | 'alarm';

/** Cleaned text of one tone. A no-break space keeps words on one line, and is printed as a space. */
export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

export type FieldLine = readonly Span[];

export interface Line {
  readonly indent: number;
  readonly spans: readonly Span[];
}

export interface Layout {
  readonly color: boolean;
  /** In columns. A longer word is not cut and exceeds the width. */
  readonly width: number;
}

export const EMPTY_LINE: Line = { indent: 0, spans: [] };

/** Additional indent of all rows of a paragraph but the first, in columns. */
const HANG = 4;

export function span(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}

export function paragraph(text: string, tone: Tone = 'plain', indent = 0): Line {
  return { indent, spans: [span(text, tone)] };
}

export function plainText(line: FieldLine): string {
  return line.map(({ text }) => text).join('');
}

export function noBreak(text: string): string {
  return text.replaceAll(' ', '\u00a0');
}

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

/** Changes a row that begins with `::`, because the runner of a workflow takes it for a command, even behind spaces. */
function unlikeCommand(words: readonly Word[]): readonly Word[] {
  const start = words.map((word) => word.map(({ text }) => text).join('')).join(' ');
  return start.trimStart().startsWith('::') ? [[span('·')], ...words] : words;
}

type Word = readonly Span[];

function rows(line: Line, width: number) {
  let row = { indent: line.indent, words: [] as Word[] };
  const done = [row];
  let column = line.indent;
  for (const word of wordsOf(line.spans)) {
    const size = word.reduce((sum, piece) => sum + displayWidth(piece.text), 0);
    if (row.words.length > 0 && column + 1 + size > width) {
      row = { indent: line.indent + HANG, words: [] };
      done.push(row);
      column = row.indent;
    }
    column += (row.words.length > 0 ? 1 : 0) + size;
    row.words.push(word);
  }
  return done;
}

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

/** Commands stay on one row, so that they can be copied. */
const COMMAND = /`flagkeel [^`]*`/g;

function wordsOf(spans: readonly Span[]): Word[] {
  const words: Span[][] = [[]];
  for (const { text, tone } of spans) {
    for (const [index, part] of text.replace(COMMAND, noBreak).split(' ').entries()) {
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

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

export function displayWidth(text: string): number {
  // A quick path, because nearly all text is plain and there is much of it.
  return PLAIN.test(text) ? text.length : stringWidth(text);
}

const PLAIN = /^[\x20-\x7e]*$/;

/** Cut to `columns`, with `…` at its end. Does not cut characters in two. */
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
