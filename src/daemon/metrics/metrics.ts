import type { Traffic } from '../../admin-api/http/request-metrics.js';
import { packageVersion } from '../../platform/version.js';
import { Prometheus, type Metric } from '../../platform/prometheus.js';
import { isReady, newestPlan, healthOf } from '../health.js';
import {
  TROUBLES,
  type DaemonView,
  type RunResult,
  type RunRecord,
  type SourceView,
} from '../view.js';

export type WebhookResult = 'accepted' | 'ignored' | 'repeated' | 'refused';

export type NotificationResult = 'sent' | 'failed' | 'dropped';

/** Counts events, and reads all other figures from the daemon's view on each scrape. */
export class Metrics {
  readonly #prometheus = new Prometheus(METRICS);

  /** Counters for the clients of the service, see `AdminClientOptions`. */
  readonly traffic: Traffic = {
    onRequest: ({ method, route, status, durationMs }) => {
      this.#prometheus.count('serviceRequests', {
        method,
        route,
        status: String(status ?? 'none'),
      });
      this.#prometheus.observe('serviceSeconds', { method, route }, durationMs / 1_000);
    },
    onTurn: (waitMs) => {
      this.#prometheus.count('serviceWaits', {}, waitMs / 1_000);
    },
    onRetry: () => {
      this.#prometheus.count('serviceRetries', {});
    },
  };

  get contentType(): string {
    return this.#prometheus.contentType;
  }

  noteRun(
    { name: source }: Pick<SourceView, 'name'>,
    { result, durationMs, plan }: Pick<RunRecord, 'result' | 'durationMs' | 'plan'>,
  ): void {
    this.#prometheus.count('runs', { source, result });
    this.#prometheus.observe('runSeconds', { source, result }, durationMs / 1_000);
    for (const { kind, action, outcome } of plan?.changes ?? []) {
      if (outcome !== undefined) {
        this.#prometheus.count('changes', { source, kind, action, outcome });
      }
    }
    if (result !== 'refused') return;
    const guards = new Set(plan?.guards?.map(({ guard }) => guard) ?? []);
    for (const guard of guards) this.#prometheus.count('guardRefusals', { source, guard });
  }

  noteWebhook(result: WebhookResult): void {
    this.#prometheus.count('webhooks', { result });
  }

  noteNotification(format: string, result: NotificationResult): void {
    this.#prometheus.count('notifications', { format, result });
  }

  /** The metrics in Prometheus's text format. */
  async text(view: DaemonView, now: number): Promise<string> {
    this.#prometheus.clearGauges();
    this.#prometheus.set('info', { version: packageVersion() }, 1);
    for (const source of view.sources()) this.#setSource(source, now);
    return this.#prometheus.text();
  }

  #setSource(view: SourceView, now: number): void {
    const source = view.name;
    const yesNo = (value: boolean): number => (value ? 1 : 0);
    const [newest] = view.runs;
    this.#prometheus.set('ready', { source }, yesNo(isReady(view)));
    const away = new Set(view.troubles.map(({ what }) => what));
    for (const what of TROUBLES) {
      this.#prometheus.set('trouble', { source, what }, yesNo(away.has(what)));
    }
    const isSuspended = view.suspended !== null || newest?.result === 'suspended';
    this.#prometheus.set('suspended', { source }, yesNo(isSuspended));
    this.#prometheus.set('pinned', { source }, yesNo(view.pinned !== null));
    this.#prometheus.set('leader', { source }, yesNo(view.leader));
    this.#prometheus.set('lag', { source }, lagSeconds(view, now));
    if (view.progress !== null) {
      const { phase, done, total } = view.progress;
      this.#prometheus.set('progressDone', { source, phase }, done);
      this.#prometheus.set('progressTotal', { source, phase }, total);
    }
    if (view.applied !== null) {
      const seconds = Date.parse(view.applied.committedAt) / 1_000;
      this.#prometheus.set('appliedCommit', { source }, seconds);
    }
    const success = view.runs.find(({ result }) => SUCCESS.has(result));
    if (newest) this.#prometheus.set('lastRun', { source }, endSeconds(newest));
    if (success) this.#prometheus.set('lastSuccess', { source }, endSeconds(success));
    this.#setObjects(view);
  }

  #setObjects(view: SourceView): void {
    const source = view.name;
    for (const { name, drift, withheld, liveKills } of healthOf(view).environments) {
      // Prometheus treats an empty label as a missing one.
      const labels = { source, environment: name ?? '' };
      this.#prometheus.set('drift', labels, drift);
      this.#prometheus.set('withheld', labels, withheld);
      this.#prometheus.set('liveKills', labels, liveKills);
    }
    for (const { name, counts } of view.standings?.environments ?? []) {
      for (const [standing, count] of Object.entries(counts)) {
        this.#prometheus.set('objects', { source, environment: name ?? '', standing }, count);
      }
    }
    const plan = newestPlan(view);
    for (const what of ['review', 'expiry'] as const) {
      const due = plan?.reminders?.filter((each) => each.what === what) ?? [];
      this.#prometheus.set('reminders', { source, what }, due.length);
    }
    const held = plan?.ramps?.filter((ramp) => ramp.held !== null);
    this.#prometheus.set('heldRamps', { source }, held?.length ?? 0);
    const unmanaged = plan?.unmanaged;
    if (!unmanaged) return;
    this.#prometheus.set('unmanaged', { source, kind: 'flag' }, unmanaged.flags);
    this.#prometheus.set('unmanaged', { source, kind: 'segment' }, unmanaged.segments);
  }
}

