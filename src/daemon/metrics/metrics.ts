import type { Traffic } from '../../admin-api/http/request.js';
import { packageVersion } from '../../platform/package-files.js';
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
  endMs,
  healthOf,
  isReady,
  newestFull,
  newestPlan,
  notApplied,
  TROUBLES,
} from '../health.js';
import type { DaemonView, RunRecord, SourceView, Trouble } from '../view.js';

export type WebhookResult = 'accepted' | 'ignored' | 'repeated' | 'refused';

export type NotificationResult = 'sent' | 'failed' | 'dropped';

/** Counts events, and reads all other figures from the daemon's view on each scrape. */
export class Metrics {
  readonly #prometheus = new Prometheus(METRICS);

  readonly traffic: Traffic = {
    onRequest: ({ method, route, status, durationMs }) => {
      this.#prometheus.count('flagkeel_service_requests_total', {
        method,
        route,
        status: String(status ?? 'none'),
      });
      this.#prometheus.observe(
        'flagkeel_service_request_duration_seconds',
        { method, route },
        durationMs / 1_000,
      );
    },
    onTurn: (waitMs) => {
      this.#prometheus.count('flagkeel_service_wait_seconds_total', {}, waitMs / 1_000);
    },
    onRetry: () => {
      this.#prometheus.count('flagkeel_service_retries_total', {});
    },
  };

  get contentType(): string {
    return this.#prometheus.contentType;
  }

  noteRun(
    { name: source }: Pick<SourceView, 'name'>,
    { result, durationMs, plan }: Pick<RunRecord, 'result' | 'durationMs' | 'plan'>,
  ): void {
    this.#prometheus.count('flagkeel_runs_total', { source, result });
    this.#prometheus.observe(
      'flagkeel_run_duration_seconds',
      { source, result },
      durationMs / 1_000,
    );
    for (const { kind, action, outcome } of plan?.changes ?? []) {
      if (outcome !== undefined) {
        this.#prometheus.count('flagkeel_changes_total', { source, kind, action, outcome });
      }
    }
    if (result !== 'refused') return;
    const guards = new Set(plan?.guards?.map(({ guard }) => guard) ?? []);
    for (const guard of guards)
      this.#prometheus.count('flagkeel_guard_refusals_total', { source, guard });
  }

  noteWebhook(result: WebhookResult): void {
    this.#prometheus.count('flagkeel_webhooks_total', { result });
  }

  noteNotification(format: string, result: NotificationResult): void {
    this.#prometheus.count('flagkeel_notifications_total', { format, result });
  }

  async text(view: DaemonView, now: number): Promise<string> {
    this.#prometheus.clearGauges();
    this.#prometheus.set('flagkeel_info', { version: packageVersion() }, 1);
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
  set('flagkeel_ready', isReady(view));
  const away = new Set(view.troubles.map(({ what }) => what));
  for (const what of Object.keys(TROUBLES) as Trouble['what'][])
    set('flagkeel_trouble', away.has(what), { what });
  set('flagkeel_suspended', view.suspended !== null);
  set('flagkeel_pinned', view.pinned !== null);
  set('flagkeel_unsigned', view.unsigned !== null);
  set('flagkeel_leader', view.leader);
  set('flagkeel_lag_seconds', lagSeconds(view, now));
  if (progress !== null) {
    const { phase, done, total } = progress;
    set('flagkeel_progress_done', done, { phase });
    set('flagkeel_progress_total', total, { phase });
  }
  if (applied !== null)
    set('flagkeel_applied_commit_timestamp_seconds', Date.parse(applied.committedAt) / 1_000);
  const success = runs.find(({ result }) => APPLIED.has(result));
  if (newest) set('flagkeel_last_run_timestamp_seconds', endMs(newest) / 1_000);
  if (success) set('flagkeel_last_success_timestamp_seconds', endMs(success) / 1_000);
}

function setObjects(view: SourceView, set: SetGauge): void {
  for (const { name, drift, withheld, liveKills } of healthOf(view).environments) {
    // Prometheus treats an empty label as a missing one.
    const labels = { environment: name ?? '' };
    set('flagkeel_drift_objects', drift, labels);
    set('flagkeel_withheld_objects', withheld, labels);
    set('flagkeel_live_kills', liveKills, labels);
  }
  for (const { name, counts } of view.standings?.environments ?? []) {
    for (const [standing, count] of Object.entries(counts)) {
      set('flagkeel_objects', count, { environment: name ?? '', standing });
    }
  }
  const plan = newestPlan(view);
  for (const what of ['review', 'expiry'] as const) {
    const due = plan?.reminders?.filter((each) => each.what === what) ?? [];
    set('flagkeel_reminders', due.length, { what });
  }
  set('flagkeel_held_ramps', plan?.ramps?.filter(({ held }) => held !== null).length ?? 0);
  const unmanaged = newestFull(view)?.plan?.unmanaged;
  if (!unmanaged) return;
  set('flagkeel_unmanaged_objects', unmanaged.flags, { kind: 'flag' });
  set('flagkeel_unmanaged_objects', unmanaged.segments, { kind: 'segment' });
}

