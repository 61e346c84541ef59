import { packageVersion } from '../platform/version.js';
import { isObserved, observe, type Observer } from '../platform/spans.js';
import type { Signal, TelemetryOptions } from '../platform/telemetry.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** How long the end of a process waits for a collector. */
const FLUSH_MS = 2_000;

export interface OpenTelemetryOptions extends Pick<
  TelemetryOptions,
  'isLasting' | 'metrics' | 'onTrouble'
> {
  /** Whether the trace of a CI job, say, goes on in those of the runs. */
  readonly hasParent?: boolean;
  /** Ends the process although requests to the collector are under way; absent: they may hold it. */
  readonly abandon?: (() => void) | undefined;
}

export interface OpenTelemetry extends Pick<Observer, 'begin'> {
  /** Sends what is left, within two seconds. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the way to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` and its kin name.
 *
 * @param environment that of the process: the official packages read the rest from there.
 * @returns undefined: no variable asks for it, or it cannot be done, which `onTrouble` is told. Nothing was loaded where none asks.
 */
export async function openTelemetry(
  environment: Environment,
  { hasParent, abandon, ...options }: OpenTelemetryOptions,
): Promise<OpenTelemetry | undefined> {
  const signals = signalsAsked(environment, options.onTrouble);
  if (signals.length === 0) return undefined;
  try {
    const { startTelemetry } = await import('../platform/telemetry.js');
    const telemetry = startTelemetry({
      ...{ ...options, signals, version: packageVersion() },
      ...(hasParent === true && parentOf(environment)),
      ...intervalOf(environment),
    });
    return {
      begin: telemetry.begin,
      close: async () => {
        if (!(await telemetry.close(FLUSH_MS))) abandon?.();
      },
    };
  } catch (error) {
    options.onTrouble(error instanceof Error ? error.name : 'unknown');
    return undefined;
  }
}

/** Which of the two are to be sent; none where that is turned off. */
function signalsAsked(environment: Environment, onTrouble: (why: string) => void): Signal[] {
  if (environment['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return [];
  return (['traces', 'metrics'] as const).filter((signal) => {
    const name = signal.toUpperCase();
    const own = (what: string): string | undefined =>
      given(environment, `OTEL_EXPORTER_OTLP_${name}_${what}`) ??
      given(environment, `OTEL_EXPORTER_OTLP_${what}`);
    const exporters = given(environment, `OTEL_${name}_EXPORTER`)?.split(',') ?? ['otlp'];
    const endpoint = own('ENDPOINT');
    if (endpoint === undefined || !exporters.some((each) => each.trim() === 'otlp')) return false;
    const isUrl = URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol);
    const isOther = own('PROTOCOL') === 'grpc';
    if (!isUrl) onTrouble(`the endpoint of the ${signal} is no URL`);
    if (isOther) onTrouble(`the ${signal} are to go by grpc, and go by http alone`);
    return isUrl && !isOther;
  });
}

/** An empty variable is one that is not set, as OpenTelemetry has it. */
function given(environment: Environment, name: string): string | undefined {
  const text = environment[name]?.trim();
  return text === '' ? undefined : text;
}

function parentOf(environment: Environment): Pick<TelemetryOptions, 'parent'> {
  const traceparent = given(environment, 'TRACEPARENT');
  const tracestate = given(environment, 'TRACESTATE');
  if (traceparent === undefined) return {};
  return { parent: { traceparent, ...(tracestate !== undefined && { tracestate }) } };
}

function intervalOf(environment: Environment): Pick<TelemetryOptions, 'intervalMs'> {
  const text = given(environment, 'OTEL_METRIC_EXPORT_INTERVAL') ?? '';
  return /^[1-9]\d{0,8}$/.test(text) ? { intervalMs: Number(text) } : {};
}

export interface OnceOptions extends Pick<OpenTelemetryOptions, 'abandon'> {
  readonly environment: Environment;
  /** Shows people one line. */
  readonly warn: (text: string) => void;
}

/** Does the work of one command, and sends what there is to tell of its runs. */
export async function observedOnce<T>(
  { environment, warn, abandon }: OnceOptions,
  command: () => Promise<T>,
): Promise<T> {
  const troubles = new Set<string>();
  const onTrouble = (why: string): void => {
    troubles.add(why);
  };
  // A server runs commands as its tools, and is observed as a whole.
  if (isObserved() || signalsAsked(environment, onTrouble).length === 0) {
    warnOf(troubles, warn);
    return command();
  }
  const { Metrics } = await import('../daemon/metrics/metrics.js');
  const counting = new Metrics();
  const metrics = async () => counting.counted(null, Date.now());
  const opened = { isLasting: false, metrics, onTrouble, abandon, hasParent: true };
  const telemetry = await openTelemetry(environment, opened);
  const forget = telemetry && observe({ ...telemetry, ...countedBy(counting) });
  try {
    return await command();
  } finally {
    forget?.();
    await telemetry?.close();
    warnOf(troubles, warn);
  }
}

function countedBy(counting: {
  readonly traffic: Observer['traffic'] & object;
  noteRun(source: { readonly name: string }, end: Parameters<Observer['onRun'] & object>[1]): void;
}): Pick<Observer, 'traffic' | 'onRun'> {
  return {
    traffic: counting.traffic,
    onRun: (name, end) => {
      counting.noteRun({ name }, end);
    },
  };
}

/** At the end and once: a collector is no part of what the command does. */
function warnOf(troubles: ReadonlySet<string>, warn: (text: string) => void): void {
  if (troubles.size === 0) return;
  warn(`warning: OpenTelemetry: not everything was sent: ${[...troubles].join('; ')}`);
}
