import { parseOrigins, type AuthHeader } from '../admin-api/origin.js';
import type { AdminReader } from '../admin-api/reader.js';
import type { Desired } from '../model/desired.js';
import { realTime } from '../platform/clock.js';
import { Disposables } from '../platform/closers.js';
import { noteRun } from '../platform/telemetry.js';
import { openService, type AccessOptions, type ServiceAccess } from './admin-api.js';
import type { OpenedRun } from '../daemon/source/cycle.js';
import type { GitCache } from '../git/cache.js';
import type { Progress, RunOptions, Fence, StateSharing } from '../model/run.js';
import { RunCache, type RunContext } from '../reconcile/context.js';
import { askCheck } from '../reconcile/checks.js';
import { signedLine, unsignedError } from '../git/signatures.js';
import { openSource, type Source } from '../git/spec-source.js';
import { fenceState, lockState, stateAccess, stateSharing } from '../state/open.js';

/** @param desired null if there are no specs: only a service that the operator names is opened. */
export async function openReading(
  directory: string,
  flags: ConnectionFlags & Pick<RunFlags, 'concurrency'>,
  surroundings: Surroundings,
  desired: Desired | null,
): Promise<AsyncDisposable & { readonly reader: AdminReader }> {
  const closers = closersOf(surroundings.progress);
  const options = { ...surroundings, ...accessOptions({ ...flags, dryRun: true }, directory) };
  try {
    const { reader } = await openService(desired, options, closers);
    return { reader, [Symbol.asyncDispose]: async () => closers[Symbol.asyncDispose]() };
  } catch (error) {
    await closers[Symbol.asyncDispose]();
    throw error;
  }
}

export interface ConnectionFlags extends Pick<RunOptions, 'url' | 'embedded' | 'embeddedDir'> {
  readonly authHeader?: AuthHeader;
  readonly timeout?: number;
}

export interface RunFlags
  extends
    ConnectionFlags,
    Partial<Omit<RunOptions, 'environments' | 'tags' | 'owners' | 'mayBeBehind'>> {
  readonly dryRun?: boolean;
  readonly environment?: RunOptions['environments'];
  readonly tag?: readonly string[];
  readonly owner?: readonly string[];
  readonly allowDirty?: boolean;
  /** Reads HEAD even in a dry run, which otherwise reads the working tree. */
  readonly committedOnly?: boolean;
  readonly planHash?: string;
  /** Milliseconds to wait for another run over the same state. Default: 0, which fails at once if the lock is taken. */
  readonly lockTimeout?: number;
  /** For dry runs: the moment of the plan, in milliseconds since the epoch. Default: now. */
  readonly at?: number;
  /** Default for the config: whether the state is shared over origin. Default: where that is possible. */
  readonly pushState?: boolean;
}

type Shared = 'settings' | 'signal' | 'note' | 'traffic' | 'limiters' | 'progress';

/** Without `progress`, long waits become notes, and no other progress is shown. */
export interface Surroundings extends Pick<AccessOptions, Shared> {
  readonly memory?: RunCache;
  /** Opens the files that the run reads. Default: those of the directory. */
  readonly open?: ((memory: GitCache) => Promise<Source>) | undefined;
  /** Unset if no other replica could run in this run's place. */
  readonly fence?: Fence | undefined;
  /** For a run against a service that only exists now: it skips checks before steps, as a dry run does. */
  readonly asksNoChecks?: boolean;
}

export type Run = OpenedRun;

const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Builds the context of one run, which sends nothing to the service before the specs are known to be valid. Disposing
 * closes the connections, the lock and the embedded service.
 *
 * @throws FlagkeelError if the directory cannot be read.
 */
