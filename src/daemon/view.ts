import type { ExitCode } from '../errors.js';
import type { Bucket } from '../model/flag/flag.js';
import type { UnsignedCommit } from '../git/signatures.js';
import type { LiveKill } from '../model/plan.js';
import type { ObjectId } from '../model/ref.js';
import type { ProgressView } from '../model/run.js';
import type { StandingsView } from './standings.js';
import type { PlanDocument } from '../report/json/plan.js';
import type { OpenRows } from '../report/view/open-rows.js';

/** Phase of a source's state machine; `machine.ts` has the diagram. */
export type Phase = 'idle' | 'debouncing' | 'running' | 'queued' | 'backing-off' | 'stopping';

/** Cause of a run. Several that come together lead to one run that names them all. */
export type Trigger =
  | 'start'
  /** A file of a local checkout changed. */
  | 'files'
  /** The branch has a new commit. */
  | 'commit'
  /** The schedule: a look at everything, which finds drift too. */
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
  /** The time has come for a held change, such as when a window opens. */
  | 'due'
  /** `POST /adopt`: takes over changes that are withheld because no run remembers a base for them. */
  | 'adopt';

/** How a run ended, the worst last. */
export type RunResult =
  | 'in-sync'
  /** The service has everything that may be written, and verifying found nothing left to do. */
  | 'applied'
  /** As `applied`, except for changes whose window closed during the run. */
  | 'waiting'
  /** As `applied`, except for changes that a person has to approve first. */
  | 'held'
  /** Planned and reported without writes: `suspend`, or a suspension by request. */
  | 'suspended'
  /** Applied except for objects with invalid specs, which stay as they were. */
  | 'degraded'
  | 'interrupted'
  /** A guard refused the plan, or HEAD is older than the applied commit; only kills were written. */
  | 'refused'
  /** The specs as a whole are invalid; only kills were written. */
  | 'invalid'
  /** Some changes failed or were skipped. */
  | 'partial'
  | 'failed';

/** An ended run. Plain data: it is stored, sent and shown. */
export interface RunRecord {
  /** Unique in the daemon's life, sortable by time, and safe in a URL and a log line. */
  readonly id: string;
  readonly triggers: readonly Trigger[];
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly result: RunResult;
  /** Exit code that `flagkeel reconcile` would have had. */
  readonly exitCode: ExitCode;
  readonly commit: string | null;
  /** Subject of that commit; untrusted text. */
  readonly subject: string | null;
  /** One line for people; may contain untrusted text. */
  readonly summary: string;
  /** The whole report as `reconcile` prints it, without colours; untrusted text is cleaned for a terminal only. */
  readonly text: string;
  /** null if the run ended before it had a plan. */
  readonly plan: PlanDocument | null;
  /** The first line of the report, and what the plan leaves open. Not set without a plan, or if an older version kept the run. */
  readonly open?: OpenRows;
  /** Requests sent to the service. */
  readonly requests: number;
  /** The first findings in the specs of the commit. Not set if there are none or an older version kept the run. */
  readonly diagnostics?: readonly DiagnosticView[];
  /** The first kills that git orders, from the specs of the commit. Not set as above. */
  readonly kills?: readonly OrderedKill[];
  /** The first names of each kind that no file declares. Not set if there are none or the run did not list names. */
  readonly unmanaged?: UnmanagedNames;
}

/** Untrusted text, in the service's order. */
export interface UnmanagedNames {
  readonly flags: readonly string[];
  readonly segments: readonly string[];
}

/** The flags that git declares in one environment, as a run last saw them on the service. */
export interface EnvironmentFlags {
  readonly environment: string;
  /** Number of flags that git declares here. */
  readonly total: number;
  /** The first of them by name. */
  readonly flags: readonly LiveFlag[];
}

export interface LiveFlag {
  readonly name: string;
  /** Relative to the config directory. */
  readonly file: string;
  readonly line: number;
  /** null if the service does not have the flag here. */
  readonly serves: Serving | null;
  /** Set while the file is invalid: `serves` is what was seen last. */
  readonly invalid?: true;
  /** ISO 8601 start of the run that saw it. */
  readonly seenAt: string;
}

/** The treatments of a flag in one environment. */
export interface Serving {
  readonly killed: boolean;
  /** Shares for keys that no rule and no target names. */
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

/** An error or warning in a file; everything but severity, code and numbers is untrusted text. */
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
  /** null if the flag itself says `killed: true`, which gives no reason. */
  readonly reason: string | null;
  readonly by: string | null;
  /** As the specs write it. */
  readonly since: string | null;
}

/** A run at its beginning. */
export type RunBegin = Pick<RunRecord, 'id' | 'commit'>;

/** A request that holds a source back until a time. */
export interface Override {
  readonly reason: string;
  /** ISO 8601; null for a suspension in the config, which only a commit ends. */
  readonly until: string | null;
}

