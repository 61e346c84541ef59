import { objectId, type ObjectId } from '../model/object-id.js';
import type { Withheld } from '../model/plan.js';
import type { Draft } from './draft.js';
import type { PlanInput } from './plan-input.js';
import type { WithheldReason } from './policy.js';
import { liveUsesOf, targetedSegments, usesOf, type Use } from './uses.js';
import { treatmentChange } from './widen.js';

/**
 * Takes back what would break others: removals, of objects or of treatments, that something will still use (or that
 * leave the object somewhere) once all the other drafts are applied; and what needs a draft that was taken back. One
 * that is taken back may keep others from going, so this is repeated until nothing changes.
 */
export function withoutUsed(
  drafts: readonly Draft[],
  input: PlanInput,
): { drafts: Draft[]; withheld: Withheld[] } {
  const withheld: Withheld[] = [];
  const missing: Missing = new Map();
  let kept = [...drafts];
  for (;;) {
    const reasons = reasonsToKeep(kept, missing, input);
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

/** Of what uses others: an activation uses nothing, so it is never taken back here. */
function isCreation({ change }: Draft): boolean {
  return change.action === 'create';
}

export function isRemoval({ change }: Draft): boolean {
  return change.action === 'delete' || change.action === 'deactivate';
}

function reasonsToKeep(
  drafts: readonly Draft[],
  missing: Missing,
  input: PlanInput,
): Map<ObjectId, WithheldReason> {
  const removed = new Set(drafts.filter(isRemoval).map(({ change }) => change.id));
  const takes = drafts.filter(
    (draft) => isRemoval(draft) || treatmentChange(draft).removed.size > 0,
  );
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
  for (const { change, uses } of drafts) {
    const need = uses.find((use) => isMissing(use, missing));
    if (!need) continue;
    reasons.set(change.id, {
      why: 'needs-withheld',
      wayOut: `it needs ${need.id}, which is withheld`,
    });
  }
  return reasons;
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
