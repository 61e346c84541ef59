import { readFile } from 'node:fs/promises';
import { FlagkeelError } from '../errors.js';
import { packageFile } from '../platform/package-files.js';
import { clean, quoted } from '../report/sanitize.js';
import { renderLines, span, type Layout, type Line } from '../report/text/layout.js';
import { didYouMean } from '../specs/parse/suggest.js';

/** What a page says of one code. */
export interface CodeEntry {
  readonly code: string;
  /** Path in the package, and the heading below which it stands: `docs/diagnostics.md#fields`. */
  readonly page: string;
  /** Cells of its row by the heads of their columns; empty ones are left out. */
  readonly said: Readonly<Record<string, string>>;
}

/** The pages that explain codes. They come with the package, so that nothing has to be asked. */
const PAGES = ['diagnostics', 'lint', 'operations', 'plan', 'impact'] as const;
/** Heads of the first columns that hold codes. */
const CODE_HEADS: ReadonlySet<string> = new Set(['code', 'why', 'guard', 'reason', 'variable']);

/**
 * What the pages say of a code of a diagnostic, an error, an exit, a guard, a risk, or of what is withheld. Mostly one
 * entry; a word that means several things has several. Upper and lower case do not matter.
 *
 * @throws FlagkeelError `USAGE`: there is no such code.
 */
export async function entriesOf(code: string): Promise<CodeEntry[]> {
  const all = (await Promise.all(PAGES.map(entriesOnPage))).flat();
  const found = all.filter((each) => each.code.toLowerCase() === code.toLowerCase());
  if (found.length > 0) return found;
  const near = didYouMean(
    code,
    all.map((each) => each.code),
  );
  throw new FlagkeelError(
    'USAGE',
    `cannot explain ${quoted(code)}: it is no code, and no object as flag/NAME${near}`,
  );
}

export function entriesText(entries: readonly CodeEntry[], layout: Layout): string {
  const lines = entries.flatMap(({ code, page, said }): Line[] => [
    { indent: 0, spans: [span(clean(code), 'strong'), span(` · ${page}`, 'faint')] },
    ...Object.entries(said).map(([head, text]) => ({
      indent: 2,
      spans: [span(`${head}:`, 'strong'), span(` ${clean(text)}`)],
    })),
  ]);
  return renderLines(lines, layout);
}

/** All that one page says of codes, exit codes and variables. */
export async function entriesOnPage(name: (typeof PAGES)[number]): Promise<CodeEntry[]> {
  const page = `docs/${name}.md`;
  return codeEntries(await readFile(packageFile(page), 'utf8'), page);
}

/** The rows of all tables of a page whose first column holds codes. */
export function codeEntries(text: string, page: string): CodeEntry[] {
  const entries: CodeEntry[] = [];
  let place = page;
  let heads: readonly string[] = [];
  for (const line of text.split('\n')) {
    const [, heading] = /^#+ (.+)$/.exec(line) ?? [];
    if (heading !== undefined) place = `${page}#${anchorOf(heading)}`;
    if (!line.startsWith('|')) heads = [];
    else if (heads.length === 0) heads = cellsOf(line, page);
    else if (CODE_HEADS.has(heads[0] ?? '') && !/^\|[ :|-]+$/.test(line)) {
      const [code = '', ...cells] = cellsOf(line, page);
      const said = cells.flatMap((cell, i) => (cell === '' ? [] : [[heads[i + 1] ?? '', cell]]));
      entries.push({ code: code.replaceAll('`', ''), page: place, said: fromEntries(said) });
    }
  }
  return entries;
}

function fromEntries(entries: readonly (readonly string[])[]): Record<string, string> {
  return Object.fromEntries(entries.map(([head = '', cell = '']) => [head, cell]));
}

/** Cells as text: a link stands behind its words. */
function cellsOf(row: string, page: string): string[] {
  return row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) =>
      cell
        .trim()
        .replaceAll('\\|', '|')
        .replace(/\[([^[\]]*)\]\(([^)]*)\)/g, (_, words: string, target: string) => {
          return `${words} (${target.startsWith('#') ? page : 'docs/'}${target})`;
        }),
    );
}

/** The name by which a heading can be linked to. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}
