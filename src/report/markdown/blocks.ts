import { joined, type Markup, ours } from './markup.js';

/**
 * A piece of a report that stands or falls as a whole, balanced by itself.
 *
 * Ranks, the most important first: `head` is never cut, and its blocks are small by construction.
 */
export interface Block {
  readonly rank: Rank;
  /** Of what it is one, for the sentence that says what was cut: `detail`, `table`. */
  readonly what: string;
  /** Called where there is room left for it, once. */
  readonly markup: () => Markup;
}

const RANKS = ['head', 'table', 'risky detail', 'held back', 'detail', 'elsewhere'] as const;
export type Rank = (typeof RANKS)[number];

const GAP = '\n\n';
/** For the sentence that says what was cut. */
const RESERVE = 500;

/**
 * The blocks in the order given, as far as they fit into `budget` UTF-16 code units (no forge counts more). What does
 * not fit is left out, the least important first, and a last sentence counts it.
 */
export function assembled(blocks: readonly Block[], budget: number): string {
  const kept = fitting(blocks, budget);
  const left = blocks.filter((block) => !kept.has(block));
  const shown = blocks.flatMap((block) => kept.get(block) ?? []);
  return `${String(joined([...shown, ...cutNote(left)], GAP))}\n`;
}

/** What matters less never takes the place of what did not fit. */
function fitting(blocks: readonly Block[], budget: number): ReadonlyMap<Block, Markup> {
  const kept = new Map<Block, Markup>();
  let room = budget - RESERVE;
  for (const rank of RANKS) {
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
  const counts = new Map<string, number>();
  for (const { what } of left) counts.set(what, (counts.get(what) ?? 0) + 1);
  const parts = [...counts].map(([what, count]) => `${String(count)} × ${what}`);
  return [ours`> ✂ Cut to fit: ${parts.join(', ')}. The full plan holds them.`];
}
