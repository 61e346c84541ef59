import { randomUUID, createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { trafficTypesOf, type Desired } from '../model/desired.js';
import type { Seed } from '../service/seed.js';
import type { StoreLocation } from '../service/store/store.js';

/** Reached over HTTP like any other service. */
interface EmbeddedService {
  readonly url: string;
  /** An Admin API key for this run alone. */
  readonly key: string;
  /** A new store gets a new id, so that no state takes it for a deleted one. */
  readonly storeId: string;
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly directory: string;
  /** `--embedded-dir`. */
  readonly storeDirectory?: string | undefined;
  readonly isDryRun: boolean;
}

/**
 * Starts the embedded service with the workspace, environments and traffic types that the specs name. A dry run without
 * a store uses one in memory.
 *
 * @throws FlagkeelError `IN_USE` if another process has the store open.
 */
export async function startEmbedded(
  desired: Desired | null,
  options: EmbeddedOptions,
): Promise<EmbeddedService> {
  const store = storeOf(options);
  const seed = desired ? seedOf(desired) : { workspaces: [] };
  // Loaded on use, because it brings the web framework and the query builder.
  const { startService } = await import('../service/service.js');
  const service = await startService({ store, seed });
  return {
    url: service.origin,
    key: service.lendKey('flagkeel --embedded'),
    storeId: store.kind === 'directory' ? ensuredStoreId(store.path) : randomUUID(),
    close: async () => service.stop(),
  };
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
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, '*\n');
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
