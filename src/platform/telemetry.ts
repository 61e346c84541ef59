import { randomUUID } from 'node:crypto';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, ValueType } from '@opentelemetry/api';
import type { Context, HrTime, Span, Tracer } from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { hrTime, type ExportResult } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import type { Resource } from '@opentelemetry/resources';
import { AggregationTemporality, DataPointType, MeterProvider } from '@opentelemetry/sdk-metrics';
import { PeriodicExportingMetricReader, type MetricData } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { messageOf } from '../errors.js';
import { realTime } from './clock.js';
import type { CountedMetric } from './prometheus.js';
import type { Observer, OpenSpan } from './spans.js';

export type Signal = 'traces' | 'metrics';

export interface TelemetryOptions {
  readonly signals: readonly Signal[];
  readonly version: string;
  /** Of this process among others of the same service, where it lasts. Default: none. */
  readonly isLasting: boolean;
  /** Parent of every trace, as W3C Trace Context writes it; absent: each is the first of its own. */
  readonly parent?: { readonly traceparent: string; readonly tracestate?: string };
  /** Milliseconds between two exports of metrics. */
  readonly intervalMs?: number;
  /** Asked for what is counted, at each export. */
  readonly metrics: () => Promise<readonly CountedMetric[]>;
  /** Why something was not taken; once until something is taken again. */
  readonly onTrouble: (why: string) => void;
}

/** Sends traces and metrics over OTLP. Where and how, the official packages read from the `OTEL_` variables of the process. */
export interface Telemetry {
  readonly begin: Observer['begin'];
  /**
   * Sends what is left.
   *
   * @returns false: it was given up, and requests may still be under way.
   */
  close(withinMs: number): Promise<boolean>;
}

/** Never throws on what the collector does, and never waits for it before `close`. */
export function startTelemetry(options: TelemetryOptions): Telemetry {
  const resource = resourceOf(options);
  const tell = onceUntilTaken(options.onTrouble);
  const isSent = (signal: Signal): boolean => options.signals.includes(signal);
  const tracing = isSent('traces') ? startTraces(resource, tell) : undefined;
  const metering = isSent('metrics') ? startMetrics(resource, options, tell) : undefined;
  const tracer = tracing?.getTracer('flagkeel', options.version);
  return {
    begin: tracer ? beginOf(tracer, parentOf(options)) : () => NO_SPAN,
    close: async (withinMs) => {
      const left = Promise.allSettled([tracing?.shutdown(), metering?.shutdown()]);
      const limit = new AbortController();
      const given = realTime.sleep(withinMs, limit.signal).catch(() => undefined);
      const isDone = await Promise.race([left.then(() => true), given.then(() => false)]);
      limit.abort();
      if (!isDone) tell({ code: ExportResultCode.FAILED, error: new Error('no answer in time') });
      return isDone;
    },
  };
}

type Told = (result: ExportResult) => void;

/** A collector that is away is one trouble, however often it is tried. */
function onceUntilTaken(onTrouble: TelemetryOptions['onTrouble']): Told {
  let isTold = false;
  return ({ code, error }) => {
    if (code === ExportResultCode.FAILED && !isTold) onTrouble(whyOf(error));
    isTold = code === ExportResultCode.FAILED;
  };
}

/** Without words of the collector and without its URL, which may hold a password. */
function whyOf(error: Error | undefined): string {
  const code = error && 'code' in error ? error.code : undefined;
  if (typeof code === 'number') return `it answered ${code}`;
  if (typeof code === 'string') return code;
  // A connection to each address of a name was tried, or the error is one of the packages.
  return error?.name === 'Error' ? error.message : (error?.name ?? 'no answer');
}

function resourceOf({ version, isLasting }: TelemetryOptions): Resource {
  const own = resourceFromAttributes({
    'service.name': 'flagkeel',
    'service.version': version,
    ...(isLasting && { 'service.instance.id': randomUUID() }),
  });
  return own.merge(detectResources({ detectors: [envDetector] }));
}

