import { present } from '../../model/collections.js';
import { objectsOf } from '../../model/desired.js';
import { identitiesDifference, identityGroups, withWritten } from '../../model/identities.js';
import {
  keyOf,
  objectId,
  refOfId,
  type Kind,
  type ObjectId,
  type ObjectRef,
} from '../../model/ref.js';
import { isRemoval, isCreation, type Change } from '../../model/plan.js';
import type { Outcome, Outcomes } from '../../model/outcome.js';
import {
  entryId,
  flagEntry,
  entryOf,
  type Base,
  type State,
  type StateEntry,
} from '../../model/state.js';
import { baseOf } from './compare.js';
import {
  baseIn,
  emptyEntry,
  hasBase,
  keepEntry,
  putBase,
  selectedPlaces,
  withBase,
  WORKSPACE,
  type Place,
} from '../place.js';
import { identitiesIn, trafficTypesOfIdentities } from '../objects/identities.js';
import {
  CONTEST_MS,
  CONTESTED_AFTER,
  environmentNamed,
  placeNamed,
  plannedObjects,
  wantedEntries,
  type PlanPolicy,
  SEGMENT_KEYS,
  WHOLE_OBJECT,
} from '../policy.js';
import type { PlanInput } from '../input.js';
import { observedKind, OBSERVED_KINDS } from '../objects/kinds.js';
import type { ObservedKind, Sighting } from '../objects/planned-kind.js';

/** Gives an object another base, if the service has its place. */
function rebase(
  state: Map<string, StateEntry>,
  policy: Pick<PlanPolicy, 'environments'>,
  ref: ObjectRef,
  baseAfter: (before: Base<unknown> | undefined, place: Place) => Base<unknown> | undefined,
): void {
  const place = placeNamed(policy, ref.environment);
  if (!place) return;
  const before = baseIn(state.get(keyOf(ref.kind, ref.name)), place);
  putBase(state, ref, place, baseAfter(before, place));
}

/**
 * The state before the first request. With it the run after a crash recognises half-made objects, and knows what was seen
 * of objects that are gone by then.
 */
export function stateBeforeApply(
  input: PlanInput,
  changes: readonly Change[],
  head: string | null,
  now?: string,
): State {
  const next = new Map(input.state);
  for (const change of changes.filter((each) => isCreation(each) || isRemoval(each))) {
    const rules = observedKind(change.ref.kind);
    // If the service cannot show the object, it counts as ours only after its creation was accepted.
    if (!rules) continue;
    rebase(next, input.policy, change.ref, (before) => {
      const sighting = { ref: change.ref, before, head, now };
      if (isRemoval(change))
        return before && (rules.completed?.(before, sighting, input) ?? before);
      const created = rules.created?.(input.desired, change.ref);
      return { ...before, commit: head, pending: 'create' as const, ...present({ created }) };
    });
  }
  return next;
}

/** Without the creations that the service refused or that were never sent: an object under their name is not ours. */
export function stateAfterRefusals(
  begun: State,
  { state: before, policy }: Pick<PlanInput, 'state' | 'policy'>,
  changes: readonly Change[],
  outcomes: Outcomes,
): State {
  const refused = changes.filter(
    (change) => isCreation(change) && isNotMade(outcomes.get(change.id)),
  );
  if (refused.length === 0) return begun;
  const next = new Map(begun);
  for (const { ref } of refused) {
    const known = before.get(keyOf(ref.kind, ref.name));
    rebase(next, policy, ref, (_, place) => baseIn(known, place));
  }
  return next;
}

/** After a run whose HEAD was older than the last applied commit: entries that its specs do not cover stay. */
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
    const seen = after.get(keyOf(ref.kind, ref.name));
    putBase(next, ref, place, baseIn(seen, place), entryId(seen));
  }
  return next;
}

/** Without an answer a creation may have happened, and a change request may bring it later. */
function isNotMade(outcome: Outcome | undefined): boolean {
  if (outcome === undefined || outcome.status === 'applied' || outcome.partly) return false;
  return outcome.status === 'skipped' ? outcome.request?.is !== 'open' : !outcome.fateUnknown;
}

