import { AdminClient } from '../admin-api/http/admin-client.js';
import { type AuthHeader, decideOrigin, originOf, parseOrigins } from '../admin-api/origin.js';
import { type AdminReader, HttpAdminReader } from '../admin-api/reader.js';
import type { Traffic } from '../admin-api/http/request.js';
import { type AdminWriter, HttpAdminWriter } from '../admin-api/writer.js';
import { FlagkeelError, messageOf } from '../errors.js';
import type { OperatorSettings } from './settings.js';
import { type Desired, trafficTypesOf } from '../model/desired.js';
import type { Progress } from '../model/run.js';
import { packageVersion } from '../platform/package-files.js';
import type { Disposables } from '../platform/closers.js';
import type { Limiters } from '../admin-api/http/rate-limiter.js';
import { randomUUID, createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Seed } from '../service/seed.js';
import type { StoreLocation } from '../service/store/store.js';

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

/** @param desired null without specs: nothing proposes a service. @throws FlagkeelError `ORIGIN_NOT_ALLOWED`, `NO_KEY` */
export async function openService(
  desired: Desired | null,
  options: AccessOptions,
  closers: Disposables,
): Promise<ServiceAccess> {
  const { url, key, name, stateName } = await locate(desired, options, closers);
  const { timeoutMs, concurrency, signal, traffic, beforeWrite } = options;
  const client = new AdminClient({
    url,
    key,
    timeoutMs,
    concurrency,
    signal,
    traffic,
    beforeWrite,
    authHeader: options.authHeader ?? options.settings.authHeader,
    version: packageVersion(),
    // The embedded service and its key change with every run.
    limiter: options.embedded
      ? undefined
      : options.limiters?.of({ origin: name, key: key() }, options),
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
  const openWriter = (): AdminWriter => new HttpAdminWriter(client, reader);
  return { reader, name, stateName, openWriter, requests };
}

interface ServicePlace extends Pick<ServiceAccess, 'name' | 'stateName'> {
  readonly url: string;
  readonly key: () => string;
}

async function locate(
  desired: Desired | null,
  options: AccessOptions,
  closers: Disposables,
): Promise<ServicePlace> {
  const { settings, embedded } = options;
  if (embedded) return startEmbedded(desired, embedded, closers);
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

interface EmbeddedOptions {
  readonly directory: string;
  readonly storeDirectory?: string | undefined;
  readonly isDryRun: boolean;
}

/**
 * Starts the embedded service with the workspace, environments and traffic types that the specs name. A dry run without
 * a store uses one in memory.
 *
 * @throws FlagkeelError `IN_USE` if another process has the store open, `STATE_UNREADABLE` if none can be opened.
 */
async function startEmbedded(
  desired: Desired | null,
  options: EmbeddedOptions,
  closers: Disposables,
): Promise<ServicePlace> {
  const store = storeOf(options);
  const seed = desired ? seedOf(desired) : { workspaces: [] };
  // Loaded on use, because it brings the web framework and the query builder.
  const { startService } = await import('../service/service.js');
  const service = await startService({ store, seed });
  closers.add(async () => service.stop());
  const key = service.lendKey('flagkeel --embedded');
  // A new store gets a new id, so that no state takes it for a deleted one.
  const storeId = store.kind === 'directory' ? ensuredStoreId(store.path) : randomUUID();
  const stateName = embeddedStateName(storeId);
  return { url: service.origin, key: () => key, name: EMBEDDED, stateName };
}

function storeOf({ directory, storeDirectory, isDryRun }: EmbeddedOptions): StoreLocation {
  const path = embeddedStorePath(directory, storeDirectory);
  if (isDryRun && !existsSync(path)) return { kind: 'memory' };
  if (storeDirectory === undefined) ignoreInGit(dirname(path));
  return { kind: 'directory', path };
}

function ignoreInGit(folder: string): void {
  const file = join(folder, '.gitignore');
  if (existsSync(file)) return;
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, '*\n');
  } catch (error) {
    const why = `${messageOf(error)} (name another directory: --embedded-dir)`;
    throw new FlagkeelError('STATE_UNREADABLE', `cannot make a store in "${folder}": ${why}`);
  }
}

/** Environments are protected by the config; without a word there, the one called `production` is. */
function seedOf(desired: Desired): Seed {
  const { config } = desired;
  return {
    workspaces: [
      {
        // Plans name the workspace by its id, which must be the same in a store in memory and in a later one.
        id: workspaceIdFor(config.workspace),
        name: config.workspace,
        environments: config.environments.map((environment) => ({
          name: environment.name,
          production: environment.protected ?? environment.name === 'production',
        })),
        trafficTypes: trafficTypesOf(desired),
      },
    ],
  };
}

const FILE = 'store-id';

export function embeddedStorePath(directory: string, storeDirectory: string | undefined): string {
  return storeDirectory === undefined
    ? join(directory, '.flagkeel', 'service')
    : resolve(storeDirectory);
}

export function storeIdAt(path: string): string | undefined {
  const file = join(path, FILE);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/** The id of an open store, created if it is missing: only one process has a store open. */
function ensuredStoreId(path: string): string {
  const found = storeIdAt(path);
  if (found !== undefined) return found;
  const id = randomUUID();
  writeFileSync(join(path, FILE), `${id}\n`);
  return id;
}

/** In the state: another store is another service. */
export function embeddedStateName(storeId: string): string {
  return `embedded:${storeId}`;
}

/** Keeps this id apart from others that are derived from the same name. */
const NAMESPACE = 'flagkeel embedded workspace';

/**
 * The id of a workspace in every embedded store: a UUID in lower case that follows from the name alone, made as RFC
 * 9562 makes one from a name (version 5), but with SHA-256 instead of SHA-1 (version 8).
 */
export function workspaceIdFor(name: string): string {
  const bytes = createHash('sha256').update(`${NAMESPACE}\n${name}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
