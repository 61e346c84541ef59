import type { Actual } from '../../src/model/actual.js';
import type { BoundDesired } from '../../src/model/bound-desired.js';
import type { Definition } from '../../src/model/flag/flag.js';
import type { Plan } from '../../src/model/plan.js';
import type { Base, State } from '../../src/model/state.js';
import type { PlanInput } from '../../src/plan/input.js';
import { planChanges } from '../../src/plan/plan.js';
import type { PlanPolicy } from '../../src/plan/policy.js';
import { anActual, aPolicy, NO_STATE } from './builders.js';

export interface Given {
  readonly state?: State;
  readonly policy?: Partial<PlanPolicy>;
}

/** @param live all that was looked at, or only its flags and segments. */
export function inputOf(
  desired: BoundDesired,
  live: Actual | Parameters<typeof anActual>[0] = {},
  { state = NO_STATE, policy }: Given = {},
): PlanInput {
  const actual = 'showsFlags' in live ? live : anActual(live);
  return { desired, actual, state, policy: aPolicy(policy) };
}

export function planOf(...input: Parameters<typeof inputOf>): Plan {
  return planChanges(inputOf(...input));
}

/** A state that knows one flag, by its bases in the environments that are named. */
export function flagState(
  name: string,
  bases: Readonly<Record<string, Partial<Base<Definition>>>>,
  more: object = {},
): State {
  const environments = Object.entries(bases).map(([place, base]) => {
    return [`env-${place}`, { commit: null, ...base }] as const;
  });
  const entry = { kind: 'flag', name, environments: Object.fromEntries(environments) } as const;
  return new Map([[`flag/${name}`, { ...entry, ...more }]]);
}

/** A state that knows one segment, by its bases in the environments that are named. */
export function segmentState(name: string, bases: Readonly<Record<string, object>>): State {
  const environments = Object.entries(bases).map(([place, base]) => {
    return [`env-${place}`, { commit: null, ...base }] as const;
  });
  const entry = { kind: 'segment', name, environments: Object.fromEntries(environments) } as const;
  return new Map([[`segment/${name}`, entry]]);
}

/** As if an ancestor of HEAD had declared everything that the state remembers. */
export function provenIn(state: State): ReadonlySet<string> {
  return new Set(
    [...state.values()].flatMap(({ kind, name }) =>
      ['', '@staging', '@production'].map((place) => `${kind}/${name}${place}`),
    ),
  );
}
