import { randomUUID, createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Desired } from '../model/desired.js';
import type { Seed } from '../service/seed.js';
import type { StoreLocation } from '../service/store/store.js';

/** The administration service in this process, reached over HTTP like any other. */
export interface EmbeddedService {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** An Admin API key for this run alone. */
  readonly key: string;
  /**
   * Names this store. A store that was made after this one was deleted has another id, so that no
   * state takes it for the store that it remembers.
   */
  readonly storeId: string;
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  /** The config directory. */
  readonly directory: string;
  /** `--embedded-dir`. */
  readonly storeDirectory?: string | undefined;
  readonly isDryRun: boolean;
}

/**
 * Starts the embedded service with the workspace, environments and traffic types that the specs name.
 *
 * A dry run that finds no store makes none: it uses one in memory.
 *
 * @throws FlagkeelError `IN_USE`: another process has the store open.
 */
export async function startEmbedded(
  desired: Desired | null,
  options: EmbeddedOptions,
): Promise<EmbeddedService> {
  const store = storeOf(options);
  const seed = desired ? seedOf(desired) : { workspaces: [] };
  // The service is loaded only where it is used: it brings the web framework and the query builder.
  const { startService } = await import('../service/service.js');
  const service = await startService({ store, seed });
  return {
    url: service.origin,
    key: service.lendKey('flagkeel --embedded'),
    storeId: storeIdOf(store),
    close: async () => service.stop(),
  };
}

function storeOf({ directory, storeDirectory, isDryRun }: EmbeddedOptions): StoreLocation {
  const path = embeddedStorePath(directory, storeDirectory);
  if (isDryRun && !existsSync(path)) return { kind: 'memory' };
  if (storeDirectory === undefined) ignoreInGit(dirname(path));
  return { kind: 'directory', path };
}

function storeIdOf(store: StoreLocation): string {
  return store.kind === 'directory' ? ensuredStoreId(store.path) : randomUUID();
}

function ignoreInGit(folder: string): void {
  const file = join(folder, '.gitignore');
  if (existsSync(file)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, '*\n');
}

/**
 * The seed that the specs need. An environment is protected where the config says so; where it says
 * nothing, an environment called `production` is.
 */
function seedOf({ config, flags, segments, identities }: Desired): Seed {
  const trafficTypes = new Set([
    ...(config.defaultTrafficType === undefined ? [] : [config.defaultTrafficType]),
    ...[...flags.values(), ...segments.values(), ...identities].map((each) => each.trafficType),
  ]);
  return {
    workspaces: [
      {
        // Plans name the workspace by its id: those of a store in memory and of the store to come must be alike.
        id: workspaceIdFor(config.workspace),
        name: config.workspace,
        environments: config.environments.map((environment) => ({
          name: environment.name,
          production: environment.protected ?? environment.name === 'production',
        })),
        trafficTypes: [...trafficTypes].sort(),
      },
    ],
  };
}

const FILE = 'store-id';

/** Where the embedded service of a config directory keeps its data. */
export function embeddedStorePath(directory: string, storeDirectory: string | undefined): string {
  return storeDirectory === undefined
    ? join(directory, '.flagkeel', 'service')
    : resolve(storeDirectory);
}

/** The id of a store that was used before; undefined: there is none. */
export function storeIdAt(path: string): string | undefined {
  const file = join(path, FILE);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/** The id of an open store, made where it has none yet: only one process has a store open. */
export function ensuredStoreId(path: string): string {
  const found = storeIdAt(path);
  if (found !== undefined) return found;
  const id = randomUUID();
  writeFileSync(join(path, FILE), `${id}\n`);
  return id;
}

/** What the state calls the embedded service: another store, made after this was deleted, is another service. */
export function embeddedStateName(storeId: string): string {
  return `embedded:${storeId}`;
}

/** Keeps apart other ids that are derived from the same name. */
const NAMESPACE = 'flagkeel embedded workspace';

/**
 * The id of a workspace in every embedded store: a UUID in lower case that follows from the name alone, made as
 * RFC 9562 makes one from a name (version 5), with SHA-256 in the place of SHA-1 (version 8).
 */
export function workspaceIdFor(name: string): string {
  const bytes = createHash('sha256').update(`${NAMESPACE}\n${name}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
