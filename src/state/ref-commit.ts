import { ownMember } from '../model/collections.js';
import { sameJson, sortedSet } from '../model/json.js';
import {
  entryId,
  type Base,
  type RampRecords,
  type State,
  type StateEntry,
  type UsedApprovals,
} from '../model/state.js';
import { importData } from '../git/write-commit.js';
import {
  entryPath,
  entryText,
  parseEntryFile,
  type StateContent,
  type StateTree,
} from './codec.js';

/**
 * Parses a file of the state by its path.
 *
 * @throws FlagkeelError `STATE_UNREADABLE`
 */
export function contentOf(path: string, text: string): StateContent {
  return path.startsWith('objects/') ? parseEntryFile(path, text) : text;
}

/** Differences between two states. */
export interface StateChanges {
  /** Path → new text. */
  readonly written: ReadonlyMap<string, string>;
  readonly gone: readonly string[];
}

/** @param before null if it is unknown: all files count as changed then. */
export function changesBetween(before: StateTree | null, after: StateTree): StateChanges {
  const written = new Map<string, string>();
  for (const [key, entry] of after.entries) {
    if (!sameJson(before?.entries.get(key), entry)) written.set(entryPath(entry), entryText(entry));
  }
  for (const [path, text] of after.others) {
    if (before?.others.get(path) !== text) written.set(path, text);
  }
  const gone: string[] = [];
  for (const [key, entry] of before?.entries ?? []) {
    if (!after.entries.has(key)) gone.push(entryPath(entry));
  }
  for (const path of before?.others.keys() ?? []) if (!after.others.has(path)) gone.push(path);
  return { written, gone };
}

/** The tree that the next reading would find. Unchanged files keep their parsed content. */
export function treeAfter(
  before: StateTree | null,
  after: StateTree,
  { written }: StateChanges,
): StateTree {
  const entries = new Map(after.entries);
  for (const [key, entry] of after.entries) {
    const known = before?.entries.get(key);
    if (known === entry) continue;
    const path = entryPath(entry);
    const text = written.get(path);
    entries.set(key, text === undefined ? (known ?? entry) : parseEntryFile(path, text));
  }
  return { entries, others: after.others };
}

/**
 * The changes as commands of `git fast-import`.
 *
 * @param isAfresh whether to remove all files first, because the present ones are unknown.
 */
export function importLines(isAfresh: boolean, { written, gone }: StateChanges): string[] {
  return [
    ...(isAfresh ? ['deleteall'] : []),
    ...[...written].flatMap(([path, text]) => [`M 100644 inline ${path}`, importData(text)]),
    ...gone.map((path) => `D ${quoted(path)}`),
  ];
}

/** Our own paths need no quotes, but others may have pushed paths that do. */
function quoted(path: string): string {
  const escaped = path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}

/** Whether commit `a` is older than commit `b`; false if history does not show it. */
export type IsOlder = (a: string, b: string) => Promise<boolean>;

/**
 * Merges two states that diverged, object by object, and within an object place by place.
 *
 * A change of only one side is taken from there. If both sides changed a place, the base of the newer commit wins; if
 * history does not show which is newer, ours wins, because it was verified last.
 *
 * @param before the state that both sides started from.
 */
export async function mergeStates(
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
  // Both entries are of this kind, and so are their places.
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

/** The newest commit of any field of a base; null if the base came from no commit. */
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

/** Records of a run in the state, beside its entries. */
export interface RunRecords {
  readonly ramps: RampRecords;
  readonly approvals: UsedApprovals;
  /** The commit whose kills were sent last; null while no run has sent any. */
  readonly killsOf: string | null;
}

/** As `mergeRecord`, for each of them. */
export function mergeRecords(before: RunRecords, ours: RunRecords, theirs: RunRecords): RunRecords {
  return {
    ramps: mergeRecord(before.ramps, ours.ramps, theirs.ramps),
    approvals: mergeRecord(before.approvals, ours.approvals, theirs.approvals),
    killsOf: ours.killsOf === before.killsOf ? theirs.killsOf : ours.killsOf,
  };
}

/** A member that only one side changed is taken from that side; one that both changed, from ours. */
function mergeRecord<T extends object | string>(
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
