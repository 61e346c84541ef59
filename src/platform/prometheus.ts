import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
  readonly buckets?: readonly number[];
}

export function counter(labels: readonly string[], help: string): Metric {
  return { type: 'counter', labels, help };
}

export function gauge(labels: readonly string[], help: string): Metric {
  return { type: 'gauge', labels, help };
}

export function histogram(
  labels: readonly string[],
  buckets: readonly number[],
  help: string,
): Metric {
  return { type: 'histogram', labels, help, buckets };
}

export type Labels = Readonly<Record<string, string>>;

/** Metrics by name. By Prometheus's conventions, names of counters end in `_total`, and durations are in seconds. */
export class Prometheus<Name extends string> {
  readonly contentType: string;
  readonly #registry = new Registry();
  readonly #counters = new Map<Name, Counter>();
  readonly #gauges = new Map<Name, Gauge>();
  readonly #histograms = new Map<Name, Histogram>();

  constructor(catalogue: Readonly<Record<Name, Metric>>) {
    this.contentType = this.#registry.contentType;
    collectDefaultMetrics({ register: this.#registry });
    for (const name of Object.keys(catalogue) as Name[]) {
      const { type, labels, help, buckets = [] } = catalogue[name];
      const common = { name, help, labelNames: [...labels], registers: [this.#registry] };
      if (type === 'counter') this.#counters.set(name, new Counter(common));
      else if (type === 'gauge') this.#gauges.set(name, new Gauge(common));
      else this.#histograms.set(name, new Histogram({ ...common, buckets: [...buckets] }));
    }
  }

  count(name: Name, labels: Labels, by = 1): void {
    this.#counters.get(name)?.inc(labels, by);
  }

  observe(name: Name, labels: Labels, seconds: number): void {
    this.#histograms.get(name)?.observe(labels, seconds);
  }

  set(name: Name, labels: Labels, value: number): void {
    this.#gauges.get(name)?.set(labels, value);
  }

  /** Removes every gauge value; only those set afterwards are exported. */
  clearGauges(): void {
    for (const gauge of this.#gauges.values()) gauge.reset();
  }

  async text(): Promise<string> {
    return this.#registry.metrics();
  }
}
