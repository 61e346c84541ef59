import MarkdownIt from 'markdown-it';

/** What a forge makes of Markdown, as far as a test can see it: HTML allowed, tables, bare addresses linked. */
interface ReadMarkdown {
  readonly html: string;
  /** Tags that are closed by no other than their own. */
  readonly balanced: boolean;
  /** Text outside code: where a forge looks for mentions and references. */
  readonly prose: string;
  /** Names of the elements, each once, sorted. */
  readonly elements: readonly string[];
  /** Targets of links. */
  readonly links: readonly string[];
}

const VOID = new Set(['br', 'hr', 'img', 'input']);

export function readMarkdown(text: string): ReadMarkdown {
  const html = new MarkdownIt({ html: true, linkify: true }).render(text);
  const open: string[] = [];
  const elements = new Set<string>();
  const links: string[] = [];
  let balanced = !html.includes('<!--');
  for (const [, slash, name = '', rest = ''] of html.matchAll(/<(\/?)([a-zA-Z][\w-]*)([^>]*)>/g)) {
    elements.add(name);
    const [, href] = /href="([^"]*)"/.exec(rest) ?? [];
    if (href !== undefined) links.push(href);
    if (VOID.has(name)) continue;
    if (slash === '') open.push(name);
    else if (open.pop() !== name) balanced = false;
  }
  return {
    html,
    balanced: balanced && open.length === 0,
    prose: decoded(html.replace(/<(code|pre)\b[^>]*>[^]*?<\/\1>/g, ' ').replace(/<[^>]*>/g, '')),
    elements: [...elements].sort(),
    links,
  };
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function decoded(text: string): string {
  return text.replace(/&(?:#(\d+)|(amp|lt|gt|quot));/g, (_, number?: string, name?: string) =>
    number === undefined ? (NAMED[name ?? ''] ?? '') : String.fromCodePoint(Number(number)),
  );
}
