import { playCell, undisturbed, type Cell, type CellResult, type Reference } from './cell.js';
import { makeWorld, type World } from './world.js';

/** Plays cells, `lanes` at a time, each lane with a world of its own. The results stand in the order of the cells. */
export async function playCells(
  cells: readonly Cell[],
  { lanes, tell }: { readonly lanes: number; readonly tell?: (result: CellResult) => void },
): Promise<CellResult[]> {
  const results: CellResult[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    const worlds = new Map<'few' | 'many', { world: World; reference: Reference }>();
    for (let at = next++; at < cells.length; at = next++) {
      const cell = cells[at];
      if (cell === undefined) break;
      const size = isOfPages(cell) ? 'many' : 'few';
      let known = worlds.get(size);
      if (known === undefined) {
        const world = await makeWorld(size);
        known = { world, reference: await undisturbed(world) };
        worlds.set(size, known);
      }
      const result = await playCell(known.world, cell, known.reference);
      results[at] = result;
      tell?.(result);
    }
    for (const { world } of worlds.values()) await world.dispose();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

const isOfPages = ({ what }: Cell): boolean => typeof what === 'object' && what.meets === 'pages';
