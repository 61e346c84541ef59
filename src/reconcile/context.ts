import type { Catalog, Workspace } from '../admin-api/workspace.js';
import type { AdminReader } from '../admin-api/reader.js';
import { FlagkeelError } from '../errors.js';
import type { StateKey } from '../state/ref-store.js';
import type { StateHome } from '../state/store.js';
import type { OtherWorkspace } from '../state/other-workspaces.js';
import type { BoundDesired } from '../model/bound-desired.js';
import type { Desired, RampCheck } from '../model/desired.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { Impact } from '../model/impact.js';
import type { ObjectId } from '../model/ref.js';
import type { AllowedFinding, Change, GuardFinding, Plan, PlanNotes } from '../model/plan.js';
import type { KillResults, Outcomes, Unknown } from '../model/outcome.js';
import type { Standing } from '../model/unfinished.js';
import type { Approval, Progress, RunOptions } from '../model/run.js';
import type { RampRecords, State, UsedApprovals } from '../model/state.js';
import type { PlanInput } from '../plan/input.js';
import type { RunCache } from './cache.js';
import type { Source } from '../git/spec-source.js';
import { SpecHistory } from '../history/spec-history.js';
import type { SentKills } from '../kill/sent-kills.js';

/** Null: the check passed; otherwise why it did not, or why it may not be asked: a clause with untrusted text in it. */
export type AskCheck = (check: RampCheck) => Promise<string | null>;

/** What a run works with; a plan needs nothing that can write. */
export interface RunContext {
  readonly source: Source;
  readonly options: RunOptions;
  /** The time by which windows and freezes are judged, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Of the runs over the same directory in this process, if the caller kept it; else one that knows nothing. */
  readonly memory: RunCache;
  /** Called once the specs are known to be valid: they say where the service is. */
  readonly openReader: (desired: Desired) => Promise<AdminReader>;
  /** Null: there is no home for a state, and the run is stateless. */
  readonly openState: (place: Workspace) => Promise<StateHome | null>;
  /** The same to read from alone: it waits for no other run. */
  readonly peekState: (place: Workspace) => Promise<StateHome | null>;
  /** The same, shared as `openState` has it: for records of what was written, which wait for no run either. */
  readonly openRecords: (place: Workspace) => Promise<StateHome | null>;
  /** Asks what has to be right before a step of a ramp. Absent: this run writes nothing, and asks nobody. */
  readonly askCheck?: AskCheck | undefined;
  /** Shows people one line. */
  readonly note: (text: string) => void;
  /** States of this directory with another workspace than this one; of try-outs on other services none. */
  readonly appliedToOthers: (place: Workspace) => Promise<readonly OtherWorkspace[]>;
  /** Where an earlier run found the workspace of this name or id; null: no state says so, or several do. Asks nobody. */
  readonly rememberedPlace: (workspace: string) => Promise<StateKey | null>;
  /** What plans call the service: its origin, or `embedded`. */
  readonly originName: () => string;
  readonly progress?: Progress | undefined;
}

/** What the specs said before HEAD. */
export function historyOf(
  { source, memory }: Pick<RunContext, 'source' | 'memory'>,
  { environmentNames }: BoundDesired,
): SpecHistory {
  return new SpecHistory(source.checkout, source.revision.commit, memory.specs, environmentNames);
}

/** What earlier runs left in the state. */
export interface Remembered {
  /** Null: there is no home for a state, and nothing is remembered. */
  readonly home: StateHome | null;
  readonly state: State;
  /** HEAD of the last apply. */
  readonly applied: string | null;
  /** Whether HEAD is an ancestor of that commit, and what the run may do is bounded by it. */
  readonly isBehind: boolean;
  /** See `StateReading`. */
  readonly outOfSync: ReadonlySet<string> | null;
  readonly ramps: RampRecords;
  readonly approvals: UsedApprovals;
  /** Whether specs were applied here before; what only tells of kills is no such state. */
  readonly isWritten: boolean;
}

/** A plan with everything that it was made from. */
export interface Planned {
  readonly plan: Plan;
  readonly planHash: string;
  /** Hash of what windows hold back, once everything else is written; null: they hold nothing back. */
  readonly heldHash: string | null;
  /** Leave that the options of the run give for this plan. */
  readonly approval: Approval | undefined;
  readonly notes: PlanNotes;
  /** Whom each change reaches. */
  readonly impacts: ReadonlyMap<ObjectId, Impact>;
  readonly guardFindings: readonly GuardFinding[];
  /** Guards that the specs let the plan pass. */
  readonly allowed: readonly AllowedFinding[];
  readonly input: PlanInput;
  readonly at: Catalog;
  /** What plans call the service. */
  readonly originName: string;
  readonly reader: AdminReader;
  readonly home: StateHome | null;
  /** What earlier runs left, as it was read. */
  readonly remembered: Remembered;
  /** HEAD of the last apply, as the state remembers it. */
  readonly appliedHead: string | null;
  /** What the state says was not in sync; see `StateReading`. */
  readonly knownOutOfSync: ReadonlySet<string> | null;
  /** Kills that went out before the plan was made; they are changes of it all the same. */
  readonly kills: SentKills;
  /** Of a run that may hold what is invalid: what is wrong with the specs. */
  readonly invalid: readonly Diagnostic[];
  /** What could not be known. */
  readonly unknowns: readonly Unknown[];
}

export interface Applied extends Planned {
  readonly outcomes: Outcomes;
  /** What is remembered after it. */
  readonly state: State;
  /** What a second look found left to do, without what waits for an approval; nothing where there was none. */
  readonly left: readonly Change[];
  /** `KIND/NAME` of what was not found equal, or is not known to be. */
  readonly outOfSync: ReadonlySet<string>;
  readonly standing: Standing;
  /** Whether everything that git orders was seen on the service, but for what the plan withheld by the specs' own word. */
  readonly converged: boolean;
  /** Why the second look could not be taken, or what it could not see. */
  readonly unverified?: string;
  /** Why the state could not be written after the apply. */
  readonly unsaved?: string;
}

/** The specs are wrong; nothing but kills was sent. */
export class InvalidSpecsError extends FlagkeelError {
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
