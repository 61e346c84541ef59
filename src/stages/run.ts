import type { Connection, Place } from '../api/connect.js';
import type { AdminReader } from '../api/reader.js';
import { FlaghoistError } from '../errors.js';
import type { StateHome } from '../git/state-home.js';
import type { StateElsewhere } from '../git/states-elsewhere.js';
import type { Desired } from '../model/desired.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { Impact } from '../model/impact.js';
import type { ObjectId } from '../model/object-id.js';
import type { AllowedFinding, GuardFinding, Plan } from '../model/plan.js';
import type { Outcomes, Unknown, Words } from '../model/run.js';
import type { Progress } from '../model/progress.js';
import type { State } from '../model/state.js';
import type { PlanInput } from '../plan/plan-input.js';
import type { KillResults } from './kill-lane.js';
import type { RunOptions } from './policy.js';
import type { RunMemory } from './run-memory.js';
import type { Source } from './source.js';

/** What a run works with; a plan needs nothing that can write. */
export interface RunContext {
  readonly source: Source;
  readonly options: RunOptions;
  /** Of the runs over the same directory in this process, if the caller kept it; else one that knows nothing. */
  readonly memory: RunMemory;
  /** Called once the specs are known to be valid: they say where the service is. */
  readonly openReader: (desired: Desired) => Promise<AdminReader>;
  /** Null: there is no home for a state, and the run is stateless. */
  readonly openState: (place: Place) => Promise<StateHome | null>;
  /** The same to read from alone: it waits for no other run. */
  readonly peekState: (place: Place) => Promise<StateHome | null>;
  /** States of this directory with another workspace than this one; of try-outs on other services none. */
  readonly appliedElsewhere: (place: Place) => Promise<readonly StateElsewhere[]>;
  /** What plans call the service: its origin, or `embedded`. */
  readonly originName: () => string;
  readonly progress?: Progress | undefined;
}

/** A plan with everything that it was made from. */
export interface Planned {
  readonly plan: Plan;
  readonly planHash: string;
  readonly words: ReadonlyMap<ObjectId, Words>;
  /** Whom each change reaches. */
  readonly impacts: ReadonlyMap<ObjectId, Impact>;
  readonly guardFindings: readonly GuardFinding[];
  /** Guards that the specs let the plan pass. */
  readonly allowed: readonly AllowedFinding[];
  readonly input: PlanInput;
  readonly at: Connection;
  /** What plans call the service. */
  readonly originName: string;
  readonly reader: AdminReader;
  readonly home: StateHome | null;
  /** HEAD of the last apply, as the state remembers it. */
  readonly appliedHead: string | null;
  /** Kills that went out before the plan was made; they are changes of it all the same. */
  readonly kills: KillResults;
  /** Of a run that may hold what is invalid: what is wrong with the specs. */
  readonly invalid: readonly Diagnostic[];
  /** What could not be known. */
  readonly unknowns: readonly Unknown[];
}

export interface Applied extends Planned {
  readonly outcomes: Outcomes;
  /** What is remembered after it. */
  readonly state: State;
  /** What a second look found left to do, without what waits for an approval. */
  readonly left: readonly ObjectId[];
  /** `KIND/NAME` of what was not found equal, or is not known to be. */
  readonly unsettled: ReadonlySet<string>;
  /** Whether that was taken, and found nothing. */
  readonly converged: boolean;
  /** Why the second look could not be taken, or what it could not see. */
  readonly unverified?: string;
  /** Why the state could not be written after the apply. */
  readonly unremembered?: string;
}

/** The specs are wrong; nothing but kills was sent. */
export class InvalidSpecsError extends FlaghoistError {
  readonly diagnostics: readonly Diagnostic[];

  /** @param due of a dry run: kills that a run would send all the same, where they are not live yet. */
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
