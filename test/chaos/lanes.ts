import type { Reference } from './matrix/cell.js';
import type { World } from './matrix/world.js';

/**
 * Does the work for each item, so many at a time: most of the time goes into waiting. Each lane has tools of its own.
 *
 * @returns the results in the order of the items.
 */
export async function inLanes<Item, Tools extends AsyncDisposable, Result>(
  items: readonly Item[],
  lanes: number,
  open: () => Promise<Tools>,
  work: (item: Item, tools: Tools) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = [...items.entries()];
  const lane = async (): Promise<void> => {
    await using tools = await open();
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      results[next[0]] = await work(next[1], tools);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

interface Known {
  readonly world: World;
  readonly reference: Reference;
}

/** The worlds of one lane, each made when it is first asked for, with the story without a fault in it. */
export class Worlds<Name> implements AsyncDisposable {
  readonly #make: (name: Name) => Promise<Known>;
  readonly #end: () => Promise<void>;
  readonly #known = new Map<Name, Known>();

  constructor(make: (name: Name) => Promise<Known>, end = async () => Promise.resolve()) {
    this.#make = make;
    this.#end = end;
  }

  async at(name: Name): Promise<Known> {
    const known = this.#known.get(name) ?? (await this.#make(name));
    this.#known.set(name, known);
    return known;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { world } of this.#known.values()) await world.dispose();
    await this.#end();
  }
}
