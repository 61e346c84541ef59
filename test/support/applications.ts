import { addApplications } from '../../src/sdk/applications.js';
import type { ServiceOptions } from '../../src/service/service.js';
import { callsOf, type ServiceCalls } from './service-calls.js';
import { startedOnce, startTestService, type TestService } from './service.js';

/** A service that serves applications, and what one of them asks in the environment `staging`. */
export interface ServedWorld {
  readonly service: TestService;
  readonly admin: ServiceCalls;
  /** Of the type `server_side`. */
  readonly key: string;
  /** The body of a 200; anything else fails the test. The path stands after the origin. */
  ask<T>(path: string): Promise<T>;
  send(method: string, path: string, request?: AskedWith): Promise<Response>;
}

interface AskedWith {
  /** Default: that of the world. */
  readonly key?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function startServedWorld(
  options: Partial<ServiceOptions> = {},
): Promise<ServedWorld> {
  const service = await startTestService({ ...options, applications: addApplications });
  return worldOf(service, await applicationKey(service));
}

/** The same for the tests of a file. */
export function aServedWorld(): ServedWorld {
  return startedOnce(startServedWorld, async ({ service }) => service.stop());
}

export async function applicationKey(
  service: TestService,
  apiKeyType: 'server_side' | 'client_side' = 'server_side',
): Promise<string> {
  const environments = ['staging'];
  return service.createKey(`${apiKeyType} ${crypto.randomUUID()}`, { apiKeyType, environments });
}

function worldOf(service: TestService, key: string): ServedWorld {
  const send: ServedWorld['send'] = async (method, path, request = {}) =>
    fetch(`${service.origin}${path}`, {
      method,
      headers: { authorization: `Bearer ${request.key ?? key}`, ...request.headers },
      ...(request.body === undefined ? {} : { body: request.body }),
    });
  return {
    service,
    admin: callsOf(service),
    key,
    send,
    ask: async <T>(path: string) => {
      const response = await send('GET', path);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${text}`);
      return JSON.parse(text) as T;
    },
  };
}

/** What an SDK is answered about flags. */
export interface SplitChanges {
  readonly ff: {
    readonly d: readonly {
      readonly name: string;
      readonly status: string;
      readonly killed: boolean;
      readonly seed: number;
      readonly trafficAllocationSeed: number;
      readonly conditions: readonly {
        readonly conditionType: string;
        readonly matcherGroup: { readonly matchers: readonly Record<string, unknown>[] };
        readonly partitions: readonly { readonly treatment: string }[];
      }[];
    }[];
    readonly s: number;
    readonly t: number;
  };
}

/** What changed for an SDK since a number. */
export const changesOf = async (
  { ask }: Pick<ServedWorld, 'ask'>,
  since = -1,
): Promise<SplitChanges> => ask(`/sdk/splitChanges?s=1.3&since=${since}&rbSince=-1`);
