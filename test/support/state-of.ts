import type { BoundDesired } from '../../src/model/bound-desired.js';
import type { State } from '../../src/model/state.js';
import { stateAfterVerify } from '../../src/plan/bases/next-state.js';
import { anActual, aPolicy, NO_STATE } from './builders.js';

/** The state after a run that found everything equal to these specs. */
export function stateOf(desired: BoundDesired, policy = aPolicy()): State {
  const ids = [
    ...[...desired.flags.values()].flatMap(({ name, environments }) => [
      `flag/${name}`,
      ...[...environments.keys()].map((environment) => `flag/${name}@${environment}`),
    ]),
    ...[...desired.segments.values()].flatMap(({ name, environments }) => [
      `segment/${name}`,
      ...[...environments.keys()].map((environment) => `segment/${name}@${environment}`),
    ]),
  ];
  return stateAfterVerify(
    { desired, actual: anActual(), state: NO_STATE, policy },
    new Set(ids),
    'a'.repeat(40),
  );
}
