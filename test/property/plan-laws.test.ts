import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import { StepSchedule } from '../../src/apply/schedule.js';
import type { BoundDesired } from '../../src/model/bound-desired.js';
import type { Plan, Withheld, Step } from '../../src/model/plan.js';
import type { State } from '../../src/model/state.js';
import { planImpact } from '../../src/plan/impact/impact.js';
import { isAtBase } from '../../src/plan/bases/compare.js';
import {
  stateAfterAnswers,
  stateAfterVerify,
  stateBeforeApply,
} from '../../src/plan/bases/next-state.js';
import { pendingWithheld, planChanges } from '../../src/plan/plan.js';
import type { PlanInput } from '../../src/plan/input.js';
import type { PlanPolicy } from '../../src/plan/policy.js';
import { fewDesired, leaving, someDesired, someUnmanaged } from '../support/arbitraries.js';
import { aPolicy, NO_STATE, planLines } from '../support/builders.js';
import { provenIn } from '../support/planning.js';
import {
  allTaken,
  applyAll,
  applyStep,
  EMPTY_WORLD,
  faultsOf,
  type World,
} from '../support/service-model.js';
import { lawSettings } from './law-settings.js';
import { inOtherWords } from './wire-noise.js';
import {
  keptForOthers,
  changedFields,
  comparable,
  mappedDefinitions,
  observedFor,
  strangersIn,
  unknownFieldsOf,
  withUnknownFields,
} from './worlds.js';

const USUAL = 100;
const settings = lawSettings('laws of the planner', USUAL);
/** Laws that plan more than twice for each case. */
const fewer =
  settings.numRuns > USUAL ? settings : { ...settings, numRuns: Math.ceil(0.4 * settings.numRuns) };

/** The steps in one of the orders in which they may end: of all that may be under way, any is the next. */
function inSomeOrder(steps: readonly Step[], choices: readonly number[]): readonly Step[] {
  const schedule = new StepSchedule(steps);
  const underWay: Step[] = [];
  const ended: Step[] = [];
  for (;;) {
    for (let each = schedule.take(); each; each = schedule.take()) underWay.push(each);
    const [next] = underWay.splice(
      (choices[ended.length % choices.length] ?? 0) % Math.max(1, underWay.length),
      1,
    );
    if (!next) return ended;
    ended.push(next);
    schedule.end(next);
  }
}

interface Situation {
  readonly world: World;
  readonly state: State;
}

const START: Situation = { world: EMPTY_WORLD, state: NO_STATE };
const WITH_PRUNE: Partial<PlanPolicy> = { prune: true };

function inputFor(
  desired: BoundDesired,
  { world, state }: Situation,
  policy: Partial<PlanPolicy>,
): PlanInput {
  const actual = observedFor(desired, world, state);
  const all = aPolicy({ provenRemovals: provenIn(state), ...policy });
  return { desired, actual, state, policy: all };
}

/** One run: plan, apply to the model, look again, remember. */
function run(
  desired: BoundDesired,
  situation: Situation,
  policy: Partial<PlanPolicy> = WITH_PRUNE,
): Situation & { plan: Plan } {
  const input = inputFor(desired, situation, policy);
  const plan = planChanges(input);
  const world = applyAll(situation.world, plan.steps);
  const begun = stateBeforeApply(input, plan.changes, HEAD);
  const started = { ...input, state: begun };
  const answered = stateAfterAnswers(started, plan.changes, allTaken(plan), HEAD);
  const again = inputFor(desired, { world, state: answered }, policy);
  const left = planChanges(again);
  return { plan, world, state: stateAfterVerify(again, new Set(left.unchanged), HEAD) };
}

const HEAD = 'c'.repeat(40);

/** What is left to do; a description that the service cannot change any more is nothing to do. */
function pendingLines(plan: Plan): string[] {
  const kept = keptForOthers(plan);
  const withheld = pendingWithheld(plan).filter(
    ({ ref }) => ref.kind !== 'segment' || !kept.has(ref.name),
  );
  return planLines({ ...plan, withheld });
}

