import { counter, gauge, histogram, Prometheus, type Metric } from '../platform/prometheus.js';
import { firstRow } from './store/statement.js';
import type { Store } from './store/store.js';

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** All metrics of the service. The number of label values is bounded: names that clients choose are not among them. */
export const SERVICE_METRICS = {
  flagkeel_admin_requests_total: counter(
    ['method', 'route', 'status'],
    'Requests that were answered; route `none`: there is no such path.',
  ),
  flagkeel_admin_request_duration_seconds: histogram(
    ['method', 'route'],
    BUCKETS,
    'How long answers took.',
  ),
  flagkeel_admin_store_errors_total: counter([], 'Requests that failed because the store did.'),
  flagkeel_admin_objects: gauge(['kind'], 'Objects in the store; absent while it does not answer.'),
} satisfies Readonly<Record<string, Metric>>;

const COUNTS = {
  workspace: 'select count(*) from workspaces',
  flag: 'select count(*) from flags',
  definition: 'select count(*) from definitions',
  segment: 'select count(*) from segments',
  activation: 'select count(*) from activations',
  'segment-key': 'select coalesce(sum(key_count), 0) from activations',
  'audit-entry': 'select coalesce(max(id), 0) from audit',
} as const;

const allCounts = firstRow<Readonly<Record<string, unknown>>, []>(
  `select ${Object.entries(COUNTS)
    .map(([kind, text]) => `(${text}) as "${kind}"`)
    .join(', ')}`,
);

export class ServiceMetrics {
  readonly #prometheus = new Prometheus(SERVICE_METRICS);

  get contentType(): string {
    return this.#prometheus.contentType;
  }

  /** @param route the path with `:name` in place of names; undefined if no such path exists. */
  noteAnswer(method: string, route = 'none', status: number, durationMs: number): void {
    const labels = { method, route };
    const counted = { ...labels, status: String(status) };
    this.#prometheus.count('flagkeel_admin_requests_total', counted);
    this.#prometheus.observe('flagkeel_admin_request_duration_seconds', labels, durationMs / 1_000);
  }

  noteStoreError(): void {
    this.#prometheus.count('flagkeel_admin_store_errors_total', {});
  }

  /** In Prometheus text format. Without an answer of the store, its sizes are missing. */
  async text(store: Store): Promise<string> {
    this.#prometheus.clearGauges();
    const counts = await allCounts(store.lookUp).catch(() => undefined);
    for (const [kind, count] of Object.entries(counts ?? {})) {
      // PostgreSQL gives sums as text.
      this.#prometheus.set('flagkeel_admin_objects', { kind }, Number(count));
    }
    return this.#prometheus.text();
  }
}
