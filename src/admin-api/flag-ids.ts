/**
 * What answers of this run said of flags by the way: their ids, because some services know a definition by the id of its
 * flag alone; and which are not there, on services that have no other way to say so.
 */
export class FlagIds {
  readonly #ids = new Map<string, Set<string>>();
  readonly #absent = new Set<string>();

  learn(workspaceId: string, flag: { readonly name: string; readonly id: string }): void {
    const place = placeOf(workspaceId, flag.name);
    this.#ids.set(place, new Set(this.#ids.get(place)).add(flag.id));
    this.#absent.delete(place);
  }

  /** A service may take a while to see the flag that it has just shown: of such a one nothing is learned. */
  learnAbsent(workspaceId: string, name: string): void {
    const place = placeOf(workspaceId, name);
    if (!this.#ids.has(place)) this.#absent.add(place);
  }

  /** Undefined: no answer was about the flag. The newest id, where answers named several. */
  saidOf(workspaceId: string, name: string): { readonly id: string } | 'absent' | undefined {
    const place = placeOf(workspaceId, name);
    if (this.#absent.has(place)) return 'absent';
    const id = [...(this.#ids.get(place) ?? [])].at(-1);
    return id === undefined ? undefined : { id };
  }

  /** By what a definition may be asked for, in this order: the name first, as the contract has it; each once. */
  candidates(
    workspaceId: string,
    { name, id }: { readonly name: string; readonly id?: string | undefined },
  ): readonly string[] {
    const learned = this.#ids.get(placeOf(workspaceId, name)) ?? [];
    return [...new Set([name, ...(id === undefined ? [] : [id]), ...learned])];
  }
}

function placeOf(workspaceId: string, name: string): string {
  return `${workspaceId}/${name}`;
}
