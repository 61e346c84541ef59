import type { Catalog } from '../admin-api/workspace.js';
import { KnownKills } from '../kill/first.js';
import { GitCache } from '../git/cache.js';
import { StateCache } from '../state/cache.js';
import type { BoundDesired } from '../model/bound-desired.js';
import { SpecCache } from '../specs/cache.js';
import type { ComparedBases } from '../plan/bases/changed.js';

/** What the runs over one place so far leave for the next. */
export interface LastObservation {
  /** Which state and which part of it the runs were about: another one has nothing in common with them. */
  readonly about: string;
  readonly desired: BoundDesired;
  /** `KIND/NAME` of what was not found equal, or is not known to be. */
  readonly outOfSync: ReadonlySet<string>;
  readonly at: Catalog;
}

/**
 * What a process that runs again and again over one config directory keeps from run to run, so that a run costs what
 * changed. Owned by the caller; one for each source, and never used by two runs at once. A run makes the same plan with
 * it and without; only with it may a run look at nothing but what was touched.
 */
export class RunCache {
  readonly specs: SpecCache;
  readonly git: GitCache;
  readonly states: StateCache;
  readonly kills = new KnownKills();
  /** The last comparison of specs and bases. */
  bases: ComparedBases | null = null;
  #last: LastObservation | null = null;

  constructor(specs = new SpecCache(), git = new GitCache(), states = new StateCache()) {
    this.specs = specs;
    this.git = git;
    this.states = states;
  }

  /** For a run that knows what the others know, and of which they learn nothing. */
  isolated(): RunCache {
    const isolated = new RunCache(this.specs, this.git, this.states);
    isolated.bases = this.bases;
    isolated.#last = this.#last;
    return isolated;
  }

  /** Null: nothing is known, and everything has to be looked at. */
  lastObservation(about: string): LastObservation | null {
    return this.#last?.about === about ? this.#last : null;
  }

  keep(last: LastObservation): void {
    this.#last = last;
  }

  /** What an apply and its second look left, of the run that was kept last. */
  recordResult(outOfSync: ReadonlySet<string>): void {
    if (this.#last) this.#last = { ...this.#last, outOfSync: outOfSync };
  }
}
