import { objectsOf, type DesiredKill } from '../model/desired.js';
import { definitionId, keyOfId, objectId, type ObjectId } from '../model/ref.js';
import { EXIT, exitCodeOfSignal, type ExitCode } from '../errors.js';
import type { Outcome, Outcomes } from '../model/outcome.js';
import { planOptionsOf } from '../model/remedy.js';
import { exitOf, verdictOf, type Verdict } from '../model/verdict.js';
import type { Change, LeftToPeople, Reminder } from '../model/plan.js';
import { killOrders } from '../plan/kills/orders.js';
import { shownFields } from '../plan/reviewed.js';
import { unmanagedNames } from '../plan/plan.js';
import { isSelectedHere, plannedObjects } from '../plan/policy.js';
import type { PlanReport } from '../report/plan-report.js';
import type { Applied, Planned, RunContext } from './context.js';
import { remindersAt, standingsOf } from '../timing/standings.js';
import { leftOutOf } from './scope.js';

export function reportOf(
  result: Planned | Applied,
  { context }: { readonly context: RunContext },
): PlanReport {
  const { plan: found, notes, planHash, at, impacts, guardFindings, allowed, input } = result;
  const outcomes = 'outcomes' in result ? result.outcomes : killOutcomes(result);
  return {
    plan: found,
    notes,
    planHash,
    planOptions: planOptionsOf(context.options),
    ...heldHashOf(result),
    impacts,
    guardFindings,
    allowed,
    unknowns: result.unknowns,
    origin: context.originName(),
    workspace: at.workspace,
    revision: context.source.revision,
    stateless: result.remembered.home === null,
    suspended: input.policy.suspended,
    behind: input.policy.behind,
    nowMs: context.now(),
    ramps: standingsOf(input.moment, found, 'outcomes' in result ? outcomes : undefined),
    reminders: remindersOf(input, context.now()),
    leftToPeople: leftToPeople(input),
    closed: input.policy.environments.flatMap(({ name, selected }) => {
      const closed = selected && input.policy.closed?.get(name);
      // Leaves out an empty reason: a review ignores windows without one, and writes nothing.
      const { windowOverride: override = '' } = input.policy;
      return closed ? [{ environment: name, ...closed, ...(override !== '' && { override }) }] : [];
    }),
    leftOut: leftOutOf(context.options, input),
    held: [...input.policy.quarantined].sort(),
    environments: input.policy.environments.map(({ name }) => name),
    protectedEnvironments: new Set(
      input.policy.environments.filter((each) => each.protected).map(({ name }) => name),
    ),
    ruleNames: ruleNamesOf([...found.changes, ...found.withheld], input),
    killReasons: killReasonsOf(input.desired),
    verdict: 'verdict' in result ? result.verdict : verdictOn(result, context, outcomes),
    ...(outcomes && { outcomes }),
    ...('outcomes' in result
      ? { converged: result.converged, left: result.left }
      : {
          shown: shownFields(found, { start: input.policy.start, ladders: input.moment.ladders }),
        }),
  };
}

/** Of a plan that was not applied: its changes wait for an apply, or for an approval. */
function verdictOn(
  { plan: found, refusedHash, input, guardFindings: findings }: Planned,
  { options }: RunContext,
  outcomes: Outcomes | undefined,
): Verdict {
  const invalid = [...input.policy.quarantined];
  const refusal =
    findings.length === 0
      ? undefined
      : { planHash: refusedHash, findings, options: planOptionsOf(options) };
  return verdictOf({ plan: found, outcomes, invalid, refusal });
}

/**
 * The hash that approves the changes that a guard or a window holds back. After an apply it covers only those, because
 * the rest of the plan is written.
 */
function heldHashOf(result: Planned | Applied): { heldHash?: string } {
  const { guardFindings, planHash, refusedHash, heldHash } = result;
  if (!('outcomes' in result)) {
    if (guardFindings.length > 0) return { heldHash: refusedHash };
    return heldHash === null ? {} : { heldHash: planHash };
  }
  return heldHash === null ? {} : { heldHash };
}

function remindersOf({ desired, policy }: Planned['input'], ms: number): Reminder[] {
  const changed = policy.reviewed && new Set([...policy.reviewed].map(keyOfId));
  const all = remindersAt(desired, ms).filter(({ id }) => isSelectedHere(policy, id));
  return all.filter(({ id }) => changed?.has(keyOfId(id)) ?? true);
}

function leftToPeople({ desired, policy }: Planned['input']): LeftToPeople[] {
  return plannedObjects(policy, 'flag', desired.flags).flatMap((flag) => {
    const { name, fields, creation = {}, environments } = flag;
    const own = Object.keys(creation).filter((field) => !Object.hasOwn(fields, field));
    const places = policy.environments.map(({ name: environment, selected }) => {
      const unmanaged = selected ? environments.get(environment)?.unmanaged : undefined;
      return { id: objectId({ kind: 'flag', name, environment }), fields: unmanaged ?? [] };
    });
    const whole = { id: objectId({ kind: 'flag', name, environment: null }), fields: own };
    return [whole, ...places].filter((each) => each.fields.length > 0);
  });
}

/** Outcomes for a plan that a guard refuses: only its kills were sent. */
function killOutcomes({ plan: found, kills }: Planned): Outcomes | undefined {
  const killed = found.changes.filter(({ id }) => kills.killed.has(id));
  if (killed.length === 0) return undefined;
  const why = 'killed; a guard holds the rest back';
  const held: Outcome = { status: 'skipped', why, partly: true };
  return new Map(
    killed.map(({ id, fields }) => [id, fields.length === 1 ? { status: 'applied' } : held]),
  );
}

function ruleNamesOf(
  changes: readonly Change[],
  { desired }: Planned['input'],
): PlanReport['ruleNames'] & object {
  const found = changes.flatMap(({ id, ref: { kind, name, environment } }) => {
    const part = objectsOf(desired, kind)
      .get(name)
      ?.environments.get(environment ?? '');
    return part && 'ruleNames' in part ? [[id, part.ruleNames] as const] : [];
  });
  return new Map(found);
}

function killReasonsOf({ kills }: Planned['input']['desired']): PlanReport['killReasons'] & object {
  return new Map(
    kills.map(({ flag, environment, reason, by }) => [
      definitionId({ flag, environment }),
      by === undefined ? reason : `${reason}, by ${by}`,
    ]),
  );
}

/** The kills that git orders, those of the break-glass list first, with what the list says of them. */
export function orderedKillsIn({
  input: { desired },
}: Planned): (Partial<DesiredKill> & { id: ObjectId })[] {
  const listed = new Map(desired.kills.map((kill) => [definitionId(kill), kill]));
  return killOrders(desired).map((order) => {
    const id = definitionId(order);
    return { id, ...listed.get(id) };
  });
}

/** Names of objects that no file declares and no run remembers; null if the run did not list them. */
export function unmanagedIn({ input }: Planned): ReturnType<typeof unmanagedNames> {
  return unmanagedNames(input);
}

/** @param options with `allowHeld`, changes that wait for a person are no failure. */
export function exitCodeOf(
  result: Planned | Applied,
  signal: AbortSignal,
  { allowHeld = false }: { readonly allowHeld?: boolean | undefined } = {},
): ExitCode {
  if (signal.aborted) return exitCodeOfSignal(signal);
  if (!('outcomes' in result)) return result.guardFindings.length > 0 ? EXIT.guardRefused : EXIT.ok;
  const exit = exitOf(result.verdict, { allowHeld });
  return exit !== EXIT.notConverged && result.unsaved !== undefined ? EXIT.failed : exit;
}
