import { resolve } from 'node:path';
import type { Workspace } from '../admin-api/workspace.js';
import { isLoopback } from '../platform/proxy.js';
import { FlagkeelError } from '../errors.js';
import type { Checkout } from '../git/checkout.js';
import { isOlder } from '../git/lineage.js';
import { type Git, runGit } from '../git/git.js';
import type { ObjectReader } from '../git/objects.js';
import type { GitCredentials } from '../git/remote-access.js';
import type { Fence, StateSharing } from '../model/run.js';
import { entriesOf } from '../model/state.js';
import type { Disposables } from '../platform/closers.js';
import { knownIn, type KnownState, type StateKey } from './known-state.js';
import {
  hasOrigin,
  openStateOrigin,
  FETCHED_REFS,
  STATE_REFS,
  stateRefName,
  stateRepository,
  type StateRepository,
} from './repository.js';
import type { LockWait } from './locks.js';
import { StateStore, type StateHome } from './store.js';
import { commitOf, readRecord, readTree, StateCache } from './tree.js';

export interface StatePlace {
  readonly checkout: Checkout;
  /** A bare repository; the first write creates it. */
  readonly stateDir?: string | undefined;
  /** For `origin` of the checkout. Default: the credentials of the operator's own git. */
  readonly git?: GitCredentials | undefined;
}

export interface StateHomeOptions extends StatePlace, StateKey {
  readonly cache?: StateCache | undefined;
}

/** @param pushState the setting of the command or of the config, if either has one. */
export function stateSharing(pushState: boolean | undefined): StateSharing {
  return pushState === undefined ? 'auto' : pushState ? 'always' : 'never';
}

/**
 * Where sharing is optional, the state stays local for an embedded service, and for a checkout without `origin`.
 * Nothing is created before the first write. null if no home is writable: the run is stateless then.
 *
 * @throws FlagkeelError `GIT` sharing is required, and the checkout has no origin.
 */
