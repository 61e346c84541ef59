import { pathOf, withEachBuckets, writtenRamp } from '../model/flag/ramp.js';
import { canonicalJson, sha256 } from '../model/json.js';
import type { Action, Change, KeyChange, Plan, ShownField } from '../model/plan.js';
import type { Place, ShownChanges } from '../model/run.js';
import { isKnownStep, startOf, writtenValue, type HashFacts } from './hash.js';

export interface ReviewedPlan {
  readonly origin: string;
  readonly workspace: { readonly id: string };
  readonly changes: readonly ShownChange[];
  /** Unset in documents of earlier versions: they show nothing. */
  readonly shown?: readonly ShownField[] | undefined;
}

interface ShownChange {
  readonly id: string;
  readonly action: Action;
  readonly archive?: boolean | undefined;
  readonly keys?: KeyCounts | undefined;
  readonly fields: readonly { readonly path: string; readonly keys?: KeyCounts | undefined }[];
}

interface KeyCounts {
  readonly added: number;
  readonly removed: number;
  readonly changed?: number | undefined;
  readonly sha256: string;
}

export function shownFields({ changes }: Pick<Plan, 'changes'>, facts: HashFacts): ShownField[] {
  return changes.flatMap((change) => shownOf(change, facts).map(({ start: _, ...shown }) => shown));
}

function shownOf(
  change: Omit<Change, 'dependsOn'>,
  facts: HashFacts,
): (ShownField & { readonly start: unknown })[] {
  const { id, ref, action } = change;
  const ladders = action === 'delete' ? [] : (facts.ladders?.get(id) ?? []);
  // Only a flag has the paths of ramps: a segment with the name of a flag finds none of them.
  const flag = facts.start?.flags.get(ref.name);
  const earlier = flag?.environments.get(ref.environment ?? '')?.ramps ?? [];
  return change.fields.map((field) => {
    const { path } = field;
    const { start, moved } = knownStart(change, field, facts);
    const onRamp = earlier.filter((ramp) => pathOf(ramp) === path).map(({ rule }) => rule ?? 0);
    const to = field.after === undefined ? undefined : writtenValue(field, ladders);
    const own = ladders.filter(({ ramp }) => pathOf(ramp) === path);
    const positions = own.map(({ ramp }) => ramp.rule ?? 0);
    return {
      ...{ id, path, start, from: digestOf(withoutRamps(path, start, onRamp)) },
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
  field: Change['fields'][number],
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
      if (change.keys) addTo(keys, wordOf(place, change.id), change.keys);
      for (const field of change.fields) {
        if (field.keys) addTo(keys, wordOf(place, change.id, field.path), field.keys);
      }
    }
    for (const field of plan.shown ?? []) addTo(steps, wordOf(place, field.id, field.path), field);
  }
  const hasKeys = (word: string, now: KeyChange | undefined): boolean =>
    now === undefined || (keys.get(word) ?? []).some((then) => isNoMore(now, then));
  return {
    ids: new Set(plans.flatMap(({ changes }) => changes.map(({ id }) => id))),
    shows: (change, { place, ...facts }) => {
      const { id } = change;
      const ladders = facts.ladders.get(id) ?? [];
      const goes = (field: Change['fields'][number]): boolean =>
        field.reason === 'kill' || isKnownStep(field, ladders);
      const fields = change.fields.filter((field) => !goes(field));
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

function addTo<T>(lists: Map<string, T[]>, word: string, item: T): void {
  lists.set(word, [...(lists.get(word) ?? []), item]);
}

function actionOf({ action, archive }: { action: Action; archive?: boolean | undefined }): string {
  return archive === true ? 'archive' : action;
}

/** A creation shows each value too, and the object may exist by now. */
function actionsLike(change: Pick<Change, 'action' | 'archive'>): readonly string[] {
  const action = actionOf(change);
  return action === 'update' ? ['update', 'create', 'activate'] : [action];
}

function isNoMore(
  { added, removed, changed, sha256: digest }: KeyChange,
  then: KeyCounts,
): boolean {
  return (
    digest === then.sha256 &&
    added.length <= then.added &&
    removed.length <= then.removed &&
    (changed?.length ?? 0) <= (then.changed ?? 0)
  );
}
