import { byCodeUnits } from '../kinds/json.js';
import type { Change, Plan, Rename, Withheld, WithheldWhy } from '../model/plan.js';
import type { ObjectId } from '../model/object-id.js';
import type { Draft, Drafted } from './draft.js';
import { planFlag } from './flags.js';
import { planIdentities } from './identities.js';
import { withoutUsed } from './in-use.js';
import { planKills, planStrangersRestores, withKills } from './kills.js';
import { ordered } from './order.js';
import { isWanted, wantedEntries, wantedOf } from './policy.js';
import type { PlanInput } from './plan-input.js';
import { planRemoval } from './removals.js';
import { renamesAmong } from './renames.js';
import { onlyReviewed } from './reviewed.js';
import { planSegment } from './segments.js';

/**
 * Works out the writes that turn `actual` into `desired`.
 *
 * Pure: no clock, no randomness, no log, no I/O. The same input gives the same plan, whatever order its maps were
 * filled in. It cannot fail on what users write; what the policy forbids comes back as `withheld`.
 */
export function planChanges(input: PlanInput, observed: Plan['observed'] = 'full'): Plan {
  const drafted = onlyReviewed(draftAll(input), input.policy.reviewed);
  const needed = withoutUnmetNeeds(drafted);
  const unused = withoutUsed(needed.drafts, input);
  const withheld = [...needed.withheld, ...unused.withheld];
  const environments = input.policy.environments.map((each) => each.name);
  const drafts = withKills(unused.drafts, planKills(input));
  const { changes, steps } = ordered(drafts, input.actual, environments);
  const renames = renamesAmong([...changes, ...withheld], input);
  const touched = new Set([...changes, ...withheld.filter(isDifference)].map(({ id }) => id));
  return {
    changes: changes.map((change) => withRename(change, renames)),
    steps,
    withheld: withheld
      .map((each) => withRename(each, renames))
      .sort((a, b) => byCodeUnits(a.id, b.id) || byCodeUnits(a.why, b.why)),
    unchanged: drafted
      .map(({ id }) => id)
      .filter((id) => !touched.has(id))
      .sort(byCodeUnits),
    observed,
    unmanaged: unmanagedCounts(input),
  };
}

function withRename<T extends Change>(change: T, renames: ReadonlyMap<ObjectId, Rename>): T {
  const rename = renames.get(change.id);
  return rename ? { ...change, rename } : change;
}

function draftAll(input: PlanInput): Drafted[] {
  const { desired, state, policy } = input;
  return [
    ...wantedOf(policy, 'segment', desired.segments).flatMap((each) => planSegment(each, input)),
    ...wantedOf(policy, 'flag', desired.flags).flatMap((each) => planFlag(each, input)),
    ...desired.identities
      .filter(({ trafficType }) => isWanted(policy, 'identities', trafficType))
      .flatMap((identities) => planIdentities(identities, input)),
    ...wantedEntries(policy, state).flatMap((entry) => planRemoval(entry, input)),
    ...planStrangersRestores(input),
  ];
}

/** A change that needs something which is withheld is withheld with it: half of it would be refused, or worse. */
function withoutUnmetNeeds(drafted: readonly Drafted[]): { drafts: Draft[]; withheld: Withheld[] } {
  const withheld = drafted.flatMap((each) => each.withheld);
  const missing = new Set<ObjectId>();
  for (const each of withheld) {
    if (isMissing(each)) missing.add(each.id);
  }
  let drafts = drafted.flatMap((each) => each.draft ?? []);
  for (;;) {
    const blocked = drafts.filter((draft) => needsOf(draft).some((id) => missing.has(id)));
    if (blocked.length === 0) return { drafts, withheld };
    for (const blockedDraft of blocked) {
      const { change } = blockedDraft;
      const need = needsOf(blockedDraft).find((id) => missing.has(id)) ?? '';
      const wayOut = `it needs ${need}, which is withheld`;
      withheld.push({ ...change, dependsOn: [], why: 'needs-withheld', wayOut });
      missing.add(change.id);
    }
    drafts = drafts.filter((draft) => !blocked.includes(draft));
  }
}

function needsOf({ after, uses }: Draft): ObjectId[] {
  return [...after, ...uses.map(({ id }) => id)];
}

/** Whether what is withheld is something that others cannot do without. */
function isMissing({ action }: Withheld): boolean {
  return action === 'create' || action === 'activate';
}

/**
 * A description that the service cannot change any more leaves the object as equal as it will ever be, and so do
 * identities that left git.
 */
function isDifference({ why, fields }: Withheld): boolean {
  if (why === 'stays-on-service') return false;
  return why !== 'immutable' || fields.some(({ path }) => path !== '/description');
}

function unmanagedCounts({ desired, actual, state }: PlanInput): Plan['unmanaged'] {
  if (!actual.allFlags || !actual.allSegments) return null;
  const strangers = (
    names: readonly string[],
    kind: 'flag' | 'segment',
    ours: ReadonlyMap<string, unknown>,
  ): number => names.filter((name) => !ours.has(name) && !state.has(`${kind}/${name}`)).length;
  return {
    flags: strangers(actual.allFlags, 'flag', desired.flags),
    segments: strangers(actual.allSegments, 'segment', desired.segments),
  };
}

/** What is never written, or of which nobody can know whether it has to be. */
const NEVER_PENDING: ReadonlySet<WithheldWhy> = new Set([
  'immutable',
  'stays-on-service',
  'not-remembered',
]);

/** Withheld changes that are pending: those that the service can never make are none. */
export function pendingWithheld(plan: Pick<Plan, 'withheld'>): readonly Withheld[] {
  return plan.withheld.filter(({ why }) => !NEVER_PENDING.has(why));
}

/** `KIND/NAME` of every object that a plan writes to. */
export function touchedKeys(plan: Plan): ReadonlySet<string> {
  return new Set(plan.changes.map(({ ref }) => `${ref.kind}/${ref.name}`));
}
