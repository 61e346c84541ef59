/** Heads, and commits before them, that are remembered. */
const KEPT = 10_000;

/**
 * Which commits were seen to come before which, along the one line in which a branch grows: what comes before a head
 * comes before all later ones. Of another line nothing is known before it is the one that grows.
 */
export class Lineage {
  /** Head → its place on the line. */
  #heads = new Map<string, number>();
  /** Commit → place of the first head that it is, or was seen to come before. */
  #since = new Map<string, number>();
  #last: { readonly commit: string; readonly place: number } | null = null;

  has(a: string, b: string): boolean {
    const place = this.#heads.get(b);
    const since = this.#since.get(a);
    return place !== undefined && since !== undefined && since <= place;
  }

  /** Remembers that `a` comes before `b`. */
  keep(a: string, b: string): void {
    if (this.has(a, b)) return;
    if (this.#last?.commit === b) {
      this.#since.set(a, this.#last.place);
    } else if (!this.#heads.has(b)) {
      if (this.#last?.commit !== a) this.#begin(a);
      this.#grow(b);
    }
    dropOldest(this.#heads);
    dropOldest(this.#since);
  }

  #begin(commit: string): void {
    this.#heads = new Map();
    this.#since = new Map();
    this.#grow(commit);
  }

  #grow(commit: string): void {
    const place = (this.#last?.place ?? 0) + 1;
    this.#last = { commit, place };
    this.#heads.set(commit, place);
    this.#since.set(commit, place);
  }
}

function dropOldest(kept: Map<string, number>): void {
  const oldest = kept.size > KEPT ? kept.keys().next() : undefined;
  if (oldest?.done === false) kept.delete(oldest.value);
}
