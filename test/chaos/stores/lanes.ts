import type { Reference } from '../matrix/cell.js';
import type { Ground } from './grounds.js';
import { playStoreCell, referenceOf, type StoreCell, type StoreResult, type Way } from './play.js';
import { makeStoreWorld, type Stage, type StoreWorld } from './world.js';

export interface Lanes {
  readonly lanes: number;
  readonly ways: readonly Way[];
  /** Which cells are played. */
  readonly plays: (ground: string, cell: StoreCell) => boolean;
  readonly tell?: (ground: string, result: StoreResult) => void;
}

/** Plays every fault of a ground with every way, each lane on a ground of its own: most of the time goes into waiting. */
export async function playStores(
  makeGround: () => Promise<Ground>,
  { lanes, ways, plays, tell }: Lanes,
): Promise<StoreResult[]> {
  const results: StoreResult[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    const ground = await makeGround();
    const cells = ways
      .flatMap((way) => ground.faults.map((fault): StoreCell => ({ fault, way })))
      .filter((cell) => plays(ground.name, cell));
    const worlds = new Map<Stage, { world: StoreWorld; reference: Reference }>();
    try {
      for (let at = next++; at < cells.length; at = next++) {
        const cell = cells[at];
        if (cell === undefined) break;
        const { stage } = cell.way;
        let known = worlds.get(stage);
        if (known === undefined) {
          const world = await makeStoreWorld(ground, stage);
          known = { world, reference: await referenceOf(world) };
          worlds.set(stage, known);
        }
        const result = await playStoreCell(known.world, cell, known.reference);
        results[at] = result;
        tell?.(ground.name, result);
      }
    } finally {
      for (const { world } of worlds.values()) await world.dispose();
      await ground.dispose();
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results.filter(Boolean);
}
