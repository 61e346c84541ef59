import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { nameOf, type Cell, type CellResult } from './cell.js';
import { FAULTS, SIGNALS } from './faults.js';
import { READS, WRITES, type RequestKind } from './requests.js';

const PAGE = new URL('../../../docs/reliability.md', import.meta.url);

/** Writes what a run has shown into its part of `docs/reliability.md`. @param begun when the run began. */
export function writePart(
  part: 'matrix' | 'table of stores',
  begun: number,
  textOf: (origin: string) => string,
): void {
  const commit = execFileSync('git', ['log', '-1', '--format=%h', '--', 'src'], {
    encoding: 'utf8',
  });
  const day = new Date().toISOString().slice(0, 10);
  const minutes = Math.round((Date.now() - begun) / 60_000);
  const text = textOf(`commit \`${commit.trim()}\`, ${day}, ${String(minutes)} minutes.`);
  const [begin, end] = [`<!-- the ${part} begins -->`, `<!-- the ${part} ends -->`] as const;
  const page = readFileSync(PAGE, 'utf8');
  const [head = ''] = page.split(begin);
  const [, tail = ''] = page.split(end);
  writeFileSync(PAGE, `${head}${begin}\n\n${text}\n\n${end}${tail}`);
}

/** The tables of the whole matrix, as Markdown. @param origin of the results. */
export function matrixTables(results: readonly CellResult[], origin: string): string {
  const at = new Map(results.map((result) => [idOf(result.cell), result]));
  const names = [...SIGNALS, ...FAULTS.map(({ name }) => name)];
  const rows = (kinds: readonly RequestKind[], moments: readonly Cell['moment'][]): string[] =>
    names.flatMap((name) =>
      moments.flatMap((moment) => {
        const cells = kinds.map((kind) => at.get(`${kind.name} ${moment} ${name}`));
        if (cells.every((cell) => cell === undefined)) return [];
        return [`| ${name} | ${moment} | ${cells.map(shown).join(' | ')} |`];
      }),
    );
  const moments = ['before', 'done', 'answered'] as const;
  return [
    `${results.length} cells, ${results.filter(({ violations }) => violations.length > 0).length} of them wrong; ${origin}`,
    legend('R', READS),
    table(['what goes wrong', 'when', ...letters('R', READS)], rows(READS, moments)),
    legend('W', WRITES),
    table(['what goes wrong', 'when', ...letters('W', WRITES)], rows(WRITES, moments)),
    interruptedText(results.filter(({ cell }) => cell.interrupt !== undefined)),
  ].join('\n\n');
}

function idOf(cell: Cell): string {
  return `${cell.kind.name} ${cell.moment} ${nameOf(cell)}`;
}

/** Their runs all end with the code of the signal, or go through: a table of its own would say nothing more. */
function interruptedText(results: readonly CellResult[]): string {
  const codes = new Map<string, number>();
  for (const { code } of results) codes.set(String(code), (codes.get(String(code)) ?? 0) + 1);
  const ends = [...codes]
    .toSorted(([, a], [, b]) => b - a)
    .map(([code, cells]) => `${String(cells)} with ${code}`);
  const wrong = results.filter(({ violations }) => violations.length > 0).length;
  const most = Math.max(0, ...results.map(({ runsAfter }) => runsAfter));
  return (
    `${String(results.length)} of the cells play each of these faults once more, with SIGINT and with SIGTERM in the middle of it, ${String(wrong)} of them wrong. ` +
    `They ended ${ends.join(', ')}; at most ${String(most)} more run was needed.`
  );
}

function shown(result: CellResult | undefined): string {
  if (result === undefined) return '·';
  if (result.violations.length > 0) return '✗';
  if (result.leaves) return '≠';
  if (result.code === 0) return '✓';
  return `${result.code === null ? 'killed' : String(result.code)}→${String(result.runsAfter)}`;
}

const letters = (letter: string, kinds: readonly RequestKind[]): string[] =>
  kinds.map((_, i) => `${letter}${String(i + 1)}`);

function legend(letter: string, kinds: readonly RequestKind[]): string {
  return table(
    ['request', 'is'],
    kinds.map(({ name }, i) => `| ${letter}${String(i + 1)} | ${name} |`),
  );
}

export function table(head: readonly string[], rows: readonly string[]): string {
  return [`| ${head.join(' | ')} |`, `|${' --- |'.repeat(head.length)}`, ...rows].join('\n');
}
