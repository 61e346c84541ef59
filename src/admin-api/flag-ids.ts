/**
 * Ids of flags as this run's creations answered them: some services know a definition by the id of its flag alone, and
 * a flag that was made just now stood in no list that was read before.
 */
export class FlagIds {
  readonly #ids = new Map<string, Set<string>>();

  learn(workspaceId: string, flag: { readonly name: string; readonly id: string }): void {
    const place = placeOf(workspaceId, flag.name);
    this.#ids.set(place, new Set(this.#ids.get(place)).add(flag.id));
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
