import { AdminClient } from '../admin-api/http/admin-client.js';
import type { AuthHeader } from '../admin-api/origin.js';
import { decideOrigin, originOf, parseOrigins } from '../admin-api/origin.js';
import type { AdminReader } from '../admin-api/reader.js';
import { HttpAdminReader } from '../admin-api/reader.js';
import type { Traffic } from '../admin-api/http/request.js';
import type { AdminWriter } from '../admin-api/writer.js';
import { HttpAdminWriter } from '../admin-api/writer.js';
import type { OperatorSettings } from './settings.js';
import type { Desired } from '../model/desired.js';
import type { Progress } from '../model/run.js';
import { packageVersion } from '../platform/version.js';
import type { Disposables } from '../platform/closers.js';
import { embeddedStateName, startEmbedded, type EmbeddedOptions } from './embedded.js';
import type { Limiters } from '../admin-api/http/rate-limiter.js';

export interface AccessOptions {
  readonly settings: OperatorSettings;
  readonly url?: string | undefined;
  readonly authHeader?: AuthHeader | undefined;
  readonly embedded?: EmbeddedOptions | undefined;
  /** Milliseconds after which a silent network counts as dead. */
  readonly timeoutMs: number;
  readonly concurrency?: number | undefined;
  /** Ends waits and reads; a write under way is finished. */
  readonly signal: AbortSignal;
  /** Shows people one line. */
  readonly note: (text: string) => void;
  readonly traffic?: Traffic | undefined;
  readonly limiters?: Limiters | undefined;
  readonly beforeWrite?: ((write: { readonly isUrgent: boolean }) => Promise<void>) | undefined;
  readonly progress?: Progress | undefined;
}

/** The name of the embedded service in plans: its port changes with every run. */
const EMBEDDED = 'embedded';

const LONG_WAIT_MS = 2_000;

export interface ServiceAccess {
  readonly reader: AdminReader;
  /** The origin, or `embedded`. */
  readonly name: string;
  /** In the state; an embedded service is named after its store. */
  readonly stateName: string;
  openWriter(): AdminWriter;
  requests(): number;
}

/**
 * Decides which origin gets the key, and opens a client for it.
 *
 * @param desired null if there are no specs: nothing proposes a service, and an embedded one keeps its content.
 * @throws FlagkeelError `ORIGIN_NOT_ALLOWED`, `NO_KEY`: no connection was made.
 */
export async function openService(
  desired: Desired | null,
  options: AccessOptions,
  closers: Disposables,
): Promise<ServiceAccess> {
  const { url, key, name, stateName } = await locate(desired, options, closers);
  const client = new AdminClient({
    url,
    key,
    authHeader: options.authHeader ?? options.settings.authHeader,
    version: packageVersion(),
    timeoutMs: options.timeoutMs,
    concurrency: options.concurrency,
    // The embedded service and its key change with every run.
    limiter: options.embedded
      ? undefined
      : options.limiters?.of({ origin: name, key: key() }, options),
    signal: options.signal,
    traffic: options.traffic,
    beforeWrite: options.beforeWrite,
    onWait: (wait) => {
      const { waitMs, why, what } = wait;
      if (options.progress) options.progress.waiting(wait);
      else if (waitMs >= LONG_WAIT_MS)
        options.note(`waiting ${Math.ceil(waitMs / 1_000)} s to ${what}: ${why}`);
    },
  });
  const requests = (): number => Object.values(client.counts()).reduce((a, b) => a + b, 0);
  options.progress?.requests(requests);
  options.progress?.phase('look');
  closers.add(async () => client.close());
  const reader = new HttpAdminReader(client.reads());
  return {
    ...{ reader, name, stateName },
    openWriter: () => new HttpAdminWriter(client, reader),
    requests,
  };
}

async function locate(
  desired: Desired | null,
  options: AccessOptions,
  closers: Disposables,
): Promise<{ url: string; key: () => string; name: string; stateName: string }> {
  const { settings, embedded } = options;
  if (embedded) {
    const service = await startEmbedded(desired, embedded);
    closers.add(async () => service.close());
    const stateName = embeddedStateName(service.storeId);
    return { url: service.url, key: () => service.key, name: EMBEDDED, stateName };
  }
  const url = decideOrigin({
    cliUrl: options.url,
    envUrl: settings.url,
    allowedOrigins: parseOrigins(settings.allowedOrigins),
    proposedUrl: desired?.config.serviceUrl,
    proposedLocation: desired?.config.serviceUrlLocation,
  });
  // Called before anything is sent, so that a missing key has an error of its own.
  settings.apiKey();
  const name = originOf(url);
  return { url, key: settings.apiKey, name, stateName: name };
}
