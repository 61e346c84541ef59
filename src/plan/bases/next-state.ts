import {
  keyOf,
  objectId,
  refOfId,
  type Kind,
  type ObjectId,
  type ObjectRef,
} from '../../model/ref.js';
import type { Change } from '../../model/plan.js';
import type { Outcome, Outcomes } from '../../model/outcome.js';
import { entryId, flagEntry, type Base, type State, type StateEntry } from '../../model/state.js';
import { baseOf } from './compare.js';
import { rememberingCorrections } from './corrections.js';
import { identitiesAfterAnswers, identitiesAfterVerify } from './identities-state.js';
import {
  baseIn,
  emptyEntry,
  hasBase,
  keepEntry,
  placeNamed,
  selectedPlaces,
  withBase,
} from '../place.js';
import { wantedEntries, plannedObjects, type PlanPolicy } from '../policy.js';
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
  for (const { ref } of changes.filter(isBegun)) {
    const rules = observedKind(ref.kind);
    const place = placeNamed(policy, ref.environment);
    // If the service cannot show the object, it counts as ours only after its creation was accepted.
    if (!rules || !place) continue;
    const entry = next.get(keyOf(ref.kind, ref.name)) ?? emptyEntry(ref);
    const created = rules.created?.(desired, ref);
    const begun: Base<unknown> = {
      ...baseIn(entry, place),
      ...{ commit: head, pending: 'create' },
      ...(created !== undefined && { created }),
    };
    keepEntry(next, withBase(entry, place, begun));
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
  for (const { ref } of refused) {
    const key = keyOf(ref.kind, ref.name);
    const entry = next.get(key);
    const place = placeNamed(policy, ref.environment);
    if (entry && place) keepEntry(next, withBase(entry, place, baseIn(before.get(key), place)));
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
  policy: Pick<PlanPolicy, 'reviewed' | 'environments'>,
): State {
  const next = new Map(before);
  for (const id of policy.reviewed ?? []) {
    const ref = refOfId(id);
    const place = ref && placeNamed(policy, ref.environment);
    if (!place) continue;
    const key = keyOf(ref.kind, ref.name);
    const seen = after.get(key);
    const entry = next.get(key) ?? emptyEntry(ref, entryId(seen));
    keepEntry(next, withBase(entry, place, baseIn(seen, place)));
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

function isBegun({ action }: Change): boolean {
  return action === 'create' || action === 'activate';
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
    const known = next.get(keyOf(kind, name));
    if (rules && known) keepEntry(next, withoutGone(known, rules, input));
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

interface RecordedObject {
  readonly kind: Kind;
  readonly name: string;
  readonly rules: ObservedKind;
}

/** The entry of a declared object; undefined if it was never ours and no part of it was found equal. */
function recordedEntry({ kind, name, rules }: RecordedObject, seen: Seen): StateEntry | undefined {
  const { desired, actual, policy, state } = seen.input;
  const known = state.get(keyOf(kind, name));
  const id = rules.seen(actual, name)?.id;
  let entry = { ...(known ?? emptyEntry({ kind, name })), ...(id !== undefined && { id }) };
  for (const place of selectedPlaces(policy)) {
    const ref = { kind, name, environment: place.name };
    const spec = rules.spec(desired, ref);
    const before = baseIn(known, place);
    const base = spec === undefined ? before : baseAfter(ref, rules, { spec, before }, seen);
    if (base !== before) entry = withBase(entry, place, base);
  }
  return (known ?? hasBase(entry)) ? entry : undefined;
}

/** The present spec if the object was found equal; otherwise the old base, updated with the fields that were equal. */
function baseAfter(
  ref: ObjectRef,
  rules: ObservedKind,
  { spec, before }: { readonly spec: unknown; readonly before: Base<unknown> | undefined },
  { input, equal, head, now }: Seen,
): Base<unknown> | undefined {
  const base = equal.has(objectId(ref))
    ? rememberingCorrections(baseOf(spec, before, head), before, now)
    : before && (rules.withEqualFields?.(before, { ref, head }, input) ?? before);
  return base && (rules.completed?.(base, { ref, before, head, now }, input) ?? base);
}

/** The entry without the bases of places that neither the specs nor the service have any more. */
function withoutGone(
  entry: StateEntry,
  rules: ObservedKind,
  { desired, actual, policy }: PlanInput,
): StateEntry {
  const declared = rules.declared(desired).get(entry.name);
  const live = rules.seen(actual, entry.name);
  const gone = selectedPlaces(policy).filter((place) =>
    // If the service cannot show the object, only the answer of the deletion proves that it is gone.
    place.name === null
      ? !declared && live?.existence === 'absent'
      : !declared?.environments.has(place.name) && live?.places.get(place.name) === false,
  );
  return gone.reduce((left, place) => withBase(left, place, undefined), entry);
}
