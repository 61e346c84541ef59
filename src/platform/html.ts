import { createHash } from 'node:crypto';

/** HTML whose untrusted parts are already escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | Html | readonly Html[];

/** Template tag that escapes every inserted value except `Html`. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(String.raw({ raw: texts }, ...parts.map(textOf)));
}

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

/** Colours and fonts shared by all pages, for light and dark mode. */
export const PAGE_STYLE = `:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f8fa, #0d1117);
  --sheet: light-dark(#ffffff, #161b22);
  --ink: light-dark(#1f2328, #f0f6fc);
  --soft: light-dark(#59636e, #9ba3ad);
  --line: light-dark(#d1d9e0, #30363d);
  --link: light-dark(#0550ae, #79c0ff);
  --fine: light-dark(#1a7f37, #56d364);
  --busy: light-dark(#0550ae, #79c0ff);
  --attention: light-dark(#8a4f00, #e3b341);
  --trouble: light-dark(#b3261e, #ff8f87);
}
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--ink); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1rem; }
h1, h2, h3, p, dl, ol, ul, table { margin: 0; }
ol, ul { padding: 0; list-style: none; }
a { color: var(--link); text-underline-offset: 0.15em; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
code, pre { font: 0.875em/1.5 ui-monospace, monospace; }
bdi { overflow-wrap: break-word; }
.soft { color: var(--soft); }
.bar { display: flex; flex-wrap: wrap; gap: 0 1rem; justify-content: space-between; padding-bottom: 0.75rem; }
.bar strong { font-weight: 600; }
`;

/** The source expression of a content security policy that allows exactly this style or script. */
export function policyHashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
