import { keyOf, objectId, refOfId, type Kind, type ObjectId } from '../../model/ref.js';
import type { Change } from '../../model/plan.js';
import type { Outcome, Outcomes } from '../../model/outcome.js';
import { entryId, flagEntry, type Base, type State, type StateEntry } from '../../model/state.js';
import { baseOf } from './compare.js';
import { rememberingCorrections } from './corrections.js';
import { identitiesAfterAnswers, identitiesAfterVerify } from './identities-state.js';
import {
  wantedEntries,
  plannedObjects,
  type PlannedEnvironment,
  type PlanPolicy,
} from '../policy.js';
import type { PlanInput } from '../input.js';
import { observedKind, OBSERVED_KINDS } from '../objects/kinds.js';
import type { ObservedKind } from '../objects/planned-kind.js';

/**
 * The state to write before the first request. It records objects about to be created, so that after a crash the next
 * run recognises its half-made objects.
 */
export function stateBeforeApply(
  { desired, state, policy }: Pick<PlanInput, 'desired' | 'state' | 'policy'>,
  changes: readonly Change[],
  head: string | null,
): State {
  if (!changes.some(isBegun)) return state;
  const next = new Map(state);
  const idOfName = new Map(policy.environments.map(({ name, id }) => [name, id]));
  for (const { ref } of changes.filter(isBegun)) {
    const { kind, name, environment } = ref;
    const rules = observedKind(kind);
    // If the service cannot show the object, it counts as ours only after its creation was accepted.
    if (!rules) continue;
    const key = keyOf(kind, name);
    const entry = next.get(key) ?? { kind, name, environments: {} };
    const place = environment === null ? null : idOfName.get(environment);
    const created =
      environment === null ? undefined : rules.createdBase(desired, name, { name: environment });
    const base: Base<unknown> = { commit: head, pending: 'create' };
    next.set(key, withBase(entry, place, created === undefined ? base : { ...base, created }));
  }
  return next;
}

/**
 * The state of `stateBeforeApply` without creations that the service refused or that were never sent: any object under
 * their names is not ours.
 *
 * @param before the state before the apply.
 */
export function stateAfterRefusals(
  begun: State,
  { state: before, policy }: Pick<PlanInput, 'state' | 'policy'>,
  changes: readonly Change[],
  outcomes: Outcomes,
): State {
  const refused = changes.filter((change) => isBegun(change) && isNotMade(outcomes.get(change.id)));
  if (refused.length === 0) return begun;
  const next = new Map(begun);
  const idOfName = new Map(policy.environments.map(({ name, id }) => [name, id]));
  for (const { ref } of refused) {
    const key = keyOf(ref.kind, ref.name);
    const entry = next.get(key);
    const environmentId = ref.environment === null ? null : idOfName.get(ref.environment);
    if (!entry || environmentId === undefined) continue;
    const left = withBaseOf(entry, environmentId, before.get(key));
    if (left.workspace || Object.keys(left.environments).length > 0) next.set(key, left);
    else next.delete(key);
  }
  return next;
}

/**
 * The state after a run whose HEAD was older than the last applied commit. Its specs cover only some objects, so the
 * entries of all others stay as they were.
 *
 * @param before the state when the run began to write.
 * @param after the state that its verification computed from that.
 */
export function stateOfCovered(
  before: State,
  after: State,
  { reviewed, environments }: Pick<PlanPolicy, 'reviewed' | 'environments'>,
): State {
  const next = new Map(before);
  const idOfName = new Map(environments.map(({ name, id }) => [name, id]));
  for (const id of reviewed ?? []) {
    const ref = refOfId(id);
    if (!ref) continue;
    const key = keyOf(ref.kind, ref.name);
    const place = ref.environment === null ? null : idOfName.get(ref.environment);
    const [old, seen] = [next.get(key), after.get(key)];
    const entry =
      old ?? (seen && ({ ...seen, workspace: undefined, environments: {} } as StateEntry));
    if (!entry || place === undefined) continue;
    const left = withBaseOf(entry, place, seen);
    if (left.workspace || Object.keys(left.environments).length > 0) next.set(key, left);
    else next.delete(key);
  }
  return next;
}

/**
 * Whether a creation certainly did not happen; without an answer, it may have, and a change request may bring it later.
 */
function isNotMade(outcome: Outcome | undefined): boolean {
  if (outcome === undefined || outcome.status === 'applied' || outcome.partly === true)
    return false;
  if (outcome.status === 'skipped' && outcome.request?.is === 'open') return false;
  return outcome.status === 'skipped' || outcome.fateUnknown !== true;
}

/** The entry with its base in one place replaced by another entry's, or removed if that has none. */
function withBaseOf(
  entry: StateEntry,
  environmentId: string | null,
  other: StateEntry | undefined,
): StateEntry {
  const { workspace, environments, ...rest } = entry;
  // Both entries are of one object, so every base is of its kind.
  if (environmentId === null) {
    const known = other?.workspace;
    return { ...rest, environments, ...(known && { workspace: known }) } as StateEntry;
  }
  const places = Object.entries<Base<unknown>>(environments).filter(([id]) => id !== environmentId);
  const known: Base<unknown> | undefined = other?.environments[environmentId];
  const all = Object.fromEntries(known ? [...places, [environmentId, known]] : places);
  return { ...rest, environments: all, ...(workspace && { workspace }) } as StateEntry;
}

function isBegun({ action }: Change): boolean {
  return action === 'create' || action === 'activate';
}

