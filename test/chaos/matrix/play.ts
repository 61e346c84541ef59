import { playCell, undisturbed, type Cell, type CellResult } from './cell.js';
import { makeWorld } from './world.js';

/** Plays cells, `lanes` at a time, each lane with a world of its own. The results stand in the order of the cells. */
export async function playCells(
  cells: readonly Cell[],
  { lanes, tell }: { readonly lanes: number; readonly tell?: (result: CellResult) => void },
): Promise<CellResult[]> {
  const results: CellResult[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    const few = await makeWorld('few');
    const many = await makeWorld('many');
    const [afterFew, afterMany] = [await undisturbed(few), await undisturbed(many)];
    for (let at = next++; at < cells.length; at = next++) {
      const cell = cells[at];
      if (cell === undefined) break;
      const result = isOfPages(cell)
        ? await playCell(many, cell, afterMany)
        : await playCell(few, cell, afterFew);
      results[at] = result;
      tell?.(result);
    }
    await few.dispose();
    await many.dispose();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

const isOfPages = ({ what }: Cell): boolean => typeof what === 'object' && what.meets === 'pages';
