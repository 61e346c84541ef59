import type { Traffic } from '../../admin-api/http/request.js';
import { packageVersion } from '../../platform/version.js';
import { Prometheus, type Labels } from '../../platform/prometheus.js';
import { METRICS } from './catalogue.js';
import { APPLIED, AWAY, endMs, isReady, newestPlan, healthOf } from '../health.js';
import type { DaemonView, RunRecord, SourceView, Trouble } from '../view.js';

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

/** Sets a gauge of one source. */
type SetGauge = (key: keyof typeof METRICS, value: number | boolean, labels?: Labels) => void;

function setSource(view: SourceView, now: number, set: SetGauge): void {
  const { runs, applied, progress } = view;
  const [newest] = runs;
  set('ready', isReady(view));
  const away = new Set(view.troubles.map(({ what }) => what));
  for (const what of Object.keys(AWAY) as Trouble['what'][])
    set('trouble', away.has(what), { what });
  set('suspended', view.suspended !== null || newest?.result === 'suspended');
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
  const unmanaged = plan?.unmanaged;
  if (!unmanaged) return;
  set('unmanaged', unmanaged.flags, { kind: 'flag' });
  set('unmanaged', unmanaged.segments, { kind: 'segment' });
}

function lagSeconds({ seen, applied }: SourceView, now: number): number {
  if (seen === null || seen.commit === applied?.commit) return 0;
  return Math.max(0, (now - Date.parse(seen.committedAt)) / 1_000);
}
