import type { Catalog, LiveWorkspace } from '../admin-api/workspace.js';
import type { Desired } from '../model/desired.js';
import type { KnownKills } from '../kill/first.js';
import { GitCache } from '../git/cache.js';
import { StateCache } from '../state/tree.js';
import type { BoundDesired } from '../model/bound-desired.js';
import { SpecCache } from '../specs/cache.js';
import type { ComparedBases } from '../plan/bases/changed.js';

/** Observation of a run, for the next one over the same workspace. */
export interface LastObservation {
  /** Identifies state and filters of the run: an observation of other ones is useless. */
  readonly about: string;
  readonly desired: BoundDesired;
  /** `KIND/NAME` of objects that were not found equal, or are unknown. */
  readonly outOfSync: ReadonlySet<string>;
  readonly at: Catalog;
}

/** Where the specs say that the service is, and the workspace that was found there. */
export interface OpenedPlace {
  readonly desired: Desired;
  readonly workspace: LiveWorkspace['workspace'];
}

/**
 * Data that a process with repeated runs over one config directory keeps between them, so that a run costs only the
 * changes. Owned by the caller; one for each source, never used by two runs at once. Plans are equal with and without
 * it, but only with it a run may limit itself to touched objects.
 */
export class RunCache {
  readonly specs: SpecCache;
  readonly git: GitCache;
  readonly states: StateCache;
  kills: KnownKills | null = null;
  /** The service and place that the last run opened. */
  place: OpenedPlace | null = null;
  /** The last comparison of specs and bases. */
  bases: ComparedBases | null = null;
  #last: LastObservation | null = null;

  constructor(specs = new SpecCache(), git = new GitCache(), states = new StateCache()) {
    this.specs = specs;
    this.git = git;
    this.states = states;
  }

  /** A copy for a run that uses this data but leaves no traces in it. */
  isolated(): RunCache {
    const isolated = new RunCache(this.specs, this.git, this.states);
    isolated.bases = this.bases;
    isolated.#last = this.#last;
    return isolated;
  }

  /** null if there is none, so that the run must look at everything. */
  lastObservation(about: string): LastObservation | null {
    return this.#last?.about === about ? this.#last : null;
  }

  keep(last: LastObservation): void {
    this.#last = last;
  }

  /** Adds the result of an apply and its second look to the last observation. */
  recordResult(outOfSync: ReadonlySet<string>): void {
    if (this.#last) this.#last = { ...this.#last, outOfSync };
  }
}
