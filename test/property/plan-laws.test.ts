import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WireDefinition } from '../../src/api/wire.js';
import { definitionFromWire } from '../../src/kinds/flag-wire.js';
import type { Desired } from '../../src/model/desired.js';
import type { Plan } from '../../src/model/plan.js';
import type { State } from '../../src/model/state.js';
import { stateAfterVerify, stateBeforeApply } from '../../src/plan/next-state.js';
import { planChanges } from '../../src/plan/plan.js';
import type { PlanInput } from '../../src/plan/plan-input.js';
import type { PlanPolicy } from '../../src/plan/policy.js';
import { someDesired } from '../support/arbitraries.js';
import { aPolicy, NO_STATE, planLines } from '../support/builders.js';
import { applyAll, EMPTY_WORLD, observeWorld, type World } from '../support/service-model.js';

/** FLAGHOIST_LAW_RUNS raises the number of cases per law; FLAGHOIST_LAW_SEED repeats a run. */
const numRuns = Number(process.env['FLAGHOIST_LAW_RUNS'] ?? 300);
const given = process.env['FLAGHOIST_LAW_SEED'];
const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
process.stdout.write(`laws of the planner: seed ${seed}, ${numRuns} cases each\n`);
const settings = { numRuns, seed };

interface Situation {
  readonly world: World;
  readonly state: State;
}

const START: Situation = { world: EMPTY_WORLD, state: NO_STATE };
const WITH_PRUNE: Partial<PlanPolicy> = { prune: true };

function inputFor(
  desired: Desired,
  { world, state }: Situation,
  policy: Partial<PlanPolicy>,
): PlanInput {
  const actual = observeWorld(world, {
    flags: [...desired.flags.keys(), ...names(state, 'flag')],
    segments: [...desired.segments.keys(), ...names(state, 'segment')],
  });
  return { desired, actual, state, policy: aPolicy({ witnessed: everything(state), ...policy }) };
}

function names(state: State, kind: string): string[] {
  return [...state.values()].filter((entry) => entry.kind === kind).map(({ name }) => name);
}

function everything(state: State): Set<string> {
  return new Set(
    [...state.values()].flatMap(({ kind, name }) =>
      ['', '@staging', '@production'].map((place) => `${kind}/${name}${place}`),
    ),
  );
}

/** One run: plan, apply to the model, look again, remember. */
function run(
  desired: Desired,
  situation: Situation,
  policy: Partial<PlanPolicy> = WITH_PRUNE,
): Situation & { plan: Plan } {
  const input = inputFor(desired, situation, policy);
  const plan = planChanges(input);
  const world = applyAll(situation.world, plan.steps);
  const begun = stateBeforeApply(input, plan.changes, HEAD);
  const again = inputFor(desired, { world, state: begun }, policy);
  const left = planChanges(again);
  return { plan, world, state: stateAfterVerify(again, new Set(left.unchanged), HEAD) };
}

const HEAD = 'c'.repeat(40);

/** Order of sets on the wire depends on the path and means nothing. */
function canonicalOf(definition: WireDefinition | undefined): unknown {
  return definition && definitionFromWire(definition);
}

describe('laws of the planner', () => {
  it('apply, then plan, is empty', () => {
    fc.assert(
      fc.property(someDesired, someDesired, (first, second) => {
        const after = run(second, run(first, START));

        expect(planLines(planChanges(inputFor(second, after, WITH_PRUNE)))).toEqual([]);
      }),
      settings,
    );
  });

  it('the result does not depend on the path', () => {
    fc.assert(
      fc.property(someDesired, someDesired, someDesired, (a, b, c) => {
        const direct = run(c, run(a, START));
        const detour = run(c, run(b, run(a, START)));

        expect(comparable(c, detour.world)).toEqual(comparable(c, direct.world));
      }),
      settings,
    );
  });

  it('going back undoes', () => {
    fc.assert(
      fc.property(someDesired, someDesired, (a, b) => {
        const before = run(a, START);
        const back = run(a, run(b, before));

        expect(comparable(a, back.world)).toEqual(comparable(a, before.world));
      }),
      settings,
    );
  });

  it('the order in which maps were filled does not matter', () => {
    fc.assert(
      fc.property(someDesired, someDesired, (first, second) => {
        const situation = run(first, START);
        const input = inputFor(second, situation, WITH_PRUNE);
        const turned: PlanInput = {
          ...input,
          desired: {
            ...input.desired,
            flags: reversed(input.desired.flags),
            segments: reversed(input.desired.segments),
          },
          actual: {
            ...input.actual,
            flags: reversed(input.actual.flags),
            segments: reversed(input.actual.segments),
          },
          state: reversed(input.state),
        };

        expect(planChanges(turned)).toEqual(planChanges(input));
      }),
      settings,
    );
  });

  it('with prune off nothing is deleted', () => {
    fc.assert(
      fc.property(someDesired, someDesired, (first, second) => {
        const { plan } = run(second, run(first, START), { prune: false });

        expect(plan.steps.filter(({ action }) => /^(delete|deactivate)/.test(action))).toEqual([]);
      }),
      settings,
    );
  });

  it('what was never declared is never written, and neither is an environment that is filtered out', () => {
    fc.assert(
      fc.property(someDesired, someDesired, (theirs, ours) => {
        const strangers = run(theirs, START).world;
        const onlyStaging = aPolicy().environments.map((each) => ({
          ...each,
          selected: each.name === 'staging',
        }));
        const input = inputFor(
          ours,
          { world: strangers, state: NO_STATE },
          { ...WITH_PRUNE, environments: onlyStaging },
        );
        const plan = planChanges(input);

        const written = plan.changes.map(({ ref }) => ref);
        expect(written.filter(({ environment }) => environment === 'production')).toEqual([]);
        expect(
          written.filter(
            ({ kind, name }) => !(kind === 'flag' ? ours.flags : ours.segments).has(name),
          ),
        ).toEqual([]);
      }),
      settings,
    );
  });

  it('a change that is planned needs only changes that stand before it', () => {
    fc.assert(
      fc.property(someDesired, someDesired, (first, second) => {
        const { plan } = run(second, run(first, START));
        const seen = new Set<string>();
        for (const step of plan.steps) {
          expect(step.needs.filter((need) => !seen.has(need))).toEqual([]);
          seen.add(step.id);
        }
      }),
      settings,
    );
  });
});

function reversed<T>(map: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map([...map].reverse());
}

/** The managed part of a world: what the specs leave unsaid may well depend on the path. */
function comparable(desired: Desired, world: World): unknown {
  const { flags, segments } = world;
  return {
    flags: [...desired.flags.values()].map(({ name, fields, environments }) => {
      const flag = flags.get(name);
      return [
        name,
        Object.keys(fields).map(
          (field) => flag?.[field === 'rolloutStatus' ? 'rolloutStatusId' : (field as 'tags')],
        ),
        [...environments.keys()].map((environment) =>
          canonicalOf(flag?.definitions.get(environment)),
        ),
      ];
    }),
    segments: [...desired.segments.values()].map(({ name, environments }) => [
      name,
      [...environments].map(([environment, { keys }]) => {
        const held = segments.get(name)?.environments.get(environment);
        return keys ? [...(held ?? [])].sort() : held !== undefined;
      }),
    ]),
    names: [[...flags.keys()].sort(), [...segments.keys()].sort()],
  };
}
