import type { Method } from '../../platform/http-client.js';
import type { Check } from '../decode.js';
import type { Lane } from './rate-limiter.js';
import type { RequestKind } from './retry.js';

/** One GET. It cannot express a write. */
export interface ReadRequest<T = unknown> {
  /** Segments of a path of the service, not encoded: `['splits', 'ws', id]`. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  /** Purpose for error messages: `read flags`. */
  readonly what: string;
  /** Whether an error status counts as an answer. `isOwn`: the body is from the service itself, not from a proxy. */
  readonly accepts?: (status: number, isOwn: boolean) => boolean;
  /** Checks the body of an answer that is no error; what it throws makes the answer unreadable. */
  readonly check?: Check<T>;
}

export interface WriteRequest<T = unknown> extends ReadRequest<T> {
  readonly kind: Exclude<RequestKind, 'read'>;
  readonly method: Exclude<Method, 'GET'>;
  readonly body?: unknown;
  readonly lane?: Lane;
  /** For `create` and `patch`: looks up the effect of an earlier try, in the form of an answer. */
  readonly confirm?: () => Promise<unknown>;
}

export type Request<T = unknown> =
  (ReadRequest<T> & { readonly kind: 'read'; readonly method: 'GET' }) | WriteRequest<T>;

/** A single try, of which a call may need several. */
export interface SentRequest {
  readonly method: Method;
  readonly route: string;
  /** null if no complete answer came. */
  readonly status: number | null;
  readonly durationMs: number;
}

/** Counts all requests to the service. Never throws. */
export interface Traffic {
  readonly onRequest: (request: SentRequest) => void;
  /** Called with the time that a request waited for the rate limiter. */
  readonly onTurn: (waitMs: number) => void;
  readonly onRetry: () => void;
}

/** Paths of the client; longer and more literal ones come first, because a name may equal a literal part. */
const ROUTES: readonly (readonly string[])[] = [
  'workspaces',
  'rolloutStatuses',
  'environments/ws/:workspace',
  'trafficTypes/ws/:workspace',
  'splits/ws/:workspace',
  'splits/ws/:workspace/trafficTypes/:trafficType',
  'splits/ws/:workspace/environments/:environment',
  'splits/ws/:workspace/:flag',
  'splits/ws/:workspace/:flag/environments/:environment',
  'segments/ws/:workspace',
  'segments/ws/:workspace/trafficTypes/:trafficType',
  'segments/ws/:workspace/environments/:environment',
  'segments/ws/:workspace/:segment',
  'segments/:environment/:segment',
  'segments/:environment/:segment/keys',
  'segments/:environment/:segment/upload',
  'segments/:environment/:segment/uploadKeys',
  'segments/:environment/:segment/removeKeys',
  'trafficTypes/:trafficType/environments/:environment/identities',
  'trafficTypes/:trafficType/environments/:environment/identities/:key',
].map((route) => route.split('/'));

/**
 * The path with placeholders: `/splits/ws/:workspace/:flag`. There are few, so that they can label metrics, without
 * names.
 */
export function routeOf(path: readonly string[]): string {
  const found = ROUTES.find(
    (route) =>
      route.length === path.length &&
      route.every((word, i) => word.startsWith(':') || word === path[i]),
  );
  return found === undefined ? 'other' : `/${found.join('/')}`;
}
