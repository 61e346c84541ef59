import fc from 'fast-check';
import type { Bucket, Definition, FlagFields, Matcher, Rule } from '../../src/kinds/flag.js';
import type { Desired, DesiredFlag, DesiredSegment } from '../../src/model/desired.js';
import { aDesired, desiredFlag, desiredSegment, ENVIRONMENTS } from './builders.js';

/** Generated specs: valid by themselves, small most of the time, with names that meet again in the next ones. */

const FLAG_NAMES = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];
const SEGMENT_NAMES = ['staff', 'vip', 'Ünïcode', 'europe'];
const TREATMENTS = ['on', 'off', 'v2', 'v3'];
const ENVIRONMENT_NAMES = ENVIRONMENTS.map(({ name }) => name);

const key = fc.oneof(
  fc.constantFrom('u1', 'u2', '0012', 'null', '1e5', 'ключ', 'a b', '😀'),
  fc.string({ minLength: 1, maxLength: 8 }),
);

function buckets(names: readonly string[]): fc.Arbitrary<Bucket[]> {
  return fc
    .tuple(
      fc.shuffledSubarray([...names], { minLength: 1 }),
      fc.array(fc.nat(100), { minLength: 3, maxLength: 3 }),
    )
    .map(([chosen, cuts]) => {
      const points = [0, ...cuts.slice(0, chosen.length - 1).sort((a, b) => a - b), 100];
      return chosen.map((treatment, index) => ({
        treatment,
        size: (points[index + 1] ?? 100) - (points[index] ?? 0),
      }));
    });
}

const attributeMatcher: fc.Arbitrary<Matcher> = fc.oneof(
  fc.record({
    type: fc.constantFrom(
      'IN_LIST_STRING',
      'STARTS_WITH_STRING',
      'ENDS_WITH_STRING',
      'CONTAINS_STRING',
      'ANY_OF_SET',
    ),
    attribute: fc.constantFrom('country', 'plan'),
    strings: fc.uniqueArray(key, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    type: fc.constantFrom(
      'EQUAL_NUMBER',
      'GREATER_THAN_OR_EQUAL_NUMBER',
      'LESS_THAN_OR_EQUAL_NUMBER',
    ),
    attribute: fc.constant('age'),
    number: fc.integer(),
  }),
  fc.record({
    type: fc.constant('BETWEEN_NUMBER'),
    attribute: fc.constant('age'),
    between: fc.record({ from: fc.integer(), to: fc.integer() }),
  }),
  fc.record({ type: fc.constant('BOOLEAN'), attribute: fc.constant('paying'), bool: fc.boolean() }),
  fc.record({
    type: fc.constant('ON_OR_AFTER_DATE'),
    attribute: fc.constant('since'),
    date: fc.nat(),
  }),
  fc.record({ type: fc.constant('SOMETHING_NEW'), string: key, negate: fc.constant(true) }),
);

interface Names {
  readonly segments: readonly string[];
  /** Flags that may be depended on, with their treatments. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
}

function matcher({ segments, flags }: Names): fc.Arbitrary<Matcher> {
  const choices: fc.Arbitrary<Matcher>[] = [attributeMatcher];
  if (segments.length > 0) {
    choices.push(fc.constantFrom(...segments).map((string) => ({ type: 'IN_SEGMENT', string })));
  }
  if (flags.size > 0) {
    const dependency = fc.constantFrom(...flags).chain(([splitName, treatments]) =>
      fc.subarray([...treatments], { minLength: 1 }).map((chosen): Matcher => ({
        type: 'IN_SPLIT',
        depends: { splitName, treatments: chosen },
      })),
    );
    choices.push(dependency);
  }
  return fc.oneof(...choices);
}

function rule(treatments: readonly string[], names: Names): fc.Arbitrary<Rule> {
  return fc.record({
    matchers: fc.array(matcher(names), { minLength: 1, maxLength: 3 }),
    buckets: buckets(treatments),
  });
}

function definition(treatments: readonly string[], names: Names): fc.Arbitrary<Definition> {
  return fc.record({
    treatments: fc.constant(treatments.map((name) => ({ name, description: '' }))),
    targets: fc.uniqueArray(key, { maxLength: 3 }).map((keys) => {
      const first = treatments[0];
      return first === undefined || keys.length === 0 ? {} : { [first]: keys };
    }),
    defaultTreatment: fc.constantFrom(...treatments),
    baselineTreatment: fc.constantFrom(...treatments),
    trafficAllocation: fc.nat(100),
    rules: fc.array(rule(treatments, names), { maxLength: 3 }),
    defaultRule: buckets(treatments),
  });
}

const flagFields: fc.Arbitrary<FlagFields> = fc.record(
  {
    description: fc.string({ maxLength: 12 }),
    tags: fc
      .uniqueArray(fc.constantFrom('web', 'checkout', 'Ops'), { maxLength: 3 })
      .map((tags) => tags.sort()),
    rolloutStatus: fc.constantFrom('Pre-Production', 'Ramping'),
  },
  { requiredKeys: [] },
);

function segment(name: string): fc.Arbitrary<DesiredSegment> {
  const keys = fc.option(fc.uniqueArray(key, { maxLength: 6 }), { nil: undefined, freq: 5 });
  return fc
    .record({ staging: keys, production: keys }, { requiredKeys: [] })
    .map((environments) => desiredSegment(name, environments));
}

/** Flags come in order, and depend only on those before them: specs with a cycle are invalid. */
function flags(
  names: readonly string[],
  segments: readonly DesiredSegment[],
  before: readonly DesiredFlag[] = [],
): fc.Arbitrary<DesiredFlag[]> {
  const [name, ...rest] = names;
  if (name === undefined) return fc.constant([...before]);
  return flag(name, segments, before).chain((made) => flags(rest, segments, [...before, made]));
}

function flag(
  name: string,
  segments: readonly DesiredSegment[],
  before: readonly DesiredFlag[],
): fc.Arbitrary<DesiredFlag> {
  const treatments = fc.shuffledSubarray(TREATMENTS, { minLength: 2 });
  return fc
    .tuple(treatments, fc.subarray(ENVIRONMENT_NAMES), flagFields)
    .chain(([chosen, environments, fields]) =>
      fc
        .tuple(...environments.map((each) => definition(chosen, namesIn(each, segments, before))))
        .map((definitions) => {
          const said = environments.map((each, index) => [each, definitions[index] ?? {}] as const);
          return desiredFlag(name, { fields, environments: Object.fromEntries(said) });
        }),
    );
}

function namesIn(
  environment: string,
  segments: readonly DesiredSegment[],
  before: readonly DesiredFlag[],
): Names {
  const active = segments.filter(({ environments }) => environments.has(environment));
  const defined = before.flatMap(({ name, environments }) => {
    const treatments = environments.get(environment)?.fields.treatments;
    return treatments ? [[name, treatments.map((each) => each.name)] as const] : [];
  });
  return { segments: active.map(({ name }) => name), flags: new Map(defined) };
}

/** Whole specs. Sizes lean to the small; the names of two draws overlap, so that one can follow the other. */
export const someDesired: fc.Arbitrary<Desired> = fc
  .tuple(fc.subarray(SEGMENT_NAMES), fc.subarray(FLAG_NAMES))
  .chain(([segmentNames, flagNames]) =>
    fc
      .tuple(...segmentNames.map(segment))
      .chain((segments) =>
        flags(flagNames, segments).map((made) => aDesired({ flags: made, segments })),
      ),
  );
