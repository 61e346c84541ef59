import type { Traffic } from '../../admin-api/http/request-metrics.js';
import { packageVersion } from '../../platform/version.js';
import { Prometheus } from '../../platform/prometheus.js';
import { METRICS } from './catalogue.js';
import { APPLIED, endMs, isReady, newestPlan, healthOf } from '../health.js';
import { TROUBLES, type DaemonView, type RunRecord, type SourceView } from '../view.js';

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
    for (const source of view.sources()) this.#setSource(source, now);
    return this.#prometheus.text();
  }

  #setSource(view: SourceView, now: number): void {
    const source = view.name;
    const [newest] = view.runs;
    this.#prometheus.set('ready', { source }, Number(isReady(view)));
    const away = new Set(view.troubles.map(({ what }) => what));
    for (const what of TROUBLES) {
      this.#prometheus.set('trouble', { source, what }, Number(away.has(what)));
    }
    const isSuspended = view.suspended !== null || newest?.result === 'suspended';
    this.#prometheus.set('suspended', { source }, Number(isSuspended));
    this.#prometheus.set('pinned', { source }, Number(view.pinned !== null));
    this.#prometheus.set('unsigned', { source }, Number(view.unsigned !== null));
    this.#prometheus.set('leader', { source }, Number(view.leader));
    this.#prometheus.set('lag', { source }, lagSeconds(view, now));
    this.#setProgress(view);
    if (view.applied !== null) {
      const seconds = Date.parse(view.applied.committedAt) / 1_000;
      this.#prometheus.set('appliedCommit', { source }, seconds);
    }
    const success = view.runs.find(({ result }) => APPLIED.has(result));
    if (newest) this.#prometheus.set('lastRun', { source }, endMs(newest) / 1_000);
    if (success) this.#prometheus.set('lastSuccess', { source }, endMs(success) / 1_000);
    this.#setObjects(view);
  }

  #setProgress({ name: source, progress }: SourceView): void {
    if (progress === null) return;
    const { phase, done, total } = progress;
    this.#prometheus.set('progressDone', { source, phase }, done);
    this.#prometheus.set('progressTotal', { source, phase }, total);
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

function lagSeconds({ seen, applied }: SourceView, now: number): number {
  if (seen === null || seen.commit === applied?.commit) return 0;
  return Math.max(0, (now - Date.parse(seen.committedAt)) / 1_000);
}
