import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Definition, Matcher, Rule, Treatment } from '../../src/model/flag/flag.js';
import { canonicalDefinition } from '../../src/model/flag/wire.js';
import type { FlagImpact } from '../../src/model/impact.js';
import { evaluate } from '../../src/plan/impact/evaluate.js';
import { planImpact } from '../../src/plan/impact/impact.js';
import type { PlanInput } from '../../src/plan/input.js';
import { planChanges } from '../../src/plan/plan.js';
import { someBuckets } from '../support/arbitraries.js';
import {
  bucketOf,
  evaluated,
  evaluatedConfiguration,
  murmur32,
  type FlagWorld,
} from '../support/bucketing.js';
import {
  aDesired,
  anActual,
  anEnvironment,
  aPolicy,
  desiredFlag,
  desiredSegment,
  liveFlag,
  liveSegment,
  NO_STATE,
} from '../support/builders.js';
import { liesIn } from '../support/sampling.js';
import { lawSettings } from './law-settings.js';

/** Each case brings about two pairs of definitions. */
const USUAL = 100;
const settings = lawSettings('impact against brute force', USUAL);

const PLACE = 'production';
const TREATMENTS = ['a', 'b', 'c', 'off'];
const SEGMENTS = ['staff', 'beta'];
/** A segment that lives elsewhere: nobody can say who is in it. */
const FOREIGN = 'foreign';
/** Each asks only about those behind it. */
const FLAGS = ['first', 'second', 'third'];
const LISTED = Array.from({ length: 40 }, (_, index) => `listed-${index}`);
const RANDOM_KEYS = Array.from(
  { length: settings.numRuns > USUAL ? 20_000 : 2_000 },
  (_, index) => {
    return `${murmur32(String(index), settings.seed).toString(36)}-${index}`;
  },
);
/** A few seeds for all definitions: hashing the keys anew for each would be most of the time. */
const SEEDS = Array.from({ length: 12 }, (_, index) => murmur32(`seed ${index}`, settings.seed));

const someKeys = fc.uniqueArray(fc.constantFrom(...LISTED), { maxLength: 20 });

const buckets = someBuckets(TREATMENTS);

function matcher(flags: readonly string[]): fc.Arbitrary<Matcher> {
  const plain: fc.Arbitrary<Matcher>[] = [
    fc.constantFrom(...SEGMENTS).map((string) => ({ type: 'IN_SEGMENT', string })),
    fc.constantFrom(...SEGMENTS).map((string) => ({ type: 'IN_SEGMENT', string })),
    fc.constant({ type: 'IN_SEGMENT', string: FOREIGN }),
    fc
      .uniqueArray(fc.constantFrom(...LISTED), { minLength: 1, maxLength: 3 })
      .map((strings) => ({ type: 'IN_LIST_STRING', strings })),
    fc
      .constantFrom('basic', 'pro')
      .map((plan) => ({ type: 'IN_LIST_STRING', attribute: 'plan', strings: [plan] })),
    ...(flags.length === 0 ? [] : [dependency(flags), dependency(flags)]),
  ];
  return fc
    .tuple(fc.oneof(...plain), fc.boolean())
    .map(([made, negate]) => (negate ? { ...made, negate } : made));
}

function dependency(flags: readonly string[]): fc.Arbitrary<Matcher> {
  return fc
    .tuple(fc.constantFrom(...flags), fc.subarray(TREATMENTS, { minLength: 1 }))
    .map(([splitName, treatments]) => ({ type: 'IN_SPLIT', depends: { splitName, treatments } }));
}

function rules(flags: readonly string[]): fc.Arbitrary<Rule[]> {
  const matchers = fc.array(matcher(flags), { minLength: 1, maxLength: 2 });
  return fc.array(fc.record({ matchers, buckets }), { maxLength: 3 });
}

const targets = fc
  .tuple(someKeys, fc.array(fc.constantFrom(...TREATMENTS), { minLength: 20, maxLength: 20 }))
  .map(([keys, treatments]) => {
    const entries = TREATMENTS.map((name) => {
      return [name, keys.filter((_, index) => treatments[index] === name)] as const;
    });
    return Object.fromEntries(entries.filter(([, of]) => of.length > 0));
  });

/** Most have no configuration; a spec without one leaves it to the service. */
const configuration = fc.constantFrom(undefined, undefined, null, { limit: 1 }, { limit: 2 });

