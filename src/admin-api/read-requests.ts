import type { ReadRequest } from './http/admin-client.js';

/** Endpoints that the contract does not promise. */
export type OptionalList = 'traffic types' | 'flags' | 'definitions';

export interface OptionalRequest extends ReadRequest {
  readonly list: OptionalList;
  readonly workspaceId: string;
  readonly environmentId?: string;
}

export function keysRequest(environmentId: string, segment: string): ReadRequest {
  return {
    path: ['segments', environmentId, segment, 'keys'],
    what: `read the keys of segment ${JSON.stringify(segment)}`,
  };
}
