import type { Traffic } from '../../api/traffic.js';
import { isReady } from '../readiness.js';
import { newestPlan, standingOf } from '../standing.js';
import type { DaemonView, RunRecord, RunResult, SourceView } from '../view.js';
import { Prometheus } from './prometheus.js';

export type WebhookResult = 'accepted' | 'ignored' | 'repeated' | 'refused';

export type NotificationResult = 'sent' | 'failed' | 'dropped';

/** Counts what happens, and reads what is off the daemon's view whenever somebody asks. */
export class Metrics {
  readonly #prometheus = new Prometheus();

  /** For the clients of the service, see `AdminClientOptions`. */
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

  noteRun({ name: source }: SourceView, { result, durationMs, plan }: RunRecord): void {
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

  /** As Prometheus reads it. */
  async text(view: DaemonView, now: number): Promise<string> {
    this.#prometheus.clearGauges();
    this.#prometheus.set('info', { version: view.version }, 1);
    for (const source of view.sources()) this.#setSource(source, now);
    return this.#prometheus.text();
  }

  #setSource(view: SourceView, now: number): void {
    const source = view.name;
    const yesNo = (value: boolean): number => (value ? 1 : 0);
    const [newest] = view.runs;
    this.#prometheus.set('ready', { source }, yesNo(isReady(view)));
    const isSuspended = view.suspended !== null || newest?.result === 'suspended';
    this.#prometheus.set('suspended', { source }, yesNo(isSuspended));
    this.#prometheus.set('pinned', { source }, yesNo(view.pinned !== null));
    this.#prometheus.set('leader', { source }, yesNo(view.leader));
    this.#prometheus.set('lag', { source }, lagSeconds(view, now));
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
    for (const { name, drift, withheld } of standingOf(view).environments) {
      // Prometheus takes an empty label for an absent one.
      const labels = { source, environment: name ?? '' };
      this.#prometheus.set('drift', labels, drift);
      this.#prometheus.set('withheld', labels, withheld);
    }
    const unmanaged = newestPlan(view)?.unmanaged;
    if (!unmanaged) return;
    this.#prometheus.set('unmanaged', { source, kind: 'flag' }, unmanaged.flags);
    this.#prometheus.set('unmanaged', { source, kind: 'segment' }, unmanaged.segments);
  }
}

const SUCCESS: ReadonlySet<RunResult> = new Set(['in-sync', 'applied']);

function endSeconds({ startedAt, durationMs }: RunRecord): number {
  return (Date.parse(startedAt) + durationMs) / 1_000;
}

function lagSeconds({ seen, applied }: SourceView, now: number): number {
  if (seen === null || seen.commit === applied?.commit) return 0;
  return Math.max(0, (now - Date.parse(seen.committedAt)) / 1_000);
}