/** Lets one plan pass guards, windows and freezes. */
export interface ApprovalView extends Override {
  readonly hash: string;
  /** Name of the approver as given in the request; untrusted text of one line. */
  readonly by: string;
  /** Name of the token used. */
  readonly token?: string;
}

/** Current state of one config repository. */
export interface SourceView {
  /** Unique among the sources; fits in a URL and a metric label. */
  readonly name: string;
  /** Directory, or URL without credentials, for people. */
  readonly location: string;
  readonly branch: string | null;
  readonly phase: Phase;
  /** Of the run under way; null between runs and before its first request. */
  readonly progress: ProgressView | null;
  /** Origin of the service and name of the workspace; null before the first plan. */
  readonly service: string | null;
  readonly workspace: string | null;
  /** Names of the environments, the protected ones first, as people see them; empty before the first plan. */
  readonly environments: readonly string[];
  /** In the order of application; empty before the first plan. */
  readonly flags: readonly EnvironmentFlags[];
  /** Newest commit seen, and the newest whose run ended `in-sync`, `applied` or `waiting`. */
  readonly seen: CommitView | null;
  readonly applied: CommitView | null;
  /** The newest commit of the source, if no allowed signer signed it: `seen` is the signed one that is enforced. */
  readonly unsigned: UnsignedCommit | null;
  /** ISO 8601 end of the first run that applied that commit; null if none has. */
  readonly appliedAt: string | null;
  /** Flags that are killed on the service and not by git, sorted by id. */
  readonly liveKills: readonly LiveKillView[];
  /** Newest first; the last 100. */
  readonly runs: readonly RunRecord[];
  readonly suspended: Override | null;
  readonly pinned: (Override & { readonly commit: string }) | null;
  /** An approval that no run has used yet. */
  readonly approved: ApprovalView | null;
  /** Unreachable parts with the reason. If empty, the source is ready after its first sync. */
  readonly troubles: readonly Trouble[];
  /** What became of the objects; null before the first plan. Nothing is live while that cannot be confirmed. */
  readonly standings: StandingsView | null;
  /** ISO 8601 time at which service, key, workspace and environments last answered; null if they never did. */
  readonly confirmed: string | null;
  /** Whether a run since the start has come to an end. */
  readonly firstSync: boolean;
  /** ISO 8601; null if none is planned. */
  readonly nextSchedule: string | null;
  /** ISO 8601; set while backing off. */
  readonly nextRetry: string | null;
  /** ISO 8601 time at which something held back may go by itself; null if this process knows of nothing. */
  readonly nextDue: string | null;
  /** Whether this process writes; always true with one replica. */
  readonly leader: boolean;
}

export interface LiveKillView extends Omit<LiveKill, 'ref' | 'location' | 'place'> {
  /** Commands for the config directory; untrusted text. */
  readonly wayOut: string;
  /** Set while the file of the flag is invalid, so that no run looks at it: the kill is the last one known. */
  readonly invalid?: true;
}

export interface CommitView {
  readonly commit: string;
  readonly subject: string;
  /** Commit time, ISO 8601. */
  readonly committedAt: string;
}

/** What cannot be reached, read or used. */
export const TROUBLES = [
  'checkout',
  'remote',
  'service',
  'key-missing',
  'key-refused',
  'place',
  'database',
] as const;

export type TroubleName = (typeof TROUBLES)[number];

export interface Trouble {
  readonly what: TroubleName;
  readonly why: string;
  /** ISO 8601. */
  readonly since: string;
}

/** The daemon's read interface, the only input of status page, metrics and notifications. */
export interface DaemonView {
  readonly version: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** A snapshot, in the order of the configuration. */
  readonly sources: () => readonly SourceView[];
  /** Registers a listener for changes of any source. The listener must not throw. @returns unregisters it. */
  readonly onChange: (listener: () => void) => () => void;
  /**
   * Registers a listener for runs that have chosen their commit. `onRun` follows with the same id, unless a bug ended
   * the run.
   */
  readonly onBegin: (listener: (source: SourceView, run: RunBegin) => void) => () => void;
  /** Registers a listener for ended runs, called once each, after the source's view shows the run. */
  readonly onRun: (listener: (source: SourceView, run: RunRecord) => void) => () => void;
}

/** Requests to the daemon. Every call returns at once, and repeating it is safe. */
export interface DaemonControls {
  /** @param source null for all. If a run is under way, another one follows. */
  readonly trigger: (source: string | null, trigger: Trigger) => void;
  readonly suspend: (source: string | null, hold: Override & { readonly until: string }) => void;
  /** Ends a suspension by request. A suspension in the config stays. */
  readonly resume: (source: string | null) => void;
  /** @param hold its commit is a full hash in the source's history. */
  readonly pin: (
    source: string,
    hold: Override & { readonly commit: string; readonly until: string },
  ) => void;
  readonly unpin: (source: string) => void;
  /** The next run with a plan uses the approval or, if it is for another plan, drops it. */
  readonly approve: (source: string, approval: ApprovalView & { readonly until: string }) => void;
}
