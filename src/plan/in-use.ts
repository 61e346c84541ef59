import { objectId, type ObjectId } from '../model/object-id.js';
import type { Withheld } from '../model/plan.js';
import { isCreation, isRemoval, type Draft } from './draft.js';
import { circleAmong } from './order.js';
import type { PlanInput } from './plan-input.js';
import type { WithheldReason } from './policy.js';
import { liveUsesOf, targetedSegments, usesOf, type Use } from './uses.js';
import { treatmentChange } from './widen.js';

/**
 * Takes back what would break others: removals, of objects or of treatments, that something will still use (or that
 * leave the object somewhere) once all the other drafts are applied; what needs a draft that was taken back, or a
 * treatment that nobody brings; and what can only go after itself. One that is taken back may keep others from going,
 * so this is repeated until nothing changes.
 */
export function withoutUsed(
  drafts: readonly Draft[],
  input: PlanInput,
): { drafts: Draft[]; withheld: Withheld[] } {
  const withheld: Withheld[] = [];
  const missing: Missing = new Map();
  let kept = [...drafts];
  for (;;) {
    let reasons = reasonsToKeep(kept, missing, input);
    if (reasons.size === 0) reasons = circular(kept, input);
    if (reasons.size === 0) return { drafts: kept, withheld };
    for (const draft of kept) {
      const reason = reasons.get(draft.change.id);
      if (!reason) continue;
      withheld.push({ ...draft.change, dependsOn: [], ...reason });
      missing.set(draft.change.id, isCreation(draft) ? 'all' : treatmentChange(draft).added);
    }
    kept = kept.filter(({ change }) => !reasons.has(change.id));
  }
}

/** What was to be made and will not be: treatments of a flag, or all of an object. */
type Missing = Map<ObjectId, ReadonlySet<string> | 'all'>;

function reasonsToKeep(
  drafts: readonly Draft[],
  missing: Missing,
  input: PlanInput,
): Map<ObjectId, WithheldReason> {
  const removed = new Set(drafts.filter(isRemoval).map(({ change }) => change.id));
  const takes = drafts.filter(takesAway);
  const users =
    takes.length === 0 ? new Map<ObjectId, User[]>() : usersAfter(drafts, removed, input);
  const reasons = new Map<ObjectId, WithheldReason>();
  for (const draft of takes) {
    const { id, ref } = draft.change;
    const left =
      isRemoval(draft) && ref.environment === null ? placesLeft(ref, removed, input) : [];
    const by = (users.get(id) ?? [])
      .filter((user) => usesWhatGoes(user, draft))
      .map((user) => user.id);
    if (left.length > 0) reasons.set(id, inUse(`it is still in ${left.join(', ')}`));
    if (by.length > 0)
      reasons.set(id, inUse(`${by.join(', ')} still ${by.length === 1 ? 'uses' : 'use'} it`));
  }
  const treatments = treatmentsAfter(drafts, input);
  for (const draft of drafts) {
    const need = draft.uses.find((use) => isMissing(use, missing));
    if (need) reasons.set(draft.change.id, needs(`it needs ${need.id}, which is withheld`));
    else if (writesRules(draft)) {
      const lack = draft.uses.flatMap((use) => lacking(use, treatments)).at(0);
      if (lack !== undefined) reasons.set(draft.change.id, needs(lack));
    }
  }
  return reasons;
}

function takesAway(draft: Draft): boolean {
  return isRemoval(draft) || treatmentChange(draft).removed.size > 0;
}

function needs(wayOut: string): WithheldReason {
  return { why: 'needs-withheld', wayOut };
}

/** What is live may depend in a circle, which specs may not. Where nothing goes there is no such order to be found. */
function circular(drafts: readonly Draft[], input: PlanInput): Map<ObjectId, WithheldReason> {
  if (!drafts.some(takesAway)) return new Map();
  const environments = input.policy.environments.map(({ name }) => name);
  const circle = circleAmong(drafts, input.actual, environments) ?? [];
  const path = circle.join(' → ');
  const wayOut = `they use each other: ${path}; take a rule of one of them away on the service`;
  return new Map(circle.map((id) => [id, inUse(wayOut)]));
}

