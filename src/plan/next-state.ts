import { sameJson } from '../kinds/json.js';
import type { Actual } from '../model/actual.js';
import type { DesiredFlag, DesiredSegment } from '../model/desired.js';
import { objectId, type ObjectId } from '../model/object-id.js';
import type { Change } from '../model/plan.js';
import type { Base, FlagEntry, SegmentEntry, State, StateEntry, FlagBase } from '../model/state.js';
import { rememberingKills } from './kill-memory.js';
import { effectiveFields } from './kills.js';
import { isWanted } from './policy.js';
import type { PlanInput } from './plan-input.js';
import { baseSpec } from './segments.js';

/**
 * The state to write before the first request: what is about to be created is ours from now on, so that a run that
 * dies half-way finds its own half-made objects to be its own.
 */
export function stateBeforeApply(
  { state, policy }: PlanInput,
  changes: readonly Change[],
  head: string | null,
): State {
  const next = new Map(state);
  const idOfName = new Map(policy.environments.map(({ name, id }) => [name, id]));
  for (const { ref, action } of changes) {
    if (action !== 'create' && action !== 'activate') continue;
    if (ref.kind === 'identities') continue;
    const key = `${ref.kind}/${ref.name}`;
    const entry = next.get(key) ?? { kind: ref.kind, name: ref.name, environments: {} };
    const pending: Base<never> = { commit: head, pending: 'create' };
    next.set(
      key,
      withBase(entry, ref.environment === null ? null : idOfName.get(ref.environment), pending),
    );
  }
  return next;
}

/** @param place an environment id; null: the workspace level; undefined: nowhere, the entry stays. */
function withBase(
  entry: StateEntry,
  place: string | null | undefined,
  base: Base<never>,
): StateEntry {
  if (place === undefined) return entry;
  if (place === null) return { ...entry, workspace: { ...entry.workspace, ...base } } as StateEntry;
  const environments = {
    ...entry.environments,
    [place]: { ...entry.environments[place], ...base },
  };
  return { ...entry, environments } as StateEntry;
}

/**
 * The state after a look at the service: the base of every object that was seen to be equal is its spec of now; what
 * was removed and is seen to be gone leaves the inventory; everything else keeps what it had.
 *
 * @param equal objects that this run found equal, or made equal and verified.
 */
export function stateAfterVerify(
  input: PlanInput,
  equal: ReadonlySet<ObjectId>,
  head: string | null,
): State {
  const { desired, state, policy } = input;
  const next = new Map(state);
  const wanted = (kind: string, name: string): boolean => isWanted(policy, kind, name);
  for (const flag of desired.flags.values()) {
    const key = `flag/${flag.name}`;
    if (!wanted('flag', flag.name)) continue;
    const entry = next.get(key);
    const recorded = flagEntry(
      flag,
      entry?.kind === 'flag' ? entry : undefined,
      input,
      equal,
      head,
    );
    if (recorded) next.set(key, recorded);
  }
  for (const segment of desired.segments.values()) {
    const key = `segment/${segment.name}`;
    if (!wanted('segment', segment.name)) continue;
    const entry = next.get(key);
    const recorded = segmentEntry(
      segment,
      entry?.kind === 'segment' ? entry : undefined,
      input,
      equal,
      head,
    );
    if (recorded) next.set(key, recorded);
  }
  for (const [key, entry] of state) {
    if (!wanted(entry.kind, entry.name)) continue;
    const left = withoutGone(next.get(key) ?? entry, input);
    if (left) next.set(key, left);
    else next.delete(key);
  }
  return next;
}

/**
 * The state with the workspace level of flags as their writes were answered, for a service that cannot show a flag by
 * itself: there is nothing to verify against, so the answers have to do. Elsewhere the state as it is.
 *
 * @param applied changes that were applied.
 */
export function stateAfterAnswers(
  input: PlanInput,
  applied: readonly Change[],
  head: string | null,
): State {
  const { desired, state, actual } = input;
  if (actual.showsFlags) return state;
  const next = new Map(state);
  for (const { ref, action } of applied) {
    if (ref.kind !== 'flag' || ref.environment !== null) continue;
    const key = `flag/${ref.name}`;
    const entry = next.get(key);
    if (entry?.kind !== 'flag') continue;
    const { workspace, ...rest } = entry;
    const flag = desired.flags.get(ref.name);
    if (action === 'delete') next.set(key, rest);
    else if (flag) next.set(key, { ...rest, workspace: baseOf(flagBase(flag), workspace, head) });
  }
  return next;
}

