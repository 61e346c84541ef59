import { readFile } from 'node:fs/promises';
import {
  startOperations,
  type Operations,
  type OperationsOptions,
} from '../daemon/http/operations.js';
import type { Metrics } from '../daemon/metrics/metrics.js';
import { parseNotifyTarget, unknownPlaceholders } from '../daemon/notify/formats.js';
import type { NotifyTarget } from '../daemon/notify/formats.js';
import { startNotifications } from '../daemon/notify/notifications.js';
import { readSecrets } from '../daemon/http/access.js';
import type { DaemonControls, DaemonView } from '../daemon/view.js';
import { FlagkeelError, messageOf } from '../errors.js';
import type { Log } from '../platform/log.js';
import { realTime } from '../platform/clock.js';
import { isLoopbackHost } from '../platform/proxy.js';
import { forgeToken } from './settings.js';
import { startCommitStatuses, type SendStatus } from '../daemon/statuses/commit-statuses.js';
import { openForge, parseForge, refuseUnsafeApi, statusTarget, unusable } from '../forge/open.js';
import type { WatchedSource } from './watch.js';

/** An absent option is off. */
export interface OperationsRequest {
  readonly listen?: string;
  readonly allowHost: readonly string[];
  readonly tokenFile?: string;
  readonly private?: boolean;
  readonly webhookSecretFile?: string;
  readonly notify: readonly string[];
  readonly notifyFile?: string;
  readonly notifyTemplate?: string;
}

/** @returns the URL of the surface; null if the daemon does not listen. @throws FlagkeelError `IN_USE` */
type OpenOperations = (
  daemon: DaemonView & DaemonControls,
  around: { readonly metrics: Metrics; readonly log: Log },
) => Promise<{ readonly url: string | null; readonly close: Operations['close'] }>;

/** Checks the options. Opens nothing yet. @throws FlagkeelError `USAGE` */
export async function readOperations(options: OperationsRequest): Promise<OpenOperations> {
  const targets = await targetsOf(options);
  const surface = surfaceOf(options);
  return async (daemon, around) => {
    const operations = surface && (await startOperations(daemon, { ...surface, ...around }));
    const notifications = startNotifications(daemon, targets, around);
    const close = async (): Promise<void> => {
      await Promise.all([operations?.close(), notifications.close()]);
    };
    return { url: operations?.url ?? null, close };
  };
}

function surfaceOf(options: OperationsRequest): Omit<OperationsOptions, 'log'> | null {
  const { listen, allowHost, tokenFile, webhookSecretFile, private: isPrivate = false } = options;
  if (listen === undefined) {
    const isAlone = tokenFile === undefined && webhookSecretFile === undefined && !isPrivate;
    if (isAlone && allowHost.length === 0) return null;
    const them = '--token-file, --private, --webhook-secret-file or --allow-host';
    throw usage(`cannot use ${them} without --listen`);
  }
  if (isPrivate && tokenFile === undefined) {
    throw usage('cannot use --private without --token-file');
  }
  const at = parseListen(listen);
  const allowedHosts = hostsOf(allowHost, at.host);
  return { ...at, allowedHosts, tokenFile, webhookSecretFile, isPrivate };
}

function hostsOf(names: readonly string[], host = '127.0.0.1'): readonly string[] {
  if (names.length > 0 && !isLoopbackHost(host)) {
    throw usage('cannot use --allow-host: beyond loopback the daemon answers for every name');
  }
  const stranger = names.find((name) => !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(name));
  if (stranger === undefined) return names;
  throw usage(
    `cannot use --allow-host ${JSON.stringify(stranger)}: a name without port is expected`,
  );
}

export function parseListen(text: string): { readonly host?: string; readonly port: number } {
  const [, host, port] = /^(?:(\[[0-9a-f:.]+\]|[^:[\]\s]+):)?(\d{1,5})$/i.exec(text) ?? [];
  const number = Number(port);
  if (port === undefined || number > 65_535) {
    throw usage(`cannot listen on ${JSON.stringify(text)}: a port is expected, or HOST:PORT`);
  }
  if (host === undefined) return { port: number };
  return { host: host.replace(/^\[|\]$/g, ''), port: number };
}

