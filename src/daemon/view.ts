import type { ExitCode } from '../errors.js';
import type { Bucket } from '../model/flag/flag.js';
import type { ObjectId } from '../model/ref.js';
import type { PlanDocument } from '../report/json/plan.js';

/** Where the state machine of a source stands; drawn in `machine.ts`. */
export type Phase = 'idle' | 'debouncing' | 'running' | 'queued' | 'backing-off' | 'stopping';

/** What asks for a run. Several that come together lead to one run that names them all. */
export type Trigger =
  | 'start'
  /** A file of a local checkout changed. */
  | 'files'
  /** The branch has a new commit. */
  | 'commit'
  /** The clock: a full look, which finds drift too. */
  | 'schedule'
  /** A commit adds a kill. */
  | 'kill'
  | 'webhook'
  /** `POST /reconcile`. */
  | 'request'
  /** SIGHUP. */
  | 'signal'
  /** The run before failed. */
  | 'retry'
  /** A moment has come at which something goes that was held back: a window opens. */
  | 'due'
  /** `POST /adopt`: what is withheld because no run remembers it becomes ours. */
  | 'adopt';

/** How a run ended, the worst last. */
export type RunResult =
  | 'in-sync'
  /** Everything that may be written is on the service, and a second look found nothing left to do. */
  | 'applied'
  /** As `applied`, but for what a window does not let pass that closed while the run was under way. */
  | 'waiting'
  /** As `applied`, but for what git orders and a person has to let pass first. */
  | 'held'
  /** Planned and reported, nothing written: `suspend`, or a suspension by request. */
  | 'suspended'
  /** Applied but for what is invalid in the specs, which stays as it was. */
  | 'degraded'
  | 'interrupted'
  /** A guard stands against the plan, or HEAD is older than what was applied; nothing but kills was written. */
  | 'refused'
  /** The specs are invalid as a whole; nothing but kills was written. */
  | 'invalid'
  /** Some changes failed or were skipped. */
  | 'partial'
  | 'failed';

/** One run, after its end. Plain data: it is kept, sent and shown. */
export interface RunRecord {
  /** Unique in the daemon's life, sortable by time; fits in a URL and a log line. */
  readonly id: string;
  readonly triggers: readonly Trigger[];
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly result: RunResult;
  /** What `flagkeel reconcile` would have ended with. */
  readonly exitCode: ExitCode;
  readonly commit: string | null;
  /** Subject of that commit; untrusted text. */
  readonly subject: string | null;
  /** One line for people; untrusted text may stand in it. */
  readonly summary: string;
  /** The whole report without colours, as `reconcile` prints it; untrusted text is cleaned for a terminal only. */
  readonly text: string;
  /** Null where the run ended before there was a plan. */
  readonly plan: PlanDocument | null;
  /** Requests sent to the service. */
  readonly requests: number;
  /** What is wrong with the specs of the commit, the first of it; absent: nothing, or an older version kept the run. */
  readonly diagnostics?: readonly DiagnosticView[];
  /** Kills that git orders, as the specs of the commit have them, the first of them; absent: as above. */
  readonly kills?: readonly OrderedKill[];
  /** The first names of each kind that no file declares; absent: there are none, or the service was not asked to list them. */
  readonly unmanaged?: UnmanagedNames;
}

/** Untrusted text, in the service's order. */
export interface UnmanagedNames {
  readonly flags: readonly string[];
  readonly segments: readonly string[];
}

/** The flags that git declares in one environment, as the service had them when they were last seen. */
export interface EnvironmentFlags {
  readonly environment: string;
  /** How many git declares here. */
  readonly total: number;
  /** The first of them, by name. */
  readonly flags: readonly LiveFlag[];
}

export interface LiveFlag {
  readonly name: string;
  /** Relative to the config directory. */
  readonly file: string;
  readonly line: number;
  /** Null: the service does not have it here. */
  readonly serves: Serving | null;
  /** ISO 8601: start of the run that saw it. */
  readonly seenAt: string;
}

/** What a flag serves in one environment. */
export interface Serving {
  readonly killed: boolean;
  /** Whom no rule and no target names. */
  readonly shares: readonly Bucket[];
  /** Whole per cent of the traffic that rules and shares are for; the rest gets the default treatment. */
  readonly trafficAllocation: number;
  readonly defaultTreatment: string;
  /** How many rules and targeted keys come before the shares. */
  readonly rules: number;
  readonly targets: number;
}

