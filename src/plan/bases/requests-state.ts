import { isSameMark } from '../../model/change-request.js';
import { present } from '../../model/collections.js';
import type { Outcomes } from '../../model/outcome.js';
import type { Plan } from '../../model/plan.js';
import { keyOfId, objectId, refOfId, type ObjectId, type ObjectRef } from '../../model/ref.js';
import type { Base, RememberedRequest, State } from '../../model/state.js';
import type { PlanInput } from '../input.js';
import { observedKind } from '../objects/kinds.js';
import { baseIn, emptyEntry, withBase } from '../place.js';
import { isPlanned } from '../policy.js';

/**
 * With the change requests that this run submitted or found, and without those that are over. Objects that the run did
 * not plan keep theirs.
 */
export function stateWithRequests(
  state: State,
  plan: Pick<Plan, 'changes' | 'withheld' | 'steps'>,
  outcomes: Outcomes,
  input: PlanInput,
  head: string | null,
): State {
  const answers = answersIn(plan, outcomes);
  const next = new Map(state);
  for (const id of answers.keys()) {
    const ref = refOfId(id);
    if (ref && !next.has(keyOfId(id))) next.set(keyOfId(id), emptyEntry(ref));
  }
  const places = input.policy.environments.filter(({ selected }) => selected);
  for (const [key, entry] of next) {
    if (!isPlanned(input.policy, entry.kind, entry.name)) continue;
    let left = entry;
    for (const place of places) {
      const ref = { kind: entry.kind, name: entry.name, environment: place.name };
      const answer = answers.get(objectId(ref));
      const base = baseIn(entry, place);
      if (answer) {
        const begun: Base<unknown> = base ?? { commit: head, pending: 'create' };
        const known = base?.request;
        const asked =
          known?.id === answer.id ? known.asked : askedFor(ref, answer, plan.steps, input);
        left = withBase(left, place, { ...begun, request: { ...answer, ...present({ asked }) } });
      } else if (base?.request) {
        const { request: _, ...rest } = base;
        left = withBase(left, place, rest);
      }
    }
    if (left !== entry) next.set(key, left);
  }
  return next;
}

function answersIn(
  { changes, withheld }: Pick<Plan, 'changes' | 'withheld'>,
  outcomes: Outcomes,
): ReadonlyMap<ObjectId, RememberedRequest<unknown>> {
  const found = [
    ...withheld.map(({ id, request }) => ({ id, request })),
    ...changes.map(({ id }) => {
      const outcome = outcomes.get(id);
      return { id, request: outcome?.status === 'skipped' ? outcome.request : undefined };
    }),
  ];
  return new Map(
    found.flatMap(({ id, request }) =>
      request?.mark ? [[id, { ...request, mark: request.mark }] as const] : [],
    ),
  );
}

/** Undefined for a request of an earlier run that no state remembered. */
function askedFor(
  ref: ObjectRef,
  { mark }: RememberedRequest<unknown>,
  steps: Plan['steps'],
  { desired }: PlanInput,
): unknown {
  const { ask } =
    steps.find(({ change, ask }) => change === objectId(ref) && isSameMark(ask?.mark, mark)) ?? {};
  if (ask?.keysAfter) return { keys: ask.keysAfter };
  return ask?.operation === 'UPDATE' ? observedKind(ref.kind)?.spec(desired, ref) : undefined;
}
