import { resolve } from 'node:path';
import type { Workspace } from '../admin-api/workspace.js';
import { isLoopback } from '../platform/proxy.js';
import { FlagkeelError } from '../errors.js';
import type { Checkout } from '../git/checkout.js';
import { isOlder } from '../git/lineage.js';
import { type Git, runGit } from '../git/git.js';
import type { ObjectReader } from '../git/objects.js';
import type { Fence, StateSharing } from '../model/run.js';
import { entriesOf } from '../model/state.js';
import type { Disposables } from '../platform/closers.js';
import { NOTHING, type KnownState, type StateKey } from './known-state.js';
import {
  hasOrigin,
  type OriginOptions,
  openStateOrigin,
  FETCHED_REFS,
  STATE_REFS,
  stateRefName,
  stateRepository,
  type StateRepository,
} from './repository.js';
import type { LockLease, Release } from './locks.js';
import { StateStore, type StateHome } from './store.js';
import { commitOf, readRecord, readTree, StateCache } from './tree.js';

/** With the access to `origin` of the checkout. */
export interface StatePlace extends OriginOptions {
  readonly checkout: Checkout;
  /** A bare repository; the first write creates it. */
  readonly stateDir?: string | undefined;
  /** For people who look: a state that cannot be written here is shown, too. */
  readonly isLook?: boolean;
}

export interface StateHomeOptions extends StatePlace, StateKey {
  readonly cache?: StateCache | undefined;
}

/** @param pushState the setting of the command or of the config, if either has one. */
export function stateSharing(pushState: boolean | undefined): StateSharing {
  if (pushState === undefined) return 'auto';
  return pushState ? 'always' : 'never';
}

/**
 * Where sharing is optional, the state stays local for an embedded service, and for a checkout without `origin`.
 * Nothing is created before the first write. null if no home is writable: the run is stateless then.
 *
 * @throws FlagkeelError `GIT` sharing is required, and the checkout has no origin.
 */
export async function openStateHome(
  { checkout, stateDir, git, signal, isLook, cache, ...key }: StateHomeOptions,
  sharing: StateSharing = 'never',
): Promise<StateStore | null> {
  const repository = await stateRepository(checkout, stateDir, isLook);
  if (!repository) return null;
  const isRequired = sharing === 'always';
  const isOwn = isEmbedded(key.origin) || !(await hasOrigin(checkout.repository));
  if (sharing === 'never' || (isOwn && !isRequired))
    return new StateStore(repository, key, { cache });
  try {
    const origin = await openStateOrigin(checkout.repository, repository, { git, signal });
    const isOlderHere = async (a: string, b: string) => isOlder(checkout, a, b);
    const shared = { origin, isRequired, isOlder: isOlderHere };
    return new StateStore(repository, key, { cache, sharing: shared });
  } catch (error) {
    if (isRequired || !isGitError(error)) throw error;
    const notShared = { isRead: false, why: error.message };
    return new StateStore(repository, key, { cache, notShared });
  }
}

function isGitError(error: unknown): error is FlagkeelError {
  return error instanceof FlagkeelError && error.code === 'GIT';
}

const EMBEDDED = 'embedded:';

function isEmbedded(origin: string): boolean {
  return origin.startsWith(EMBEDDED);
}

/**
 * The states of a directory, with those that only origin has, if states are shared. `others` counts those of other
 * directories, and those without a valid record of what they belong to.
 *
 * @throws FlagkeelError `GIT` sharing is required, and origin cannot be reached.
 */
export async function findStates(
  place: StatePlace,
  directory: string,
  sharing: StateSharing = 'never',
): Promise<{ readonly found: readonly StateKey[]; readonly others: number }> {
  const keys = await inStates(place, sharing, async (key) => Promise.resolve(key));
  const found = keys.filter((key) => key !== null).filter((key) => key.directory === directory);
  return { found, others: keys.length - found.length };
}

/**
 * Looks at each state of a repository in turn, sorted by name of ref; none without a home.
 *
 * @param look takes the key that the state records for itself, null if none fits its name, and how to count its objects.
 */
