import type { IncomingMessage } from 'node:http';
import { API_PREFIX } from '../../../src/admin-api/wire.js';

/** One kind of request that a run sends. */
export interface RequestKind {
  readonly name: string;
  readonly method: string;
  /** Of the path behind the prefix of the interface. */
  readonly path: RegExp;
  /** Whether the run of the matrix reads more than one page of it. */
  readonly isPaged?: boolean;
}

const ID = '[0-9a-f-]{36}';

const kind = (name: string, method: string, path: string): RequestKind => ({
  name,
  method,
  path: new RegExp(`^${path.replaceAll('ID', ID)}$`),
});

const paged = (...row: Parameters<typeof kind>): RequestKind => ({
  ...kind(...row),
  isPaged: true,
});

/** Every kind of read that the run of the matrix makes. */
export const READS: readonly RequestKind[] = [
  kind('list workspaces', 'GET', '/workspaces'),
  kind('list environments', 'GET', '/environments/ws/ID'),
  kind('list rollout statuses', 'GET', '/rolloutStatuses'),
  kind('list traffic types', 'GET', '/trafficTypes/ws/ID'),
  paged('list flags', 'GET', '/splits/ws/ID'),
  paged('list definitions', 'GET', '/splits/ws/ID/environments/ID'),
  kind('read a definition', 'GET', '/splits/ws/ID/[^/]+/environments/ID'),
  paged('list segments', 'GET', '/segments/ws/ID'),
  paged('list keys', 'GET', '/segments/ID/[^/]+/keys'),
];

/** Every kind of write. Flags of the world are named by what happens to them, so that kills are told from other patches. */
export const WRITES: readonly RequestKind[] = [
  kind('create a flag', 'POST', '/splits/ws/ID/trafficTypes/[^/]+'),
  kind('patch a flag', 'PATCH', '/splits/ws/ID/[^/]+'),
  kind('delete a flag', 'DELETE', '/splits/ws/ID/[^/]+'),
  kind('create a definition', 'POST', '/splits/ws/ID/[^/]+/environments/ID'),
  kind('patch a definition', 'PATCH', '/splits/ws/ID/changed/environments/ID'),
  kind('kill', 'PATCH', '/splits/ws/ID/killed/environments/ID'),
  kind('restore', 'PATCH', '/splits/ws/ID/restored/environments/ID'),
  kind('delete a definition', 'DELETE', '/splits/ws/ID/[^/]+/environments/ID'),
  kind('create a segment', 'POST', '/segments/ws/ID/trafficTypes/[^/]+'),
  kind('activate a segment', 'POST', '/segments/ID/[^/]+'),
  kind('upload keys', 'PUT', '/segments/ID/[^/]+/uploadKeys'),
  kind('remove keys', 'PUT', '/segments/ID/[^/]+/removeKeys'),
  kind('deactivate a segment', 'DELETE', '/segments/ID/[^/]+'),
  kind('delete a segment', 'DELETE', '/segments/ws/ID/[^/]+'),
  kind('write identities', 'POST', '/trafficTypes/[^/]+/environments/ID/identities'),
];

/** Whether a request is of the kind; of paged lists only pages after the first are, where `isLaterPage` asks for it. */
export function isOfKind(
  { method, path }: RequestKind,
  request: IncomingMessage,
  isLaterPage = false,
): boolean {
  const url = new URL(request.url ?? '/', 'http://service');
  if (request.method !== method || !url.pathname.startsWith(API_PREFIX)) return false;
  if (isLaterPage && Number(url.searchParams.get('offset') ?? '0') === 0) return false;
  return path.test(url.pathname.slice(API_PREFIX.length));
}
