import type { Method } from '../../platform/http-client.js';

/** One request as it went over the wire: a try, not what a caller asked for. */
export interface SentRequest {
  readonly method: Method;
  /** See `routeOf`. */
  readonly route: string;
  /** Null where no whole answer came. */
  readonly status: number | null;
  readonly durationMs: number;
}

/** Counts all that goes to the service. Never throws. */
export interface Traffic {
  readonly onRequest: (request: SentRequest) => void;
  /** A request waited so long for its turn, because the pace is limited. */
  readonly onTurn: (waitMs: number) => void;
  /** A request is about to be sent once more. */
  readonly onRetry: () => void;
}

/** The paths that the client uses; longer and more literal ones first, because a name may equal a word. */
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
 * The path without what it is about: `/splits/ws/:workspace/:flag`. There are few of them, so that they can be counted
 * by, and no name or key stands in them.
 */
export function routeOf(path: readonly string[]): string {
  const found = ROUTES.find(
    (route) =>
      route.length === path.length &&
      route.every((word, i) => word.startsWith(':') || word === path[i]),
  );
  return found === undefined ? 'other' : `/${found.join('/')}`;
}
