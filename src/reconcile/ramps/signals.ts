import type { Workspace } from '../../admin-api/workspace.js';
import { FlagkeelError } from '../../errors.js';
import type { BoundDesired } from '../../model/bound-desired.js';
import { ownMember } from '../../model/collections.js';
import type { DesiredRamp, RampSignal } from '../../model/flag/ramp.js';
import { canonicalJson, sha256 } from '../../model/json.js';
import { refOfId } from '../../model/ref.js';
import type { Moments } from '../../model/state.js';
import type { PlanInput } from '../../plan/input.js';
import { reachedIn } from '../../plan/ramps.js';
import { didYouMean } from '../../specs/parse/suggest.js';

/** Definitions with ramps that start with a signal. */
interface WaitingRamps extends Omit<RampSignal, 'at'> {
  /** Under which the state keeps when the signal came. The id of the environment outlives its name. */
  readonly key: string;
}

/** The ramps of a definition that start with a signal, as one; undefined: none does. */
export function waitingRamps(
  ramps: readonly DesiredRamp[] = [],
  flag: string,
  environment: { readonly name: string; readonly id: string },
): WaitingRamps | undefined {
  const own = ramps.filter(({ signal }) => signal);
  if (own.length === 0) return undefined;
  const form = own.map(({ rule, treatment, steps }) => ({ rule, treatment, steps }));
  const steps = sha256(canonicalJson(form)).slice(0, 8);
  const ramp = `${flag}@${environment.name}`;
  return { ramp, steps, key: `signal ${flag}@${environment.id} ${steps}` };
}

/**
 * What is remembered, with the signals that this run was told of. The first one counts, so that it may be told again. One for
 * other steps than those of the specs starts nothing, and goes with the next that comes.
 *
 * @param told by `FLAG@ENVIRONMENT`, or by that with `#` and the steps that it is for.
 * @throws FlagkeelError `USAGE`: no ramp of that name waits for a signal.
 */
export function withSignals(
  known: Moments,
  desired: BoundDesired,
  { environments }: Pick<Workspace, 'environments'>,
  told: Moments = {},
): Moments {
  if (Object.keys(told).length === 0) return known;
  const waiting = allWaiting(desired, environments);
  refuseUnknown(told, waiting);
  const moments = new Map(Object.entries(known));
  for (const { key, ramp, steps } of waiting) {
    const at = ownMember(told, `${ramp}#${steps}`) ?? ownMember(told, ramp);
    if (at === undefined || moments.has(key)) continue;
    const others = key.slice(0, -steps.length);
    for (const each of moments.keys()) if (each.startsWith(others)) moments.delete(each);
    moments.set(key, at);
  }
  return Object.fromEntries(moments);
}

function allWaiting(
  { flags }: BoundDesired,
  environments: Workspace['environments'],
): WaitingRamps[] {
  return [...flags.values()].flatMap((flag) =>
    environments.flatMap((environment) => {
      const { ramps } = flag.environments.get(environment.name) ?? {};
      return waitingRamps(ramps, flag.name, environment) ?? [];
    }),
  );
}

const OF_STEPS = /#[0-9a-f]{8}$/;

/** One with steps was asked for what an earlier run has seen: they may be others by now. */
function refuseUnknown(told: Moments, waiting: readonly WaitingRamps[]): void {
  const known = waiting.map(({ ramp }) => ramp);
  const unknown = Object.keys(told).find((each) => !OF_STEPS.test(each) && !known.includes(each));
  if (unknown === undefined) return;
  const choice = known.length === 0 ? 'no ramp does' : `known: ${known.join(', ')}`;
  throw new FlagkeelError(
    'USAGE',
    `cannot start "${unknown}": no ramp of that name starts with a signal${didYouMean(unknown, known)} (${choice})`,
  );
}

/** Under which the state keeps since when a treatment has had its share in an environment. */
export function reachedKey(
  flag: string,
  of: { readonly environment: string; readonly percent: number; readonly treatment: string },
): string {
  return `reached ${flag}@${of.environment} ${of.percent} ${of.treatment}`;
}

/**
 * What is remembered, with what this run saw of environments after which ramps start: since when a share is there, and that it is
 * there no more. Where nobody looked, it stays as it was.
 */
export function withReached(known: Moments, input: PlanInput, nowMs: number): Moments {
  const moments = new Map(Object.entries(known));
  for (const [id, ladders] of input.policy.ladders ?? []) {
    const flag = refOfId(id)?.name ?? '';
    for (const { after, ramp } of ladders) {
      const place = input.policy.environments.find(({ name }) => name === after?.environment);
      const isThere = after && reachedIn(input, flag, after, ramp.treatment);
      if (!after || !place || isThere === undefined) continue;
      const { treatment } = ramp;
      const key = reachedKey(flag, { environment: place.id, percent: after.percent, treatment });
      if (!isThere) moments.delete(key);
      else if (!moments.has(key)) moments.set(key, new Date(nowMs).toISOString());
    }
  }
  return Object.fromEntries(moments);
}
