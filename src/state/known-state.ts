import { present } from '../model/collections.js';
import { sameJson, sortedSet } from '../model/json.js';
import {
  EMPTY_STATE,
  entryId,
  type Base,
  type LeftKilled,
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
  readonly leftKilled: LeftKilled;
  /** Environment id → the last HEAD of which a run left nothing there to others, and let nothing wait unjudged. */
  readonly judged: Readonly<Record<string, string>>;
  /** Id → name, as the keys of all runs saw them: one key may see a part of them. */
  readonly environments: Readonly<Record<string, string>>;
}

export const NOTHING: KnownState = {
  state: EMPTY_STATE,
  head: null,
  outOfSync: null,
  timing: {},
  approvals: {},
  killsOf: null,
  flagIds: {},
  leftKilled: {},
  judged: {},
  environments: {},
};

/** @throws FlagkeelError `STATE_UNREADABLE` */
export function knownIn({ entries: state, others }: StateTree): KnownState {
  const record = others.get(RUN_FILE);
  if (record === undefined) return { ...NOTHING, state };
  const { head, outOfSync, ramps: timing = {}, leftKilled = {}, ...rest } = parseRunFile(record);
  const { approvals = {}, killsOf = null, flagIds = {}, judged = {}, environments = {} } = rest;
  const listed = outOfSync === undefined ? null : new Set(outOfSync);
  const kills = { killsOf, flagIds, leftKilled };
  return { state, head, outOfSync: listed, timing, approvals, ...kills, judged, environments };
}

export function treeOf(known: KnownState, key: StateKey): StateTree {
  const { workspaceId: workspace, environments: seen = {}, ...place } = key;
  const { state, head, outOfSync, killsOf, timing, approvals, flagIds, leftKilled, judged } = known;
  const names = Object.values(seen);
  const unseen = Object.entries(known.environments).filter(([, name]) => !names.includes(name));
  const environments = { ...Object.fromEntries(unseen), ...seen };
  const parts = { ramps: timing, approvals, flagIds, leftKilled, judged, environments };
  const records = Object.entries(parts);
  return stateTree(state, {
    head,
    workspace,
    ...place,
    ...(outOfSync !== null && { outOfSync: sortedSet(outOfSync) }),
    ...(killsOf !== null && { killsOf }),
    ...Object.fromEntries(records.filter(([, record]) => Object.keys(record).length > 0)),
  });
}

/** Whether commit `a` is older than commit `b`; false if history does not show it. */
export type IsOlder = (a: string, b: string) => Promise<boolean>;

/**
 * Merges two states that diverged from `was`. What only one side changed is taken from there; what both changed,
 * from the newer commit if history shows which that is, otherwise from ours.
 */
export async function mergeStates(
  was: KnownState,
  our: KnownState,
  their: KnownState,
  isOlder: IsOlder,
): Promise<KnownState> {
  const records = async <T>(
    of: (known: KnownState) => Readonly<Record<string, T>>,
  ): Promise<Readonly<Record<string, T>>> => {
    const all = [was, our, their].map((each) => new Map(Object.entries(of(each))));
    return Object.fromEntries(await mergeMaps(all, (_, own) => own));
  };
  return {
    state: await mergeMaps(
      [was, our, their].map(({ state }) => state),
      async (...entries) => mergeEntries(entries, isOlder),
    ),
    head: await mergeHeads(was.head, our.head, their.head, isOlder),
    outOfSync: mergeLists(was.outOfSync, our.outOfSync, their.outOfSync),
    timing: await records(({ timing }) => timing),
    approvals: await records(({ approvals }) => approvals),
    killsOf: our.killsOf === was.killsOf ? their.killsOf : our.killsOf,
    flagIds: await records(({ flagIds }) => flagIds),
    leftKilled: await records(({ leftKilled }) => leftKilled),
    judged: await records(({ judged }) => judged),
    environments: await records(({ environments }) => environments),
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

/** A value before, here and there; undefined where it is missing. */
type Sides<T> = [before: T | undefined, ours: T | undefined, theirs: T | undefined];

/** Merges maps by key. A value that both sides changed goes through `both`. @param maps before, ours and theirs. */
async function mergeMaps<T>(
  maps: readonly ReadonlyMap<string, T>[],
  both: (...values: Sides<T>) => Promise<T | undefined> | T | undefined,
): Promise<Map<string, T>> {
  const merged = new Map<string, T>();
  for (const key of sortedSet(maps.flatMap((map) => [...map.keys()]))) {
    const [was, our, their] = maps.map((map) => map.get(key));
    let value: T | undefined;
    if (sameJson(our, was)) value = their;
    else if (sameJson(their, was)) value = our;
    else value = await both(was, our, their);
    if (value !== undefined) merged.set(key, value);
  }
  return merged;
}

const WORKSPACE = '';

async function mergeEntries(
  entries: Sides<StateEntry>,
  isOlder: IsOlder,
): Promise<StateEntry | undefined> {
  const [, ours, theirs] = entries;
  const places = await mergeMaps(entries.map(placesOf), async (_, our, their) =>
    newer(our, their, isOlder),
  );
  const whole = ours ?? theirs;
  if (!whole || places.size === 0) return undefined;
  const { kind, name } = whole;
  const workspace = places.get(WORKSPACE);
  places.delete(WORKSPACE);
  const environments = Object.fromEntries(places);
  const id = entryId(ours) ?? entryId(theirs);
  return { kind, name, ...present({ id, workspace }), environments } as StateEntry;
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

function placesOf(entry: StateEntry | undefined): ReadonlyMap<string, Base<unknown>> {
  if (!entry) return new Map();
  const places = Object.entries<Base<unknown>>(entry.environments);
  return new Map(entry.workspace ? [[WORKSPACE, entry.workspace], ...places] : places);
}