function usage(message: string): FlagkeelError {
  return new FlagkeelError('USAGE', message);
}

async function targetsOf(options: OperationsRequest): Promise<NotifyTarget[]> {
  const { notify, notifyFile, notifyTemplate } = options;
  const lines = notifyFile === undefined ? [] : await readSecrets(notifyFile);
  if (typeof lines === 'string') {
    throw usage(`cannot use the file of --notify-file: it is ${lines}`);
  }
  const targets = [...notify, ...lines].map(parseNotifyTarget);
  if (notifyTemplate === undefined) return targets;
  const template = await readFile(notifyTemplate, 'utf8').catch((error: unknown) => {
    throw usage(`cannot use --notify-template: ${messageOf(error)}`);
  });
  const [unknown] = unknownPlaceholders(template);
  if (unknown !== undefined) throw usage(`cannot use --notify-template: no message has ${unknown}`);
  if (!targets.some(({ format }) => format === 'plain')) {
    throw usage('cannot use --notify-template: no address is plain=…');
  }
  return targets.map((target) => (target.format === 'plain' ? { ...target, template } : target));
}

export interface ForgeRequest {
  readonly statuses?: string;
  readonly forgeUrl?: string;
  readonly publicUrl?: string;
}

type Environment = Parameters<typeof forgeToken>[0];
/** Longest duration of one try, because the daemon waits for it when it ends. */
const TRY_MS = 5_000;

type OpenStatuses = (daemon: DaemonView, log: Log) => { readonly close: () => Promise<void> };

/** Checks the options. Opens nothing yet. @throws FlagkeelError `USAGE` */
export function readStatuses(
  { statuses, forgeUrl, publicUrl }: ForgeRequest,
  sources: readonly Pick<WatchedSource, 'name' | 'place'>[],
  environment: Environment,
): OpenStatuses {
  if (statuses === undefined) {
    if (publicUrl === undefined && forgeUrl === undefined) return () => NO_STATUSES;
    throw unusable('--forge-url and --public-url are of no use without --statuses');
  }
  const choice = parseForge(statuses);
  const targets = new Map(
    sources.map(({ name, place }) => {
      const repo = 'repo' in place ? place.repo : undefined;
      return [name, statusTarget(choice, { repo, apiUrl: forgeUrl })] as const;
    }),
  );
  for (const { apiUrl } of targets.values()) refuseUnsafeApi(apiUrl);
  tokenNow(environment);
  const page = publicUrl === undefined ? undefined : checkedPublicUrl(publicUrl);
  const send = sender(environment);
  return (daemon, log) => startCommitStatuses(daemon, targets, { log, send, publicUrl: page });
}

const NO_STATUSES = { close: async () => Promise.resolve() };

/** Reads the token each time, so that a rotated one takes effect. */
function sender(environment: Environment): SendStatus {
  return async (due, signal) => {
    const wait = async (waitMs: number): Promise<void> => realTime.sleep(waitMs, signal);
    const own = { timeoutMs: TRY_MS, wait, now: () => realTime.now(), signal };
    const forge = await openForge(due.target, { token: tokenNow(environment) }, own);
    const { commit, runUrl } = due;
    await forge.setStatus({ commit, runUrl }, due);
  };
}

function tokenNow(environment: Environment): string {
  const token = forgeToken(environment);
  if (token !== undefined) return token;
  throw unusable('there is no token (set FLAGKEEL_FORGE_TOKEN or FLAGKEEL_FORGE_TOKEN_FILE)');
}

function checkedPublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    (url?.protocol === 'https:' || url?.protocol === 'http:') &&
    url.username + url.password + url.search + url.hash === '';
  if (isPlain) return url.origin + url.pathname.replace(/(?<!\/)\/+$/, '');
  throw unusable('--public-url is http or https, without credentials, query or fragment');
}
