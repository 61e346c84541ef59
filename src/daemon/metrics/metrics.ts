import type { Traffic } from '../../admin-api/http/request.js';
import { packageVersion } from '../../platform/version.js';
import {
  Prometheus,
  type Labels,
  counter,
  gauge,
  histogram,
  type Metric,
} from '../../platform/prometheus.js';
import {
  APPLIED,
  AWAY,
  endMs,
  healthOf,
  isReady,
  isSuspended,
  newestFull,
  newestPlan,
  notApplied,
} from '../health.js';
import type { DaemonView, RunRecord, SourceView, Trouble } from '../view.js';

export type WebhookResult = 'accepted' | 'ignored' | 'repeated' | 'refused';

export type NotificationResult = 'sent' | 'failed' | 'dropped';

/** Counts events, and reads all other figures from the daemon's view on each scrape. */
export class Metrics {
  readonly #prometheus = new Prometheus(METRICS);

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

  async text(view: DaemonView, now: number): Promise<string> {
    this.#prometheus.clearGauges();
    this.#prometheus.set('info', { version: packageVersion() }, 1);
    for (const source of view.sources()) {
      const set: SetGauge = (key, value, labels = {}) => {
        this.#prometheus.set(key, { source: source.name, ...labels }, Number(value));
      };
      setSource(source, now, set);
      setObjects(source, set);
    }
    return this.#prometheus.text();
  }
}

type SetGauge = (key: keyof typeof METRICS, value: number | boolean, labels?: Labels) => void;

function setSource(view: SourceView, now: number, set: SetGauge): void {
  const { runs, applied, progress } = view;
  const [newest] = runs;
  set('ready', isReady(view));
  const away = new Set(view.troubles.map(({ what }) => what));
  for (const what of Object.keys(AWAY) as Trouble['what'][])
    set('trouble', away.has(what), { what });
  set('suspended', isSuspended(view));
  set('pinned', view.pinned !== null);
  set('unsigned', view.unsigned !== null);
  set('leader', view.leader);
  set('lag', lagSeconds(view, now));
  if (progress !== null) {
    const { phase, done, total } = progress;
    set('progressDone', done, { phase });
    set('progressTotal', total, { phase });
  }
  if (applied !== null) set('appliedCommit', Date.parse(applied.committedAt) / 1_000);
  const success = runs.find(({ result }) => APPLIED.has(result));
  if (newest) set('lastRun', endMs(newest) / 1_000);
  if (success) set('lastSuccess', endMs(success) / 1_000);
}

function setObjects(view: SourceView, set: SetGauge): void {
  for (const { name, drift, withheld, liveKills } of healthOf(view).environments) {
    // Prometheus treats an empty label as a missing one.
    const labels = { environment: name ?? '' };
    set('drift', drift, labels);
    set('withheld', withheld, labels);
    set('liveKills', liveKills, labels);
  }
  for (const { name, counts } of view.standings?.environments ?? []) {
    for (const [standing, count] of Object.entries(counts)) {
      set('objects', count, { environment: name ?? '', standing });
    }
  }
  const plan = newestPlan(view);
  for (const what of ['review', 'expiry'] as const) {
    const due = plan?.reminders?.filter((each) => each.what === what) ?? [];
    set('reminders', due.length, { what });
  }
  set('heldRamps', plan?.ramps?.filter(({ held }) => held !== null).length ?? 0);
  const unmanaged = newestFull(view)?.plan?.unmanaged;
  if (!unmanaged) return;
  set('unmanaged', unmanaged.flags, { kind: 'flag' });
  set('unmanaged', unmanaged.segments, { kind: 'segment' });
}

function lagSeconds(view: SourceView, now: number): number {
  const next = notApplied(view);
  return next === null ? 0 : Math.max(0, (now - Date.parse(next.committedAt)) / 1_000);
}

