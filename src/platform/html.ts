/** HTML whose untrusted parts are already escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | Html | false | readonly (Html | false)[];

/**
 * Template tag that escapes every inserted value except `Html`, and leaves out the template's own indentation, because
 * it is half of a page with many rows.
 */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const raw = unindented.get(texts) ?? texts.map((text) => text.replaceAll(/\n\s+/g, '\n'));
  unindented.set(texts, raw);
  let text = raw[0] ?? '';
  for (const [at, part] of parts.entries()) text += textOf(part) + (raw[at + 1] ?? '');
  return new Html(text);
}

const unindented = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Marks trusted text as HTML without escaping it, such as a style sheet. */
export function htmlOf(trusted: string): Html {
  return new Html(trusted);
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  if (part === false) return '';
  return typeof part === 'string' ? escaped(part) : part.map(textOf).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For HTML and XML. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
