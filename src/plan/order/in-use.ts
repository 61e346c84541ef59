import {
  definitionId,
  keyOfId,
  objectId,
  refOfId,
  type ObjectId,
  type ObjectRef,
} from '../../model/ref.js';
import { isCreation, isRemoval, type Withheld } from '../../model/plan.js';
import {
  isCarried,
  liveUsesOf,
  targetedSegments,
  treatmentChange,
  usesOf,
  type ObjectPlan,
  type PlannedChange,
  type Use,
} from '../planned-change.js';
import { circleAmong } from './order.js';
import { observedKind } from '../objects/kinds.js';
import type { PlanInput } from '../input.js';
import { unseenIn, type WithheldReason } from '../policy.js';

/**
 * Withholds changes that alone would be refused, or do harm: those that need a withheld change or a missing treatment;
 * removals of objects or treatments that remain in use (or of a flag that remains in some place) after all other planned
 * changes; and removals in a circle. Withholding one change may prevent others, so this repeats until nothing changes.
 */
export function withoutHarm(
  objects: readonly ObjectPlan[],
  input: PlanInput,
): { planned: PlannedChange[]; withheld: Withheld[] } {
  const withheld = objects.flatMap((each) => each.withheld);
  const missing: Missing = new Map(withheld.filter(isCreation).map(({ id }) => [id, 'all']));
  let kept = objects.flatMap(({ change }) => change ?? []);
  for (;;) {
    let reasons = unmetNeeds(kept, missing);
    if (reasons.size === 0) reasons = reasonsToKeep(kept, input);
    if (reasons.size === 0) reasons = circular(kept, input);
    if (reasons.size === 0) return { planned: kept, withheld };
    for (const draft of kept) {
      const reason = reasons.get(draft.change.id);
      if (!reason) continue;
      withheld.push({ ...draft.change, dependsOn: [], ...reason });
      missing.set(draft.change.id, isCreation(draft.change) ? 'all' : treatmentChange(draft).added);
    }
    kept = kept.filter(({ change }) => !reasons.has(change.id));
  }
}

/** Parts that will not be created after all: treatments of a flag, or all of an object. */
type Missing = Map<ObjectId, ReadonlySet<string> | 'all'>;

function unmetNeeds(
  planned: readonly PlannedChange[],
  missing: Missing,
): Map<ObjectId, WithheldReason> {
  const found = planned.flatMap(({ change, after, uses }): [ObjectId, WithheldReason][] => {
    const need =
      after.find((id) => missing.get(id) === 'all') ??
      uses.find((use) => isMissing(use, missing))?.id;
    return need === undefined ? [] : [[change.id, needs(`it needs ${need}, which is withheld`)]];
  });
  return new Map(found);
}

function reasonsToKeep(
  planned: readonly PlannedChange[],
  input: PlanInput,
): Map<ObjectId, WithheldReason> {
  const changed = planned.map(({ change }) => change);
  const removed = new Set(changed.filter(isRemoval).map(({ id }) => id));
  const takes = planned.filter(takesAway);
  const users =
    takes.length === 0 ? new Map<ObjectId, Use[]>() : usersAfter(planned, removed, input);
  const unseen = unseenIn(input.policy);
  const reasons = new Map<ObjectId, WithheldReason>();
  for (const draft of takes) {
    const { id, ref } = draft.change;
    const isWhole = isRemoval(draft.change) && ref.environment === null;
    const left = isWhole ? placesLeft(ref, removed, input) : [];
    const using = (users.get(id) ?? []).filter((user) => usesWhatGoes(user, draft));
    const by = [...new Set(using.map((user) => user.id))];
    const whole = keyOfId(id);
    if (isCarried(draft) && !removed.has(whole))
      reasons.set(id, needs(`it is archived with ${whole}, which is withheld`));
    if (left.length > 0) reasons.set(id, inUse(`it is still in ${left.join(', ')}`));
    else if (isWhole && unseen.length > 0)
      reasons.set(id, inUse(`the key does not see ${unseen.join(', ')}, where it may be still`));
    if (by.length > 0)
      reasons.set(id, inUse(`${by.join(', ')} still ${by.length === 1 ? 'uses' : 'use'} it`));
  }
  const ruled = planned.filter(writesRules);
  if (ruled.length === 0) return reasons;
  const treatments = treatmentsAfter(planned, input);
  const coming = new Set(changed.filter(isCreation).map(({ id }) => id));
  for (const draft of ruled) {
    const [lack] = draft.uses.flatMap((use) => [
      ...lacking(use, treatments),
      ...notThere(use, coming, input),
    ]);
    if (lack !== undefined) reasons.set(draft.change.id, needs(lack));
  }
  return reasons;
}