function lagSeconds(view: SourceView, now: number): number {
  const next = notApplied(view);
  return next === null ? 0 : Math.max(0, (now - Date.parse(next.committedAt)) / 1_000);
}

const RUN_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const REQUEST_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** All metrics. Labels have a bounded number of values: never a flag, segment, key, commit or a person's reason. */
export const METRICS = {
  flagkeel_info: gauge(['version'], 'Always 1.'),
  flagkeel_runs_total: counter(['source', 'result'], 'Runs that ended.'),
  flagkeel_run_duration_seconds: histogram(
    ['source', 'result'],
    RUN_BUCKETS,
    'How long runs took.',
  ),
  flagkeel_last_run_timestamp_seconds: gauge(['source'], 'When the newest run ended.'),
  flagkeel_last_success_timestamp_seconds: gauge(
    ['source'],
    'When the newest run ended after which nothing was held, failed or unknown.',
  ),
  flagkeel_changes_total: counter(
    ['source', 'kind', 'action', 'outcome'],
    'Changes that a run tried to write: applied, failed or skipped.',
  ),
  flagkeel_objects: gauge(
    ['source', 'environment', 'standing'],
    'Objects that git orders, by what became of them: live, waits, held, failed, unknown.',
  ),
  flagkeel_drift_objects: gauge(
    ['source', 'environment'],
    'Objects that were changed on the service and not put back.',
  ),
  flagkeel_withheld_objects: gauge(['source', 'environment'], 'Changes that are held back.'),
  flagkeel_live_kills: gauge(
    ['source', 'environment'],
    'Flags that are killed on the service and not by git.',
  ),
  flagkeel_reminders: gauge(
    ['source', 'what'],
    'Kills past their `review`, flags past their `expires`.',
  ),
  flagkeel_held_ramps: gauge(['source'], 'Ramps of which no step is taken.'),
  flagkeel_unmanaged_objects: gauge(
    ['source', 'kind'],
    'Objects of the workspace that no file declares; absent where the service cannot list them.',
  ),
  flagkeel_applied_commit_timestamp_seconds: gauge(
    ['source'],
    'When the newest applied commit was made.',
  ),
  flagkeel_lag_seconds: gauge(
    ['source'],
    'How long ago the newest commit was made, while it is not applied; otherwise 0.',
  ),
  flagkeel_progress_done: gauge(
    ['source', 'phase'],
    'Objects looked at, or steps sent, in the phase of the run under way; absent between runs.',
  ),
  flagkeel_progress_total: gauge(
    ['source', 'phase'],
    'How many the phase of the run under way has in all; 0 while unknown, absent between runs.',
  ),
  flagkeel_guard_refusals_total: counter(['source', 'guard'], 'Runs that a guard refused.'),
  flagkeel_ready: gauge(['source'], '1: in `/readyz` nothing is missing for this source.'),
  flagkeel_trouble: gauge(
    ['source', 'what'],
    '1: this part cannot be reached or used: checkout, remote, service, key-missing, key-refused, place (workspace or environment), database.',
  ),
  flagkeel_suspended: gauge(['source'], '1: nothing but kills is written.'),
  flagkeel_pinned: gauge(['source'], '1: held at one commit.'),
  flagkeel_unsigned: gauge(
    ['source'],
    '1: no allowed signer signed the newest commit, which is not applied.',
  ),
  flagkeel_leader: gauge(['source'], '1: this process is the one that writes.'),
  flagkeel_service_requests_total: counter(
    ['method', 'route', 'status'],
    'Requests to the service, tries counted one by one; status `none`: no whole answer came.',
  ),
  flagkeel_service_request_duration_seconds: histogram(
    ['method', 'route'],
    REQUEST_BUCKETS,
    'How long the service took to answer.',
  ),
  flagkeel_service_wait_seconds_total: counter(
    [],
    'How long requests waited for their turn, because the pace is limited.',
  ),
  flagkeel_service_retries_total: counter([], 'Requests that were sent once more.'),
  flagkeel_webhooks_total: counter(
    ['result'],
    'Webhooks that came: accepted, ignored, repeated or refused.',
  ),
  flagkeel_notifications_total: counter(
    ['format', 'result'],
    'Notifications: sent, failed or dropped.',
  ),
} satisfies Readonly<Record<string, Metric>>;
