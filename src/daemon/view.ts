import type { EventEmitter } from 'node:events';
import type { ExitCode } from '../errors.js';
import type { Run, Source } from '../generated/status.schema.d.js';
import type { Bucket } from '../model/flag/flag.js';
import type { Frozen } from '../model/json.js';
import type { ProgressView } from '../model/run.js';
import type { StandingsView } from './standings.js';
import type { PlanDocument } from '../report/json/plan.js';
import type { OpenRows } from '../report/view/plan-view.js';

type ShownSource = Frozen<Source>;

/** `machine.ts` has the diagram. */
export type Phase = ShownSource['phase'];

export type Trigger = Run['triggers'][number];

export type RunResult = Run['result'];

/** Plain data: it is stored, sent and shown. Older versions kept fewer of the members that may be absent. */
export interface RunRecord extends Frozen<Omit<Run, 'planHash' | 'heldHash'>> {
  readonly exitCode: ExitCode;
  /** The report as `reconcile` prints it, without colours; untrusted text is cleaned for a terminal only. */
  readonly text: string;
  readonly plan: PlanDocument | null;
  /** The first line of the report, and what the plan leaves open. Not set without a plan. */
  readonly open?: OpenRows;
}

/** Untrusted text, in the service's order. */
export type UnmanagedNames = NonNullable<RunRecord['unmanaged']>;

export type OrderedKill = NonNullable<RunRecord['kills']>[number];

/** The flags that git declares in one environment, as a run last saw them on the service. */
export interface EnvironmentFlags {
  readonly environment: string;
  readonly total: number;
  readonly flags: readonly LiveFlag[];
}

export interface LiveFlag {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  /** null if the service does not have the flag here. */
  readonly serves: Serving | null;
  /** Set while the file is invalid: `serves` is what was seen last. */
  readonly invalid?: true;
  readonly seenAt: string;
}

export interface Serving {
  readonly killed: boolean;
  readonly shares: readonly Bucket[];
  /** Whole per cent of the traffic that rules and shares apply to; the rest gets the default treatment. */
  readonly trafficAllocation: number;
  readonly defaultTreatment: string;
  /** Number of rules and of targeted keys that come before the shares. */
  readonly rules: number;
  readonly targets: number;
  /** The first rules in words, with keys counted; untrusted text. Not set if an older version saw the flag. */
  readonly ruleTexts?: readonly string[];
}

export type RunBegin = Pick<RunRecord, 'id' | 'commit'>;

/** Without an end: by the config. */
export type Override = NonNullable<ShownSource['suspended']>;

export interface Hold {
  readonly reason: string;
  /** ISO 8601. */
  readonly until: string;
}

/** Lets the plan with this hash, and no other, pass until a run has used the approval or found another plan. */
export type Approval = NonNullable<ShownSource['approved']>;

export interface ActiveOverrides {
  readonly suspension: Hold | null;
  readonly pin: (Hold & { readonly commit: string }) | null;
  readonly approval: Approval | null;
}

/** Members that `/status` shows in another form, or derives. */
type Derived =
  | 'verdict'
  | 'ready'
  | 'missing'
  | 'environments'
  | 'standings'
  | 'unmanaged'
  | 'runs'
  | 'pinned'
  | 'progress';

/** One config repository. `name` fits in a URL and a metric label. */
export interface SourceView extends Omit<ShownSource, Derived> {
  readonly progress: ProgressView | null;
  /** Names of the environments, the protected ones first, as people see them; empty before the first plan. */
  readonly environments: readonly string[];
  /** In the order of application; empty before the first plan. */
  readonly flags: readonly EnvironmentFlags[];
  readonly runs: readonly RunRecord[];
  readonly pinned: ActiveOverrides['pin'];
  /** What became of the objects; null before the first plan. Nothing is live while that cannot be confirmed. */
  readonly standings: StandingsView | null;
  /** Whether a run since the start has come to an end. */
  readonly firstSync: boolean;
}

export type LiveKillView = SourceView['liveKills'][number];

export type CommitView = NonNullable<SourceView['seen']>;

export type Trouble = SourceView['troubles'][number];

/** The only input of status page, metrics and notifications. */
export interface DaemonView {
  readonly version: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** A snapshot, in the order of the configuration. */
  readonly sources: () => readonly SourceView[];
  readonly events: EventEmitter<DaemonEvents>;
}

/** Listeners must not throw. */
export interface DaemonEvents {
  readonly change: [];
  /** A run has chosen its commit. `end` follows with the same id, unless a bug ended the run. */
  readonly begin: [SourceView, RunBegin];
  /** Once for each run, after the source's view shows it. */
  readonly end: [SourceView, RunRecord];
}

/** Requests to the daemon. Every call returns at once, and repeating it is safe. */
export interface DaemonControls {
  /** @param source null for all. If a run is under way, another one follows. */
  readonly trigger: (source: string | null, trigger: Trigger) => void;
  /**
   * Sets requests, or with null ends them, of all sources or one. The next run with a plan uses an approval or, if it is
   * for another plan, drops it. A suspension in the config stays.
   */
  readonly override: (source: string | null, asked: Partial<ActiveOverrides>) => void;
}