const SUCCESS: ReadonlySet<RunResult> = new Set(['in-sync', 'applied', 'waiting']);

function endSeconds({ startedAt, durationMs }: RunRecord): number {
  return (Date.parse(startedAt) + durationMs) / 1_000;
}

function lagSeconds({ seen, applied }: SourceView, now: number): number {
  if (seen === null || seen.commit === applied?.commit) return 0;
  return Math.max(0, (now - Date.parse(seen.committedAt)) / 1_000);
}

const RUN_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const REQUEST_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** All metrics. Labels have a bounded number of values: never a flag, segment, key, commit or a person's reason. */
export const METRICS = {
  info: {
    name: 'flagkeel_info',
    type: 'gauge',
    labels: ['version'],
    help: 'Always 1.',
  },
  runs: {
    name: 'flagkeel_runs_total',
    type: 'counter',
    labels: ['source', 'result'],
    help: 'Runs that ended.',
  },
  runSeconds: {
    name: 'flagkeel_run_duration_seconds',
    type: 'histogram',
    labels: ['source', 'result'],
    help: 'How long runs took.',
    buckets: RUN_BUCKETS,
  },
  lastRun: {
    name: 'flagkeel_last_run_timestamp_seconds',
    type: 'gauge',
    labels: ['source'],
    help: 'When the newest run ended.',
  },
  lastSuccess: {
    name: 'flagkeel_last_success_timestamp_seconds',
    type: 'gauge',
    labels: ['source'],
    help: 'When the newest run ended after which nothing was held, failed or unknown.',
  },
  changes: {
    name: 'flagkeel_changes_total',
    type: 'counter',
    labels: ['source', 'kind', 'action', 'outcome'],
    help: 'Changes that a run tried to write: applied, failed or skipped.',
  },
  objects: {
    name: 'flagkeel_objects',
    type: 'gauge',
    labels: ['source', 'environment', 'standing'],
    help: 'Objects that git orders, by what became of them: live, waits, held, failed, unknown.',
  },
  drift: {
    name: 'flagkeel_drift_objects',
    type: 'gauge',
    labels: ['source', 'environment'],
    help: 'Objects that were changed on the service and not put back.',
  },
  withheld: {
    name: 'flagkeel_withheld_objects',
    type: 'gauge',
    labels: ['source', 'environment'],
    help: 'Changes that are held back.',
  },
  liveKills: {
    name: 'flagkeel_live_kills',
    type: 'gauge',
    labels: ['source', 'environment'],
    help: 'Flags that are killed on the service and not by git.',
  },
  reminders: {
    name: 'flagkeel_reminders',
    type: 'gauge',
    labels: ['source', 'what'],
    help: 'Kills past their `review`, flags past their `expires`.',
  },
  heldRamps: {
    name: 'flagkeel_held_ramps',
    type: 'gauge',
    labels: ['source'],
    help: 'Ramps of which no step is taken.',
  },
  unmanaged: {
    name: 'flagkeel_unmanaged_objects',
    type: 'gauge',
    labels: ['source', 'kind'],
    help: 'Objects of the workspace that no file declares; absent where the service cannot list them.',
  },
  appliedCommit: {
    name: 'flagkeel_applied_commit_timestamp_seconds',
    type: 'gauge',
    labels: ['source'],
    help: 'When the newest applied commit was made.',
  },
  lag: {
    name: 'flagkeel_lag_seconds',
    type: 'gauge',
    labels: ['source'],
    help: 'How long ago the newest commit was made, while it is not applied; otherwise 0.',
  },
  progressDone: {
    name: 'flagkeel_progress_done',
    type: 'gauge',
    labels: ['source', 'phase'],
    help: 'Objects looked at, or steps sent, in the phase of the run under way; absent between runs.',
  },
  progressTotal: {
    name: 'flagkeel_progress_total',
    type: 'gauge',
    labels: ['source', 'phase'],
    help: 'How many the phase of the run under way has in all; 0 while unknown, absent between runs.',
  },
  guardRefusals: {
    name: 'flagkeel_guard_refusals_total',
    type: 'counter',
    labels: ['source', 'guard'],
    help: 'Runs that a guard refused.',
  },
  ready: {
    name: 'flagkeel_ready',
    type: 'gauge',
    labels: ['source'],
    help: '1: in `/readyz` nothing is missing for this source.',
  },
  trouble: {
    name: 'flagkeel_trouble',
    type: 'gauge',
    labels: ['source', 'what'],
    help: '1: this part cannot be reached or used: checkout, remote, service, key-missing, key-refused, place (workspace or environment), database.',
  },
  suspended: {
    name: 'flagkeel_suspended',
    type: 'gauge',
    labels: ['source'],
    help: '1: nothing but kills is written.',
  },
  pinned: {
    name: 'flagkeel_pinned',
    type: 'gauge',
    labels: ['source'],
    help: '1: held at one commit.',
  },
  leader: {
    name: 'flagkeel_leader',
    type: 'gauge',
    labels: ['source'],
    help: '1: this process is the one that writes.',
  },
  serviceRequests: {
    name: 'flagkeel_service_requests_total',
    type: 'counter',
    labels: ['method', 'route', 'status'],
    help: 'Requests to the service, tries counted one by one; status `none`: no whole answer came.',
  },
  serviceSeconds: {
    name: 'flagkeel_service_request_duration_seconds',
    type: 'histogram',
    labels: ['method', 'route'],
    help: 'How long the service took to answer.',
    buckets: REQUEST_BUCKETS,
  },
  serviceWaits: {
    name: 'flagkeel_service_wait_seconds_total',
    type: 'counter',
    labels: [],
    help: 'How long requests waited for their turn, because the pace is limited.',
  },
  serviceRetries: {
    name: 'flagkeel_service_retries_total',
    type: 'counter',
    labels: [],
    help: 'Requests that were sent once more.',
  },
  webhooks: {
    name: 'flagkeel_webhooks_total',
    type: 'counter',
    labels: ['result'],
    help: 'Webhooks that came: accepted, ignored, repeated or refused.',
  },
  notifications: {
    name: 'flagkeel_notifications_total',
    type: 'counter',
    labels: ['format', 'result'],
    help: 'Notifications: sent, failed or dropped.',
  },
} as const satisfies Readonly<Record<string, Metric>>;
