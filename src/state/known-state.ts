import { ownMember } from '../model/collections.js';
import { sameJson, sortedSet } from '../model/json.js';
import {
  EMPTY_STATE,
  entryId,
  type Base,
  type RampRecords,
  type State,
  type StateEntry,
  type UsedApprovals,
} from '../model/state.js';
import { parseRunFile, RUN_FILE, stateTree, type StateTree } from './codec.js';

/** Identifies a state: a workspace of a service, and a config directory. */
export interface StateKey {
  readonly workspaceId: string;
  readonly origin: string;
  /** Path of the config directory in its repository: forward slashes, no slash at the end, empty for the top. */
  readonly directory: string;
  /** Kept for kills, which are sent before any request looks the workspace up. */
  readonly workspaceName?: string | undefined;
  /** Environment id → name, for people who read the state without the service. */
  readonly environments?: Readonly<Record<string, string>> | undefined;
}

export interface KnownState {
  readonly state: State;
  readonly head: string | null;
  /** `KIND/NAME` of objects that runs left different on the service; null if no run recorded them. */
  readonly outOfSync: ReadonlySet<string> | null;
  /** Of `timing`, which says what of the specs applies when. */
  readonly timing: RampRecords;
  readonly approvals: UsedApprovals;
  /** The commit whose kills were sent last, all of them; null while no run has sent any. */
  readonly killsOf: string | null;
  /**
   * Name → id of flags that git kills and that are not in the inventory: a service that shows no flags finds them by id
   * alone.
   */
  readonly flagIds: Readonly<Record<string, string>>;
}

export const NOTHING: KnownState = {
  state: EMPTY_STATE,
  head: null,
  outOfSync: null,
  timing: {},
  approvals: {},
  killsOf: null,
  flagIds: {},
};

/** @throws FlagkeelError `STATE_UNREADABLE` */
export function knownIn({ entries: state, others }: StateTree): KnownState {
  const record = others.get(RUN_FILE);
  if (record === undefined) return { ...NOTHING, state };
  const { head, outOfSync, ...rest } = parseRunFile(record);
  const { ramps: timing = {}, approvals = {}, killsOf = null, flagIds = {} } = rest;
  const listed = outOfSync === undefined ? null : new Set(outOfSync);
  return { state, head, outOfSync: listed, timing, approvals, killsOf, flagIds };
}

export function treeOf(
  { state, head, outOfSync, timing, approvals, killsOf, flagIds }: KnownState,
  { workspaceId: workspace, ...place }: StateKey,
): StateTree {
  return stateTree(state, {
    ...{ head, workspace, ...place },
    ...(outOfSync !== null && { outOfSync: sortedSet(outOfSync) }),
    ...(!isEmpty(timing) && { ramps: timing }),
    ...(!isEmpty(approvals) && { approvals }),
    ...(killsOf !== null && { killsOf }),
    ...(!isEmpty(flagIds) && { flagIds }),
  });
}

function isEmpty(record: object): boolean {
  return Object.keys(record).length === 0;
}

/** Whether commit `a` is older than commit `b`; false if history does not show it. */
export type IsOlder = (a: string, b: string) => Promise<boolean>;

/**
 * Merges two states that diverged from `before`. What only one side changed is taken from there; what both changed,
 * from the newer commit if history shows which that is, otherwise from ours.
 */
export async function mergeStates(
  before: KnownState,
  ours: KnownState,
  theirs: KnownState,
  isOlder: IsOlder,
): Promise<KnownState> {
  return {
    state: await mergeInventories(before.state, ours.state, theirs.state, isOlder),
    head: await mergeHeads(before.head, ours.head, theirs.head, isOlder),
    outOfSync: mergeLists(before.outOfSync, ours.outOfSync, theirs.outOfSync),
    timing: mergeRecords(before.timing, ours.timing, theirs.timing),
    approvals: mergeRecords(before.approvals, ours.approvals, theirs.approvals),
    killsOf: ours.killsOf === before.killsOf ? theirs.killsOf : ours.killsOf,
    flagIds: mergeRecords(before.flagIds, ours.flagIds, theirs.flagIds),
  };
}

async function mergeHeads(
  before: string | null,
  ours: string | null,
  theirs: string | null,
  isOlder: IsOlder,
): Promise<string | null> {
  if (ours === before || ours === null) return theirs;
  if (theirs === before || theirs === null) return ours;
  return (await isOlder(ours, theirs)) ? theirs : ours;
}

