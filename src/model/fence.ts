/** What a write is about. */
export interface FencedWrite {
  /** It kills, and changes nothing else. */
  readonly isKill: boolean;
}

/**
 * Keeps a run that others may have taken over from writing. Each holder of a lease has a greater term than the one
 * before it, so that whoever compares terms knows who is the later.
 */
export interface Fence {
  readonly lease: string;
  readonly term: number;
  /**
   * To be awaited right before each write.
   *
   * @throws FlaghoistError `INTERRUPTED` the lease is lost, or it cannot be told that it is not: nothing may be written,
   *   but a kill that git orders now where nobody can tell.
   */
  readonly check: (write: FencedWrite) => Promise<void>;
  /**
   * Takes a further lease for the rest of the run, which `check` looks at too.
   *
   * @returns gives it back.
   * @throws FlaghoistError `IN_USE` another run holds it still.
   */
  readonly enter: (
    lease: string,
    wait: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ) => Promise<() => Promise<void>>;
}