const treatments: fc.Arbitrary<Treatment[]> = fc
  .tuple(...TREATMENTS.map(() => configuration))
  .map((configurations) =>
    TREATMENTS.map((name, index): Treatment => {
      const configured = configurations[index];
      return {
        name,
        description: '',
        ...(configured !== undefined && { configuration: configured }),
      };
    }),
  );

function definition(flags: readonly string[]): fc.Arbitrary<Required<Definition>> {
  return fc
    .record({
      killed: fc.integer({ min: 0, max: 9 }).map((lot) => lot === 0),
      treatments,
      targets: fc.oneof(fc.constant({}), targets),
      defaultTreatment: fc.constantFrom(...TREATMENTS),
      baselineTreatment: fc.constant('off'),
      trafficAllocation: fc.oneof(fc.constant(100), fc.integer({ min: 0, max: 100 })),
      rules: rules(flags),
      defaultRule: buckets,
    })
    .map((made) => canonicalDefinition(made as Definition) as Required<Definition>);
}

interface Side {
  readonly definitions: readonly Required<Definition>[];
  /** By the order of `SEGMENTS`. */
  readonly keys: readonly (readonly string[])[];
}

interface Situation {
  readonly before: Side;
  readonly after: Side;
  readonly seeds: readonly number[];
  /** The flags whose seeds the service shows. */
  readonly seeded: readonly string[];
}

const definitions = FLAGS.map((_, index) => definition(FLAGS.slice(index + 1)));

const CHANGES = ['none', 'configurations', 'all'] as const;

/** Of three flags and two segments each may change or stay. */
const situation: fc.Arbitrary<Situation> = fc
  .record({
    definitions: fc.tuple(
      ...definitions.map((each) => fc.tuple(each, each, fc.constantFrom(...CHANGES))),
    ),
    keys: fc.tuple(...SEGMENTS.map(() => fc.tuple(someKeys, someKeys, fc.boolean()))),
    seeds: fc.shuffledSubarray(SEEDS, { minLength: 6, maxLength: 6 }),
    seeded: fc.oneof(fc.constant(FLAGS), fc.subarray(FLAGS)),
  })
  .map(({ definitions: drawn, keys, seeds, seeded }) => {
    const before = { definitions: drawn.map(([old]) => old), keys: keys.map(([old]) => old) };
    const after = {
      definitions: drawn.map(([old, now, change], index) => {
        if (change === 'configurations') return { ...old, treatments: now.treatments };
        return change === 'all' || index === 0 ? now : old;
      }),
      keys: keys.map(([old, now, changes]) => (changes ? now : old)),
    };
    return { before, after, seeds, seeded };
  });

function inputOf({ before, after, seeds, seeded }: Situation): PlanInput {
  const desired = aDesired({
    flags: after.definitions.map((each, index) =>
      desiredFlag(FLAGS[index] ?? '', { environments: { [PLACE]: each } }),
    ),
    segments: after.keys.map((keys, index) =>
      desiredSegment(SEGMENTS[index] ?? '', { [PLACE]: keys }),
    ),
  });
  const actual = anActual({
    flags: before.definitions.map((each, index) => {
      const name = FLAGS[index] ?? '';
      const [seed = 0, trafficAllocationSeed = 0] = seeds.slice(index * 2);
      const shown = seeded.includes(name) ? { seed, trafficAllocationSeed } : {};
      return liveFlag(name, { [PLACE]: each }, {}, shown);
    }),
    segments: before.keys.map((keys, index) =>
      liveSegment(SEGMENTS[index] ?? '', { [PLACE]: keys }),
    ),
  });
  const environments = [anEnvironment(PLACE, { onLiveKill: 'revert' })];
  return { desired, actual, state: NO_STATE, policy: aPolicy({ environments, adopt: true }) };
}

const EVERYBODY = [...RANDOM_KEYS, ...LISTED];
const FOREIGNERS = new Set(EVERYBODY.filter((key) => murmur32(key, 99) % 4 === 0));
const PLANS = new Map(
  EVERYBODY.map((key) => [key, ['basic', 'pro', 'none'][murmur32(key, 7) % 3] ?? '']),
);

/** A side with the configurations that its specs leave as they were. */
function withKeptConfigurations(side: Side, { definitions: earlier }: Side): Side {
  const kept = side.definitions.map((each, at) => ({
    ...each,
    treatments: each.treatments.map((treatment, position) => ({
      ...earlier[at]?.treatments[position],
      ...treatment,
    })),
  }));
  return { ...side, definitions: kept };
}

