import { html, htmlOf, type Html } from '../../platform/html.js';
import { clean } from '../../report/sanitize.js';

/** More than people read in a browser. */
const MOST_LINES = 5_000;

const TONES: readonly (readonly [RegExp, string])[] = [
  [/^\s*\+ /, 'add'],
  [/^\s*~ /, 'change'],
  [/^\s*- /, 'remove'],
  [/^\s*[✗!] /, 'alarm'],
  [/^\S/, 'strong'],
];

/** A report as the command prints it, with the colours of a terminal. */
export function planTextOf(text: string): Html {
  const lines = text.trimEnd().split('\n');
  const left = lines.length - MOST_LINES;
  const rest = left > 0 ? html`… ${String(left)} more lines` : html``;
  const shown = lines.slice(0, MOST_LINES).flatMap((line) => [lineOf(line), LINE_END]);
  return html`<pre>${shown}${rest}</pre>`;
}

const LINE_END = htmlOf('\n');

function lineOf(line: string): Html {
  const text = clean(line);
  const tone = TONES.find(([start]) => start.test(text))?.[1];
  return tone === undefined ? html`${text}` : html`<span class="${tone}">${text}</span>`;
}
