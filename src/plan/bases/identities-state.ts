import { identitiesDifference, identityGroups, withWritten } from '../../model/identities.js';
import { objectId, type ObjectId } from '../../model/ref.js';
import type { Change } from '../../model/plan.js';
import type { IdentitiesAnswer, Outcomes } from '../../model/outcome.js';
import { identitiesEntry, type Base, type IdentitiesBase, type State } from '../../model/state.js';
import { baseOf } from './compare.js';
import { identitiesIn, trafficTypesOfIdentities } from '../objects/identities.js';
import { baseIn, emptyEntry, keepEntry, withBase } from '../place.js';
import { isPlanned, type PlannedEnvironment } from '../policy.js';
import type { PlanInput } from '../input.js';

/**
 * The state with the identities that were found to match git. Identities that left git have been reported by now and
 * are forgotten: the service can neither show nor delete them.
 */
export function identitiesAfterVerify(
  input: PlanInput,
  state: State,
  equal: ReadonlySet<ObjectId>,
  head: string | null,
): State {
  const { desired, policy } = input;
  const names = [...trafficTypesOfIdentities(desired, state)].filter((name) =>
    isPlanned(policy, 'identities', name),
  );
  if (names.length === 0) return state;
  const next = new Map(state);
  for (const name of names) {
    let entry = identitiesEntry(state, name) ?? emptyEntry({ kind: 'identities', name });
    for (const place of policy.environments) {
      const id = objectId({ kind: 'identities', name, environment: place.name });
      if (!place.selected || !equal.has(id)) continue;
      const keys = identitiesIn(desired, name, place.name)?.keys;
      const base = keys?.size
        ? baseOf({ groups: identityGroups(keys) }, baseIn(entry, place), head)
        : undefined;
      entry = withBase(entry, place, base);
    }
    keepEntry(next, entry);
  }
  return next;
}

/** The state with the identities that the service accepted, key by key; refused ones keep their old base. */
export function identitiesAfterAnswers(
  input: PlanInput,
  state: State,
  changes: readonly Change[],
  outcomes: Outcomes,
  head: string | null,
): State {
  const concerned = changes.filter(({ ref }) => ref.kind === 'identities');
  if (concerned.length === 0) return state;
  const next = new Map(state);
  for (const { id, ref } of concerned) {
    const answer = outcomes.get(id)?.identities;
    const environment = input.policy.environments.find(({ name }) => name === ref.environment);
    if (!environment || !answer?.written.length) continue;
    const entry = identitiesEntry(next, ref.name);
    const before = entry?.environments[environment.id];
    const base = baseAfter(answer, { name: ref.name, environment, before, head }, input);
    keepEntry(next, withBase(entry ?? emptyEntry(ref), environment, base));
  }
  return next;
}

interface Place {
  readonly name: string;
  readonly environment: PlannedEnvironment;
  readonly before: Base<IdentitiesBase> | undefined;
  readonly head: string | null;
}

/** Keeps the commit while some are missing: titles of later writes name all commits from there on. */
function baseAfter(
  { written }: IdentitiesAnswer,
  { name, environment, before, head }: Place,
  { desired }: PlanInput,
): Base<IdentitiesBase> {
  const wanted = identitiesIn(desired, name, environment.name)?.keys ?? new Map();
  const taken = new Map(written.map((key) => [key, wanted.get(key) ?? {}]));
  const groups = withWritten(before?.spec?.groups ?? [], taken);
  const { added, changed } = identitiesDifference(wanted, groups);
  const isWhole = added.length + changed.length === 0;
  return { spec: { groups }, commit: isWhole ? head : (before?.commit ?? null) };
}
