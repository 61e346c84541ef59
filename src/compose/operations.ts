import { startOperations, type Operations } from '../daemon/http/operations.js';
import type { Metrics } from '../daemon/metrics/metrics.js';
import { startNotifications } from '../daemon/notify/notifications.js';
import { parseNotifyTarget, type NotifyTarget } from '../daemon/notify/target.js';
import { readSecrets } from '../daemon/secret-file.js';
import type { DaemonControls, DaemonView } from '../daemon/view.js';
import { FlaghoistError } from '../errors.js';
import type { Log } from '../log.js';

/** What the command line says of the daemon's surface; absent: not given. */
export interface OperationsFlags {
  /** `[HOST:]PORT`. */
  readonly listen?: string;
  readonly tokenFile?: string;
  readonly webhookSecretFile?: string;
  /** See `parseNotifyTarget`. */
  readonly notify: readonly string[];
  /** One target a line. */
  readonly notifyFile?: string;
}

/** Where the daemon shows itself. */
export interface OpenOperations {
  /** Null: it does not listen. */
  readonly url: string | null;
  /** See `Operations`. */
  readonly close: Operations['close'];
}

/** What is opened, as the command line asks for it. */
export interface OperationsPlan {
  readonly notify: readonly NotifyTarget[];
  /** Null: the daemon does not listen. */
  readonly surface: {
    readonly host?: string;
    readonly port: number;
    readonly tokenFile: string | undefined;
    readonly webhookSecretFile: string | undefined;
  } | null;
}

/**
 * Reads what the command line says. Opens nothing.
 *
 * @throws FlaghoistError USAGE
 */
export async function readOperations(flags: OperationsFlags): Promise<OperationsPlan> {
  const notify = await targetsOf(flags);
  if (flags.listen !== undefined) {
    const { tokenFile, webhookSecretFile } = flags;
    return { notify, surface: { ...parseListen(flags.listen), tokenFile, webhookSecretFile } };
  }
  if (flags.tokenFile !== undefined || flags.webhookSecretFile !== undefined) {
    throw new FlaghoistError(
      'USAGE',
      'cannot use --token-file or --webhook-secret-file without --listen',
    );
  }
  return { notify, surface: null };
}

/**
 * Opens the daemon's surface as far as it was asked for: without one it only sends its messages.
 *
 * @param metrics the one whose `traffic` the clients of the service feed.
 * @throws FlaghoistError IN_USE: nothing was opened.
 */
export async function openOperations(
  daemon: DaemonView & DaemonControls,
  { notify, surface }: OperationsPlan,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
): Promise<OpenOperations> {
  if (surface) return startOperations(daemon, daemon, { ...surface, notify, metrics, log });
  const { close } = startNotifications(daemon, notify, { log, metrics });
  return { url: null, close };
}

/** @throws FlaghoistError USAGE. */
export function parseListen(text: string): { readonly host?: string; readonly port: number } {
  const [, host, port] = /^(?:(\[[0-9a-f:.]+\]|[^:[\]\s]+):)?(\d{1,5})$/i.exec(text) ?? [];
  const number = Number(port);
  if (port === undefined || number > 65_535) {
    throw new FlaghoistError(
      'USAGE',
      `cannot listen on ${JSON.stringify(text)}: a port is expected, or HOST:PORT`,
    );
  }
  if (host === undefined) return { port: number };
  return { host: host.replace(/^\[|\]$/g, ''), port: number };
}

async function targetsOf({ notify, notifyFile }: OperationsFlags): Promise<NotifyTarget[]> {
  const lines = notifyFile === undefined ? [] : await readSecrets(notifyFile);
  if (typeof lines === 'string') {
    throw new FlaghoistError('USAGE', `cannot use the file of --notify-file: it is ${lines}`);
  }
  return [...notify, ...lines].map((text) => parseNotifyTarget(text, null));
}
