import { isSameMark, type ChangeRequest } from '../../model/change-request.js';
import type { Outcomes } from '../../model/outcome.js';
import type { Plan } from '../../model/plan.js';
import { keyOf, objectId, refOfId, type ObjectId } from '../../model/ref.js';
import type { Base, RememberedRequest, State } from '../../model/state.js';
import type { PlanInput } from '../input.js';
import { observedKind } from '../objects/kinds.js';
import { baseIn, emptyEntry, withBase } from '../place.js';
import { isPlanned } from '../policy.js';

/**
 * The state with the change requests that this run submitted or found, and without those that are over. Objects that
 * the run did not plan keep theirs.
 *
 * @param state after everything else of the run.
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
    if (!ref) continue;
    const key = keyOf(ref.kind, ref.name);
    if (!next.has(key)) next.set(key, emptyEntry(ref));
  }
  for (const [key, entry] of next) {
    if (!isPlanned(input.policy, entry.kind, entry.name)) continue;
    let left = entry;
    for (const place of input.policy.environments) {
      if (!place.selected) continue;
      const id = objectId({ kind: entry.kind, name: entry.name, environment: place.name });
      const answer = answers.get(id);
      const base = baseIn(entry, place);
      if (answer) {
        const begun: Base<unknown> = base ?? { commit: head, pending: 'create' };
        const request = remembered(id, answer, { plan, input, base });
        left = withBase(left, place, { ...begun, request });
      } else if (base?.request) {
        const { request: _, ...rest } = base;
        left = withBase(left, place, rest);
      }
    }
    if (left !== entry) next.set(key, left);
  }
  return next;
}

type Answer = ChangeRequest & { readonly mark: NonNullable<ChangeRequest['mark']> };

function answersIn(
  { changes, withheld }: Pick<Plan, 'changes' | 'withheld'>,
  outcomes: Outcomes,
): ReadonlyMap<ObjectId, Answer> {
  const found = [
    ...withheld.map(({ id, request }) => [id, request] as const),
    ...changes.map(({ id }) => {
      const outcome = outcomes.get(id);
      return [id, outcome?.status === 'skipped' ? outcome.request : undefined] as const;
    }),
  ];
  return new Map(
    found.flatMap(([id, request]) =>
      request?.mark ? [[id, { ...request, mark: request.mark }] as const] : [],
    ),
  );
}

function remembered(
  id: ObjectId,
  answer: Answer,
  of: {
    readonly plan: Pick<Plan, 'steps'>;
    readonly input: PlanInput;
    readonly base: Base<unknown> | undefined;
  },
): RememberedRequest<unknown> {
  const known = of.base?.request;
  const asked = known?.id === answer.id ? known.asked : askedFor(id, answer, of);
  return { ...answer, ...(asked !== undefined && { asked }) };
}

/** Undefined for a request of an earlier run that no state remembered. */
function askedFor(
  id: ObjectId,
  { mark }: Answer,
  { plan, input }: { readonly plan: Pick<Plan, 'steps'>; readonly input: PlanInput },
): unknown {
  const step = plan.steps.find(
    ({ change, ask }) => change === id && ask !== undefined && isSameMark(mark, ask.mark),
  );
  const ref = refOfId(id);
  if (!step?.ask || ref?.environment === null || ref === undefined) return undefined;
  const { operation, keysAfter } = step.ask;
  if (keysAfter) return { keys: keysAfter };
  if (operation !== 'UPDATE') return undefined;
  return observedKind(ref.kind)?.spec(input.desired, ref);
}
