import type { SourceFigures } from './source-figures.js';

/** A line of the table: what was counted, as it is printed, and the bound that holds for it. */
export interface FigureRow {
  readonly name: string;
  readonly value: string;
  /** Empty: it may be anything. */
  readonly bound: string;
  readonly isBroken: boolean;
}

/**
 * As few as there are: a feature that a further room speaks of is answered there once more. The room that serves
 * applications says killed flags and ramps as a client has to see them.
 */
const ROOMS: Readonly<Record<string, number>> = {
  ramps: 8,
  approvals: 8,
  kills: 13,
  identities: 9,
};

/** The figures as lines of a table, in the order in which a reader meets them: folders, imports, words, functions. */
export function figureRows(figures: SourceFigures): FigureRow[] {
  const { largestFolder, pipeline, singleReaders, functions, largestFile } = figures;
  return [
    free('files', figures.files),
    atMost('lines', figures.lines, 69_500),
    free('import edges', figures.importEdges),
    atMost('largest flat folder', largestFolder.files, 24, largestFolder.name),
    atMost('loose files', figures.looseFiles, 2),
    atMost('imports of the pipeline', pipeline.imports, 14),
    atMost('longest function of the pipeline', pipeline.longestFunction, 25),
    atMost('branches on a kind', figures.kindBranches, 11),
    atMost('occurrences of configName', figures.configName, 14),
    {
      name: 'files with one reader',
      value: `${percent(singleReaders.share)} (${singleReaders.files})`,
      bound: '<= 25 %',
      isBroken: singleReaders.share > 0.25,
    },
    atMost('riddle words', figures.riddles, 100),
    ...figures.features.map(({ feature, rooms }) =>
      atMost(`rooms that speak of ${feature}`, rooms, ROOMS[feature] ?? 0),
    ),
    atMost('functions: median', functions.median, 7),
    atMost('functions: p90', functions.p90, 20),
    free('functions: longest', functions.max),
    free('largest file', largestFile.lines, largestFile.name),
  ];
}

function free(name: string, found: number, which = ''): FigureRow {
  return { name, value: valueOf(found, which), bound: '', isBroken: false };
}

function atMost(name: string, found: number, bound: number, which = ''): FigureRow {
  return { name, value: valueOf(found, which), bound: `<= ${bound}`, isBroken: found > bound };
}

function valueOf(found: number, which: string): string {
  return which === '' ? String(found) : `${found} (${which})`;
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}
