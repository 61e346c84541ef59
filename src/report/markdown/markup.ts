import { clean } from '../sanitize.js';

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
    return value === undefined ? [word] : [word, asText(value)];
  });
  return Markup.own(parts.join(''));
}

export function joined(parts: readonly Markup[], separator: string): Markup {
  return Markup.own(parts.map(String).join(separator));
}

/** A name or a hash as code, which looks alike in tables and in HTML. */
export function code(text: string): Markup {
  return Markup.own(`<code>${entities(clean(text))}</code>`);
}

/** A link if `url` is http or https; otherwise the label alone. */
export function link(label: string, url: string): Markup {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return trusted`${label}`;
  // Encodes every character that could end the link target early.
  const target = new URL(url).href.replace(/[^\w\-.~:/?#@&=+,;%]/g, percent);
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

/** A parsed URL contains ASCII alone. */
function percent(character: string): string {
  return `%${(character.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`;
}

function asText(value: string | number | Markup): string {
  return typeof value === 'string' ? escaped(value) : String(value);
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
