import { renderLines, type Line } from '../text/layout.js';
import { fenced, type Markup } from './markup.js';

const WIDTH = 110;
/** The most rows of one object; further rows are counted. */
const MOST_ROWS = 80;
/** The most UTF-16 code units of one piece of text in a row. */
const MOST_TEXT = 1_500;
/** Approximate size of one fence in UTF-16 code units; a fence is kept or left out as a whole. */
const CHUNK_SIZE = 8_000;

/** The rows of the text report, with the headlines of changes at the left edge. */
export function rowsOf(lines: readonly Line[]): string[] {
  const bounded = lines.map(({ indent, spans }) => ({
    indent: Math.max(0, indent - 2),
    spans: spans.map(({ text, tone }) => ({ text: shortened(text), tone })),
  }));
  const rows = renderLines(bounded, { color: false, width: WIDTH }).trimEnd().split('\n');
  // Forges colour rows that begin with `!`, and not those that begin with `~`.
  const marked = rows.map((row) => row.replace(/^~ /, '! '));
  const more = marked.length - MOST_ROWS;
  return more <= 0 ? marked : [...marked.slice(0, MOST_ROWS), `    … ${String(more)} more lines`];
}

/** Fences of whole changes, each small enough to be kept or left out by itself. */
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
  // The language `diff` colours rows that begin with +, - or !; only headlines do.
  return chunks.map(({ rows }) => fenced(rows, 'diff'));
}

/** Cuts a text that is too long to be read. */
function shortened(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  // Does not cut between the halves of a surrogate pair.
  return `${text.slice(0, MOST_TEXT).replace(/[\ud800-\udbff]$/, '')}…`;
}
