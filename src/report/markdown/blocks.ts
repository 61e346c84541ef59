import { grouped } from '../../model/collections.js';
import { type Line, renderLines } from '../text/layout.js';
import { firstOf } from '../values.js';
import { fenced, joined, type Markup, trusted } from './markup.js';

/** Kept or left out as a whole, and all its markup is closed. */
export interface Block {
  readonly rank: keyof typeof RANKS;
  /** Called at most once, and only for blocks up to the first one that does not fit. */
  readonly markup: () => Markup;
}

/** Most important first, with the words that count those left out. The heads are small, and always kept. */
const RANKS = {
  head: '',
  table: 'table',
  'risky detail': 'detail',
  'held back': 'list of what is held back',
  problem: 'list of problems',
  detail: 'detail',
  elsewhere: 'list of what was different already',
} as const;

const GAP = '\n\n';
/** UTF-16 code units reserved for the sentence that counts the blocks left out. */
const RESERVE = 500;

/** The blocks in the given order, as far as the most important fit into `budget` UTF-16 code units; no forge counts more. */
export function assembled(blocks: readonly Block[], budget: number): string {
  const kept = fitting(blocks, budget);
  const left = blocks.filter((block) => !kept.has(block));
  const shown = blocks.flatMap((block) => kept.get(block) ?? []);
  return `${String(joined([...shown, ...cutNote(left)], GAP))}\n`;
}

/** Once a block does not fit, no other of its rank or a lower one is taken, so that none replaces a more important one. */
function fitting(blocks: readonly Block[], budget: number): ReadonlyMap<Block, Markup> {
  const kept = new Map<Block, Markup>();
  let room = budget - RESERVE;
  for (const rank of Object.keys(RANKS)) {
    for (const block of blocks.filter((each) => each.rank === rank)) {
      const markup = block.markup();
      room -= markup.length + GAP.length;
      if (room < 0 && rank !== 'head') return kept;
      kept.set(block, markup);
    }
  }
  return kept;
}

function cutNote(left: readonly Block[]): Markup[] {
  if (left.length === 0) return [];
  const kinds = [...grouped(left, ({ rank }) => RANKS[rank])];
  const parts = kinds.map(([what, { length }]) => `${String(length)} × ${what}`);
  return [trusted`> ✂ Cut to fit: ${parts.join(', ')}. The full plan holds them.`];
}

const WIDTH = 110;
/** The most rows of one object; further rows are counted. */
const MOST_ROWS = 80;
/** The most UTF-16 code units of one piece of text in a row. */
const MOST_TEXT = 1_500;
/** Approximate size of one fence or table in UTF-16 code units; each is kept or left out as a whole. */
const CHUNK_SIZE = 8_000;

/** With the headlines of changes at the left edge. */
export function rowsOf(lines: readonly Line[]): string[] {
  const bounded = lines.map(({ indent, spans }) => ({
    indent: Math.max(0, indent - 2),
    spans: spans.map(({ text, tone }) => ({ text: shortened(text), tone })),
  }));
  const rows = renderLines(bounded, { color: false, width: WIDTH }).trimEnd().split('\n');
  // Forges colour rows that begin with `!`, and not those that begin with `~`.
  const marked = rows.map((row) => row.replace(/^~ /, '! '));
  return firstOf(marked, MOST_ROWS, String, (more) => `    … ${String(more)} more lines`);
}

/** Groups of neighbours, each small enough to be kept or left out by itself. */
export function chunked<T>(items: readonly T[], sizeOf: (item: T) => number): T[][] {
  const chunks: { items: T[]; size: number }[] = [];
  for (const item of items) {
    const size = sizeOf(item);
    const last = chunks.at(-1);
    if (last && last.size + size < CHUNK_SIZE) {
      last.items.push(item);
      last.size += size;
    } else chunks.push({ items: [item], size });
  }
  return chunks.map((chunk) => chunk.items);
}

export function fencedChunks(changes: readonly (readonly string[])[]): Markup[] {
  const chunks = chunked(changes, (rows) => rows.reduce((sum, row) => sum + row.length + 1, 0));
  // The language `diff` colours rows that begin with +, - or !; only headlines do.
  return chunks.map((chunk) => fenced(chunk.flat()));
}

function shortened(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  // Does not cut between the halves of a surrogate pair.
  return `${text.slice(0, MOST_TEXT).replace(/[\ud800-\udbff]$/, '')}…`;
}
