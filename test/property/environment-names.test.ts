import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bindEnvironments, environmentNames } from '../../src/model/bound-desired.js';
import { sortedMap } from '../../src/model/collections.js';
import { withObjects, type Desired } from '../../src/model/desired.js';
import { stateAfterVerify } from '../../src/plan/bases/next-state.js';
import { guardFindings } from '../../src/plan/guards/guards.js';
import { planHash } from '../../src/plan/reviewed.js';
import { planChanges } from '../../src/plan/plan.js';
import { scopeOf } from '../../src/plan/scope.js';
import { resolvePolicy } from '../../src/reconcile/policy.js';
import { someDesired } from '../support/arbitraries.js';
import { aPolicy, desiredKill, ENVIRONMENTS, NO_STATE, WORKSPACE } from '../support/builders.js';
import { applyAll, EMPTY_WORLD, observeWorld } from '../support/service-model.js';
import { provenIn } from '../support/planning.js';
import { stateOf } from '../support/state-of.js';
import { lawSettings } from './law-settings.js';

const settings = lawSettings('law of the names of environments', 100);

const NAMES = environmentNames(ENVIRONMENTS);
const PLACE = { workspace: WORKSPACE, environments: ENVIRONMENTS };
const HEAD = 'd'.repeat(40);

/** Environment → what the config calls it: its name or its id. */
type Words = ReadonlyMap<string, string>;

const someWords: fc.Arbitrary<Words> = fc
  .tuple(...ENVIRONMENTS.map(({ id, name }) => fc.constantFrom(name, id)))
  .map((words) => new Map(ENVIRONMENTS.map(({ name }, at) => [name, words[at] ?? name])));

/** Specs with a kill list for each environment, and some of their flags killed in it. */
const someSpecs: fc.Arbitrary<Desired> = fc
  .tuple(someDesired, fc.infiniteStream(fc.integer({ min: 0, max: 9 })))
  .map(([desired, draws]) => {
    const places = ENVIRONMENTS.map(({ name }) => name);
    const kills = [...desired.flags.keys(), 'somebody-elses'].flatMap((flag) =>
      places
        .filter(() => draws.next().value === 0)
        .map((environment) => desiredKill(flag, environment)),
    );
    const config = {
      ...desired.config,
      environments: desired.config.environments.map((each) => ({
        ...each,
        guards: { maxDeletes: 0 },
        protected: draws.next().value === 0,
      })),
    };
    return { ...desired, config, kills, killLists: new Set(places) };
  });

/** The same specs as their author writes them with these words; like those that are read, in the order of the words. */
function written(desired: Desired, words: Words): Desired {
  const { config, kills, killLists } = desired;
  const wordOf = (name: string): string => words.get(name) ?? name;
  const inWords = <T>(environments: ReadonlyMap<string, T>): Map<string, T> =>
    sortedMap([...environments].map(([name, part]) => [wordOf(name), part]));
  return {
    ...withObjects(desired, (objects) => {
      const named = [...objects].map(([name, each]) => {
        return [name, { ...each, environments: inWords(each.environments) }] as const;
      });
      return new Map(named);
    }),
    config: {
      ...config,
      environments: config.environments.map((each) => ({ ...each, name: wordOf(each.name) })),
    },
    kills: kills.map((each) => ({ ...each, environment: wordOf(each.environment) })),
    killLists: new Set([...killLists].map(wordOf).sort()),
  };
}

/** All that a run works out from its specs, as text: what it looks at, plans, is held up by and remembers. */
function outcomeOf(before: Desired, now: Desired): string {
  const options = { environments: [], only: [], prune: true, adopt: true };
  const first = bindEnvironments(before, NAMES);
  const empty = observeWorld(EMPTY_WORLD, {
    flags: first.flags.keys(),
    segments: first.segments.keys(),
  });
  const made = planChanges({ desired: first, actual: empty, state: NO_STATE, policy: aPolicy() });
  const state = stateOf(first);
  const desired = bindEnvironments(now, NAMES);
  const policy = {
    ...resolvePolicy(
      desired,
      PLACE,
      { ...options, revertDrift: false, allowOlder: false },
      { stateless: false, environments: {} },
    ),
    provenRemovals: provenIn(state),
  };
  const allEnvironments = ENVIRONMENTS.map(({ name }) => name);
  const all = { allEnvironments, counting: 'always', whole: true } as const;
  const scope = scopeOf({ desired, state, policy, ...all });
  const actual = observeWorld(applyAll(EMPTY_WORLD, made.steps), {
    flags: scope.flags.keys(),
    segments: scope.segments.keys(),
  });
  const input = { desired, actual, state, policy };
  const plan = planChanges(input);
  const remembered = stateAfterVerify(input, new Set(plan.unchanged), HEAD);
  const looks = [...scope.flags].map(([name, { environments }]) => [
    name,
    [...environments].sort(),
  ]);
  const outcome = {
    looks,
    plan,
    hash: planHash(plan, { origin: 'embedded', workspaceId: 'ws' }),
    guards: guardFindings(plan, input, desired.config),
    state: [...remembered.values()],
  };
  // The config's own word for an environment, which a way out repeats.
  return JSON.stringify(outcome, (key, value: unknown) => (key === 'place' ? undefined : value));
}

it('what a run works out is the same, whether the config goes by names, ids or both', () => {
  fc.assert(
    fc.property(
      someSpecs,
      someSpecs,
      someWords,
      someWords,
      (before, now, wordsBefore, wordsNow) => {
        const said = outcomeOf(written(before, wordsBefore), written(now, wordsNow));

        expect(said).toEqual(outcomeOf(before, now));
      },
    ),
    settings,
  );
});