async function inStates<T>(
  { checkout, stateDir, isLook, ...access }: StatePlace,
  sharing: StateSharing,
  look: (key: StateKey | null, size: () => Promise<number>) => Promise<T>,
): Promise<T[]> {
  const repository = await stateRepository(checkout, stateDir, isLook);
  if (!repository) return [];
  const isFetched = await fetchStates(checkout, repository, sharing, access);
  if (!isFetched && !(await repository.exists())) return [];
  return repository.reading(async (git, objects) => {
    const found: T[] = [];
    for (const [name, ref] of await stateRefs(git, isFetched)) {
      const size = async (): Promise<number> => {
        const commit = await commitOf(git, objects, ref);
        const from = { git, objects, ref, cache: new StateCache() };
        return commit === null ? 0 : (await readTree(from, commit)).entries.size;
      };
      found.push(await look(await keyAt(objects, name, ref), size));
    }
    return found;
  });
}

/** Name of the state → the ref to read: the one here, if there is one, because it includes the state of origin. */
async function stateRefs(git: Git, isFetched: boolean): Promise<ReadonlyMap<string, string>> {
  const answer = await runGit(git, {
    args: ['for-each-ref', '--format=%(refname)', STATE_REFS, ...(isFetched ? [FETCHED_REFS] : [])],
    purpose: 'list the states',
  });
  const refs = answer.split('\n').filter((ref) => ref !== '');
  // Git sorts by name, so that fetched ones come first. Of two members with one name, the later one counts.
  return new Map(refs.map((ref) => [ref.replace(FETCHED_REFS, STATE_REFS), ref]));
}

async function keyAt(objects: ObjectReader, name: string, ref: string): Promise<StateKey | null> {
  // A broken ref that was pushed must not block the valid states.
  const record = await readRecord(objects, ref).catch(() => null);
  if (record?.origin === undefined || record.directory === undefined) return null;
  const { workspace: workspaceId, origin, directory, workspaceName, environments } = record;
  const key = { workspaceId, workspaceName, origin, directory, environments };
  return stateRefName(key) === name ? key : null;
}

/** Fetches every state of origin, if states are shared. @returns whether fetched states may be present. */
async function fetchStates(
  { repository: shared }: Checkout,
  repository: StateRepository,
  sharing: StateSharing,
  access: OriginOptions,
): Promise<boolean> {
  if (sharing === 'never' || (sharing === 'auto' && !(await hasOrigin(shared)))) return false;
  try {
    await (await openStateOrigin(shared, repository, access)).fetchAll();
  } catch (error) {
    if (sharing === 'always' || !isGitError(error)) throw error;
  }
  return true;
}

export interface OtherWorkspace {
  readonly workspaceId: string;
  /** Name of the service in the state. */
  readonly origin: string;
  readonly objects: number;
}

interface StateAccessOptions extends StatePlace {
  readonly directory: string;
  /** Name of the service in the state; called once the service is open. */
  readonly origin: () => string;
  readonly sharing: () => StateSharing;
  readonly cache?: StateCache;
}

export type StateAccess = ReturnType<typeof stateAccess>;

/** Name → id of all flags that a state knows. */
export function flagIdsOf({ state, flagIds }: KnownState): ReadonlyMap<string, string> {
  const ours = entriesOf(state.values(), 'flag');
  const known = ours.flatMap(({ name, id }) => (id === undefined ? [] : [[name, id] as const]));
  return new Map([...Object.entries(flagIds), ...known]);
}

