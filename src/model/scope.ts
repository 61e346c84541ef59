/** Which objects a run looks at. Environments go by the service's names. */
export interface Scope {
  readonly flags: ReadonlyMap<string, FlagScope>;
  readonly segments: ReadonlyMap<string, SegmentScope>;
  /**
   * Whether definitions of flags that are none of ours are looked at as well: something may be removed, and they may
   * still use it.
   */
  readonly users: boolean;
}

export interface FlagScope {
  /** The id that an earlier run was answered. */
  readonly id?: string | undefined;
  /** In our inventory: a list that does not show it is not believed without a second question. */
  readonly known: boolean;
  readonly environments: ReadonlySet<string>;
}

export interface SegmentScope {
  /** Environment → whether its keys are looked at, or only whether it is active. */
  readonly environments: ReadonlyMap<string, 'keys' | 'activation'>;
}
