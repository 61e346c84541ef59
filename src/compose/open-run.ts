import type { Traffic } from '../api/traffic.js';
import type { AdminWriter } from '../api/writer.js';
import type { OperatorSettings } from '../config.js';
import type { GitMemory } from '../git/git-memory.js';
import type { Progress } from '../model/progress.js';
import type { RunContext } from '../stages/run.js';
import type { RunOptions } from '../stages/policy.js';
import { RunMemory } from '../stages/run-memory.js';
import { openSource, type Source } from '../stages/source.js';
import type { Fence } from '../model/fence.js';
import { Closers } from './closers.js';
import { keepOthersOut } from './keep-others-out.js';
import type { Limiters } from './limiters.js';
import { openService, type AccessOptions, type ServiceAccess } from './service-access.js';
import { stateAccess } from './state-access.js';

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
  readonly identities?: boolean;
  readonly allowOlder?: boolean;
  readonly allowDirty?: boolean;
  /** HEAD is read, though a dry run would read the working tree. */
  readonly committedOnly?: boolean;
  /** Keys are listed also where their number is the remembered one. */
  readonly everyKey?: boolean;
  /** Only what was touched is looked at, where `memory` knows enough of the rest. */
  readonly touched?: boolean;
  /** Invalid objects, and what names them, stay as they are, and the rest is applied. */
  readonly holdInvalid?: boolean;
  readonly since?: string;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly lockTimeout: number;
  readonly concurrency?: number;
  /** Planned and reported, but for kills nothing is written. */
  readonly suspend?: boolean;
  /** What holds where the config does not say whether the state is shared over origin. */
  readonly pushState?: boolean;
}

export interface Surroundings {
  readonly settings: OperatorSettings;
  readonly signal: AbortSignal;
  /** A line for people. */
  readonly note: (text: string) => void;
  /** Of earlier runs over the same directory; a run by itself has none. */
  readonly memory?: RunMemory;
  readonly traffic?: Traffic | undefined;
  /** Opens what the run reads; default: the directory. */
  readonly open?: ((memory: GitMemory) => Promise<Source>) | undefined;
  /** Shared by the runs of one process. */
  readonly limiters?: Limiters | undefined;
  /** Absent: nobody else runs in this run's place. */
  readonly fence?: Fence | undefined;
  /** Absent: waits that are long become notes, and nothing else is told. */
  readonly progress?: Progress | undefined;
}

/** One run over one directory, with everything that it opens. */
export interface Run extends AsyncDisposable {
  readonly context: RunContext;
  /** To be called once the reader is open. */
  readonly openWriter: () => AdminWriter;
  /** What plans call the service. */
  readonly originName: () => string;
  /** Requests sent up to now, tries counted one by one. */
  readonly requests: () => number;
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
  surroundings: Surroundings,
): Promise<Run> {
  const { settings, signal, note, open, limiters, traffic, fence, progress } = surroundings;
  const { memory = new RunMemory() } = surroundings;
  const isDryRun = flags.dryRun === true;
  const closers = new Closers();
  const workingTree = flags.committedOnly !== true && (isDryRun || flags.allowDirty === true);
  const source = await (open?.(memory.git) ??
    openSource(directory, { workingTree, memory: memory.git }));
  closers.add(async () => source[Symbol.asyncDispose]());
  const opened: { service?: ServiceAccess; pushState?: boolean } = {};
  const service = (): ServiceAccess => {
    if (!opened.service) throw new Error('bug: the service was not opened yet');
    return opened.service;
  };
  const { checkout } = source;
  const state = stateAccess({
    checkout,
    directory,
    stateDir: settings.stateDir,
    origin: () => service().stateName,
    isShared: () => opened.pushState === true,
  });
  const context: RunContext = {
    source,
    memory,
    options: runOptions(flags),
    openReader: async (desired) => {
      opened.pushState = desired.config.pushState ?? flags.pushState ?? false;
      const access = {
        ...accessOptions(flags, checkout.directory),
        ...{ settings, signal, note, limiters, traffic, progress, beforeWrite: fence?.check },
      };
      opened.service = await openService(desired, access, closers);
      return opened.service.reader;
    },
    originName: () => service().name,
    progress,
    peekState: async (place) => state.peek(place),
    appliedElsewhere: async (place) => state.elsewhere(place),
    openState: async (place) => {
      const home = await state.open(place);
      const wait = { timeoutMs: flags.lockTimeout, signal, note };
      // A plan reads what is there; only a run that writes keeps others out.
      return isDryRun
        ? home
        : keepOthersOut(home, { place, origin: service().stateName, wait, fence, closers });
    },
  };
  return {
    context,
    openWriter: () => service().openWriter(),
    originName: () => service().name,
    requests: () => opened.service?.requests() ?? 0,
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
    identities: flags.identities === true,
    allowOlder: flags.allowOlder === true,
    everyKey: flags.everyKey === true,
    touched: flags.touched === true,
    holdInvalid: flags.holdInvalid === true,
    since: flags.since,
    suspend: flags.suspend === true,
  };
}

function accessOptions(
  flags: RunFlags,
  directory: string,
): Pick<AccessOptions, 'url' | 'embedded' | 'timeoutMs' | 'concurrency'> {
  const { url, embedded, embeddedDir, dryRun, timeout, concurrency } = flags;
  const store = { directory, storeDirectory: embeddedDir, isDryRun: dryRun === true };
  return {
    url,
    embedded: embedded === true ? store : undefined,
    timeoutMs: timeout ?? DEFAULT_TIMEOUT_MS,
    concurrency,
  };
}
