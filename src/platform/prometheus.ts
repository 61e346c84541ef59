import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface Metric {
  /** Prometheus's: counters end in `_total`, sizes are in seconds. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
  /** Upper bounds of a histogram, in seconds. */
  readonly buckets?: readonly number[];
}

export type Labels = Readonly<Record<string, string>>;

/** One metric with what was counted by now. */
export interface CountedMetric extends Pick<Metric, 'name' | 'type' | 'help'> {
  readonly points: readonly CountedPoint[];
}

/** What was counted for one set of labels. */
export interface CountedPoint {
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  /** Of a histogram the sum. */
  readonly value: number;
  /** Upper bounds of a histogram, the smallest first, without the last, which is infinite. */
  readonly bounds?: readonly number[];
  /** How many fell below each bound and not below the one before; one more than there are bounds. */
  readonly counts?: readonly number[];
}

/** The metrics of a catalogue and those of the process, in a registry of their own. */
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

  /** Forgets every gauge: what is not set afterwards is gone. */
  clearGauges(): void {
    for (const gauge of this.#gauges.values()) gauge.reset();
  }

  /** The same as `text`, for other formats. Summaries, of which there are none here, are left out. */
  async counted(): Promise<readonly CountedMetric[]> {
    const all = await this.#registry.getMetricsAsJSON();
    return all.flatMap((each): CountedMetric[] => {
      const { name, help, values } = each;
      const type = TYPES[String(each.type)];
      if (type === undefined) return [];
      return [{ name, help, type, points: type === 'histogram' ? histograms(values) : values }];
    });
  }

  /** In the format of `contentType`. */
  async text(): Promise<string> {
    return this.#registry.metrics();
  }

  #add(key: Key, { name, type, labels, help, buckets }: Metric): void {
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

/** By what the library calls them, in its types and in what it answers. */
const TYPES: Readonly<Record<string, Metric['type'] | undefined>> = {
  counter: 'counter',
  gauge: 'gauge',
  histogram: 'histogram',
};

interface Value {
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
  /** Of a histogram: which of its three series it is of. */
  readonly metricName?: string;
}

/** The library lists, for each set of labels, how many fell below each bound and all bounds before it; then sum and count. */
function histograms(values: readonly Value[]): CountedPoint[] {
  const points: CountedPoint[] = [];
  let below: { bound: number; count: number }[] = [];
  for (const { labels, value, metricName = '' } of values) {
    const { le, ...own } = labels;
    if (le !== undefined) below.push({ bound: Number(le), count: value });
    if (!metricName.endsWith('_sum')) continue;
    const bounds = below.map(({ bound }) => bound).filter((bound) => Number.isFinite(bound));
    const counts = below.map(({ count }, i) => count - (below[i - 1]?.count ?? 0));
    points.push({ labels: own, value, bounds, counts });
    below = [];
  }
  return points;
}
