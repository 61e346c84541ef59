import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Desired } from '../model/desired.js';
import type { Seed } from '../service/seed.js';
import { startService } from '../service/service.js';
import type { StoreLocation } from '../service/store/store.js';
import { embeddedStorePath, ensuredStoreId } from './store-id.js';
import { workspaceIdFor } from './workspace-id.js';

/** The administration service in this process, reached over HTTP like any other. */
export interface EmbeddedService {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** For this run alone. */
  readonly key: string;
  /** Of this store: another one, made after this was deleted, remembers nothing of it, and no state may think so. */
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
 * @throws FlaghoistError `IN_USE`: another process has the store open.
 */
export async function startEmbedded(
  desired: Desired | null,
  options: EmbeddedOptions,
): Promise<EmbeddedService> {
  const store = storeOf(options);
  const seed = desired ? seedOf(desired) : { workspaces: [] };
  const service = await startService({ store, seed });
  return {
    url: service.origin,
    key: service.lendKey('flaghoist --embedded'),
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

/** Where the config does not say what is protected, an environment called `production` is. */
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