/** What either side left out of sync is so, unless only the other side still lists what was listed before. */
function mergeLists(
  before: KnownState['outOfSync'],
  ours: KnownState['outOfSync'],
  theirs: KnownState['outOfSync'],
): KnownState['outOfSync'] {
  if (theirs === before) return ours;
  if (ours === null || theirs === null) return null;
  return new Set([...ours, ...[...theirs].filter((key) => before?.has(key) !== true)]);
}

async function mergeInventories(
  before: State,
  ours: State,
  theirs: State,
  isOlder: IsOlder,
): Promise<State> {
  const merged: [string, StateEntry][] = [];
  for (const key of sortedSet([...before.keys(), ...ours.keys(), ...theirs.keys()])) {
    const [was, our, their] = [before.get(key), ours.get(key), theirs.get(key)];
    const entry = sameJson(our, was)
      ? their
      : sameJson(their, was)
        ? our
        : await mergeEntries(was, our, their, isOlder);
    if (entry) merged.push([key, entry]);
  }
  return new Map(merged);
}

type Places = ReadonlyMap<string, Base<unknown>>;

const WORKSPACE = '';

async function mergeEntries(
  before: StateEntry | undefined,
  ours: StateEntry | undefined,
  theirs: StateEntry | undefined,
  isOlder: IsOlder,
): Promise<StateEntry | undefined> {
  const [was, our, their] = [placesOf(before), placesOf(ours), placesOf(theirs)];
  const places = new Map<string, Base<unknown>>();
  for (const place of sortedSet([...was.keys(), ...our.keys(), ...their.keys()])) {
    const [a, b, c] = [was.get(place), our.get(place), their.get(place)];
    const base = sameJson(b, a) ? c : sameJson(c, a) ? b : await newer(b, c, isOlder);
    if (base) places.set(place, base);
  }
  const whole = ours ?? theirs;
  if (!whole || places.size === 0) return undefined;
  const workspace = places.get(WORKSPACE);
  const environments = [...places].filter(([place]) => place !== WORKSPACE);
  const id = entryId(ours) ?? entryId(theirs);
  return {
    kind: whole.kind,
    name: whole.name,
    ...(id !== undefined && { id }),
    ...(workspace && { workspace }),
    environments: Object.fromEntries(environments),
  } as StateEntry;
}

/** An entry that one side removed and the other rewrote is kept, so that the inventory loses nothing still in use. */
async function newer(
  ours: Base<unknown> | undefined,
  theirs: Base<unknown> | undefined,
  isOlder: IsOlder,
): Promise<Base<unknown> | undefined> {
  if (!ours || !theirs) return ours ?? theirs;
  if (ours.spec === undefined && theirs.spec !== undefined) return theirs;
  const [our, their] = [await newestCommit(ours, isOlder), await newestCommit(theirs, isOlder)];
  if (our === null || their === null) return ours;
  return (await isOlder(our, their)) ? theirs : ours;
}

async function newestCommit(
  { commit, fields }: Base<unknown>,
  isOlder: IsOlder,
): Promise<string | null> {
  let newest = commit;
  for (const each of new Set(Object.values(fields ?? {}))) {
    if (each === null) continue;
    if (newest === null || (await isOlder(newest, each))) newest = each;
  }
  return newest;
}

function placesOf(entry: StateEntry | undefined): Places {
  if (!entry) return new Map();
  const places = Object.entries<Base<unknown>>(entry.environments);
  return new Map(entry.workspace ? [[WORKSPACE, entry.workspace], ...places] : places);
}

/** A member that only one side changed is taken from that side; one that both changed, from ours. */
function mergeRecords<T extends object | string>(
  before: Readonly<Record<string, T>>,
  ours: Readonly<Record<string, T>>,
  theirs: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  const ids = sortedSet([...Object.keys(before), ...Object.keys(ours), ...Object.keys(theirs)]);
  return Object.fromEntries(
    ids.flatMap((id) => {
      const [was, our, their] = [before, ours, theirs].map((each) => ownMember(each, id));
      const merged = sameJson(our ?? null, was ?? null) ? their : our;
      return merged === undefined ? [] : [[id, merged]];
    }),
  );
}