export async function openStateHome(
  { checkout, stateDir, git, cache, ...key }: StateHomeOptions,
  sharing: StateSharing = 'never',
): Promise<StateStore | null> {
  const repository = await stateRepository(checkout, stateDir);
  if (!repository) return null;
  const isRequired = sharing === 'always';
  const isOwn = isEmbedded(key.origin) || !(await hasOrigin(checkout.repository));
  if (sharing === 'never' || (isOwn && !isRequired))
    return new StateStore(repository, key, { cache });
  try {
    const origin = await openStateOrigin(checkout.repository, repository, git);
    const shared = {
      ...{ origin, isRequired },
      isOlder: async (a: string, b: string) => isOlder(checkout, a, b),
    };
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
  const keys = await inStates(place, sharing, async (state) => keyAt(state));
  const found = keys.filter((key) => key?.directory === directory);
  return { found: found.filter((key) => key !== null), others: keys.length - found.length };
}

export interface OtherWorkspace {
  readonly workspaceId: string;
  /** Name of the service in the state. */
  readonly origin: string;
  readonly objects: number;
}

/**
 * The other states of the same directory that are not empty, sorted by name of ref. An unreadable state is ignored:
 * anyone who can push could otherwise stop every run with one.
 */
async function otherWorkspaces(
  place: StatePlace,
  own: StateKey,
  sharing: StateSharing,
): Promise<OtherWorkspace[]> {
  const others = await inStates(place, sharing, async (state) => {
    if (state.name === stateRefName(own)) return null;
    const key = await keyAt(state);
    if (key?.directory !== own.directory) return null;
    const objects = await sizeOf(state).catch(() => 0);
    return { workspaceId: key.workspaceId, origin: key.origin, objects };
  });
  return others.filter((each) => each !== null).filter(({ objects }) => objects > 0);
}

interface FoundState {
  readonly git: Git;
  readonly objects: ObjectReader;
  readonly name: string;
  readonly ref: string;
}

/** Looks at each state of a repository in turn; none without a home. */
async function inStates<T>(
  { checkout, stateDir, git: credentials }: StatePlace,
  sharing: StateSharing,
  look: (state: FoundState) => Promise<T>,
): Promise<T[]> {
  const repository = await stateRepository(checkout, stateDir);
  if (!repository) return [];
  const isFetched = await fetchStates(checkout, repository, sharing, credentials);
  if (!isFetched && !(await repository.exists())) return [];
  return repository.reading(async (git, objects) => {
    const found: T[] = [];
    for (const [name, ref] of await stateRefs(git, isFetched)) {
      found.push(await look({ git, objects, name, ref }));
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

/** Fetches every state of origin, if states are shared. @returns whether fetched states may be present. */
async function fetchStates(
  { repository: shared }: Checkout,
  repository: StateRepository,
  sharing: StateSharing,
  git?: GitCredentials,
): Promise<boolean> {
  if (sharing === 'never' || (sharing === 'auto' && !(await hasOrigin(shared)))) return false;
  try {
    await (await openStateOrigin(shared, repository, git)).fetchAll();
  } catch (error) {
    if (sharing === 'always' || !isGitError(error)) throw error;
  }
  return true;
}

/** The key that a state records for itself; null if it has none that fits its name. */
async function keyAt({ objects, name, ref }: FoundState): Promise<StateKey | null> {
  try {
    const record = await readRecord(objects, ref);
    if (record?.origin === undefined || record.directory === undefined) return null;
    const { workspace, origin, directory, workspaceName, environments } = record;
    const key = { workspaceId: workspace, workspaceName, origin, directory, environments };
    return stateRefName(key) === name ? key : null;
  } catch {
    // A broken ref that was pushed must not block the valid states.
    return null;
  }
}

async function sizeOf(found: FoundState): Promise<number> {
  const commit = await commitOf(found.objects, found.ref);
  if (commit === null) return 0;
  return knownIn(await readTree({ ...found, cache: new StateCache() }, commit)).state.size;
}

interface StateAccessOptions extends StatePlace {
  readonly directory: string;
  /** Name of the service in the state; called once the service is open. */
  readonly origin: () => string;
  readonly sharing: () => StateSharing;
  readonly cache?: StateCache;
}

export type StateAccess = ReturnType<typeof stateAccess>;

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
  /** Opens a state for reading only. null if no home is writable, so that the run is stateless. */
  const peekState = async (at: Workspace): Promise<StateHome | null> =>
    openStateHome({ ...place, ...keyOf(at), cache });
  return {
    peekState,
    /** Name → id of the flags that a state knows; empty if it cannot be read, because kills go on without. */
    flagIdsOf: async (at: Workspace): Promise<ReadonlyMap<string, string>> => {
      try {
        const known = await (await peekState(at))?.read();
        return known ? idsOfFlags(known) : new Map<string, string>();
      } catch (error) {
        if (!(error instanceof FlagkeelError)) throw error;
        return new Map<string, string>();
      }
    },
    /** Opens a state to append records of writes, shared over `origin` as the config says. null as above. */
    openRecords: async (at: Workspace): Promise<StateHome | null> =>
      openStateHome({ ...place, ...keyOf(at), cache }, sharing()),
    /** Key of the only state with a workspace of this name or id; null if none or several have it. Sends no request. */
    rememberedPlace: async (workspace: string): Promise<StateKey | null> => {
      const { found } = await findStates(place, own);
      const named = found
        .filter((key) => key.origin === origin())
        .filter((key) => [key.workspaceName, key.workspaceId].includes(workspace));
      return named.length === 1 ? (named[0] ?? null) : null;
    },
    /** The states of this directory for other workspaces, except those of try-outs on other services. */
    appliedToOthers: async (at: Workspace): Promise<readonly OtherWorkspace[]> => {
      const key = keyOf(at);
      const isOwn = sharing() === 'auto' && isEmbedded(key.origin);
      const states = await otherWorkspaces(place, key, isOwn ? 'never' : sharing());
      return states.filter((each) => {
        const isSame = each.origin === key.origin;
        return isSame || !(isTryOut(each.origin) || isTryOut(key.origin));
      });
    },
  };
}

function idsOfFlags({
  state,
  flagIds,
}: Pick<KnownState, 'state' | 'flagIds'>): ReadonlyMap<string, string> {
  const ours = entriesOf(state, 'flag').flatMap(({ name, id }): [string, string][] =>
    id === undefined ? [] : [[name, id]],
  );
  return new Map([...Object.entries(flagIds), ...ours]);
}

/** Whether the service runs on this machine or in this process: its states say nothing about a real service. */
function isTryOut(origin: string): boolean {
  return !URL.canParse(origin) || isEmbedded(origin) || isLoopback(origin);
}

export function directoryInRepository({ repository }: Checkout, directory: string): string {
  return repository?.prefix.replace(/\/$/, '') ?? resolve(directory);
}

/**
 * Keeps other replicas out of the workspace until the run is closed. Once another replica took over, the run cannot
 * write the state any more: that one finds the effects of this run on the service.
 *
 * @param origin name of the service in the state.
 *
 * @throws FlagkeelError `IN_USE` another run is still there at the end of the wait.
 */
export async function fenceState(
  home: StateHome | null,
  {
    place,
    origin,
    wait,
    fence,
    closers,
  }: {
    readonly place: Workspace;
    readonly origin: string;
    readonly wait: LockWait;
    readonly fence: Fence | undefined;
    readonly closers: Disposables;
  },
): Promise<StateHome | null> {
  if (!fence) return home;
  closers.add(await fence.enter(`workspace ${place.workspace.id} of ${origin}`, wait));
  if (home) home.beforeWrite = async () => fence.check({ isUrgent: false });
  return home;
}
