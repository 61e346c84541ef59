import { joined, type Markup, trusted } from './markup.js';

/** A piece of a report. It is kept or left out as a whole, and all its markup is closed. */
export interface Block {
  readonly rank: Rank;
  /** The kind of the block (`detail`, `table`), for the sentence that counts the blocks left out. */
  readonly what: string;
  /** Called at most once, and only for blocks up to the first one that does not fit. */
  readonly markup: () => Markup;
}

/** Most important first. Blocks of the rank `head` are never left out, and are small by construction. */
const RANKS = ['head', 'table', 'risky detail', 'held back', 'detail', 'elsewhere'] as const;
export type Rank = (typeof RANKS)[number];

const GAP = '\n\n';
/** UTF-16 code units reserved for the sentence that counts the blocks left out. */
const RESERVE = 500;

/**
 * The blocks in the given order, as far as they fit into the budget. Otherwise the least important are left out, and a
 * last sentence counts them.
 *
 * @param budget in UTF-16 code units; no forge counts more for a text.
 */
export function assembled(blocks: readonly Block[], budget: number): string {
  const kept = fitting(blocks, budget);
  const left = blocks.filter((block) => !kept.has(block));
  const shown = blocks.flatMap((block) => kept.get(block) ?? []);
  return `${String(joined([...shown, ...cutNote(left)], GAP))}\n`;
}

/**
 * The blocks that fit. Once a block does not fit, no other of its rank or a lower one is taken, so that less important
 * blocks never replace more important ones.
 */
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

/** The sentence that counts the blocks left out; empty if there are none. */
function cutNote(left: readonly Block[]): Markup[] {
  if (left.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { what } of left) counts.set(what, (counts.get(what) ?? 0) + 1);
  const parts = [...counts].map(([what, count]) => `${String(count)} × ${what}`);
  return [trusted`> ✂ Cut to fit: ${parts.join(', ')}. The full plan holds them.`];
}
