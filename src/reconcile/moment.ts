import type { BoundDesired } from '../model/bound-desired.js';
import type { RampCheck } from '../model/desired.js';
import type { CheckStanding } from '../model/flag/ramp.js';
import { definitionId, keyOfId, refOfId } from '../model/ref.js';
import { killOrders } from '../plan/kills/orders.js';
import type { PlanInput } from '../plan/input.js';
import type { PlanPolicy } from '../plan/policy.js';
import { desiredAt, stepsToCheck, type Facts, type Moment } from '../timing/desired-at.js';
import type { AskCheck, Remembered, RunContext, TimedInput } from './context.js';

/**
 * The moment of a run, before the service is observed. The checks of steps that are due run here, once each, all side by
 * side; a run that writes nothing runs none.
 */
export async function momentOfRun(
  { source, now, askCheck }: Pick<RunContext, 'source' | 'now' | 'askCheck'>,
  desired: BoundDesired,
  { environments, only }: Pick<PlanPolicy, 'environments' | 'only'>,
  { home, timing: records, state }: Remembered,
): Promise<Moment> {
  const facts: Facts = {
    ...{ records, environments, state, unkept: unkeptIn(home), head: source.revision.commit },
    ordered: new Set(killOrders(desired).map(definitionId)),
    killed: new Set(),
    setbacks: new Map(),
    checks: new Map(),
    actual: null,
  };
  const nowMs = now();
  const moment = desiredAt(desired, facts, nowMs);
  const places = new Set(environments.flatMap(({ name, selected }) => (selected ? [name] : [])));
  const steps = stepsToCheck(moment).filter(
    ({ id }) => only?.has(keyOfId(id)) !== false && places.has(refOfId(id)?.environment ?? ''),
  );
  if (steps.length === 0) return moment;
  const names = new Set(steps.flatMap(({ checks }) => checks));
  const asked = (desired.config.checks ?? []).filter(({ name }) => names.has(name));
  const answers = await Promise.all(asked.map(async (each) => standingOf(each, askCheck)));
  const checks = new Map(
    steps.map((step) => [
      step.key,
      step.checks.flatMap((name) => answers.find((each) => each.name === name) ?? []),
    ]),
  );
  return desiredAt(desired, { ...facts, checks }, nowMs);
}

/** Why the moments at which steps begin cannot be remembered: they would begin again with the next run. */
function unkeptIn(home: Remembered['home']): string | null {
  if (home === null) return 'no state is kept here';
  const missing = home.notShared();
  return missing && `the state cannot be shared (${missing.why})`;
}

async function standingOf(check: RampCheck, ask: AskCheck | undefined): Promise<CheckStanding> {
  const { name } = check;
  if (ask === undefined) return { name, result: 'not-asked', why: null };
  const fault = await ask(check);
  return fault ? { name, result: 'failed', ...fault } : { name, result: 'passed', why: null };
}

/** The specs as they are at the moment, judged by the bases and the service of the input. */
export function timedInput(input: PlanInput, { facts, nowMs }: Moment): TimedInput {
  const { actual, state, desired } = input;
  const moment = desiredAt(desired, { ...facts, actual, state }, nowMs);
  return { ...input, desired: moment.desired, moment };
}
