import { startScripted, type Script, type ScriptedServer } from './http.js';

type Value = string | number | boolean;

/** A span as a collector gets it, with its attributes as a plain object. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** 1: internal, 3: client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, Value>>;
  /** 2: error. */
  readonly status: number;
  readonly ms: number;
}

/** A collector on loopback that takes OTLP as JSON. */
export class OtlpReceiver {
  readonly server: ScriptedServer;

  private constructor(server: ScriptedServer) {
    this.server = server;
  }

  static async start(script: Script = () => ({ status: 200, body: {} })): Promise<OtlpReceiver> {
    return new OtlpReceiver(await startScripted(script));
  }

  get url(): string {
    return this.server.url;
  }

  get spans(): ReceivedSpan[] {
    return this.#bodies<TracesBody>('/v1/traces').flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) => spans.map(spanOf)),
      ),
    );
  }

  /** Attributes of the resource of the first export of traces. */
  get resource(): Readonly<Record<string, Value>> {
    const [first] = this.#bodies<TracesBody>('/v1/traces');
    return plain(first?.resourceSpans[0]?.resource.attributes ?? []);
  }

  #bodies<Body>(path: string): Body[] {
    const sent = this.server.seen.filter(({ url }) => url === path);
    return sent.map(({ body }) => JSON.parse(body) as Body);
  }
}

type Attributes = readonly { readonly key: string; readonly value: Record<string, Value> }[];

interface WireSpan extends Omit<ReceivedSpan, 'attributes' | 'status' | 'ms'> {
  readonly attributes: Attributes;
  readonly status: { readonly code: number };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface TracesBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

function plain(attributes: Attributes): Record<string, Value> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, Object.values(value)[0] ?? '']),
  );
}

function spanOf(span: WireSpan): ReceivedSpan {
  const nanos = BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano);
  const { code: status } = span.status;
  return { ...span, attributes: plain(span.attributes), status, ms: Number(nanos) / 1e6 };
}
