import { renderLines, type Line } from '../text/layout.js';
import { fenced, type Markup } from './markup.js';

const WIDTH = 110;
/** The most rows of one object; the others are counted. */
const MOST_ROWS = 80;
/** The most UTF-16 code units of one piece of text in a row. */
const MOST_TEXT = 1_500;
/** UTF-16 code units of one fence, about: a chunk is kept or cut as a whole. */
const CHUNK_SIZE = 8_000;

/** Rows as the text report has them, with the headlines of changes at the edge. */
export function rowsOf(lines: readonly Line[]): string[] {
  const bounded = lines.map(({ indent, spans }) => ({
    indent: Math.max(0, indent - 2),
    spans: spans.map(({ text, tone }) => ({ text: shortened(text), tone })),
  }));
  const rows = renderLines(bounded, { color: false, width: WIDTH }).trimEnd().split('\n');
  // A forge colours what begins with `!`, and not what begins with `~`.
  const marked = rows.map((row) => row.replace(/^~ /, '! '));
  const more = marked.length - MOST_ROWS;
  return more <= 0 ? marked : [...marked.slice(0, MOST_ROWS), `    … ${String(more)} more lines`];
}

/** Fences that hold whole changes, each small enough to be kept or cut by itself. */
export function fencedChunks(changes: readonly (readonly string[])[]): Markup[] {
  const chunks: { rows: string[]; size: number }[] = [];
  for (const rows of changes) {
    const size = rows.reduce((sum, row) => sum + row.length + 1, 0);
    const last = chunks.at(-1);
    if (last && last.size + size < CHUNK_SIZE) {
      last.rows.push(...rows);
      last.size += size;
    } else chunks.push({ rows: [...rows], size });
  }
  // The language colours what begins with +, - and !, which a headline does and nothing else.
  return chunks.map(({ rows }) => fenced(rows, 'diff'));
}

/** Cuts a text that is longer than any that is read. */
function shortened(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  // Not between the halves of a surrogate pair.
  return `${text.slice(0, MOST_TEXT).replace(/[\ud800-\udbff]$/, '')}…`;
}