/** Something wrong in a file; all but severity, code and numbers is untrusted text. */
export interface DiagnosticView {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  /** Relative to the config directory. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A flag that git keeps killed; all of it is untrusted text. */
export interface OrderedKill {
  readonly id: ObjectId;
  /** Null: the flag itself says `killed: true`, which gives no reason. */
  readonly reason: string | null;
  readonly by: string | null;
  /** As the specs write it. */
  readonly since: string | null;
}

/** One run, at its beginning. */
export type RunBegin = Pick<RunRecord, 'id' | 'commit'>;

/** A time until which somebody holds a source back. */
export interface Override {
  readonly reason: string;
  /** ISO 8601; null: until git says otherwise. */
  readonly until: string | null;
}

/** Leave for one plan to pass guards, windows and freezes. */
export interface ApprovalView extends Override {
  readonly hash: string;
  /** Who gave it, by their own word; untrusted text of one line. */
  readonly by: string;
  /** Name of the token that it was given with. */
  readonly token?: string;
}

/** One config repository that is kept in line, as it stands now. */
export interface SourceView {
  /** Unique among the sources; fits in a URL and a metric label. */
  readonly name: string;
  /** Directory, or URL without credentials, for people. */
  readonly location: string;
  readonly branch: string | null;
  readonly phase: Phase;
  /** Origin of the service and name of the workspace; null before the first plan. */
  readonly service: string | null;
  readonly workspace: string | null;
  /** Names of the environments in the order of application; empty before the first plan. */
  readonly environments: readonly string[];
  /** In the order of application; empty before the first plan. */
  readonly flags: readonly EnvironmentFlags[];
  /** Newest commit seen, and the newest whose run ended `in-sync`, `applied` or `waiting`. */
  readonly seen: CommitView | null;
  readonly applied: CommitView | null;
  /** Newest first; the last 100. */
  readonly runs: readonly RunRecord[];
  readonly suspended: Override | null;
  readonly pinned: (Override & { readonly commit: string }) | null;
  /** Leave that no run has used yet. */
  readonly approved: ApprovalView | null;
  /** What cannot be reached now, with the reason; empty: ready once `firstSync`. */
  readonly troubles: readonly Trouble[];
  /** Whether a run has ended with nothing failed, refused or interrupted since the start. */
  readonly firstSync: boolean;
  /** ISO 8601; null: none is planned. */
  readonly nextSchedule: string | null;
  /** ISO 8601; set while backing off. */
  readonly nextRetry: string | null;
  /** ISO 8601: when something that is held back goes by itself; null: nothing does, as far as this process knows. */
  readonly nextDue: string | null;
  /** Whether this process is the one that writes; always true where there is one replica. */
  readonly leader: boolean;
}

export interface CommitView {
  readonly commit: string;
  readonly subject: string;
  /** ISO 8601: when it was committed. */
  readonly committedAt: string;
}

export interface Trouble {
  readonly what: 'source' | 'service' | 'database';
  readonly why: string;
  /** ISO 8601. */
  readonly since: string;
}

/** What the daemon tells about itself: status page, metrics and notifications are made from this alone. */
export interface DaemonView {
  readonly version: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** A snapshot, in the order of the configuration. */
  readonly sources: () => readonly SourceView[];
  /** Called after each change of any source; returns how to stop that. A listener never throws. */
  readonly onChange: (listener: () => void) => () => void;
  /**
   * Called when a run has chosen its commit. `onRun` follows with the same id, unless a fault of ours ended the run.
   */
  readonly onBegin: (listener: (source: SourceView, run: RunBegin) => void) => () => void;
  /** Called once at the end of each run, after the source's view shows it. */
  readonly onRun: (listener: (source: SourceView, run: RunRecord) => void) => () => void;
}

/** What may be asked of the daemon. Every call returns at once, and repeating it is safe. */
export interface DaemonControls {
  /** @param source null: all. A run under way is followed by another. */
  readonly trigger: (source: string | null, trigger: Trigger) => void;
  readonly suspend: (source: string | null, hold: Override & { readonly until: string }) => void;
  /** Ends a suspension by request; what the config says stays. */
  readonly resume: (source: string | null) => void;
  /** @param hold the commit is a full name that the source's history has. */
  readonly pin: (
    source: string,
    hold: Override & { readonly commit: string; readonly until: string },
  ) => void;
  readonly unpin: (source: string) => void;
  /** The next run that comes to a plan uses it or, where that is another plan, drops it. */
  readonly approve: (source: string, approval: ApprovalView & { readonly until: string }) => void;
}