function writesRules(draft: Draft): boolean {
  return isCreation(draft) || draft.change.fields.some(({ path }) => path === '/rules');
}

/** Definitions that are live, by their treatments once the drafts are applied; what goes is another question. */
function treatmentsAfter(
  drafts: readonly Draft[],
  { actual }: PlanInput,
): ReadonlyMap<ObjectId, ReadonlySet<string>> {
  const added = new Map(drafts.map((draft) => [draft.change.id, treatmentChange(draft).added]));
  const live = [...actual.flags].flatMap(([name, { definitions }]) =>
    [...definitions].flatMap(([environment, definition]) => {
      const id = objectId({ kind: 'flag', name, environment });
      const names = definition?.treatments.map((each) => each.name) ?? [];
      return definition ? [[id, new Set([...names, ...(added.get(id) ?? [])])] as const] : [];
    }),
  );
  return new Map(live);
}

/** A treatment that the specs declare is not there where it is not managed, or its change is held back. */
function lacking(
  { id, treatments }: Use,
  after: ReadonlyMap<ObjectId, ReadonlySet<string>>,
): string[] {
  const there = after.get(id);
  return treatments
    .filter((name) => there?.has(name) === false)
    .map((name) => `it needs treatment "${name}" of ${id}, which has none of that name`);
}

function isMissing({ id, treatments }: Use, missing: Missing): boolean {
  const gone = missing.get(id);
  return gone === 'all' || treatments.some((treatment) => gone?.has(treatment));
}

function inUse(wayOut: string): WithheldReason {
  return { why: 'still-in-use', wayOut };
}

function usesWhatGoes({ treatments }: User, draft: Draft): boolean {
  const { removed } = treatmentChange(draft);
  return isRemoval(draft) || treatments.some((treatment) => removed.has(treatment));
}

/** A definition that uses something, and which treatments of it. */
interface User {
  readonly id: ObjectId;
  readonly treatments: readonly string[];
}

/** Environments of the workspace that will still have the object. */
function placesLeft(
  { kind, name }: { kind: string; name: string },
  removed: ReadonlySet<ObjectId>,
  { actual }: PlanInput,
): string[] {
  const places =
    kind === 'flag'
      ? [...(actual.flags.get(name)?.definitions ?? [])].filter(([, live]) => live !== null)
      : [...(actual.segments.get(name)?.environments ?? [])].filter(([, live]) => live.active);
  return places
    .map(([environment]) => environment)
    .filter((environment) => !removed.has(`${kind}/${name}@${environment}`));
}

/** Object → the definitions that will use it: by their spec where this plan writes their rules, else as they are live. */
function usersAfter(
  drafts: readonly Draft[],
  removed: ReadonlySet<ObjectId>,
  { desired, actual, policy }: PlanInput,
): Map<ObjectId, User[]> {
  const written = new Set(
    drafts
      .filter(({ change }) => change.fields.some(({ path }) => path === '/rules'))
      .map(({ change }) => change.id),
  );
  const configNames = new Map(policy.environments.map((each) => [each.name, each.configName]));
  const users = new Map<ObjectId, User[]>();
  for (const [flag, { definitions }] of actual.flags) {
    for (const [environment, live] of definitions) {
      const id = objectId({ kind: 'flag', name: flag, environment });
      if (!live || removed.has(id)) continue;
      const spec = desired.flags.get(flag)?.environments.get(configNames.get(environment) ?? '');
      const rules = written.has(id) ? spec?.fields.rules : undefined;
      const uses = rules
        ? [...usesOf(rules, environment), ...targetedSegments(live, environment)]
        : liveUsesOf(live, environment);
      for (const [used, treatments] of merged(uses)) {
        users.set(used, [...(users.get(used) ?? []), { id, treatments }]);
      }
    }
  }
  return users;
}

function merged(uses: readonly Use[]): Map<ObjectId, readonly string[]> {
  const treatments = new Map<ObjectId, readonly string[]>();
  for (const use of uses)
    treatments.set(use.id, [...(treatments.get(use.id) ?? []), ...use.treatments]);
  return treatments;
}
