/** What a run is about; all else takes no time worth a line. */
export type Phase = 'look' | 'apply' | 'verify';

/** Requests are held back, or one of them is to be sent again. */
export interface Wait {
  readonly waitMs: number;
  /** Clause for people: `the service answered 503`. */
  readonly why: string;
  /** What waits: `read flags`. */
  readonly what: string;
}

/** What long work tells while it goes on. Being told costs nothing that a run would notice, and never throws. */
export interface Progress {
  /** The phase before is over, and what is counted starts anew. */
  phase(phase: Phase): void;
  /** How much of the phase is done: objects looked at, steps sent. */
  count(done: number, total: number): void;
  waiting(wait: Wait): void;
  /** From now on the number of requests sent is this one, tries counted one by one. */
  requests(sent: () => number): void;
}
