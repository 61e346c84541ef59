import { parseOrigins, type AuthHeader } from '../admin-api/origin.js';
import type { AdminReader } from '../admin-api/reader.js';
import type { Desired } from '../model/desired.js';
import { realTime } from '../platform/clock.js';
import { Disposables } from '../platform/closers.js';
import { noteRun } from '../platform/telemetry.js';
import { openService, type AccessOptions, type ServiceAccess } from './admin-api.js';
import type { Traffic } from '../admin-api/http/request-metrics.js';
import type { AdminWriter } from '../admin-api/writer.js';
import type { OperatorSettings } from './settings.js';
import type { GitCache } from '../git/cache.js';
import type {
  Approval,
  Progress,
  RunOptions,
  Fence,
  ShownChanges,
  StateSharing,
  Suspension,
} from '../model/run.js';
import type { RunContext } from '../reconcile/context.js';
import { RunCache } from '../reconcile/cache.js';
import { askCheck } from '../reconcile/checks.js';
import { openSource, type Source } from '../git/spec-source.js';
import {
  fenceState,
  lockState,
  stateAccess,
  stateSharing,
  type StateAccess,
} from '../state/open.js';

import type { Limiters } from '../admin-api/http/limiter-pool.js';

/** A way to a service that cannot write. */
export interface OpenedReading extends AsyncDisposable {
  readonly reader: AdminReader;
}

/**
 * Opens a service to read it and nothing else.
 *
 * @param desired null: there are no specs yet. Only a service that the operator names is opened then, and an embedded one is
 *   as it lies in the directory.
 */
export async function openReading(
  directory: string,
  flags: ConnectionFlags & Pick<RunFlags, 'concurrency'>,
  { settings, signal, note, progress }: Surroundings,
  desired: Desired | null,
): Promise<OpenedReading> {
  const closers = new Disposables();
  const { url, authHeader, timeout: timeoutMs = DEFAULT_TIMEOUT_MS, concurrency } = flags;
  const embedded =
    flags.embedded === true
      ? { directory, storeDirectory: flags.embeddedDir, isDryRun: true }
      : undefined;
  const surroundings = { settings, signal, note, progress };
  const options = { ...surroundings, url, authHeader, embedded, timeoutMs, concurrency };
  try {
    const { reader } = await openService(desired, options, closers);
    return { reader, [Symbol.asyncDispose]: async () => closers[Symbol.asyncDispose]() };
  } catch (error) {
    await closers[Symbol.asyncDispose]();
    throw error;
  }
}

/** Options of a run that are handed on as they are. */
type PassedOn = Pick<
  RunOptions,
  'keys' | 'touchedSince' | 'quarantineInvalid' | 'identities' | 'concurrency' | 'overrideWindow'
>;

/** Where the service is, and how long it may be silent. */
export interface ConnectionFlags {
  /** Origin of the administration service; it goes before `FLAGKEEL_URL` and before flagkeel.yaml. */
  readonly url?: string;
  /** It goes before `FLAGKEEL_AUTH_HEADER`. */
  readonly authHeader?: AuthHeader;
  readonly embedded?: boolean;
  readonly embeddedDir?: string;
  /** Milliseconds. */
  readonly timeout?: number;
}

/** What the command line says of one run. */
export interface RunFlags extends ConnectionFlags, PassedOn {
  readonly dryRun?: boolean;
  /** Names of environments; empty: all. */
  readonly environment: readonly string[];
  /** Objects as `KIND/NAME`; empty: all. */
  readonly only: readonly string[];
  readonly prune?: boolean;
  readonly adopt?: boolean;
  readonly revertDrift?: boolean;
  readonly allowOlder?: boolean;
  readonly allowDirty?: boolean;
  /** Reads HEAD, although a dry run would read the working tree. */
  readonly committedOnly?: boolean;
  /** Revision of git: only objects whose specs differ from it are planned. */
  readonly since?: string;
  /** What reviewed plans showed; the rest is held back. */
  readonly shown?: ShownChanges | undefined;
  /** Hash of the only plan that may be applied. */
  readonly planHash?: string;
  /** Milliseconds to wait for another run over the same state; 0: a lock that is taken is an error at once. */
  readonly lockTimeout: number;
  /** Plans and reports, but writes nothing except kills; null: as the config says. */
  readonly suspend?: Suspension | null;
  /** Hash of a plan that guards, windows and freezes do not hold back. */
  readonly approve?: string;
  /** Further plans that those do not hold back, with who approved them. */
  readonly approvals?: readonly Approval[];
  /** The moment that the plan is for, in milliseconds since the epoch; default: now. For dry runs. */
  readonly at?: number;
  /** Whether the state is shared over origin, where the config does not say so; default: where that can be done. */
  readonly pushState?: boolean;
}

export interface Surroundings {
  readonly settings: OperatorSettings;
  readonly signal: AbortSignal;
  /** Shows people one line. */
  readonly note: (text: string) => void;
  /** What earlier runs over the same directory left; a run by itself has none. */
  readonly memory?: RunCache;
  readonly traffic?: Traffic | undefined;
  /** Opens what the run reads; default: the directory. */
  readonly open?: ((memory: GitCache) => Promise<Source>) | undefined;
  /** Shared by the runs of one process. */
  readonly limiters?: Limiters | undefined;
  /** Absent where no other replica could run in this run's place. */
  readonly fence?: Fence | undefined;
  /** Without it long waits become notes, and nothing else is shown. */
  readonly progress?: Progress | undefined;
  /** For a run that writes to a service of this moment alone: checks before steps are left out, as in a dry run. */
  readonly asksNoChecks?: boolean;
}