/** The states of one directory. None of these waits for another run. */
export function stateAccess({ directory, origin, sharing, cache, ...place }: StateAccessOptions) {
  const own = directoryInRepository(place.checkout, directory);
  const keyOf = ({ workspace, environments }: Workspace): StateKey => ({
    workspaceId: workspace.id,
    workspaceName: workspace.name,
    origin: origin(),
    directory: own,
    environments: Object.fromEntries(environments.map(({ id, name }) => [id, name])),
  });
  const open = async (
    at: Workspace,
    shared?: StateSharing,
    signal?: AbortSignal,
  ): Promise<StateHome | null> => openStateHome({ ...place, ...keyOf(at), cache, signal }, shared);
  return {
    /** Opens a state for reading only. null if no home is writable, so that the run is stateless. */
    peekState: async (at: Workspace) => open(at),
    /** Name → id of the flags that the state here knows; empty if it cannot be read: kills go on without. */
    flagIdsOf: async (at: Workspace): Promise<ReadonlyMap<string, string>> => {
      const read = open(at).then(async (home) => home?.read());
      return flagIdsOf((await read.catch(() => null)) ?? NOTHING);
    },
    /** Opens a state, shared over `origin` as the config says. null if no home is writable. */
    openState: async (at: Workspace) => open(at, sharing(), place.signal),
    /** Opens a shared state to append records of writes, which no interrupt stops. null if no home is writable. */
    openRecords: async (at: Workspace) => open(at, sharing()),
    /** Key of the only state with a workspace of this name or id; null if none or several have it. Sends no request. */
    rememberedPlace: async (workspace: string): Promise<StateKey | null> => {
      const { found } = await findStates(place, own);
      const named = found
        .filter((key) => key.origin === origin())
        .filter((key) => [key.workspaceName, key.workspaceId].includes(workspace));
      return named.length === 1 ? (named[0] ?? null) : null;
    },
    /**
     * Whether runs of another directory use this service, as its states say; undefined if they do not tell: it has none,
     * or of a service that this directory used, too, which may have moved.
     */
    usesServiceToo: async (other: string): Promise<boolean | undefined> => {
      const keys = await inStates(place, sharing(), async (key) => Promise.resolve(key));
      const theirs = originsOf(other, keys).filter((each) => isTryOut(each) === isTryOut(origin()));
      if (theirs.includes(origin())) return true;
      const ours = originsOf(own, keys);
      return theirs.length > 0 && !theirs.some((each) => ours.includes(each)) ? false : undefined;
    },
    /** The states of this directory for other workspaces that are not empty, except try-outs on other services. */
    appliedToOthers: async (at: Workspace): Promise<readonly OtherWorkspace[]> => {
      const key = keyOf(at);
      const isOwn = sharing() === 'auto' && isEmbedded(key.origin);
      const others = await inStates(place, isOwn ? 'never' : sharing(), async (other, size) => {
        if (other?.directory !== own || stateRefName(other) === stateRefName(key)) return [];
        const { workspaceId, origin } = other;
        if (origin !== key.origin && (isTryOut(origin) || isTryOut(key.origin))) return [];
        // An unreadable state is ignored: anyone who can push could otherwise stop every run with one.
        const objects = await size().catch(() => 0);
        return objects === 0 ? [] : [{ workspaceId, origin, objects }];
      });
      return others.flat();
    },
  };
}

function originsOf(directory: string, keys: readonly (StateKey | null)[]): string[] {
  return keys.flatMap((key) => (key?.directory === directory ? [key.origin] : []));
}

/** Whether the service runs on this machine or in this process: its states say nothing about a real service. */
function isTryOut(origin: string): boolean {
  return !URL.canParse(origin) || isEmbedded(origin) || isLoopback(origin);
}

export function directoryInRepository({ repository }: Checkout, directory: string): string {
  return repository?.prefix.replace(/\/$/, '') ?? resolve(directory);
}

export interface LockWait {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

/** Announces the wait for another run, if there is one. @throws FlagkeelError `IN_USE`, `INTERRUPTED` */
export async function lockState(
  home: StateHome,
  { timeoutMs, signal, note }: LockWait,
  lease?: LockLease,
): Promise<Release> {
  try {
    return await home.lock(0, signal, lease);
  } catch (error) {
    const isInUse = error instanceof FlagkeelError && error.code === 'IN_USE';
    if (!isInUse || timeoutMs === 0) throw error;
    note(`waiting for another run to end, ${Math.ceil(timeoutMs / 1_000)} s at most`);
    return home.lock(timeoutMs, signal, lease);
  }
}

/**
 * Keeps other replicas out of the workspace until the run is closed. Once another replica took over, the run cannot
 * write the state any more: that one finds the effects of this run on the service.
 *
 * @throws FlagkeelError `IN_USE` another run is still there at the end of the wait.
 */
export async function fenceState(
  home: StateHome | null,
  { place, origin, wait, fence, closers }: FencedRun,
): Promise<StateHome | null> {
  if (!fence) return home;
  closers.add(await fence.enter(`workspace ${place.workspace.id} of ${origin}`, wait));
  if (home) home.beforeWrite = async () => fence.check({ isUrgent: false });
  return home;
}

interface FencedRun {
  readonly place: Workspace;
  /** Name of the service in the state. */
  readonly origin: string;
  readonly wait: LockWait;
  readonly fence: Fence | undefined;
  readonly closers: Disposables;
}
