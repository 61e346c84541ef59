import type { BoundDesired } from '../model/bound-desired.js';
import { keptIn } from '../model/collections.js';
import {
  withoutShares,
  formOf,
  pathOf,
  withEachBuckets,
  writtenRamp,
  type DesiredRamp,
  type Ladder,
} from '../model/flag/ramp.js';
import { byCodeUnits, canonicalJson, sameJson, sha256, type Json } from '../model/json.js';
import {
  keyCounts,
  type Action,
  type Change,
  type FieldChange,
  type KeyChange,
  type Plan,
  type Reason,
  type ReviewedPlan,
  type ShownField,
} from '../model/plan.js';
import type { ObjectId } from '../model/ref.js';
import type { Place, ShownChanges } from '../model/run.js';
import { satisfies, type Fields } from './fields.js';
import { plannedKind } from './objects/kinds.js';

interface HashFacts {
  /** Ids of the objects that count. Default, or null: all. */
  readonly reviewed?: ReadonlySet<ObjectId> | null | undefined;
  /** The specs where the reviewed plan starts. Default: each field starts at its base. */
  readonly start?: BoundDesired | undefined;
  /** The ramps of the specs, by definition. */
  readonly ladders?: ReadonlyMap<ObjectId, readonly Ladder[]>;
}

/**
 * Hash of the place, the values from which each field starts and those that it gets, without reasons, authors, files or
 * order: two plans with equal hashes are the same plan. Survives a merge, a squash and the steps of a ramp, because a
 * ramp counts as it is written and not by the share that is due.
 *
 * @param place `origin` of the service, or `embedded`.
 * @returns `sha256:` and lower-case hex of the RFC 8785 form.
 */
export function planHash(
  plan: Pick<Plan, 'changes'>,
  place: { origin: string; workspaceId: string },
  facts: HashFacts = {},
): string {
  const changes = plan.changes
    .filter(({ id }) => facts.reviewed?.has(id) ?? true)
    .sort((a, b) => byCodeUnits(a.id, b.id))
    .map((change) => hashedChange(change, facts));
  return `sha256:${sha256(canonicalJson({ origin: place.origin, workspace: place.workspaceId, changes }))}`;
}

function hashedChange(change: Change, facts: HashFacts): object {
  const { id, action, archive, keys } = change;
  const ladders = laddersOf(change, facts);
  return {
    id,
    action,
    ...(archive && { archive }),
    fields: withoutSteps(change, ladders).map((field) => ({
      path: field.path,
      ...startOf(change, field, facts),
      after: writtenValue(field, ladders),
      ...(field.keys && { keys: { ...keyCounts(field.keys), sha256: field.keys.sha256 } }),
    })),
    ...(keys && { keys: { ...keyCounts(keys), sha256: keys.sha256 } }),
    ...(ladders.length > 0 && { ramp: ladders.map(({ ramp }) => writtenRamp(ramp)) }),
  };
}

function laddersOf(change: Pick<Change, 'id' | 'action'>, facts: HashFacts): readonly Ladder[] {
  return change.action === 'delete' ? [] : (facts.ladders?.get(change.id) ?? []);
}

/** Steps of a known ramp were reviewed with it. A change of nothing else keeps them: no two steps have the same hash. */
function withoutSteps({ fields }: Change, ladders: readonly Ladder[]): readonly FieldChange[] {
  const others = fields.filter((field) => !isKnownStep(field, ladders));
  return others.length === 0 ? fields : others;
}

/** Whether a field only takes steps of ramps that a run has begun: they were reviewed with the ramps. */
function isKnownStep({ path, reason }: FieldChange, ladders: readonly Ladder[]): boolean {
  const own = ladders.filter(({ ramp }) => pathOf(ramp) === path);
  return reason === 'ramp' && own.every(({ ramp, record }) => record?.ladder === formOf(ramp));
}

/** Without a start, the reasons of a field say whether its live value is its base. */
const MOVED: ReadonlySet<Reason> = new Set(['drift', 'conflict', 'adopt', 'unknown']);