/** What the plan leaves, and the same with one flag restored. */
function restoredSituation(flag: string, { before, after, ...hashing }: Situation): Situation {
  const left = withKeptConfigurations(after, before);
  const restored = left.definitions.map((each, at) =>
    FLAGS[at] === flag ? { ...each, killed: false } : each,
  );
  return { before: left, after: { ...left, definitions: restored }, ...hashing };
}

function worldsOf({ before, after, seeds }: Situation): readonly [FlagWorld, FlagWorld] {
  return [worldOf(before, seeds), worldOf(withKeptConfigurations(after, before), seeds)];
}

function worldOf({ definitions: made, keys }: Side, seeds: readonly number[]): FlagWorld {
  return {
    definitions: new Map(
      made.map((each, index) => [
        FLAGS[index] ?? '',
        {
          definition: each,
          targets: targetsOf(each),
          seed: seeds[index * 2] ?? 0,
          allocationSeed: seeds[index * 2 + 1] ?? 0,
        },
      ]),
    ),
    segments: new Map([
      ...keys.map((each, index) => [SEGMENTS[index] ?? '', new Set(each)] as const),
      [FOREIGN, FOREIGNERS],
    ]),
    attribute: (key) => PLANS.get(key) ?? '',
  };
}

function targetsOf({ targets: made }: Required<Definition>): Map<string, string> {
  return new Map(
    Object.entries(made).flatMap(([name, keys]) => keys.map((key) => [key, name] as const)),
  );
}

/** The keys that some list which a flag depends on holds; a killed definition looks at none. */
function listedFor(flag: string, { before, after }: Situation): string[] {
  const keys = new Set<string>();
  const visit = (name: string): void => {
    const index = FLAGS.indexOf(name);
    for (const { definitions: made } of [before, after]) {
      const each = made[index];
      if (!each || each.killed) continue;
      Object.values(each.targets)
        .flat()
        .forEach((key) => keys.add(key));
      each.rules.flatMap(({ matchers }) => matchers).forEach(visitMatcher);
    }
  };
  const visitMatcher = ({ type, string, strings, attribute, depends }: Matcher): void => {
    const segment = SEGMENTS.indexOf(string as string);
    if (type === 'IN_SPLIT') visit((depends as { splitName: string }).splitName);
    for (const side of [before, after]) side.keys[segment]?.forEach((key) => keys.add(key));
    if (attribute === undefined && Array.isArray(strings))
      (strings as string[]).forEach((key) => keys.add(key));
  };
  visit(flag);
  return [...keys];
}

/** Move → number of keys. */
function counted(flag: string, keys: readonly string[], worlds: readonly [FlagWorld, FlagWorld]) {
  const moves = new Map<string, number>();
  for (const key of keys) {
    const [from, to] = [evaluated(flag, key, worlds[0]), evaluated(flag, key, worlds[1])];
    const id = `${from} → ${to}`;
    moves.set(id, (moves.get(id) ?? 0) + 1);
  }
  for (const { name } of worlds[0].definitions.get(flag)?.definition.treatments ?? []) {
    const [before, after] = worlds.map((world) => evaluatedConfiguration(flag, name, world));
    if (before === after) moves.delete(`${name} → ${name}`);
  }
  return moves;
}

function check(
  impact: FlagImpact,
  drawn: Situation,
  worlds: readonly [FlagWorld, FlagWorld],
): string[] {
  const keys = listedFor(impact.flag, drawn);
  const traffic = counted(impact.flag, RANDOM_KEYS, worlds);
  const listed = counted(impact.flag, keys, worlds);
  const sum = (moves: Map<string, number>) => [...moves.values()].reduce((a, b) => a + b, 0);
  const problems: string[] =
    impact.listed === keys.length ? [] : [`${keys.length} listed keys, ${impact.listed} counted`];
  const told = new Set<string>();
  const isHashed = drawn.seeded.length === FLAGS.length;
  const isWithin = (count: number, { atLeast, atMost, certain }: FlagImpact['keys']): boolean =>
    (!certain && !isHashed) || (atLeast <= count && count <= atMost);
  for (const move of impact.moves) {
    const id = `${move.from ?? 'control'} → ${move.to ?? 'control'}`;
    told.add(id);
    const [of, ofListed] = [traffic.get(id) ?? 0, listed.get(id) ?? 0];
    if (!liesIn(of, move.traffic, RANDOM_KEYS.length))
      problems.push(`${id}: ${of} of the traffic, ${JSON.stringify(move.traffic)} computed`);
    if (!isWithin(ofListed, move.keys))
      problems.push(`${id}: ${ofListed} listed keys, ${JSON.stringify(move.keys)} computed`);
  }
  if (!liesIn(sum(traffic), impact.traffic, RANDOM_KEYS.length))
    problems.push(`${sum(traffic)} of the traffic, ${JSON.stringify(impact.traffic)} computed`);
  if (impact.keys.certain && impact.keys.atLeast !== impact.keys.atMost)
    problems.push('a number that is certain has no bounds');
  if (!isWithin(sum(listed), impact.keys))
    problems.push(`${sum(listed)} listed keys, ${JSON.stringify(impact.keys)} computed`);
  for (const id of [...traffic.keys(), ...listed.keys()])
    if (!told.has(id) && !impact.bounded) problems.push(`${id} happens and is not told`);
  return problems;
}