/**
 * The state after an observation. Equal objects get their present spec as base, and so do equal fields of other
 * objects; removed objects that are gone, or declared by another directory, leave the inventory; all else stays.
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
    for (const { name } of plannedObjects(policy, kind, objectsOf(desired, kind))) {
      const entry = recordedEntry(kind, name, rules, seen);
      if (entry) next.set(keyOf(kind, name), entry);
    }
  }
  for (const { kind, name } of wantedEntries(policy, state)) {
    const rules = observedKind(kind);
    const known = next.get(keyOf(kind, name));
    if (rules && known) keepEntry(next, withoutGone(known, rules, input));
  }
  // Else a later removal there would be carried out here, by the rules of this directory.
  for (const { moved } of policy.held?.values() ?? []) {
    if (moved) rebase(next, policy, moved, () => undefined);
  }
  return identitiesAfterVerify(input, next, equal, head);
}

/** Adds what only the answers of writes show: identities, and flags of a service that cannot return a single one. */
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
    const flag = desired.flags.get(ref.name);
    if (!entry) continue;
    if (action === 'delete') next.set(key, withBase(entry, WORKSPACE, undefined));
    else if (flag) {
      const { trafficType, fields } = flag;
      const base = baseOf({ trafficType, fields }, entry.workspace, head);
      next.set(key, withBase(entry, WORKSPACE, base));
    }
  }
  return next;
}

interface Seen extends Pick<Sighting, 'head' | 'now'> {
  readonly input: PlanInput;
  readonly equal: ReadonlySet<ObjectId>;
}

/** Undefined if the object was never ours and no part of it was found equal. */
function recordedEntry(
  kind: Kind,
  name: string,
  rules: ObservedKind,
  seen: Seen,
): StateEntry | undefined {
  const { desired, actual, policy, state } = seen.input;
  const known = state.get(keyOf(kind, name));
  const id = rules.seen(actual, name)?.id;
  let entry = { ...(known ?? emptyEntry({ kind, name })), ...(id !== undefined && { id }) };
  for (const place of selectedPlaces(policy)) {
    const ref = { kind, name, environment: place.name };
    const spec = rules.spec(desired, ref);
    const before = baseIn(known, place);
    const base = spec === undefined ? before : baseAfter(rules, { ref, spec, before }, seen);
    if (base !== before) entry = withBase(entry, place, base);
  }
  return (known ?? hasBase(entry)) ? entry : undefined;
}

function baseAfter(
  { withEqualFields, completed }: ObservedKind,
  { ref, spec, before }: Pick<Sighting, 'ref' | 'before'> & { readonly spec: unknown },
  { input, equal, head, now }: Seen,
): Base<unknown> | undefined {
  const sighting = { ref, before, head, now };
  const base = equal.has(objectId(ref))
    ? rememberingCorrections(baseOf(spec, before, head), sighting)
    : before && (withEqualFields?.(before, sighting, input) ?? before);
  return base && (completed?.(base, sighting, input) ?? base);
}

function withoutGone(entry: StateEntry, rules: ObservedKind, input: PlanInput): StateEntry {
  const { desired, actual, policy } = input;
  const declared = objectsOf(desired, entry.kind).get(entry.name);
  const live = rules.seen(actual, entry.name);
  const gone = selectedPlaces(policy).filter((place) =>
    // If the service cannot show the object, only the answer of the deletion proves that it is gone.
    place.name === null
      ? !declared && live?.existence === 'absent'
      : !declared?.environments.has(place.name) && live?.places.get(place.name) === false,
  );
  return gone.reduce((left, place) => withBase(left, place, undefined), entry);
}