const RUN_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const REQUEST_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** All metrics. Labels have a bounded number of values: never a flag, segment, key, commit or a person's reason. */
export const METRICS = {
  info: gauge('flagkeel_info', ['version'], 'Always 1.'),
  runs: counter('flagkeel_runs_total', ['source', 'result'], 'Runs that ended.'),
  runSeconds: histogram(
    'flagkeel_run_duration_seconds',
    ['source', 'result'],
    RUN_BUCKETS,
    'How long runs took.',
  ),
  lastRun: gauge('flagkeel_last_run_timestamp_seconds', ['source'], 'When the newest run ended.'),
  lastSuccess: gauge(
    'flagkeel_last_success_timestamp_seconds',
    ['source'],
    'When the newest run ended after which nothing was held, failed or unknown.',
  ),
  changes: counter(
    'flagkeel_changes_total',
    ['source', 'kind', 'action', 'outcome'],
    'Changes that a run tried to write: applied, failed or skipped.',
  ),
  objects: gauge(
    'flagkeel_objects',
    ['source', 'environment', 'standing'],
    'Objects that git orders, by what became of them: live, waits, held, failed, unknown.',
  ),
  drift: gauge(
    'flagkeel_drift_objects',
    ['source', 'environment'],
    'Objects that were changed on the service and not put back.',
  ),
  withheld: gauge(
    'flagkeel_withheld_objects',
    ['source', 'environment'],
    'Changes that are held back.',
  ),
  liveKills: gauge(
    'flagkeel_live_kills',
    ['source', 'environment'],
    'Flags that are killed on the service and not by git.',
  ),
  reminders: gauge(
    'flagkeel_reminders',
    ['source', 'what'],
    'Kills past their `review`, flags past their `expires`.',
  ),
  heldRamps: gauge('flagkeel_held_ramps', ['source'], 'Ramps of which no step is taken.'),
  unmanaged: gauge(
    'flagkeel_unmanaged_objects',
    ['source', 'kind'],
    'Objects of the workspace that no file declares; absent where the service cannot list them.',
  ),
  appliedCommit: gauge(
    'flagkeel_applied_commit_timestamp_seconds',
    ['source'],
    'When the newest applied commit was made.',
  ),
  lag: gauge(
    'flagkeel_lag_seconds',
    ['source'],
    'How long ago the newest commit was made, while it is not applied; otherwise 0.',
  ),
  progressDone: gauge(
    'flagkeel_progress_done',
    ['source', 'phase'],
    'Objects looked at, or steps sent, in the phase of the run under way; absent between runs.',
  ),
  progressTotal: gauge(
    'flagkeel_progress_total',
    ['source', 'phase'],
    'How many the phase of the run under way has in all; 0 while unknown, absent between runs.',
  ),
  guardRefusals: counter(
    'flagkeel_guard_refusals_total',
    ['source', 'guard'],
    'Runs that a guard refused.',
  ),
  ready: gauge('flagkeel_ready', ['source'], '1: in `/readyz` nothing is missing for this source.'),
  trouble: gauge(
    'flagkeel_trouble',
    ['source', 'what'],
    '1: this part cannot be reached or used: checkout, remote, service, key-missing, key-refused, place (workspace or environment), database.',
  ),
  suspended: gauge('flagkeel_suspended', ['source'], '1: nothing but kills is written.'),
  pinned: gauge('flagkeel_pinned', ['source'], '1: held at one commit.'),
  unsigned: gauge(
    'flagkeel_unsigned',
    ['source'],
    '1: no allowed signer signed the newest commit, which is not applied.',
  ),
  leader: gauge('flagkeel_leader', ['source'], '1: this process is the one that writes.'),
  serviceRequests: counter(
    'flagkeel_service_requests_total',
    ['method', 'route', 'status'],
    'Requests to the service, tries counted one by one; status `none`: no whole answer came.',
  ),
  serviceSeconds: histogram(
    'flagkeel_service_request_duration_seconds',
    ['method', 'route'],
    REQUEST_BUCKETS,
    'How long the service took to answer.',
  ),
  serviceWaits: counter(
    'flagkeel_service_wait_seconds_total',
    [],
    'How long requests waited for their turn, because the pace is limited.',
  ),
  serviceRetries: counter(
    'flagkeel_service_retries_total',
    [],
    'Requests that were sent once more.',
  ),
  webhooks: counter(
    'flagkeel_webhooks_total',
    ['result'],
    'Webhooks that came: accepted, ignored, repeated or refused.',
  ),
  notifications: counter(
    'flagkeel_notifications_total',
    ['format', 'result'],
    'Notifications: sent, failed or dropped.',
  ),
} satisfies Readonly<Record<string, Metric>>;