it('agrees with evaluating random keys, and exactly for listed ones, whatever the definitions', () => {
  let [pairs, exact, certain, nobody, restores] = [0, 0, 0, 0, 0];
  fc.assert(
    fc.property(situation, (drawn) => {
      const input = inputOf(drawn);
      const plan = planChanges(input);
      const impacts = planImpact(plan, input);
      const worlds = worldsOf(drawn);
      for (const flag of FLAGS) {
        const change = plan.changes.find(({ id }) => id === `flag/${flag}@${PLACE}`);
        const impact = change && impacts.get(change.id)?.flags[0];
        if (impact?.flag !== flag) continue;
        pairs += 1;
        if (impact.traffic.atLeast === impact.traffic.atMost) exact += 1;
        if (impact.keys.certain) certain += 1;
        expect(check(impact, drawn, worlds), flag).toEqual([]);
      }
      for (const { ref, id } of plan.changes) {
        const restore = impacts.get(id)?.afterRestore;
        if (!restore) continue;
        restores += 1;
        const restored = restoredSituation(ref.name, drawn);
        expect(check(restore, restored, worldsOf(restored)), `restore of ${ref.name}`).toEqual([]);
      }
      const reached = [...impacts.values()].flatMap(({ flags }) => flags.map(({ flag }) => flag));
      for (const flag of FLAGS.filter((each) => !reached.includes(each))) {
        nobody += 1;
        expect([...counted(flag, EVERYBODY, worlds)], `nobody by ${flag}`).toEqual([]);
      }
    }),
    settings,
  );
  expect(pairs).toBeGreaterThanOrEqual(
    settings.numRuns >= 0.3 * USUAL ? 1.5 * settings.numRuns : 1,
  );
  process.stdout.write(
    `${pairs} pairs of definitions, of which ${exact} exact for traffic and ${certain} certain for keys; ${nobody} flags by which nobody is reached, ${restores} restores\n`,
  );
});

/** Asks for some keys alone: each case asks 24 questions twice. */
const answers = lawSettings('answers against brute force', 200);

it('a key gets what an evaluator of its own gives it, and exactly that where all is told', () => {
  let certain = 0;
  fc.assert(
    fc.property(situation, fc.subarray(LISTED, { minLength: 8, maxLength: 8 }), (drawn, keys) => {
      const { desired } = inputOf(drawn);
      const world = worldOf(drawn.after, drawn.seeds);
      for (const [index, flag] of FLAGS.entries()) {
        const { trafficAllocation, rules: of } = drawn.after.definitions[index] ?? { rules: [] };
        const hashed = of.some(({ matchers }) => matchers.some(({ type }) => type === 'IN_SPLIT'));
        for (const key of keys) {
          const served = evaluated(flag, key, world);
          const place = { flag, environment: PLACE };
          const told = {
            key,
            segments: FOREIGNERS.has(key) ? [FOREIGN] : [],
            attributes: { plan: world.attribute(key, 'plan') },
            at: bucketOf(key, drawn.seeds[index * 2] ?? 0),
          };
          const whole = evaluate(desired, place, told);

          const shares = [whole, evaluate(desired, place, { key })].map((each) => each?.shares);
          for (const each of shares) expect([...(each?.keys() ?? [])]).toContain(served);
          expect(whole?.untold).toEqual([]);
          if (trafficAllocation !== 100 || hashed) continue;
          certain += 1;
          expect(whole?.shares).toEqual(new Map([[served, { least: 100, most: 100 }]]));
        }
      }
    }),
    answers,
  );
  expect(certain).toBeGreaterThan(answers.numRuns);
});
