import { clean } from '../clean.js';

/**
 * Markdown that this program wrote. Only the functions of this file make any, and they let text of others in escaped: a
 * report built of it cannot be broken, or made to speak to somebody, by what a commit or a spec holds.
 */
export class Markup {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** @param text this program's own words; never anything that came from outside. */
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

/** A template of our own Markdown (not called `md`, which a formatter would take for a document); strings that are put in are escaped, `Markup` is not. */
export function ours(
  words: TemplateStringsArray,
  ...values: readonly (string | number | Markup)[]
): Markup {
  const parts = words.flatMap((word, index) => {
    const value = values[index];
    return value === undefined ? [word] : [word, asText(value)];
  });
  return Markup.own(parts.join(''));
}

export function joined(parts: readonly Markup[], separator: string): Markup {
  return Markup.own(parts.map(String).join(separator));
}

/** Something to be read letter by letter: a name, a hash. In a table and in HTML it means the same. */
export function code(text: string): Markup {
  return Markup.own(`<code>${entities(clean(text))}</code>`);
}

/** A link, where `url` is one that may be followed; otherwise the label alone. */
export function link(label: string, url: string): Markup {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return ours`${label}`;
  // Nothing that ends the target early is left in it.
  const target = new URL(url).href.replace(/[^\w\-.~:/?#@&=+,;%]/g, percent);
  return Markup.own(`[${escaped(label)}](${target})`);
}

/** Rows of text as they stand, in a fence that no row can close. */
export function fenced(rows: readonly string[], language: string): Markup {
  const runs = rows.flatMap((row) => row.match(/`+/g) ?? []);
  const fence = '`'.repeat(runs.reduce((longest, { length }) => Math.max(longest, length + 1), 3));
  return Markup.own([`${fence}${language}`, ...rows, fence].join('\n'));
}

function percent(character: string): string {
  return `%${(character.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`;
}

function asText(value: string | number | Markup): string {
  return typeof value === 'string' ? escaped(value) : String(value);
}

/** What could stand for structure: as an entity it cannot, in Markdown as in HTML. */
const ACTIVE = /[&<>"'`*_{}[\]()#+!|\\~@$^=:]/g;
/** What makes a list, a heading or a rule of a line that it begins. */
const OPENING = /^-|(?<=^\d{1,9})\./;

/**
 * Forges look for mentions, references, labels and addresses in the text that is shown, entities or not; within one of
 * them they find a joiner that nobody sees. (Code they leave alone.)
 */
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