function flagBase({ trafficType, fields }: DesiredFlag): FlagBase {
  return { trafficType, fields };
}

/** The commit stays as long as the spec does: it is where this spec came from. */
function baseOf<T>(spec: T, before: Base<T> | undefined, head: string | null): Base<T> {
  const same = before?.spec !== undefined && sameJson(before.spec, spec);
  return { spec, commit: same ? (before.commit ?? head) : head };
}

function flagEntry(
  flag: DesiredFlag,
  entry: FlagEntry | undefined,
  input: PlanInput,
  equal: ReadonlySet<ObjectId>,
  head: string | null,
): FlagEntry | undefined {
  const { desired, actual, policy } = input;
  const { name } = flag;
  const environments = { ...entry?.environments };
  for (const environment of policy.environments) {
    const definition = flag.environments.get(environment.configName);
    const id = objectId({ kind: 'flag', name, environment: environment.name });
    if (!definition || !environment.selected) continue;
    const before = entry?.environments[environment.id];
    const spec = effectiveFields({ flag, definition, environment }, desired);
    const base = equal.has(id) ? baseOf(spec, before, head) : before;
    const place = { flag: name, environment, before, head };
    if (base) environments[environment.id] = rememberingKills(base, place, input);
  }
  const isEqual = equal.has(objectId({ kind: 'flag', name, environment: null }));
  const workspace = isEqual ? baseOf(flagBase(flag), entry?.workspace, head) : entry?.workspace;
  if (!entry && !isEqual && Object.keys(environments).length === 0) return undefined;
  const id = actual.flags.get(name)?.id ?? entry?.id;
  return {
    kind: 'flag',
    name,
    environments,
    ...(id !== undefined && { id }),
    ...(workspace && { workspace }),
  };
}

function segmentEntry(
  segment: DesiredSegment,
  entry: SegmentEntry | undefined,
  { policy }: PlanInput,
  equal: ReadonlySet<ObjectId>,
  head: string | null,
): SegmentEntry | undefined {
  const { name, trafficType } = segment;
  const environments = { ...entry?.environments };
  for (const { configName, name: environment, id } of policy.environments) {
    const activation = segment.environments.get(configName);
    if (!activation || !equal.has(objectId({ kind: 'segment', name, environment }))) continue;
    environments[id] = baseOf(baseSpec(activation), entry?.environments[id], head);
  }
  const isEqual = equal.has(objectId({ kind: 'segment', name, environment: null }));
  const workspace = isEqual ? baseOf({ trafficType }, entry?.workspace, head) : entry?.workspace;
  if (!entry && !isEqual && Object.keys(environments).length === 0) return undefined;
  return { kind: 'segment', name, environments, ...(workspace && { workspace }) };
}

/** The entry without what the specs no longer declare and the service no longer has; undefined: nothing is left. */
function withoutGone(entry: StateEntry, input: PlanInput): StateEntry | undefined {
  const { desired, actual, policy } = input;
  const declared =
    entry.kind === 'flag' ? desired.flags.get(entry.name) : desired.segments.get(entry.name);
  const gone = new Set(
    policy.environments
      .filter(({ selected, configName, name }) => {
        return selected && !declared?.environments.has(configName) && isGone(entry, name, actual);
      })
      .map(({ id }) => id),
  );
  const environments = Object.fromEntries(
    Object.entries(entry.environments).filter(([id]) => !gone.has(id)),
  );
  const { workspace, ...rest } = entry;
  const keepWorkspace = declared !== undefined || !isGoneWholly(entry, actual);
  const kept = keepWorkspace ? workspace : undefined;
  if (!kept && Object.keys(environments).length === 0) return undefined;
  return { ...rest, environments, ...(kept && { workspace: kept }) } as StateEntry;
}

function isGone({ kind, name }: StateEntry, environment: string, actual: Actual): boolean {
  if (kind === 'flag') return actual.flags.get(name)?.definitions.get(environment) === null;
  return actual.segments.get(name)?.environments.get(environment)?.active === false;
}

/** Unknown is not gone: on a service that cannot show the flag, only the deletion's own answer tells. */
function isGoneWholly({ kind, name }: StateEntry, actual: Actual): boolean {
  if (kind === 'flag') return actual.flags.get(name)?.existence === 'absent';
  const found = actual.segments.get(name);
  return found !== undefined && !found.segment;
}
