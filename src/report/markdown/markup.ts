import { limited } from '../../model/audit-note.js';
import { grouped } from '../../model/collections.js';
import { clean } from '../sanitize.js';
import { type Line, renderLines } from '../text/layout.js';
import { firstOf } from '../values.js';

/** Markdown of this program. Only this file creates it, and escapes text of others: no commit can break a report. */
export class Markup {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** @param text this program's own words; never text from outside. */
  static own(text: string): Markup {
    return new Markup(text);
  }

  get length(): number {
    return this.#text.length;
  }

  toString(): string {
    return this.#text;
  }
}

/**
 * A template of our own Markdown. Inserted strings are escaped, inserted `Markup` is not. Not called `md`, because a
 * formatter would then format the template as a document.
 */
export function trusted(
  words: TemplateStringsArray,
  ...values: readonly (string | number | Markup)[]
): Markup {
  const parts = words.flatMap((word, index) => {
    const value = values[index];
    return [word, typeof value === 'string' ? escaped(value) : String(value ?? '')];
  });
  return Markup.own(parts.join(''));
}

export function joined(parts: readonly Markup[], separator: string): Markup {
  return Markup.own(parts.map(String).join(separator));
}

export function code(text: string): Markup {
  return Markup.own(`<code>${entities(clean(text))}</code>`);
}

export function link(label: string, url: string): Markup {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return trusted`${label}`;
  // Encodes every character that could end the link target early. A parsed URL contains ASCII alone.
  const target = new URL(url).href.replace(/[^\w\-.~:/?#@&=+,;%]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return Markup.own(`[${escaped(label)}](${target})`);
}

/**
 * Rows of text in a fence that is longer than any run of backticks in them, so that no row can close it. The beginning
 * of a hidden comment is escaped, because such a comment marks this program's own text.
 */
export function fenced(texts: readonly string[]): Markup {
  const rows = texts.map((text) => text.replaceAll('<!--', '<<U+0021>--'));
  const runs = rows.flatMap((row) => row.match(/`+/g) ?? []);
  const fence = '`'.repeat(runs.reduce((longest, { length }) => Math.max(longest, length + 1), 3));
  return Markup.own([`${fence}diff`, ...rows, fence].join('\n'));
}

/** Characters that Markdown or HTML could take for structure; as entities they are plain text in both. */
const ACTIVE = /[&<>"'`*_{}[\]()#+!|\\~@$^=:]/g;
/** A line that begins with one of these would become a list, a heading or a rule. */
const OPENING = /^-|(?<=^\d{1,9})\./;

/** Forges link mentions, references, labels and addresses, even in entities. An invisible joiner inside prevents that. */
const REFERENCE = /\$|[@#!~%&^](?=[\p{L}\p{N}_"'-])|:(?=[\p{L}\p{N}_/+-])|www(?=\.)|\bGH(?=-\d)/giu;
const JOINER = '\u2060';

function escaped(text: string): string {
  return entities(
    clean(text)
      .trim()
      .replace(REFERENCE, (found) => found + JOINER),
  );
}

function entities(text: string): string {
  return text.replace(ACTIVE, entity).replace(OPENING, entity);
}

function entity(character: string): string {
  return `&#${String(character.codePointAt(0))};`;
}

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
const MOST_ROWS = 80;
/** The most UTF-16 code units of one piece of text in a row. */
const MOST_TEXT = 1_500;
/** Approximate size of one fence or table in UTF-16 code units; each is kept or left out as a whole. */
const CHUNK_SIZE = 8_000;

export function rowsOf(lines: readonly Line[]): string[] {
  const bounded = lines.map(({ indent, spans }) => ({
    indent: Math.max(0, indent - 2),
    spans: spans.map(({ text, tone }) => ({ text: limited(text, MOST_TEXT), tone })),
  }));
  const rows = renderLines(bounded, { color: false, width: WIDTH }).trimEnd().split('\n');
  // Forges colour rows that begin with `!`, and not those that begin with `~`.
  const marked = rows.map((row) => row.replace(/^~ /, '! '));
  return firstOf(marked, MOST_ROWS, String, (more) => `    … ${String(more)} more lines`);
}

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