describe('laws of the planner', () => {
  it('apply, then plan, is empty', () => {
    fc.assert(
      fc.property(someDesired, someDesired, (first, second) => {
        const after = run(second, run(first, START));

        expect(pendingLines(planChanges(inputFor(second, after, WITH_PRUNE)))).toEqual([]);
      }),
      settings,
    );
  });

  it('the result does not depend on the path, and going back undoes', () => {
    fc.assert(
      fc.property(someDesired, someDesired, someDesired, fc.boolean(), (a, b, other, isBack) => {
        const c = isBack ? a : other;
        const direct = run(c, run(a, START));
        const detour = run(c, run(b, run(a, START)));

        const kept = new Set([...keptForOthers(direct.plan), ...keptForOthers(detour.plan)]);
        expect(comparable(c, detour.world, kept)).toEqual(comparable(c, direct.world, kept));
      }),
      settings,
    );
  });

  it('the order of files, lists and pages does not matter: equal inputs give equal bytes', () => {
    fc.assert(
      fc.property(someDesired, someDesired, (first, second) => {
        const input = inputFor(second, run(first, START), WITH_PRUNE);
        const { desired, actual, state } = structuredClone(input);
        const turned: PlanInput = {
          ...input,
          desired: {
            ...desired,
            flags: reversed(desired.flags),
            segments: reversed(desired.segments),
            identities: reversedIdentities(desired.identities),
          },
          actual: {
            ...actual,
            flags: reversed(actual.flags),
            segments: reversed(actual.segments),
            allFlags: actual.allFlags?.toReversed() ?? null,
            allSegments: actual.allSegments?.toReversed() ?? null,
          },
          state: reversed(state),
        };

        expect(JSON.stringify(planChanges(turned))).toBe(JSON.stringify(planChanges(input)));
      }),
      settings,
    );
  });

  it('whatever words services and other tools have for the same thing, a change is the same, and reaches the same', () => {
    fc.assert(
      fc.property(fewDesired, fewDesired, fc.boolean(), fc.integer(), (a, b, isSame, seed) => {
        const plain = inputFor(isSame ? a : b, run(a, START), WITH_PRUNE);
        const wordy = { ...plain, actual: inOtherWords(plain.actual, seed) };

        const [plan, again] = [planChanges(plain), planChanges(wordy)];

        expect(again.changes).toEqual(plan.changes);
        expect(again.withheld).toEqual(plan.withheld);
        expect(planImpact(again, wordy)).toEqual(planImpact(plan, plain));
      }),
      fewer,
    );
  });

  it('fields that nobody here knows survive every write', () => {
    fc.assert(
      fc.property(someDesired, someDesired, (first, second) => {
        const situation = run(first, START);
        const world = withUnknownFields(situation.world);

        const after = run(second, { ...situation, world }).world;

        expect(unknownFieldsOf(after)).toEqual(unknownFieldsOf(withUnknownFields(after, world)));
      }),
      settings,
    );
  });

  it('a field that a spec does not name stays as the service has it', () => {
    fc.assert(
      fc.property(someDesired, someDesired, fc.nat(100), (first, second, percent) => {
        const situation = run(first, START);
        const before = withValues(situation.world, { trafficAllocation: percent, killed: true });

        const after = run(second, { ...situation, world: before }).world;

        for (const [name, { environments }] of second.flags) {
          for (const [environment, { fields }] of environments) {
            const was = before.flags.get(name)?.definitions.get(environment);
            const is = after.flags.get(name)?.definitions.get(environment);
            if (!was || !is) continue;
            if (fields.killed === undefined) expect(is.killed).toBe(was.killed);
            if (fields.trafficAllocation === undefined) {
              expect(is.trafficAllocation).toBe(was.trafficAllocation);
            }
            if (fields.targets === undefined) expect(targetsLeft(was, is)).toEqual(targetsOf(is));
          }
        }
      }),
      settings,
    );
  });

  it('a field under `unmanaged` is never written after the creation', () => {
    fc.assert(
      fc.property(someDesired, someDesired, someUnmanaged, (first, second, unmanaged) => {
        const before = run(first, START);

        const after = run(leaving(second, unmanaged), before).world;

        for (const [name, { environments }] of second.flags) {
          for (const environment of environments.keys()) {
            const was = before.world.flags.get(name)?.definitions.get(environment);
            const is = after.flags.get(name)?.definitions.get(environment);
            if (!was || !is) continue;
            expect(changedFields(was, is, unmanaged)).toEqual([]);
          }
        }
      }),
      settings,
    );
  });

  it('no intermediate state has a rule on a missing segment or a treatment that does not exist, in whatever order steps that are sent side by side end', () => {
    const choices = fc.array(fc.nat(), { minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(someDesired, someDesired, choices, (first, second, drawn) => {
        const situation = run(first, START);
        const { steps } = planChanges(inputFor(second, situation, WITH_PRUNE));

        const seen = new Set<string>();
        for (const step of steps) {
          expect(step.needs.filter((need) => !seen.has(need))).toEqual([]);
          seen.add(step.id);
        }
        let { world } = situation;
        for (const step of inSomeOrder(steps, drawn)) {
          world = applyStep(world, step);
          expect(faultsOf(world), step.id).toEqual([]);
        }
        expect(world).toEqual(applyAll(situation.world, steps));
      }),
      settings,
    );
  });

  it('with prune off nothing is deleted', () => {
    fc.assert(
      fc.property(someDesired, someDesired, (first, second) => {
        const { plan } = run(second, run(first, START), { prune: false });

        expect(plan.steps.filter(({ action }) => /^(delete|deactivate)/.test(action))).toEqual([]);
        expect(plan.changes.filter(({ reason }) => reason === 'prune')).toEqual([]);
      }),
      settings,
    );
  });

  it('nothing that the specs never named is written: no object, no environment', () => {
    fc.assert(
      fc.property(someDesired, someDesired, (theirs, ours) => {
        const before = run(theirs, START).world;
        const { world } = run(ours, { world: before, state: NO_STATE });

        expect(strangersIn(partOf(world, before), ours)).toEqual(strangersIn(before, ours));
        for (const [name, { environments }] of before.segments) {
          for (const [environment, keys] of environments) {
            const said = ours.segments.get(name)?.environments.get(environment);
            if (said?.keys && said.mode === 'exact') continue;
            const left = world.segments.get(name)?.environments.get(environment);
            expect([...keys].filter((key) => !left?.has(key))).toEqual([]);
          }
        }
      }),
      settings,
    );
  });

  it('an environment that is filtered out is not written', () => {
    fc.assert(
      fc.property(someDesired, someDesired, (first, second) => {
        const onlyStaging = aPolicy().environments.map((each) => ({
          ...each,
          selected: each.name === 'staging',
        }));
        const situation = run(first, START);

        const { plan } = run(second, situation, { ...WITH_PRUNE, environments: onlyStaging });

        expect(plan.changes.filter(({ ref }) => ref.environment === 'production')).toEqual([]);
      }),
      settings,
    );
  });

  it('where nothing drifted, what differs from its base and what left the specs is all that changes', () => {
    fc.assert(
      fc.property(someDesired, someDesired, fc.boolean(), (first, second, prune) => {
        const input = inputFor(second, run(first, START), { prune });

        const only = awayFromBase(input);
        const touched = planChanges({ ...input, policy: { ...input.policy, only } });

        const { changes, steps, withheld } = planChanges(input);
        expect({ changes: touched.changes, steps: touched.steps }).toEqual({ changes, steps });
        const isOfNow = ({ why }: Withheld): boolean => why !== 'immutable';
        expect(touched.withheld.filter(isOfNow)).toEqual(withheld.filter(isOfNow));
      }),
      settings,
    );
  });
});

function awayFromBase(input: PlanInput): ReadonlySet<string> {
  const { desired, state } = input;
  const away = [
    ...[...desired.flags.values()]
      .filter((each) => !isAtBase('flag', each.name, { ...input, state }))
      .map(({ name }) => `flag/${name}`),
    ...[...desired.segments.values()]
      .filter((each) => !isAtBase('segment', each.name, { ...input, state }))
      .map(({ name }) => `segment/${name}`),
    // To compare these costs no request: they are in every scope.
    ...[...desired.identities.keys()].map((name) => `identities/${name}`),
  ];
  const left = [...state].filter(([, { kind, name }]) => {
    return !(kind === 'flag' ? desired.flags : desired.segments).has(name);
  });
  return new Set([...away, ...left.map(([key]) => key)]);
}

/** The objects of a world that an earlier one has too. */
function partOf({ flags, segments, ...rest }: World, before: World): World {
  const known = <T>(now: ReadonlyMap<string, T>, then: ReadonlyMap<string, unknown>) =>
    new Map([...now].filter(([name]) => then.has(name)));
  return { ...rest, flags: known(flags, before.flags), segments: known(segments, before.segments) };
}

function reversedIdentities(identities: BoundDesired['identities']): BoundDesired['identities'] {
  const turned = [...identities].map(([name, each]) => {
    const environments = [...each.environments].map(
      ([place, part]) => [place, { ...part, keys: reversed(part.keys) }] as const,
    );
    return [name, { ...each, environments: reversed(new Map(environments)) }] as const;
  });
  return reversed(new Map(turned));
}

function reversed<T>(map: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map([...map].reverse());
}

/** Somebody sets these on the service, in every definition. */
function withValues(world: World, values: Partial<WireDefinition>): World {
  return mappedDefinitions(world, (definition) => ({ ...definition, ...values }));
}

function targetsOf({ treatments }: WireDefinition): [string, readonly string[]][] {
  return treatments.map(({ name, keys }) => [name, keys ?? []]);
}

/** The targets that were, of the treatments that are. */
function targetsLeft(was: WireDefinition, is: WireDefinition): [string, readonly string[]][] {
  const held = new Map(targetsOf(was));
  return is.treatments.map(({ name }) => [name, held.get(name) ?? []]);
}