/** One run over one directory, with everything that it opens. */
export interface Run extends AsyncDisposable {
  readonly context: RunContext;
  /** May be called once the reader is open. */
  readonly openWriter: () => AdminWriter;
  /** The name that plans have for the service. */
  readonly originName: () => string;
  /** Requests sent so far; each try counts as one. */
  readonly requests: () => number;
}

/** A dead network is given up after so long. */
const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Builds what one run works with. Nothing is asked of the service before the specs are known to be valid. Disposing
 * ends the connections, the lock and the embedded service.
 *
 * @throws FlagkeelError the directory cannot be read.
 */
export async function openRun(
  directory: string,
  flags: RunFlags,
  surroundings: Surroundings,
): Promise<Run> {
  const { settings, signal, note, open, limiters, traffic, fence, progress } = surroundings;
  const { memory = new RunCache() } = surroundings;
  const isDryRun = flags.dryRun === true;
  const closers = new Disposables();
  const workingTree = flags.committedOnly !== true && (isDryRun || flags.allowDirty === true);
  const source = await (open?.(memory.git) ??
    openSource(directory, { workingTree, memory: memory.git }));
  closers.add(async () => source[Symbol.asyncDispose]());
  noteRevision(source);
  const opened: { service?: ServiceAccess; sharing?: StateSharing } = {};
  const service = (): ServiceAccess => present(opened.service);
  const { checkout } = source;
  const state = stateAccess({
    ...{ checkout, directory, stateDir: settings.stateDir, git: settings.git },
    origin: () => service().stateName,
    sharing: () => opened.sharing ?? 'never',
    cache: memory.states,
  });
  const wait = { timeoutMs: flags.lockTimeout, signal, note };
  const context: RunContext = {
    ...{ source, memory, progress, note },
    options: runOptions(flags),
    now: () => flags.at ?? realTime.now(),
    askCheck: isDryRun ? undefined : checkAsking(surroundings),
    openReader: async (desired) => {
      opened.sharing = stateSharing(desired.config.pushState ?? flags.pushState);
      const access = {
        ...accessOptions(flags, checkout.directory),
        ...{ settings, signal, note, limiters, traffic, progress, beforeWrite: fence?.check },
      };
      opened.service = await openService(desired, access, closers);
      return opened.service.reader;
    },
    originName: () => service().name,
    ...lookups(state),
    openState: async (place) => {
      const home = await state.open(place);
      const origin = service().stateName;
      return isDryRun ? home : fenceState(home, { place, origin, wait, fence, closers });
    },
    lockState: async (home) => {
      closers.add(await lockState(home, wait, fence));
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

/** Without checks to ask, the run takes every step as if they had passed. */
function checkAsking({ settings, signal, asksNoChecks }: Surroundings): RunContext['askCheck'] {
  if (asksNoChecks === true) return undefined;
  return async (check) =>
    askCheck(check, { allowedOrigins: parseOrigins(settings.allowedOrigins), signal });
}

function noteRevision({ revision: { commit } }: Source): void {
  if (commit !== null) noteRun({ 'vcs.ref.head.revision': commit });
}

function lookups(
  state: StateAccess,
): Pick<
  RunContext,
  'peekState' | 'flagIdsOf' | 'openRecords' | 'rememberedPlace' | 'appliedToOthers'
> {
  return {
    peekState: async (place) => state.peek(place),
    flagIdsOf: async (place) => state.flagIds(place),
    openRecords: async (place) => state.open(place),
    rememberedPlace: async (workspace) => state.remembered(workspace),
    appliedToOthers: async (place) => state.elsewhere(place),
  };
}

function present(service: ServiceAccess | undefined): ServiceAccess {
  if (!service) throw new Error('bug: the service was not opened yet');
  return service;
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
    keys: flags.keys,
    touchedSince: flags.touchedSince,
    quarantineInvalid: flags.quarantineInvalid === true,
    since: flags.since,
    shown: flags.shown,
    mayBeBehind:
      flags.shown !== undefined || (flags.since !== undefined && flags.planHash !== undefined),
    concurrency: flags.concurrency,
    suspend: flags.suspend ?? undefined,
    overrideWindow: flags.overrideWindow,
    approvals: approvalsOf(flags),
  };
}

function approvalsOf({ approve, approvals = [] }: RunFlags): readonly Approval[] {
  return approve === undefined ? approvals : [{ hash: approve }, ...approvals];
}

function accessOptions(
  flags: RunFlags,
  directory: string,
): Pick<AccessOptions, 'url' | 'authHeader' | 'embedded' | 'timeoutMs' | 'concurrency'> {
  const { url, authHeader, embedded, embeddedDir, dryRun, timeout, concurrency } = flags;
  const store = { directory, storeDirectory: embeddedDir, isDryRun: dryRun === true };
  return {
    ...{ url, authHeader },
    embedded: embedded === true ? store : undefined,
    timeoutMs: timeout ?? DEFAULT_TIMEOUT_MS,
    concurrency,
  };
}