/** The value from which a field starts; `moved` if the service has neither that nor the wanted value. */
function startOf(
  change: Omit<Change, 'dependsOn'>,
  field: FieldChange,
  { start }: HashFacts,
): { readonly before?: unknown; readonly moved?: true } {
  const { base, reason, path, before: live } = field;
  if (start === undefined) {
    const isPruned = reason === 'prune' && base !== undefined;
    const isMoved = isPruned
      ? !satisfies(path, live as Json | undefined, base as Json)
      : MOVED.has(reason);
    return { before: base, ...(isMoved && { moved: true }) };
  }
  const { kind, name, environment } = change.ref;
  const said = plannedKind(kind).fieldsOf?.(start, change.ref);
  const before = said?.get(path);
  const ramps = start.flags.get(name)?.environments.get(environment ?? '')?.ramps ?? [];
  const isMoved = said === undefined ? MOVED.has(reason) : isElsewhere(field, said, ramps);
  return { ...(field.keys === undefined && { before }), ...(isMoved && { moved: true }) };
}

/** Whether the live value is not the one that the specs said. A share that a ramp of theirs reached is. */
function isElsewhere(
  { path, keys, before: live, reason }: FieldChange,
  said: Fields,
  ramps: readonly DesiredRamp[],
): boolean {
  const before = said.get(path);
  if (keys) return MOVED.has(reason);
  if (before === undefined) return false;
  const own = ramps.filter((ramp) => pathOf(ramp) === path);
  if (own.length === 0 || live === undefined) {
    return !satisfies(path, live as Json | undefined, before);
  }
  return !sameJson(withoutShares(path, before, own), withoutShares(path, live, own));
}

/** The new value of a field, with the written buckets in place of those that a ramp has now. */
function writtenValue({ path, after }: FieldChange, ladders: readonly Ladder[]): unknown {
  const own = ladders.map(({ ramp }) => ramp).filter((ramp) => pathOf(ramp) === path);
  if (own.length === 0 || after === undefined) return after;
  return withEachBuckets(
    path,
    after,
    (buckets, rule) => own.find((each) => each.rule === rule)?.written ?? buckets,
  );
}

type KeyCounts = NonNullable<ReviewedPlan['changes'][number]['keys']>;

/**
 * From where the specs said that each field starts. If an earlier merge is not applied, the service still has the base,
 * and readers of the plan saw the way from there: it counts too.
 */
export function shownFields({ changes }: Pick<Plan, 'changes'>, facts: HashFacts): ShownField[] {
  return changes.flatMap((change) => {
    const fromSpecs = shownOf(change, facts);
    const isMoved = fromSpecs.some(({ moved }) => moved);
    const fromBases = isMoved ? shownOf(change, { ...facts, start: undefined }) : [];
    const ways = fromSpecs.flatMap((said, at) => {
      const fromBase = change.fields[at]?.base === undefined ? undefined : fromBases[at];
      return said.moved && fromBase && !fromBase.moved ? [said, fromBase] : [said];
    });
    return ways.map(({ start: _, ...shown }) => shown);
  });
}

function shownOf(
  change: Omit<Change, 'dependsOn'>,
  facts: HashFacts,
): (ShownField & { readonly start: unknown })[] {
  const { id, ref } = change;
  const ladders = laddersOf(change, facts);
  // Only a flag has the paths of ramps: a segment with the name of a flag finds none of them.
  const flag = facts.start?.flags.get(ref.name);
  const earlier = flag?.environments.get(ref.environment ?? '')?.ramps ?? [];
  return change.fields.map((field) => {
    const { path } = field;
    const { start, moved } = knownStart(change, field, facts);
    const onRamp = earlier.filter((ramp) => pathOf(ramp) === path).map(({ rule }) => rule ?? 0);
    const to = writtenValue(field, ladders);
    const own = ladders.filter(({ ramp }) => pathOf(ramp) === path);
    const positions = own.map(({ ramp }) => ramp.rule ?? 0);
    return {
      id,
      path,
      start,
      from: digestOf(withoutRamps(path, start, onRamp)),
      ...(onRamp.length > 0 && { onRamp }),
      to: digestOf(to),
      ...(own.length > 0 && {
        next: digestOf(withoutRamps(path, to, positions)),
        ramp: digestOf(own.map(({ ramp }) => writtenRamp(ramp))),
      }),
      ...(moved && { moved: true }),
    };
  });
}

/** A restore starts at the live kill. Where neither base nor earlier specs are known, a field starts at its live value. */
function knownStart(
  change: Omit<Change, 'dependsOn'>,
  field: FieldChange,
  facts: HashFacts,
): { readonly start: unknown; readonly moved: boolean } {
  if (field.reason === 'restore') return { start: field.before, moved: false };
  const { before, moved = false } = startOf(change, field, facts);
  const isUnknown = facts.start === undefined && before === undefined && moved;
  return isUnknown ? { start: field.before, moved: false } : { start: before, moved };
}

