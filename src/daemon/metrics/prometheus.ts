import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { METRICS, type Metric, type MetricKey } from './catalogue.js';

export type Labels = Readonly<Record<string, string>>;

/** The metrics of the catalogue and those of the process, in a registry of their own. */
export class Prometheus {
  readonly contentType: string;
  readonly #registry = new Registry();
  readonly #counters = new Map<MetricKey, Counter>();
  readonly #gauges = new Map<MetricKey, Gauge>();
  readonly #histograms = new Map<MetricKey, Histogram>();

  constructor() {
    this.contentType = this.#registry.contentType;
    collectDefaultMetrics({ register: this.#registry });
    for (const key of Object.keys(METRICS) as MetricKey[]) this.#add(key, METRICS[key]);
  }

  count(key: MetricKey, labels: Labels, by = 1): void {
    this.#counters.get(key)?.inc(labels, by);
  }

  observe(key: MetricKey, labels: Labels, seconds: number): void {
    this.#histograms.get(key)?.observe(labels, seconds);
  }

  set(key: MetricKey, labels: Labels, value: number): void {
    this.#gauges.get(key)?.set(labels, value);
  }

  /** Forgets every gauge: what is not set afterwards is gone. */
  clearGauges(): void {
    for (const gauge of this.#gauges.values()) gauge.reset();
  }

  /** In the format of `contentType`. */
  async text(): Promise<string> {
    return this.#registry.metrics();
  }

  #add(key: MetricKey, { name, type, labels, help, buckets }: Metric): void {
    const common = { name, help, labelNames: [...labels], registers: [this.#registry] };
    switch (type) {
      case 'counter':
        this.#counters.set(key, new Counter(common));
        return;
      case 'gauge':
        this.#gauges.set(key, new Gauge(common));
        return;
      case 'histogram':
        this.#histograms.set(key, new Histogram({ ...common, buckets: [...(buckets ?? [])] }));
    }
  }
}
