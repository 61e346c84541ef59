import type { Actual } from '../model/actual.js';
import type { DesiredFlag, DesiredSegment } from '../model/desired.js';
import { objectId, type ObjectId } from '../model/object-id.js';
import type { Change } from '../model/plan.js';
import type { Outcomes } from '../model/run.js';
import {
  flagEntry,
  segmentEntry,
  type Base,
  type FlagBase,
  type FlagEntry,
  type SegmentEntry,
  type State,
  type StateEntry,
} from '../model/state.js';
import { baseOf } from './base-of.js';
import { identitiesAfterAnswers, identitiesAfterVerify } from './identities-state.js';
import { rememberingKills } from './kill-memory.js';
import { effectiveFields } from './kills.js';
import { wantedEntries, wantedOf } from './policy.js';
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
  if (!changes.some(isBegun)) return state;
  const next = new Map(state);
  const idOfName = new Map(policy.environments.map(({ name, id }) => [name, id]));
  for (const { ref } of changes.filter(isBegun)) {
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

function isBegun({ action }: Change): boolean {
  return action === 'create' || action === 'activate';
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
  const seen: Seen = { input, equal, head };
  const recorded = [
    ...wantedOf(policy, 'flag', desired.flags).map((flag) => recordedFlag(flag, seen)),
    ...wantedOf(policy, 'segment', desired.segments).map((each) => recordedSegment(each, seen)),
  ];
  for (const entry of recorded) {
    if (entry) next.set(`${entry.kind}/${entry.name}`, entry);
  }
  for (const entry of wantedEntries(policy, state)) {
    if (entry.kind === 'identities') continue;
    const key = `${entry.kind}/${entry.name}`;
    const known = next.get(key);
    const left = withoutGone(known && known.kind !== 'identities' ? known : entry, input);
    if (left) next.set(key, left);
    else next.delete(key);
  }
  return identitiesAfterVerify(input, next, equal, head);
}

/**
 * The state with what can only be known from the answers of its writes, because there is nothing to verify against:
 * identities, and the workspace level of flags on a service that cannot show a flag by itself.
 */
export function stateAfterAnswers(
  input: PlanInput,
  changes: readonly Change[],
  outcomes: Outcomes,
  head: string | null,
): State {
  const { desired, state, actual } = input;
  const answered = identitiesAfterAnswers(input, state, changes, outcomes, head);
  if (actual.showsFlags) return answered;
  const next = new Map(answered);
  for (const { id, ref, action } of changes) {
    if (ref.kind !== 'flag' || ref.environment !== null) continue;
    if (outcomes.get(id)?.status !== 'applied') continue;
    const key = `flag/${ref.name}`;
    const entry = flagEntry(next, ref.name);
    if (!entry) continue;
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

/** What a look at the service found. */
interface Seen {
  readonly input: PlanInput;
  readonly equal: ReadonlySet<ObjectId>;
  readonly head: string | null;
}

/** The spec of now where the object was found equal; else what there was. */
function baseAfter<T>(
  id: ObjectId,
  spec: T,
  before: Base<T> | undefined,
  { equal, head }: Seen,
): Base<T> | undefined {
  return equal.has(id) ? baseOf(spec, before, head) : before;
}

function recordedFlag(flag: DesiredFlag, seen: Seen): FlagEntry | undefined {
  const { input, head } = seen;
  const { desired, actual, policy, state } = input;
  const { name } = flag;
  const entry = flagEntry(state, name);
  const environments = { ...entry?.environments };
  for (const environment of policy.environments) {
    const definition = flag.environments.get(environment.configName);
    if (!definition || !environment.selected) continue;
    const id = objectId({ kind: 'flag', name, environment: environment.name });
    const before = environments[environment.id];
    const spec = effectiveFields({ flag, definition, environment }, desired);
    const base = baseAfter(id, spec, before, seen);
    const place = { flag: name, environment, before, head };
    if (base) environments[environment.id] = rememberingKills(base, place, input);
  }
  const ref = { kind: 'flag', name, environment: null } as const;
  const workspace = baseAfter(objectId(ref), flagBase(flag), entry?.workspace, seen);
  const id = actual.flags.get(name)?.id ?? entry?.id;
  const isKnown = entry ?? workspace ?? Object.keys(environments).length > 0;
  if (!isKnown) return undefined;
  return {
    kind: 'flag',
    name,
    environments,
    ...(id !== undefined && { id }),
    ...(workspace && { workspace }),
  };
}

function recordedSegment(segment: DesiredSegment, seen: Seen): SegmentEntry | undefined {
  const { policy, state } = seen.input;
  const { name, trafficType } = segment;
  const entry = segmentEntry(state, name);
  const environments = { ...entry?.environments };
  for (const { configName, name: environment, id: place } of policy.environments) {
    const activation = segment.environments.get(configName);
    if (!activation) continue;
    const id = objectId({ kind: 'segment', name, environment });
    const base = baseAfter(id, baseSpec(activation), environments[place], seen);
    if (base) environments[place] = base;
  }
  const ref = { kind: 'segment', name, environment: null } as const;
  const workspace = baseAfter(objectId(ref), { trafficType }, entry?.workspace, seen);
  const isKnown = entry ?? workspace ?? Object.keys(environments).length > 0;
  return isKnown
    ? { kind: 'segment', name, environments, ...(workspace && { workspace }) }
    : undefined;
}

/** The entry without what the specs no longer declare and the service no longer has; undefined: nothing is left. */
function withoutGone(entry: FlagEntry | SegmentEntry, input: PlanInput): StateEntry | undefined {
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