/** A value without the buckets of these rules, which are at some step of their ramps. */
function withoutRamps(path: string, value: unknown, positions: readonly number[]): unknown {
  if (positions.length === 0 || value === undefined) return value;
  return withEachBuckets(path, value, (buckets, rule) =>
    positions.includes(rule ?? 0) ? 'on a ramp' : buckets,
  );
}

function digestOf(value: unknown): string | null {
  return value === undefined ? null : `sha256:${sha256(canonicalJson(value))}`;
}

/**
 * What reviewed plans showed together. Each field is compared by itself, so that a merge may bring what several reviews
 * showed: of one field, the plans must lead step by step from its start to its new value. No more keys may change than
 * one of them showed, and the list after it must be the same.
 */
export function shownIn(plans: readonly ReviewedPlan[]): ShownChanges {
  const actions = new Set<string>();
  const steps = new Map<string, ShownField[]>();
  const keys = new Map<string, KeyCounts[]>();
  for (const plan of plans) {
    const place = { origin: plan.origin, workspaceId: plan.workspace.id };
    for (const change of plan.changes) {
      actions.add(wordOf(place, change.id, actionOf(change)));
      if (change.keys) keptIn(keys, wordOf(place, change.id), () => []).push(change.keys);
      for (const field of change.fields) {
        if (field.keys)
          keptIn(keys, wordOf(place, change.id, field.path), () => []).push(field.keys);
      }
    }
    for (const field of plan.shown ?? [])
      keptIn(steps, wordOf(place, field.id, field.path), () => []).push(field);
  }
  const hasKeys = (word: string, now: KeyChange | undefined): boolean =>
    now === undefined || (keys.get(word) ?? []).some((then) => isNoMore(now, then));
  return {
    ids: new Set(plans.flatMap(({ changes }) => changes.map(({ id }) => id))),
    shows: (change, { place, ...facts }) => {
      const { id } = change;
      const ladders = facts.ladders.get(id) ?? [];
      const fields = change.fields.filter((field) => {
        return field.reason !== 'kill' && !isKnownStep(field, ladders);
      });
      if (change.fields.length > 0 && fields.length === 0) return true;
      return (
        actionsLike(change).some((action) => actions.has(wordOf(place, id, action))) &&
        hasKeys(wordOf(place, id), change.keys) &&
        fields.every(({ path, keys: now }) => hasKeys(wordOf(place, id, path), now)) &&
        shownOf({ ...change, fields }, facts).every((now) =>
          isShown(now, steps.get(wordOf(place, id, now.path)) ?? []),
        )
      );
    },
  };
}

/** Whether the steps lead from a field's start to its new value. They are followed backwards, each once. */
function isShown(
  now: ShownField & { readonly start: unknown },
  steps: readonly ShownField[],
): boolean {
  const isLast = (step: ShownField): boolean =>
    step.to === now.to && step.ramp === now.ramp && (!now.moved || step.moved === true);
  const path = new Set(steps.filter(isLast));
  for (const step of path) {
    if (digestOf(withoutRamps(now.path, now.start, step.onRamp ?? [])) === step.from) return true;
    const earlier = steps.filter(({ to, next = to }) => next !== null && next === step.from);
    earlier.forEach((each) => path.add(each));
  }
  return false;
}

function wordOf({ origin, workspaceId }: Place, id: string, part?: string): string {
  return JSON.stringify([origin, workspaceId, id, part]);
}

function actionOf({ action, archive }: { action: Action; archive?: boolean | undefined }): string {
  return archive === true ? 'archive' : action;
}

/** A creation shows each value too, and the object may exist by now. */
function actionsLike(change: Pick<Change, 'action' | 'archive'>): readonly string[] {
  const action = actionOf(change);
  return action === 'update' ? ['update', 'create', 'activate'] : [action];
}

function isNoMore(now: KeyChange, then: KeyCounts): boolean {
  return (
    now.sha256 === then.sha256 &&
    now.added.length <= then.added &&
    now.removed.length <= then.removed &&
    (now.changed?.length ?? 0) <= (then.changed ?? 0)
  );
}
