import { table } from '../matrix/page.js';
import { WAYS, type StoreResult } from './play.js';

/** The tables of failing stores, as Markdown. @param origin of the results. */
export function storeTable(
  stores: Readonly<Record<string, readonly StoreResult[]>>,
  origin: string,
): string {
  const all = Object.values(stores).flat();
  const rows = Object.entries(stores).flatMap(([store, results]) =>
    [...new Set(results.map(({ cell }) => cell.fault))].map((fault) => {
      const own = results.filter(({ cell }) => cell.fault === fault);
      const cells = WAYS.map((way) => own.find(({ cell }) => cell.way === way));
      const well = Math.max(...own.map(({ wellAfterMs }) => wellAfterMs));
      const answer = `${String(fault.status)} ${fault.message}`;
      return `| ${store} | ${fault.name} | ${answer} | ${cells.map(shown).join(' | ')} | ${(well / 1_000).toFixed(1)} |`;
    }),
  );
  const wrong = all.filter(({ violations }) => violations.length > 0).length;
  const longest = Math.max(...all.map(({ seconds }) => seconds));
  return [
    `${String(all.length)} cells, ${String(wrong)} of them wrong; ${origin} ` +
      `The longest run took ${longest.toFixed(0)} s.`,
    table(
      ['store', 'fault', 'the service says', ...WAYS.map(({ name }) => name), 'well after, s'],
      rows,
    ),
  ].join('\n\n');
}

function shown(result: StoreResult | undefined): string {
  if (result === undefined) return '·';
  if (result.violations.length > 0) return '✗';
  return result.code === 0 ? '✓' : `${String(result.code)}→${String(result.runsAfter)}`;
}