export async function openRun(
  directory: string,
  flags: RunFlags,
  surroundings: Surroundings,
): Promise<Run> {
  const { settings, signal, note, open, fence, progress, memory = new RunCache() } = surroundings;
  const isDryRun = flags.dryRun === true;
  const closers = closersOf(progress);
  const source = await openFiles(directory, flags, { open, progress, memory });
  closers.add(async () => source[Symbol.asyncDispose]());
  const { checkout, revision } = source;
  if (revision.commit !== null) noteRun({ 'vcs.ref.head.revision': revision.commit });
  const opened: { service?: ServiceAccess; sharing?: StateSharing } = {};
  const service = (): ServiceAccess => requireOpened(opened.service);
  const state = stateAccess({
    checkout,
    directory,
    stateDir: settings.stateDir,
    git: settings.git,
    signal,
    origin: () => service().stateName,
    sharing: () => opened.sharing ?? 'never',
    cache: memory.states,
  });
  const wait = { timeoutMs: flags.lockTimeout ?? 0, signal, note };
  const context: RunContext = {
    source,
    memory,
    progress,
    note,
    options: runOptions(flags),
    now: () => flags.at ?? realTime.now(),
    requireSigned: signatureCheck(source, isDryRun, surroundings),
    askCheck: isDryRun ? undefined : checkAsking(surroundings),
    openReader: async (desired) => {
      opened.sharing = stateSharing(desired.config.pushState ?? flags.pushState);
      const own = accessOptions(flags, checkout.directory);
      const access = { ...surroundings, ...own, beforeWrite: fence?.check };
      opened.service = await openService(desired, access, closers);
      return opened.service.reader;
    },
    originName: () => service().name,
    ...state,
    openState: async (place) => {
      const home = await state.openState(place);
      const origin = service().stateName;
      return isDryRun ? home : fenceState(home, { place, origin, wait, fence, closers });
    },
    lockState: async (home) => {
      progress?.phase('read');
      closers.add(await lockState(home, wait, fence));
    },
  };
  return {
    context,
    openWriter: () => service().openWriter(),
    requests: () => opened.service?.requests() ?? 0,
    [Symbol.asyncDispose]: async () => closers[Symbol.asyncDispose](),
  };
}

/** Progress ends last: closing what a run works with may take a while too. */
function closersOf(progress: Progress | undefined): Disposables {
  const closers = new Disposables();
  closers.add(() => progress?.end());
  return closers;
}

async function openFiles(
  directory: string,
  { committedOnly, dryRun, allowDirty }: RunFlags,
  { open, progress, memory }: Pick<Surroundings, 'open' | 'progress'> & { memory: RunCache },
): Promise<Source> {
  progress?.phase('read');
  const workingTree = committedOnly !== true && (dryRun === true || allowDirty === true);
  const options = { workingTree, memory: memory.git };
  try {
    return await (open?.(memory.git) ?? openSource(directory, options));
  } catch (error) {
    progress?.end();
    throw error;
  }
}

function signatureCheck(
  { checkout, revision }: Source,
  isDryRun: boolean,
  { settings: { signers }, note }: Surroundings,
): RunContext['requireSigned'] {
  if (signers === null) return undefined;
  return async () => {
    const { commit, dirty } = revision;
    const isCommit = commit !== null && !dirty;
    const line = isCommit ? await signedLine(checkout, commit, signers, 1) : null;
    if (line !== null && line.unsigned === null) return;
    const error = unsignedError(line?.unsigned ?? null);
    if (!isDryRun) throw error;
    note(`warning: ${error.message}`);
  };
}

/** Without a way to ask, the run takes every step as if its checks had passed. */
function checkAsking({ settings, signal, asksNoChecks }: Surroundings): RunContext['askCheck'] {
  if (asksNoChecks === true) return undefined;
  return async (check) =>
    askCheck(check, { allowedOrigins: parseOrigins(settings.allowedOrigins), signal });
}

function requireOpened(service: ServiceAccess | undefined): ServiceAccess {
  if (!service) throw new Error('bug: the service was not opened yet');
  return service;
}

function runOptions(flags: RunFlags): RunOptions {
  const { environment, tag, owner, planHash, dryRun, ...others } = flags;
  const { since, shown } = others;
  return {
    ...others,
    environments: environment ?? [],
    only: flags.only ?? [],
    tags: tag ?? [],
    owners: owner ?? [],
    prune: flags.prune === true,
    adopt: flags.adopt === true,
    revertDrift: flags.revertDrift === true,
    // Of a branch beside the applied commit the plan shows what it changes; an apply would count all of it as applied.
    allowOlder: flags.allowOlder ?? (dryRun === true && since !== undefined && 'beside'),
    mayBeBehind: shown !== undefined || (since !== undefined && planHash !== undefined),
  };
}

function accessOptions(
  flags: ConnectionFlags & Pick<RunFlags, 'concurrency' | 'dryRun'>,
  directory: string,
): Pick<AccessOptions, 'url' | 'authHeader' | 'embedded' | 'timeoutMs' | 'concurrency'> {
  const { url, authHeader, embedded, embeddedDir, dryRun, timeout, concurrency } = flags;
  const store = { directory, storeDirectory: embeddedDir, isDryRun: dryRun === true };
  return {
    url,
    authHeader,
    embedded: embedded === true ? store : undefined,
    timeoutMs: timeout ?? DEFAULT_TIMEOUT_MS,
    concurrency,
  };
}
