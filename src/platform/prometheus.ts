import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface Metric {
  /** By Prometheus's conventions: counters end in `_total`, durations are in seconds. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
  readonly buckets?: readonly number[];
}

export function counter(name: string, labels: readonly string[], help: string): Metric {
  return { name, type: 'counter', labels, help };
}

export function gauge(name: string, labels: readonly string[], help: string): Metric {
  return { name, type: 'gauge', labels, help };
}

export function histogram(
  name: string,
  labels: readonly string[],
  buckets: readonly number[],
  help: string,
): Metric {
  return { name, type: 'histogram', labels, help, buckets };
}

export type Labels = Readonly<Record<string, string>>;

export class Prometheus<Key extends string> {
  readonly contentType: string;
  readonly #registry = new Registry();
  readonly #counters = new Map<Key, Counter>();
  readonly #gauges = new Map<Key, Gauge>();
  readonly #histograms = new Map<Key, Histogram>();

  constructor(catalogue: Readonly<Record<Key, Metric>>) {
    this.contentType = this.#registry.contentType;
    collectDefaultMetrics({ register: this.#registry });
    for (const key of Object.keys(catalogue) as Key[]) this.#add(key, catalogue[key]);
  }

  count(key: Key, labels: Labels, by = 1): void {
    this.#counters.get(key)?.inc(labels, by);
  }

  observe(key: Key, labels: Labels, seconds: number): void {
    this.#histograms.get(key)?.observe(labels, seconds);
  }

  set(key: Key, labels: Labels, value: number): void {
    this.#gauges.get(key)?.set(labels, value);
  }

  /** Removes every gauge value; only those set afterwards are exported. */
  clearGauges(): void {
    for (const gauge of this.#gauges.values()) gauge.reset();
  }

  async text(): Promise<string> {
    return this.#registry.metrics();
  }

  #add(key: Key, { name, type, labels, help, buckets = [] }: Metric): void {
    const common = { name, help, labelNames: [...labels], registers: [this.#registry] };
    if (type === 'counter') this.#counters.set(key, new Counter(common));
    else if (type === 'gauge') this.#gauges.set(key, new Gauge(common));
    else this.#histograms.set(key, new Histogram({ ...common, buckets: [...buckets] }));
  }
}
