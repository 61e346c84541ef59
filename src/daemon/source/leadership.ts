import type { Fence } from '../../model/run.js';
import type { ActiveOverrides, CommitView, RunRecord, Trigger, Approval } from '../view.js';
import type { StandingsView } from '../standings.js';
import type { SeenFlags } from './live-flags.js';

export interface SharedRun {
  readonly run: RunRecord;
  readonly at: CommitView | null;
  /** Of its lease; 0 or not set without one. */
  readonly term?: number | undefined;
  readonly environments?: readonly string[] | undefined;
  readonly suspendedByConfig?: boolean | undefined;
  readonly dueAt?: number | null | undefined;
  readonly standings?: StandingsView | undefined;
  /** Not set if the run before still has the current ones. */
  readonly flags?: readonly SeenFlags[] | undefined;
}

export const NOTHING_HELD: ActiveOverrides = { suspension: null, pin: null, approval: null };

/** Handlers never throw. */
export interface LeadershipEvents {
  readonly onLead: () => void;
  readonly onLost: () => void;
  readonly onTrigger: (trigger: Trigger) => void;
  /** Runs of other replicas, oldest first, each once. */
  readonly onRuns: (runs: readonly SharedRun[]) => void;
  /** Called on every poll of the database, even if nothing changed. */
  readonly onOverrides: (overrides: ActiveOverrides) => void;
  readonly onTrouble: (why: string | null) => void;
}

export interface RunPermit {
  /** Aborted once the permission is lost or in doubt. */
  readonly signal: AbortSignal;
  /** The check that each write has to pass. Not set where no other replica can write. @param seenAtMs of a monotonic clock. */
  readonly fence?: (seenAtMs: number) => Fence;
  /** Set while the database cannot tell which replica leads. Every replica then sends kills and nothing else. */
  readonly killsOnly?: true;
  readonly end: () => void;
}

/** This replica's part in keeping one source: one replica leads and writes, the others wait. */
export interface Leadership {
  readonly isLeader: boolean;
  /** null while another replica leads. */
  begin(): RunPermit | null;
  /** Brings a trigger to the leader. Never throws. */
  forward(trigger: Trigger): void;
  /** Reports a run to the other replicas. Never rejects. */
  keep(run: SharedRun): Promise<void>;
  /** Reports changed overrides, and only those, to the other replicas. */
  share(changed: Partial<ActiveOverrides>): void;
}

export type JoinElection = (events: LeadershipEvents) => Leadership;

/** A process without replicas always leads. */
export const ALONE: Leadership = {
  isLeader: true,
  begin: () => ({ signal: new AbortController().signal, end: () => undefined }),
  forward: () => undefined,
  keep: async () => Promise.resolve(),
  share: () => undefined,
};

/** Requests of operators, each with an expiry. The config's own suspension is not part of it. */
export class Overrides {
  readonly #now: () => number;
  #state: ActiveOverrides = NOTHING_HELD;

  constructor(now: () => number) {
    this.#now = now;
  }

  get inForce(): ActiveOverrides {
    const { suspension, pin, approval } = this.#state;
    return {
      suspension: this.#current(suspension),
      pin: this.#current(pin),
      approval: this.#current(approval),
    };
  }

  /** When the next override expires, in milliseconds since the epoch; null if none is set. */
  get endsAt(): number | null {
    const { suspension, pin, approval } = this.#state;
    const ends = [suspension, pin, approval].flatMap((hold) => hold?.until ?? []);
    return ends.length === 0 ? null : Math.min(...ends.map(Date.parse));
  }

  set(state: ActiveOverrides): boolean {
    const before = JSON.stringify(this.inForce);
    this.#state = state;
    return before !== JSON.stringify(this.inForce);
  }

  change(changed: Partial<ActiveOverrides>): void {
    this.#state = { ...this.#state, ...changed };
  }

  /** Removes this approval, unless another one has replaced it. @returns whether it did. */
  spend({ hash, until }: Approval): boolean {
    const { approval } = this.#state;
    // Compares values, because the approval may be a copy from another replica.
    if (approval?.hash !== hash || approval.until !== until) return false;
    this.change({ approval: null });
    return true;
  }

  /** Drops expired overrides. @returns whether a run is needed: an expired approval needs none. */
  expire(): boolean {
    const { suspension, pin } = this.#state;
    this.#state = this.inForce;
    return suspension !== this.#state.suspension || pin !== this.#state.pin;
  }

  #current<T extends { readonly until: string }>(hold: T | null): T | null {
    return hold !== null && Date.parse(hold.until) > this.#now() ? hold : null;
  }
}
