import type { AdminReader } from '../admin-api/reader.js';
import type { Catalog, LiveWorkspace, Workspace } from '../admin-api/workspace.js';
import { FlagkeelError } from '../errors.js';
import { GitCache } from '../git/cache.js';
import type { Source } from '../git/spec-source.js';
import { SpecHistory } from '../history/spec-history.js';
import type { KnownKills, SentKills } from '../kill/first.js';
import type { BoundDesired } from '../model/bound-desired.js';
import type { Desired, RampCheck } from '../model/desired.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { Impact } from '../model/impact.js';
import type { KillResults, Outcomes, Unknown } from '../model/outcome.js';
import type { AllowedFinding, Change, GuardFinding, Plan, PlanNotes } from '../model/plan.js';
import type { ObjectId } from '../model/ref.js';
import type { Approval, Progress, RunOptions } from '../model/run.js';
import type { State } from '../model/state.js';
import type { Verdict } from '../model/verdict.js';
import type { ComparedBases } from '../plan/bases/compare.js';
import type { PlanInput } from '../plan/input.js';
import type { PlanPolicy } from '../plan/policy.js';
import { SpecCache } from '../specs/cache.js';
import type { StateAccess } from '../state/open.js';
import type { StateHome, StateReading } from '../state/store.js';
import { StateCache } from '../state/tree.js';
import type { Moment } from '../timing/desired-at.js';
import type { CheckFault } from './checks.js';

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
  place: OpenedPlace | null = null;
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

  /** null: the run must look at everything. */
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

/** null if it passed; otherwise why it failed or may not be run, with untrusted text. */
export type AskCheck = (check: RampCheck) => Promise<CheckFault | null>;

/** Dependencies of a run. A plan needs nothing that can write. */
export interface RunContext extends StateAccess {
  readonly source: Source;
  readonly options: RunOptions;
  /** Clock for windows and freezes, in milliseconds since the epoch. */
  readonly now: () => number;
  readonly memory: RunCache;
  /** Called once the specs are known to be valid: they say where the service is. */
  readonly openReader: (desired: Desired) => Promise<AdminReader>;
  /** Opens the state. null if no home is writable, so that the run is stateless. */
  readonly openState: (place: Workspace) => Promise<StateHome | null>;
  /**
   * Keeps other runs out of the state until the run is closed.
   *
   * @throws FlagkeelError `IN_USE` another run is still there at the end of the wait.
   */
  readonly lockState: (home: StateHome) => Promise<void>;
  /** Unset in a run that writes nothing. */
  readonly askCheck?: AskCheck | undefined;
  /**
   * Refuses specs that no signer vouches for; a run that writes nothing only warns. Unset if no signatures are demanded.
   *
   * @throws FlagkeelError `UNSIGNED`, `USAGE`, `GIT`
   */
  readonly requireSigned?: (() => Promise<void>) | undefined;
  readonly note: (text: string) => void;
  /** Name of the service in plans: its origin, or `embedded`. */
  readonly originName: () => string;
  readonly progress?: Progress | undefined;
}

export function historyOf(
  { source, memory }: Pick<RunContext, 'source' | 'memory'>,
  { environmentNames }: BoundDesired,
): SpecHistory {
  return new SpecHistory(source.checkout, source.revision.commit, memory.specs, environmentNames);
}

export interface Remembered extends Omit<StateReading, 'head' | 'killsOf' | 'flagIds'> {
  /** null if no home is writable, so that nothing is remembered. */
  readonly home: StateHome | null;
  /** HEAD of the last apply. */
  readonly applied: string | null;
  /** Whether HEAD is an ancestor of that commit, which limits the run. */
  readonly isBehind: boolean;
  /** Whether specs were applied here before; a state with only records of kills does not count. */
  readonly isWritten: boolean;
}

/** What a run opens, and sends, before it reads the state. It stays for all looks of the run. */
export interface Begun {
  readonly desired: BoundDesired;
  /** `KIND/NAME` of objects that the run leaves alone; empty unless it may quarantine invalid ones. */
  readonly quarantined: ReadonlySet<string>;
  /** Errors in the specs, if the run goes on in spite of them. */
  readonly invalid: readonly Diagnostic[];
  readonly reader: AdminReader;
  readonly workspace: LiveWorkspace;
  /** Kills that were sent before the plan was made; the plan lists them as changes too. */
  readonly kills: SentKills;
  readonly isDryRun: boolean;
  /** null if no state can be kept. */
  readonly home: StateHome | null;
}

/** A run with its policy, before it looks at the service. */
export interface Decided extends Begun {
  readonly policy: PlanPolicy;
  readonly moment: Moment;
  readonly remembered: Remembered;
}

/** A run that knows which part of the service it looks at. Over touched objects, the policy's `only` names just those. */
export interface Scoped extends Decided {
  readonly observed: Plan['observed'];
  /** Result of earlier runs over the same scope in this process, if any. */
  readonly last: LastObservation | null;
  readonly about: string;
}

export interface TimedInput extends PlanInput {
  readonly moment: Moment;
}

export interface Planned extends Pick<Begun, 'reader' | 'kills' | 'invalid'> {
  readonly plan: Plan;
  readonly planHash: string;
  /** Hash of the changes that windows hold back, once all others are written; null if they hold none back. */
  readonly heldHash: string | null;
  /** Hash of the plan without the kills that the run has sent: approves what a guard refuses, in a later run. */
  readonly refusedHash: string;
  /** Approval for this plan in the options of the run. */
  readonly approval: Approval | undefined;
  readonly notes: PlanNotes;
  readonly impacts: ReadonlyMap<ObjectId, Impact>;
  readonly guardFindings: readonly GuardFinding[];
  readonly allowed: readonly AllowedFinding[];
  readonly input: TimedInput;
  readonly at: Catalog;
  /** As read from the state; after an apply with the facts of timing and objects out of sync that it wrote. */
  readonly remembered: Remembered;
  readonly unknowns: readonly Unknown[];
}

export interface Applied extends Planned {
  readonly outcomes: Outcomes;
  readonly state: State;
  /** Changes that a second look found still to do, except those that wait for an approval. */
  readonly left: readonly Change[];
  readonly outOfSync: ReadonlySet<string>;
  readonly verdict: Verdict;
  /** Whether nothing is left to do for this program or a person, see `isConverged`. */
  readonly converged: boolean;
  /** Why the second look failed, or which writes it could not see. */
  readonly unverified?: string;
  /** Why the state could not be written after the apply. */
  readonly unsaved?: string;
}

/** The specs are invalid; nothing but kills was sent. */
export class InvalidSpecsError extends FlagkeelError {
  readonly diagnostics: readonly Diagnostic[];

  /** @param due for a dry run: kills that a run would send nevertheless, if they are not live yet. */
  constructor(
    diagnostics: readonly Diagnostic[],
    kills: KillResults,
    due: readonly ObjectId[] = [],
  ) {
    const isKilled = [...kills.values()].some(({ status }) => status === 'killed');
    const sent = isKilled ? 'nothing but the kills was sent' : 'nothing was sent';
    const would =
      due.length > 0
        ? ` (a run would still kill ${due.join(', ')}, where that is not done yet)`
        : '';
    super('SPECS_INVALID', `the specs are invalid; ${sent}${would}`);
    this.diagnostics = diagnostics;
  }
}