/** The state with the corrections of an apply added. @param now the time of the apply, ISO 8601 in UTC. */
export function stateAfterCorrections(
  { state, policy }: Pick<PlanInput, 'state' | 'policy'>,
  changes: readonly Change[],
  outcomes: Outcomes,
  now: string,
): State {
  const next = new Map(state);
  for (const change of changes) {
    const paths = correctedPaths(change, outcomes);
    if (paths.length === 0) continue;
    rebase(next, policy, change.ref, (base) => base && corrected(base, paths, now));
  }
  return next;
}

function correctedPaths(change: Change, outcomes: Outcomes): string[] {
  const { id, reason, fields, keys } = change;
  if (outcomes.get(id)?.status !== 'applied' || isRemoval(change)) return [];
  if (isCreation(change)) return reason === 'drift' ? [WHOLE_OBJECT] : [];
  if (keys) return reason === 'drift' ? [SEGMENT_KEYS] : [];
  return fields.filter((field) => field.reason === 'drift').map(({ path }) => path);
}

function corrected(base: Base<unknown>, paths: readonly string[], now: string): Base<unknown> {
  const moments = paths.map((path) => {
    const earlier = base.corrections?.[path] ?? [];
    return [path, [...earlier, now].slice(-CONTESTED_AFTER)] as const;
  });
  return { ...base, corrections: { ...base.corrections, ...Object.fromEntries(moments) } };
}

/** Earlier corrections are forgotten once the object is found equal more than an hour after the last of them. */
function rememberingCorrections(
  base: Base<unknown>,
  { before, now }: Pick<Sighting, 'before' | 'now'>,
): Base<unknown> {
  if (!before?.corrections) return base;
  const lately = Object.entries(before.corrections).filter(([, moments]) => {
    const last = Date.parse(moments.at(-1) ?? '');
    return now === undefined || Date.parse(now) - last <= CONTEST_MS;
  });
  return lately.length === 0 ? base : { ...base, corrections: Object.fromEntries(lately) };
}

/** Identities that left git have been reported by now and are forgotten: the service can neither show nor delete them. */
function identitiesAfterVerify(
  { desired, policy }: PlanInput,
  state: State,
  equal: ReadonlySet<ObjectId>,
  head: string | null,
): State {
  const next = new Map(state);
  for (const name of trafficTypesOfIdentities(desired, state)) {
    for (const place of policy.environments) {
      const ref = { kind: 'identities' as const, name, environment: place.name };
      if (!place.selected || !equal.has(objectId(ref))) continue;
      const keys = identitiesIn(desired, name, place.name)?.keys;
      const spec = keys?.size ? { groups: identityGroups(keys) } : undefined;
      rebase(
        next,
        policy,
        ref,
        (before) => spec && baseOf(spec, before as Base<typeof spec>, head),
      );
    }
  }
  return next;
}

/** Adds the identities that the service accepted, key by key; refused ones keep their old base. */
function identitiesAfterAnswers(
  { desired, policy }: PlanInput,
  state: State,
  changes: readonly Change[],
  outcomes: Outcomes,
  head: string | null,
): State {
  const written = changes.flatMap(({ id, ref }) => {
    const environment = environmentNamed(policy, ref.environment);
    const keys = outcomes.get(id)?.identities?.written ?? [];
    return environment && keys.length > 0 ? [{ ref, environment, keys }] : [];
  });
  if (written.length === 0) return state;
  const next = new Map(state);
  for (const { ref, environment, keys } of written) {
    const before = entryOf(next, 'identities', ref.name)?.environments[environment.id];
    const wanted = identitiesIn(desired, ref.name, environment.name)?.keys ?? new Map();
    const taken = new Map(keys.map((key) => [key, wanted.get(key) ?? {}]));
    const groups = withWritten(before?.spec?.groups ?? [], taken);
    const { added, changed } = identitiesDifference(wanted, groups);
    // Keeps the commit while some are missing: titles of later writes name all commits from there on.
    const isWhole = added.length + changed.length === 0;
    const base = { spec: { groups }, commit: isWhole ? head : (before?.commit ?? null) };
    putBase(next, ref, environment, base);
  }
  return next;
}
