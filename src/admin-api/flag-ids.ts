import type { FlagSaid } from './reader.js';

/**
 * Remembers facts about flags from other answers of this run: ids, because some services find a definition only by the
 * id of its flag; and absent flags, because some services have no other way to show an absence.
 */
export class FlagIds {
  readonly #ids = new Map<string, Set<string>>();
  readonly #absent = new Set<string>();

  learn(workspaceId: string, flag: { readonly name: string; readonly id: string }): void {
    const place = placeOf(workspaceId, flag.name);
    this.#ids.set(place, new Set(this.#ids.get(place)).add(flag.id));
    this.#absent.delete(place);
  }

  /** Ignores flags with a known id, because a service may take a while to find a flag that it has just shown. */
  learnAbsent(workspaceId: string, name: string): void {
    const place = placeOf(workspaceId, name);
    if (!this.#ids.has(place)) this.#absent.add(place);
  }

  /** See `AdminReader.flagSaid`. */
  saidOf(workspaceId: string, name: string): FlagSaid {
    const place = placeOf(workspaceId, name);
    if (this.#absent.has(place)) return 'absent';
    const ids = [...(this.#ids.get(place) ?? [])];
    const id = ids.at(-1);
    return id === undefined ? undefined : { id, ids };
  }
}

function placeOf(workspaceId: string, name: string): string {
  return `${workspaceId}/${name}`;
}
