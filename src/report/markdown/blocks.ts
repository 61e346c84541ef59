import { joined, type Markup, trusted } from './markup.js';

/** A piece of a report that is kept or left out as a whole, with all its markup closed. */
export interface Block {
  readonly rank: Rank;
  /** What the block is one of (`detail`, `table`), for the sentence that says what was cut. */
  readonly what: string;
  /** Called at most once, and for no block behind the first that does not fit. */
  readonly markup: () => Markup;
}

/**
 * The most important first. Blocks of the rank `head` are never cut, and are small by construction.
 */
const RANKS = ['head', 'table', 'risky detail', 'held back', 'detail', 'elsewhere'] as const;
export type Rank = (typeof RANKS)[number];

const GAP = '\n\n';
/** UTF-16 code units that are kept free for the sentence that says what was cut. */
const RESERVE = 500;

/**
 * The blocks in the order given, as far as they fit into the budget. Blocks that do not fit are
 * left out, the least important first, and a last sentence counts them.
 *
 * @param budget in UTF-16 code units, of which no forge counts more.
 */
export function assembled(blocks: readonly Block[], budget: number): string {
  const kept = fitting(blocks, budget);
  const left = blocks.filter((block) => !kept.has(block));
  const shown = blocks.flatMap((block) => kept.get(block) ?? []);
  return `${String(joined([...shown, ...cutNote(left)], GAP))}\n`;
}

/**
 * The blocks that fit. After the first that does not fit nothing of the same or of a lower rank is
 * taken, so that what matters less never takes the place of what matters more.
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

/** The sentence that counts what was left out; nothing where all was kept. */
function cutNote(left: readonly Block[]): Markup[] {
  if (left.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { what } of left) counts.set(what, (counts.get(what) ?? 0) + 1);
  const parts = [...counts].map(([what, count]) => `${String(count)} × ${what}`);
  return [trusted`> ✂ Cut to fit: ${parts.join(', ')}. The full plan holds them.`];
}