function startTraces(resource: Resource, tell: Told): BasicTracerProvider {
  const exporter = new OTLPTraceExporter();
  telling(exporter, tell);
  return new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
}

interface Exporter<Items> {
  export: (items: Items, done: Told) => void;
}

/** From now on the exporter tells how each export went. */
function telling<Items>(exporter: Exporter<Items>, tell: Told): void {
  const send = exporter.export.bind(exporter);
  exporter.export = (items, done) => {
    send(items, (result) => {
      tell(result);
      done(result);
    });
  };
}

const PROPAGATOR = new W3CTraceContextPropagator();

function parentOf({ parent = { traceparent: '' } }: TelemetryOptions): Context {
  const get = (carrier: Readonly<Record<string, string>>, name: string) => carrier[name];
  return PROPAGATOR.extract(ROOT_CONTEXT, parent, { get, keys: Object.keys });
}

const NO_SPAN: OpenSpan = { add: () => undefined, end: () => undefined };

/** Spans that this module has opened, by what it gave out for them. */
const SPANS = new WeakMap<OpenSpan, Span>();

function beginOf(tracer: Tracer, root: Context): Observer['begin'] {
  return ({ name, facts, startedAtMs }, parent, kind) => {
    const above = parent === null ? undefined : SPANS.get(parent);
    const context = above ? trace.setSpan(root, above) : root;
    const spanKind = kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const begun = { kind: spanKind, attributes: { ...facts } };
    const startTime = startedAtMs === undefined ? {} : { startTime: startedAtMs };
    const span = tracer.startSpan(name, { ...begun, ...startTime }, context);
    const open = openSpan(span);
    SPANS.set(open, span);
    return open;
  };
}

function openSpan(span: Span): OpenSpan {
  return {
    add: (facts) => {
      span.setAttributes({ ...facts });
    },
    end: (error) => {
      if (error !== undefined) {
        span.setAttribute('error.type', error);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

function startMetrics(
  resource: Resource,
  { metrics, intervalMs, version }: TelemetryOptions,
  tell: Told,
): MeterProvider {
  const startTime = hrTime();
  const collect = async () => {
    const errors: unknown[] = [];
    const counted = await metrics().catch((error: unknown) => {
      errors.push(messageOf(error));
      return [];
    });
    const scope = { name: 'flagkeel', version };
    const seen = counted.filter(({ points }) => points.length > 0);
    const data = seen.map((each) => dataOf(each, startTime));
    return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics: data }] }, errors };
  };
  const exporter = new OTLPMetricExporter();
  telling(exporter, tell);
  const reader = new PeriodicExportingMetricReader({
    exporter,
    metricProducers: [{ collect }],
    ...(intervalMs !== undefined && { exportIntervalMillis: intervalMs }),
  });
  return new MeterProvider({ resource, readers: [reader] });
}

/** Names and labels as at `/metrics`: who looks at both finds the same. */
function dataOf({ name, help, type, points }: CountedMetric, startTime: HrTime): MetricData {
  const unit = /_seconds(?:_total)?$/.test(name) ? 's' : name.endsWith('_bytes') ? 'By' : '';
  const descriptor = { name, description: help, unit, valueType: ValueType.DOUBLE };
  const aggregationTemporality = AggregationTemporality.CUMULATIVE;
  const common = { descriptor, aggregationTemporality };
  const at = { startTime, endTime: hrTime() };
  const numbers = points.map(({ labels, value }) => ({ ...at, attributes: labels, value }));
  if (type === 'counter') {
    return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: numbers };
  }
  if (type === 'gauge')
    return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: numbers };
  const dataPoints = points.map(({ labels, value: sum, bounds = [], counts = [] }) => {
    const count = counts.reduce((all, each) => all + each, 0);
    const buckets = { boundaries: [...bounds], counts: [...counts] };
    return { ...at, attributes: labels, value: { buckets, sum, count } };
  });
  return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints };
}
