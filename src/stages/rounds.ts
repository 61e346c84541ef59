import type { ObjectId } from '../model/object-id.js';
import type { Change } from '../model/plan.js';
import type { Outcomes } from '../model/run.js';
import { planChanges } from '../plan/plan.js';
import { verifyingPolicy } from '../plan/policy.js';
import { look } from './look.js';
import type { Applied, Planned, RunContext } from './run.js';
import { weigh } from './weighing.js';
import { wordsFor } from './words.js';

/** Rounds after the first. */
const MORE_ROUNDS = 2;

/**
 * Applies a plan; and plans again, at most twice, what somebody else changed while it was applied, with all that had to
 * wait for it. What is planned again is judged like any plan: what the policy withholds by now stays as it is, and where a
 * guard stands against it there is no further round.
 *
 * @param mayGoOn false: what is left is left to the next run.
 */
export async function inRounds(
  planned: Planned,
  context: RunContext,
  apply: (planned: Planned) => Promise<Applied>,
  mayGoOn: () => boolean,
): Promise<Applied> {
  let done = await apply(planned);
  for (let round = 1; round <= MORE_ROUNDS && mayGoOn(); round += 1) {
    const overtaken = overtakenIn(done.plan.changes, done.outcomes);
    if (overtaken.size === 0 || done.unverified !== undefined) break;
    // One round after the other: each plans from what the one before has left.
    const again = await planAgain(done, overtaken, context);
    if (!again) break;
    done = joined(done, await apply(again), overtaken);
  }
  return done;
}

/** `KIND/NAME` of what changed meanwhile or was refused for lack of what is there by now, and of what had to wait for it. */
function overtakenIn(changes: readonly Change[], outcomes: Outcomes): ReadonlySet<string> {
  const isOvertaken = (change: Change): boolean => {
    const outcome = outcomes.get(change.id);
    return (
      outcome?.status === 'failed' &&
      (outcome.error.code === 'CHANGED_MEANWHILE' || isTooEarly(change, outcomes))
    );
  };
  if (!changes.some(isOvertaken)) return new Set();
  const isWaiting = ({ id }: Change): boolean => {
    const outcome = outcomes.get(id);
    return outcome?.status === 'skipped' && outcome.approvalNeeded !== true;
  };
  return new Set(
    changes.filter((each) => isOvertaken(each) || isWaiting(each)).map(({ id }) => keyOf(id)),
  );
}

const NOT_THERE: ReadonlySet<number | null> = new Set([400, 404]);

/** A service may take a while to see what it has just been given. */
function isTooEarly({ id, dependsOn }: Change, outcomes: Outcomes): boolean {
  const outcome = outcomes.get(id);
  return (
    outcome?.status === 'failed' &&
    NOT_THERE.has(outcome.error.status) &&
    dependsOn.some((each) => outcomes.get(each)?.status === 'applied')
  );
}

async function planAgain(
  done: Applied,
  only: ReadonlySet<string>,
  context: RunContext,
): Promise<Planned | null> {
  const { reader, at, input: before, state, appliedHead: applied } = done;
  const { checkout, revision } = context.source;
  const head = revision.commit;
  const { desired } = before;
  const policy = verifyingPolicy(before.policy, only);
  const { progress } = context;
  const { specs } = context.memory;
  const input = await look(reader, at, {
    desired,
    state,
    policy,
    checkout,
    head,
    progress,
    specs,
    whole: false,
  });
  const changes = planChanges(input, 'touched');
  if (changes.changes.length === 0) return null;
  const weighed = await weigh(changes, input, context, { applied });
  if (weighed.guardFindings.length > 0) return null;
  const words = await wordsFor(changes, input, checkout, head, specs);
  return { ...done, ...weighed, plan: changes, input, words };
}

/** The first plan is what was reviewed by eye, and what is reported; its changes ended as they did last. */
function joined(first: Applied, second: Applied, overtaken: ReadonlySet<string>): Applied {
  const outcomes = new Map(first.outcomes);
  for (const [id, outcome] of second.outcomes) if (outcomes.has(id)) outcomes.set(id, outcome);
  const left = [...first.left.filter((id) => !overtaken.has(keyOf(id))), ...second.left];
  const settled = [...first.unsettled].filter((key) => !overtaken.has(key));
  const unsettled = new Set([...settled, ...second.unsettled]);
  const { state, unverified, unremembered } = second;
  return {
    ...first,
    ...{
      outcomes,
      state,
      left,
      unsettled,
      converged: left.length === 0 && unverified === undefined,
    },
    ...(unverified !== undefined && { unverified }),
    ...(unremembered !== undefined && { unremembered }),
  };
}

function keyOf(id: ObjectId): string {
  return id.split('@')[0] ?? id;
}
