import { readFile } from 'node:fs/promises';
import { FlagkeelError } from '../errors.js';
import { packageFile } from '../platform/package-files.js';
import { clean, quoted } from '../report/sanitize.js';
import { renderLines, span, type Layout, type Line } from '../report/text/layout.js';
import { didYouMean } from '../specs/parse/suggest.js';

export interface CodeEntry {
  readonly code: string;
  /** Path in the package, and the heading below which it stands: `docs/diagnostics.md#fields`. */
  readonly page: string;
  /** Cells of its row by the heads of their columns; empty ones are left out. */
  readonly said: Readonly<Record<string, string>>;
}

/** The pages that explain codes. They come with the package, so that nothing has to be asked. */
const PAGES = ['diagnostics', 'lint', 'operations', 'plan', 'impact', 'state'] as const;
const CODE_HEADS: ReadonlySet<string> = new Set(['code', 'why', 'guard', 'reason', 'variable']);

/** @param code in upper or lower case; it may mean several things. @throws FlagkeelError `USAGE` */
export async function entriesOf(code: string): Promise<CodeEntry[]> {
  const all = (await Promise.all(PAGES.map(entriesOnPage))).flat();
  const found = all.filter((each) => each.code.toLowerCase() === code.toLowerCase());
  if (found.length > 0) return found;
  const codes = all.map((each) => each.code);
  const why = `it is no code, and no object as flag/NAME${didYouMean(code, codes)}`;
  throw new FlagkeelError('USAGE', `cannot explain ${quoted(code)}: ${why}`);
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

export async function entriesOnPage(name: (typeof PAGES)[number]): Promise<CodeEntry[]> {
  const page = `docs/${name}.md`;
  return codeEntries(await readFile(packageFile(page), 'utf8'), page);
}

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
      const said = cells.flatMap((cell, i) =>
        cell === '' ? [] : [[heads[i + 1] ?? '', cell] as const],
      );
      entries.push({ code: code.replaceAll('`', ''), page: place, said: Object.fromEntries(said) });
    }
  }
  return entries;
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

export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}