function takesAway(draft: PlannedChange): boolean {
  return isRemoval(draft.change) || treatmentChange(draft).removed.size > 0;
}

function needs(because: string): WithheldReason {
  return { why: 'needs-withheld', because };
}

/** Live objects may depend in a circle, which specs may not. Without removals there is no problem. */
function circular(
  planned: readonly PlannedChange[],
  input: PlanInput,
): Map<ObjectId, WithheldReason> {
  if (!planned.some(takesAway)) return new Map();
  const environments = input.policy.environments.map(({ name }) => name);
  const circle = circleAmong(planned, input.actual, environments) ?? [];
  const path = circle.join(' → ');
  const because = `they use each other: ${path}; take a rule of one of them away on the service`;
  return new Map(circle.map((id) => [id, inUse(because)]));
}

function writesRules(draft: PlannedChange): boolean {
  return isCreation(draft.change) || draft.change.fields.some(({ path }) => path === '/rules');
}

/** Live definitions with their treatments after the planned changes; ignores removals. */
function treatmentsAfter(
  planned: readonly PlannedChange[],
  { actual }: PlanInput,
): ReadonlyMap<ObjectId, ReadonlySet<string>> {
  const added = new Map(planned.map((draft) => [draft.change.id, treatmentChange(draft).added]));
  const live = [...actual.flags].flatMap(([name, { definitions }]) =>
    [...definitions].flatMap(([environment, definition]) => {
      const id = objectId({ kind: 'flag', name, environment });
      const names = definition?.treatments.map((each) => each.name) ?? [];
      return definition ? [[id, new Set([...names, ...(added.get(id) ?? [])])] as const] : [];
    }),
  );
  return new Map(live);
}

/** A declared treatment may still be missing, if it is unmanaged or its change is held back. */
function lacking(use: Use, after: ReadonlyMap<ObjectId, ReadonlySet<string>>): string[] {
  const { id, treatments } = use;
  const there = after.get(id);
  return treatments
    .filter((name) => there?.has(name) === false)
    .map((name) => `it needs treatment "${name}" of ${id}, which has none of that name`);
}

/** The rule names an object that a look-up did not find and that this plan does not create. */
function notThere({ id }: Use, coming: ReadonlySet<ObjectId>, { actual }: PlanInput): string[] {
  const used = refOfId(id);
  const places = used && observedKind(used.kind)?.seen(actual, used.name)?.places;
  const isGone = places?.get(used?.environment ?? '') === false && !coming.has(id);
  return isGone ? [`it needs ${id}, which is not on the service`] : [];
}

function isMissing({ id, treatments }: Use, missing: Missing): boolean {
  const gone = missing.get(id);
  return gone === 'all' || treatments.some((treatment) => gone?.has(treatment));
}

function inUse(because: string): WithheldReason {
  return { why: 'still-in-use', because };
}

function usesWhatGoes({ treatments }: Use, draft: PlannedChange): boolean {
  const { removed } = treatmentChange(draft);
  return isRemoval(draft.change) || treatments.some((treatment) => removed.has(treatment));
}

function placesLeft(ref: ObjectRef, removed: ReadonlySet<ObjectId>, input: PlanInput): string[] {
  const { kind, name } = ref;
  const places = observedKind(kind)?.seen(input.actual, name)?.places ?? [];
  return [...places].flatMap(([environment, isThere]) =>
    isThere && !removed.has(objectId({ kind, name, environment })) ? [environment] : [],
  );
}

/** Object → its users with the treatments that they ask for: by their spec if this plan writes their rules, else live. */
function usersAfter(
  planned: readonly PlannedChange[],
  removed: ReadonlySet<ObjectId>,
  { desired, actual }: PlanInput,
): Map<ObjectId, Use[]> {
  const written = new Set(
    planned
      .filter(({ change }) => change.fields.some(({ path }) => path === '/rules'))
      .map(({ change }) => change.id),
  );
  const users = new Map<ObjectId, Use[]>();
  for (const [flag, { definitions }] of actual.flags) {
    for (const [environment, live] of definitions) {
      const id = definitionId({ flag, environment });
      if (!live || removed.has(id)) continue;
      const spec = desired.flags.get(flag)?.environments.get(environment);
      const rules = written.has(id) ? spec?.fields.rules : undefined;
      const uses = rules
        ? [...usesOf(rules, environment), ...targetedSegments(live, environment)]
        : liveUsesOf(live, environment);
      for (const { id: used, treatments } of uses) {
        users.set(used, [...(users.get(used) ?? []), { id, treatments }]);
      }
    }
  }
  return users;
}
