import { resolve } from 'node:path';
import type { Place } from '../api/connect.js';
import type { AdminWriter } from '../api/writer.js';
import type { OperatorSettings } from '../config.js';
import { openStateHome, type StateHome } from '../git/state-home.js';
import type { RunContext } from '../reconcile.js';
import type { RunOptions } from '../stages/policy.js';
import { openSource } from '../stages/source.js';
import { Closers } from './closers.js';
import { openService, type ServiceAccess } from './service-access.js';

/** What the command line says of one run; absent: not given. */
export interface RunFlags {
  readonly dryRun?: boolean;
  readonly url?: string;
  readonly embedded?: boolean;
  readonly embeddedDir?: string;
  readonly environment: readonly string[];
  readonly only: readonly string[];
  readonly prune?: boolean;
  readonly adopt?: boolean;
  readonly revertDrift?: boolean;
  readonly allowOlder?: boolean;
  readonly allowDirty?: boolean;
  /** HEAD is read, though a dry run would read the working tree. */
  readonly committedOnly?: boolean;
  /** Keys are listed also where their number is the remembered one. */
  readonly everyKey?: boolean;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly lockTimeout: number;
  readonly concurrency?: number;
}

export interface Surroundings {
  readonly settings: OperatorSettings;
  readonly signal: AbortSignal;
  /** A line for people. */
  readonly note: (text: string) => void;
}

/** One run over one directory, with everything that it opens. */
export interface Run extends AsyncDisposable {
  readonly context: RunContext;
  /** To be called once the reader is open. */
  readonly openWriter: () => AdminWriter;
  /** What plans call the service. */
  readonly originName: () => string;
}

/** A dead network is given up after so long. */
export const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Builds what one run works with. Nothing is asked of the service before the specs are known to be valid. Disposing
 * ends the connections, the lock and the embedded service.
 *
 * @throws FlaghoistError the directory cannot be read.
 */
export async function openRun(
  directory: string,
  flags: RunFlags,
  { settings, signal, note }: Surroundings,
): Promise<Run> {
  const isDryRun = flags.dryRun === true;
  const closers = new Closers();
  const source = await openSource(directory, {
    workingTree: flags.committedOnly !== true && (isDryRun || flags.allowDirty === true),
  });
  closers.add(async () => source[Symbol.asyncDispose]());
  const opened: { service?: ServiceAccess } = {};
  const service = (): ServiceAccess => {
    if (!opened.service) throw new Error('bug: the service was not opened yet');
    return opened.service;
  };
  const { checkout } = source;
  const stateOf = async ({ workspace }: Place): Promise<StateHome | null> =>
    openStateHome({
      checkout,
      workspaceId: workspace.id,
      origin: service().name,
      directory: checkout.repository?.prefix.replace(/\/$/, '') ?? resolve(directory),
      ...(settings.stateDir !== undefined && { stateDir: settings.stateDir }),
    });
  const context: RunContext = {
    source,
    options: runOptions(flags),
    openReader: async (desired) => {
      const { embeddedDir: storeDirectory } = flags;
      const embedded =
        flags.embedded === true
          ? { directory: checkout.directory, storeDirectory, isDryRun }
          : undefined;
      const { url, timeout: timeoutMs = DEFAULT_TIMEOUT_MS, concurrency } = flags;
      opened.service = await openService(
        desired,
        { settings, url, embedded, timeoutMs, concurrency, signal, note },
        closers,
      );
      return opened.service.reader;
    },
    originName: () => service().name,
    peekState: stateOf,
    openState: async (at) => {
      const home = await stateOf(at);
      // A plan reads what is there; only a run that writes keeps others out.
      if (home && !isDryRun) closers.add(await home.lock(flags.lockTimeout, signal));
      return home;
    },
  };
  return {
    context,
    openWriter: () => service().openWriter(),
    originName: () => service().name,
    [Symbol.asyncDispose]: async () => closers[Symbol.asyncDispose](),
  };
}

function runOptions(flags: RunFlags): RunOptions {
  return {
    environments: flags.environment,
    only: flags.only,
    prune: flags.prune === true,
    adopt: flags.adopt === true,
    revertDrift: flags.revertDrift === true,
    allowOlder: flags.allowOlder === true,
    everyKey: flags.everyKey === true,
  };
}
