/** HTML whose untrusted parts are already escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | Html | readonly Html[];

/**
 * Template tag that escapes every inserted value except `Html`. The indentation of the template itself is left out,
 * because it is half of a page with many rows.
 */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const raw = texts.map((text) => text.replaceAll(INDENT, '\n'));
  return new Html(String.raw({ raw }, ...parts.map(textOf)));
}

const INDENT = /\n\s+/g;

/** Marks trusted text as HTML without escaping it, such as a style sheet. */
export function htmlOf(trusted: string): Html {
  return new Html(trusted);
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  return typeof part === 'string' ? escaped(part) : part.map(({ text }) => text).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