/** @param place an environment id; null for the workspace level; undefined leaves the entry as it is. */
function withBase(
  entry: StateEntry,
  place: string | null | undefined,
  base: Base<unknown>,
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
 * The state after an observation. Equal objects get their present spec as base, and so do equal fields of other
 * objects; removed objects that are gone leave the inventory; everything else stays.
 *
 * @param equal objects that this run found equal, or made equal and verified.
 * @param now the time of the observation, ISO 8601 in UTC, recorded for facts that it saw first.
 */
export function stateAfterVerify(
  input: PlanInput,
  equal: ReadonlySet<ObjectId>,
  head: string | null,
  now?: string,
): State {
  const { desired, state, policy } = input;
  const next = new Map(state);
  const seen: Seen = { input, equal, head, now };
  for (const [kind, rules] of OBSERVED_KINDS) {
    for (const { name } of plannedObjects(policy, kind, rules.declared(desired))) {
      const entry = recordedEntry({ kind, name, rules }, seen);
      if (entry) next.set(keyOf(kind, name), entry);
    }
  }
  for (const { kind, name } of wantedEntries(policy, state)) {
    const rules = observedKind(kind);
    const key = keyOf(kind, name);
    const known = next.get(key);
    if (!rules || !known) continue;
    const left = withoutGone(known, rules, input);
    if (left) next.set(key, left);
    else next.delete(key);
  }
  return identitiesAfterVerify(input, next, equal, head);
}

/**
 * The state with facts that only the answers of writes show, because nothing can be read back: identities, and the
 * workspace level of flags on a service that cannot return a single flag.
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
    const key = keyOf('flag', ref.name);
    const entry = flagEntry(next, ref.name);
    if (!entry) continue;
    const { workspace, ...rest } = entry;
    const flag = desired.flags.get(ref.name);
    if (action === 'delete') next.set(key, rest);
    else if (flag) {
      const { trafficType, fields } = flag;
      next.set(key, { ...rest, workspace: baseOf({ trafficType, fields }, workspace, head) });
    }
  }
  return next;
}

/** Result of an observation. */
interface Seen {
  readonly input: PlanInput;
  readonly equal: ReadonlySet<ObjectId>;
  readonly head: string | null;
  readonly now: string | undefined;
}

/** The present spec if the object was found equal; otherwise the old base, updated with the fields that were equal. */
function baseAfter(
  { kind, name, rules }: RecordedObject,
  environment: PlannedEnvironment | null,
  { spec, before }: { spec: unknown; before: Base<unknown> | undefined },
  { input, equal, head, now }: Seen,
): Base<unknown> | undefined {
  const id = objectId({ kind, name, environment: environment?.name ?? null });
  if (equal.has(id)) return rememberingCorrections(baseOf(spec, before, head), before, now);
  return before && rules.withEqualFields(before, { name, environment, head }, input);
}

interface RecordedObject {
  readonly kind: Kind;
  readonly name: string;
  readonly rules: ObservedKind;
}

/** The entry of a declared object; undefined if it was never ours and no part of it was found equal. */
function recordedEntry(object: RecordedObject, seen: Seen): StateEntry | undefined {
  const { kind, name, rules } = object;
  const { input, head, now } = seen;
  const { desired, actual, policy, state } = input;
  const entry = state.get(keyOf(kind, name));
  const environments: Record<string, Base<unknown>> = { ...entry?.environments };
  for (const environment of policy.environments) {
    const spec = rules.environmentBase(desired, name, environment);
    if (spec === undefined || !environment.selected) continue;
    const before = environments[environment.id];
    const base = baseAfter(object, environment, { spec, before }, seen);
    const place = { name, environment, before, head, now };
    if (base) environments[environment.id] = rules.completed(base, place, input);
  }
  const spec = rules.workspaceBase(desired, name);
  const workspace = baseAfter(object, null, { spec, before: entry?.workspace }, seen);
  const id = rules.serviceId(actual, name) ?? entryId(entry);
  const isKnown = entry ?? workspace ?? Object.keys(environments).length > 0;
  if (!isKnown) return undefined;
  // Every base in it is of this kind.
  return {
    kind,
    name,
    environments,
    ...(id !== undefined && { id }),
    ...(workspace && { workspace }),
  } as StateEntry;
}

/** The entry without places that neither the specs nor the service have any more; undefined if none is left. */
function withoutGone(
  entry: StateEntry,
  rules: ObservedKind,
  { desired, actual, policy }: PlanInput,
): StateEntry | undefined {
  const { name } = entry;
  const declared = rules.declared(desired).get(name);
  const isGoneFrom = (environment: string): boolean =>
    rules.places(actual, name).get(environment) === false;
  const gone = new Set(
    policy.environments
      .filter(
        (each) => each.selected && !declared?.environments.has(each.name) && isGoneFrom(each.name),
      )
      .map(({ id }) => id),
  );
  const environments = Object.fromEntries(
    Object.entries(entry.environments).filter(([id]) => !gone.has(id)),
  );
  const { workspace, ...rest } = entry;
  // If the service cannot show the object, only the answer of the deletion proves that it is gone.
  const keepWorkspace = declared !== undefined || !rules.isGone(actual, name);
  const kept = keepWorkspace ? workspace : undefined;
  if (!kept && Object.keys(environments).length === 0) return undefined;
  return { ...rest, environments, ...(kept && { workspace: kept }) } as StateEntry;
}
