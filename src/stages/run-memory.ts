import type { Connection } from '../api/connect.js';
import { GitMemory } from '../git/git-memory.js';
import type { Desired } from '../model/desired.js';
import { SpecMemory } from '../specs/spec-memory.js';
import type { ComparedBases } from './away-from-base.js';

/** What the runs over one place so far leave for the next. */
export interface LastLook {
  /** Which state and which part of it the runs were about: another one has nothing in common with them. */
  readonly about: string;
  readonly desired: Desired;
  /** `KIND/NAME` of what was not found equal, or is not known to be. */
  readonly unsettled: ReadonlySet<string>;
  readonly at: Connection;
}

/**
 * What a process that runs again and again over one config directory keeps from run to run, so that a run costs what
 * changed. Owned by the caller; one for each source, and never used by two runs at once. A run makes the same plan with
 * it and without; only with it may a run look at nothing but what was touched.
 */
export class RunMemory {
  readonly specs: SpecMemory;
  readonly git: GitMemory;
  /** The last comparison of specs and bases. */
  bases: ComparedBases | null = null;
  #last: LastLook | null = null;

  constructor(specs = new SpecMemory(), git = new GitMemory()) {
    this.specs = specs;
    this.git = git;
  }

  /** For a run that knows what the others know, and of which they learn nothing. */
  aside(): RunMemory {
    const aside = new RunMemory(this.specs, this.git);
    aside.bases = this.bases;
    aside.#last = this.#last;
    return aside;
  }

  /** Null: nothing is known, and everything has to be looked at. */
  lastLook(about: string): LastLook | null {
    return this.#last?.about === about ? this.#last : null;
  }

  keep(last: LastLook): void {
    this.#last = last;
  }

  /** What an apply and its second look left, of the run that was kept last. */
  settle(unsettled: ReadonlySet<string>): void {
    if (this.#last) this.#last = { ...this.#last, unsettled };
  }
}
