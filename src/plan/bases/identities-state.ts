import { identitiesDifference, identityGroups, withWritten } from '../../model/identities.js';
import { objectId, type ObjectId } from '../../model/ref.js';
import type { Change } from '../../model/plan.js';
import type { Outcomes } from '../../model/outcome.js';
import { identitiesEntry, type State } from '../../model/state.js';
import { baseOf } from './compare.js';
import { identitiesIn, trafficTypesOfIdentities } from '../objects/identities.js';
import { putBase } from '../place.js';
import { isPlanned } from '../policy.js';
import type { PlanInput } from '../input.js';

/** Identities that left git have been reported by now and are forgotten: the service can neither show nor delete them. */
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
    const bases = identitiesEntry(state, name)?.environments ?? {};
    for (const place of policy.environments) {
      const ref = { kind: 'identities' as const, name, environment: place.name };
      if (!place.selected || !equal.has(objectId(ref))) continue;
      const keys = identitiesIn(desired, name, place.name)?.keys;
      const spec = keys?.size ? { groups: identityGroups(keys) } : undefined;
      putBase(next, ref, place, spec && baseOf(spec, bases[place.id], head));
    }
  }
  return next;
}

/** Adds the identities that the service accepted, key by key; refused ones keep their old base. */
export function identitiesAfterAnswers(
  { desired, policy }: PlanInput,
  state: State,
  changes: readonly Change[],
  outcomes: Outcomes,
  head: string | null,
): State {
  const written = changes.flatMap(({ id, ref }) => {
    const environment = policy.environments.find(({ name }) => name === ref.environment);
    const keys = outcomes.get(id)?.identities?.written ?? [];
    return environment && keys.length > 0 ? [{ ref, environment, keys }] : [];
  });
  if (written.length === 0) return state;
  const next = new Map(state);
  for (const { ref, environment, keys } of written) {
    const before = identitiesEntry(next, ref.name)?.environments[environment.id];
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
