import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { BoundDesired } from '../../src/model/bound-desired.js';
import { definitionFromWire } from '../../src/model/flag/wire.js';
import { sameJson } from '../../src/model/json.js';
import type { State } from '../../src/model/state.js';
import { stateAfterVerify, stateBeforeApply } from '../../src/plan/bases/next-state.js';
import { planChanges, touchedKeys } from '../../src/plan/plan.js';
import type { PlanInput } from '../../src/plan/input.js';
import { verifyingPolicy, type PlanPolicy } from '../../src/plan/policy.js';
import { fewDesired } from '../support/arbitraries.js';
import { anEnvironment, aPolicy, NO_STATE } from '../support/builders.js';
import { applyAll, EMPTY_WORLD, type World } from '../support/service-model.js';
import { lawSettings } from './law-settings.js';
import { mappedDefinitions, observedFor } from './worlds.js';

const settings = lawSettings('laws of drift', 200);

const REPORTING = aPolicy({
  environments: ['staging', 'production'].map((name) =>
    anEnvironment(name, { protected: true, onDrift: 'report', onConflict: 'hold' }),
  ),
});

/** What somebody does to one field of every definition; a run follows. */
const someEvent = fc.record({
  by: fc.constantFrom('commit' as const, 'hand' as const),
  field: fc.constantFrom('trafficAllocation' as const, 'defaultRule' as const),
  value: fc.nat(3),
});

type Field = 'trafficAllocation' | 'defaultRule';
const FIELDS: readonly Field[] = ['trafficAllocation', 'defaultRule'];

interface Situation {
  readonly desired: BoundDesired;
  readonly world: World;
  readonly state: State;
}

it('a live edit that the policy reports is overwritten by no run without a commit that changes that field', () => {
  fc.assert(
    fc.property(
      fewDesired,
      fc.array(someEvent, { minLength: 3, maxLength: 8 }),
      (first, events) => {
        let now = run({ desired: first, world: EMPTY_WORLD, state: NO_STATE }, 0);
        /** Fields of which git wants another value than what was last found equal. */
        const open = new Set<Field>();
        const edited = new Map<Field, World>();
        for (const [index, { by, field, value }] of events.entries()) {
          const change: Change = (names) => changed(field, value, names);
          if (by === 'commit') {
            now = { ...now, desired: committed(now.desired, change) };
            open.add(field);
            edited.delete(field);
          } else {
            now = { ...now, world: byHand(now.world, change) };
            if (!open.has(field)) edited.set(field, now.world);
          }
          now = run(now, index + 1);
          for (const each of FIELDS) if (isSettled(each, now)) open.delete(each);
          for (const [each, world] of edited) {
            expect(valuesOf(each, now.world), each).toEqual(valuesOf(each, world));
          }
        }
      },
    ),
    settings,
  );
});

type Values =
  | { readonly trafficAllocation: number }
  | { readonly defaultRule: { readonly treatment: string; readonly size: number }[] };

function changed(field: Field, value: number, treatments: readonly string[]): Values {
  if (field === 'trafficAllocation') return { trafficAllocation: value * 30 };
  const treatment = treatments[value % treatments.length] ?? '';
  return { defaultRule: [{ treatment, size: 100 }] };
}

type Change = (treatments: readonly string[]) => Values;

function committed(desired: BoundDesired, change: Change): BoundDesired {
  const flags = [...desired.flags].map(([name, flag]) => {
    const environments = [...flag.environments].map(([place, definition]) => {
      const { fields, creation } = definition;
      const values = change(creation.treatments.map((each) => each.name));
      const next = {
        ...definition,
        fields: { ...fields, ...values },
        creation: { ...creation, ...values },
      };
      return [place, next] as const;
    });
    return [name, { ...flag, environments: new Map(environments) }] as const;
  });
  return { ...desired, flags: new Map(flags) };
}

function byHand(world: World, change: Change): World {
  return mappedDefinitions(world, (definition) => ({
    ...definition,
    ...change(definition.treatments.map(({ name }) => name)),
  }));
}

/** One run: plan, apply to the model, look again at what was touched, remember. */
function run({ desired, world, state }: Situation, index: number): Situation {
  const head = String(index).repeat(40);
  const input = inputFor({ desired, world, state }, REPORTING);
  const plan = planChanges(input);
  const after = applyAll(world, plan.steps);
  const begun = stateBeforeApply(input, plan.changes, head);
  const untouched = stateAfterVerify({ ...input, state: begun }, new Set(plan.unchanged), head);
  const policy = verifyingPolicy(REPORTING, touchedKeys(plan), plan);
  const again = inputFor({ desired, world: after, state: untouched }, policy);
  const left = planChanges(again);
  return { desired, world: after, state: stateAfterVerify(again, new Set(left.unchanged), head) };
}

function inputFor({ desired, world, state }: Situation, policy: PlanPolicy): PlanInput {
  return { desired, actual: observedFor(desired, world, state), state, policy };
}

/** Whether every definition has the field as git wants it, where git says anything of it. */
function isSettled(field: Field, { desired, world }: Situation): boolean {
  return [...desired.flags].every(([name, { environments }]) =>
    [...environments].every(([place, { fields }]) => {
      const live = world.flags.get(name)?.definitions.get(place);
      const wanted = fields[field];
      return !live || wanted === undefined || sameJson(definitionFromWire(live)[field], wanted);
    }),
  );
}

function valuesOf(field: Field, world: World): unknown {
  return [...world.flags].map(([name, { definitions }]) => [
    name,
    [...definitions].map(([place, live]) => [place, definitionFromWire(live)[field]]),
  ]);
}
