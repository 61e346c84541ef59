import fc from 'fast-check';
import type { FlagFields } from '../../src/model/flag/fields.js';
import {
  DEFINITION_FIELDS,
  type Bucket,
  type Definition,
  type DefinitionField,
  type Matcher,
  type Rule,
  type Treatment,
} from '../../src/model/flag/flag.js';
import type { Attributes } from '../../src/model/identities.js';
import { definitionOf, type SpecifiedDefinition } from '../../src/model/flag/from-spec.js';
import type { Json } from '../../src/model/json.js';
import type { BoundDesired } from '../../src/model/bound-desired.js';
import type {
  DesiredFlag,
  DesiredIdentities,
  DesiredSegment,
  SegmentMode,
} from '../../src/model/desired.js';
import {
  aDesired,
  desiredFlag,
  desiredIdentities,
  desiredSegment,
  ENVIRONMENTS,
} from './builders.js';

/** Generated specs: valid by themselves, small most of the time, with names that meet again in the next ones. */

const FLAG_NAMES = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];
const SEGMENT_NAMES = ['staff', 'vip', 'beta-testers', 'europe'];
const TREATMENTS = ['on', 'off', 'v2', 'v3'];
const ENVIRONMENT_NAMES = ENVIRONMENTS.map(({ name }) => name);

/** Objects of a large draw, and of how many draws in a hundred are large. */
const MANY = 200;
const LARGE_IN_100 = 2;

const key = fc.oneof(
  fc.constantFrom(
    ...['u1', 'u2', '0012', 'null', '1e5', 'ключ', 'a b', '😀', 'é', 'e\u0301', '__proto__'],
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
);

export function someBuckets(names: readonly string[]): fc.Arbitrary<Bucket[]> {
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

const attribute = fc.constantFrom('country', 'plan', 'straße');
const texts = fc.uniqueArray(key, { minLength: 1, maxLength: 4 });
/** Whole numbers beyond the safe ones lose their last digits on every way that JSON takes; YAML refuses them. */
function isExact(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isExact);
}

const number = fc
  .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .filter(isExact)
  .map((value) => (value === 0 ? 0 : value));
/** As it is read from JSON, whose writers know one zero. */
const shallowJson = fc
  .jsonValue({ maxDepth: 1 })
  .filter(isExact)
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);
const version = fc.tuple(fc.nat(20), fc.nat(20), fc.nat(20)).map((parts) => parts.join('.'));

function typed(
  types: readonly string[],
  fields: Readonly<Record<string, fc.Arbitrary<Json>>>,
  optional: readonly string[] = [],
): fc.Arbitrary<Matcher> {
  const all = { type: fc.constantFrom(...types), ...fields };
  const requiredKeys = Object.keys(all).filter((name) => !optional.includes(name)) as never[];
  return fc.record(all, { requiredKeys, noNullPrototype: true }) as fc.Arbitrary<Matcher>;
}

/** Every type that public documentation of such services names, and one that nobody knows yet. */
const attributeMatcher: fc.Arbitrary<Matcher> = fc.oneof(
  typed(
    ['IN_LIST_STRING', 'STARTS_WITH_STRING', 'ENDS_WITH_STRING', 'CONTAINS_STRING'],
    { attribute, strings: texts },
    ['attribute'],
  ),
  typed(['EQUAL_SET', 'ANY_OF_SET', 'ALL_OF_SET', 'PART_OF_SET', 'IN_LIST_SEMVER'], {
    attribute,
    strings: texts,
  }),
  typed(['EQUAL_NUMBER', 'GREATER_THAN_OR_EQUAL_NUMBER', 'LESS_THAN_OR_EQUAL_NUMBER'], {
    attribute,
    number,
  }),
  typed(['BETWEEN_NUMBER'], { attribute, between: fc.record({ from: number, to: number }) }),
  typed(['ON_DATE', 'ON_OR_AFTER_DATE', 'ON_OR_BEFORE_DATE'], { attribute, date: fc.nat() }),
  typed(['BETWEEN_DATE'], { attribute, between: fc.record({ from: fc.nat(), to: fc.nat() }) }),
  typed(['BOOLEAN'], { attribute, bool: fc.boolean() }),
  typed(['MATCHES_STRING'], { attribute, string: key }),
  typed(['EQUAL_TO_SEMVER', 'GREATER_THAN_OR_EQUAL_TO_SEMVER', 'LESS_THAN_OR_EQUAL_TO_SEMVER'], {
    attribute,
    string: version,
  }),
  typed(['BETWEEN_SEMVER'], { attribute, between: fc.record({ from: version, to: version }) }),
  typed(['IN_LARGE_SEGMENT', 'IN_RULE_BASED_SEGMENT'], { string: fc.constantFrom('huge', 'vip') }),
  typed(['SOMETHING_NEW'], {
    string: key,
    limits: shallowJson,
  }),
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
  if (flags.size > 0) choices.push(fc.constantFrom(...flags).chain(dependency));
  return fc
    .tuple(fc.oneof(...choices), fc.integer({ min: 0, max: 3 }))
    .map(([made, turn]) => (turn === 0 ? { ...made, negate: true } : made));
}

/** In the list form, or in the older one that names a single treatment. */
function dependency([splitName, treatments]: readonly [
  string,
  readonly string[],
]): fc.Arbitrary<Matcher> {
  return fc.oneof(
    fc
      .shuffledSubarray([...treatments], { minLength: 1 })
      .map((chosen): Matcher => ({ type: 'IN_SPLIT', depends: { splitName, treatments: chosen } })),
    fc
      .constantFrom(...treatments)
      .map((treatment): Matcher => ({ type: 'IN_SPLIT', depends: { splitName, treatment } })),
  );
}

function rule(treatments: readonly string[], names: Names): fc.Arbitrary<Rule> {
  return fc.record({
    matchers: fc.array(matcher(names), { minLength: 1, maxLength: 3 }),
    buckets: someBuckets(treatments),
  });
}

function treatment(name: string): fc.Arbitrary<Treatment> {
  return fc.record(
    {
      name: fc.constant(name),
      description: fc.constantFrom('', 'new page', 'straße 😀'),
      configuration: shallowJson,
    },
    { requiredKeys: ['name'] },
  );
}

/** Each key for one treatment at most: the service refuses more. */
function targets(treatments: readonly string[]): fc.Arbitrary<Record<string, readonly string[]>> {
  return fc
    .uniqueArray(key, { maxLength: 4 })
    .chain((keys) =>
      fc
        .tuple(...keys.map(() => fc.constantFrom(...treatments)))
        .map((of) =>
          Object.fromEntries(
            treatments
              .map((name) => [name, keys.filter((_, index) => of[index] === name)] as const)
              .filter(([, held]) => held.length > 0),
          ),
        ),
    );
}

type UnsaidDefinition = Definition & { readonly unsaid: readonly DefinitionField[] };

/** Fields that a definition can do without, and that are then left as the service has them. */
const UNSAYABLE = ['killed', 'targets', 'baselineTreatment', 'trafficAllocation'] as const;

function definition(treatments: readonly string[], names: Names): fc.Arbitrary<UnsaidDefinition> {
  const said = fc.record(
    {
      treatments: fc.tuple(...treatments.map(treatment)),
      targets: targets(treatments),
      defaultTreatment: fc.constantFrom(...treatments),
      baselineTreatment: fc.constantFrom(...treatments),
      trafficAllocation: fc.nat(100),
      killed: fc.constant(true),
      rules: fc.array(rule(treatments, names), { maxLength: 3 }),
      defaultRule: someBuckets(treatments),
    },
    { requiredKeys: ['treatments', 'defaultTreatment', 'rules', 'defaultRule'] },
  );
  return said.map((fields) => ({ ...fields, unsaid: UNSAYABLE }));
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
  const mode = fc.constantFrom<SegmentMode>('exact', 'exact', 'exact', 'add-only', 'external');
  const description = fc.constantFrom('', 'who is in');
  return fc
    .tuple(fc.record({ staging: keys, production: keys }, { requiredKeys: [] }), mode, description)
    .map(([environments, chosen, said]) => ({
      ...desiredSegment(name, environments, chosen),
      description: said,
    }));
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
          const said = environments.map((each, index) => [each, definitions[index]] as const);
          return withBaselines(desiredFlag(name, { fields, environments: definedIn(said) }));
        }),
    );
}

/** As specs are read: a baseline that is not said is the default treatment at creation. */
function withBaselines(made: DesiredFlag): DesiredFlag {
  const environments = [...made.environments].map(([environment, each]) => {
    const { defaultTreatment } = each.creation;
    const baselineTreatment = each.fields.baselineTreatment ?? defaultTreatment;
    return [environment, { ...each, creation: { ...each.creation, baselineTreatment } }] as const;
  });
  return { ...made, environments: new Map(environments) };
}

function definedIn(
  said: readonly (readonly [string, UnsaidDefinition | undefined])[],
): Record<string, UnsaidDefinition> {
  return Object.fromEntries(said.flatMap(([each, made]) => (made ? [[each, made] as const] : [])));
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

/** A key that a segment may hold as well; attributes as a service takes them. */
const identities: fc.Arbitrary<DesiredIdentities[]> = fc
  .subarray([...ENVIRONMENT_NAMES])
  .chain((names) =>
    names.length === 0
      ? fc.constant([])
      : fc
          .record(Object.fromEntries(names.map((name) => [name, identityKeys()])))
          .map((environments) => [desiredIdentities(environments)]),
  );

function identityKeys(): fc.Arbitrary<Record<string, Attributes>> {
  const attributes = fc.dictionary(
    fc.constantFrom('plan', 'seats', 'home-country'),
    fc.constantFrom('', 'pro', '25', 'straße 😀'),
    { noNullPrototype: true },
  );
  return fc.dictionary(key, attributes, { maxKeys: 5, noNullPrototype: true });
}

/** Never more than a few objects, for laws that pay for each request. */
export const fewDesired: fc.Arbitrary<BoundDesired> = fc
  .tuple(fc.subarray(SEGMENT_NAMES), fc.subarray(FLAG_NAMES), identities)
  .chain(([segmentNames, flagNames, known]) =>
    fc
      .tuple(...segmentNames.map(segment))
      .chain((segments) =>
        flags(flagNames, segments).map((made) =>
          aDesired({ flags: made, segments, identities: known }),
        ),
      ),
  );

/** The same specs many times over, each copy with names of its own that point at each other. */
function manyTimes({ flags: some, segments, identities: known }: BoundDesired): BoundDesired {
  const count = Math.ceil(MANY / Math.max(1, some.size + segments.size));
  const copies = Array.from({ length: count }, (_, index) => `-${index}`);
  return aDesired({
    identities: [...known.values()],
    flags: copies.flatMap((suffix) => [...some.values()].map((each) => renamedFlag(each, suffix))),
    segments: copies.flatMap((suffix) =>
      [...segments.values()].map((each) => ({ ...each, name: each.name + suffix })),
    ),
  });
}

function renamedFlag(made: DesiredFlag, suffix: string): DesiredFlag {
  const environments = [...made.environments].map(
    ([environment, { fields, creation, ...rest }]) => {
      const rules = creation.rules.map((each) => ({
        ...each,
        matchers: each.matchers.map((matched) => renamedMatcher(matched, suffix)),
      }));
      const renamed = { ...rest, fields: { ...fields, rules }, creation: { ...creation, rules } };
      return [environment, renamed] as const;
    },
  );
  return { ...made, name: made.name + suffix, environments: new Map(environments) };
}

function renamedMatcher(made: Matcher, suffix: string): Matcher {
  if (made.type === 'IN_SEGMENT') return { ...made, string: (made['string'] as string) + suffix };
  if (made.type !== 'IN_SPLIT') return made;
  const depends = made['depends'] as { readonly splitName: string };
  return { ...made, depends: { ...depends, splitName: depends.splitName + suffix } };
}

/**
 * Whole specs, of which nothing is wrong. Mostly small, and two in a hundred with two hundred objects; the names of two
 * draws overlap, so that one can follow the other.
 */
export const someDesired: fc.Arbitrary<BoundDesired> = fc
  .tuple(fewDesired, fc.integer({ min: 1, max: 100 }))
  .map(([small, lot]) => (lot > 100 - LARGE_IN_100 ? manyTimes(small) : small));

/** What may stand under `unmanaged`, at least one of them. */
export const someUnmanaged: fc.Arbitrary<DefinitionField[]> = fc.subarray([...DEFINITION_FIELDS], {
  minLength: 1,
});

/** The specs with these fields under `unmanaged` in every definition: said for the creation, and then left alone. */
export function leaving(
  desired: BoundDesired,
  unmanaged: readonly DefinitionField[],
): BoundDesired {
  const flags = [...desired.flags].map(([name, flag]) => {
    const environments = [...flag.environments].map(([environment, definition]) => {
      const { fields } = definitionOf(definition.fields as SpecifiedDefinition, unmanaged);
      return [environment, { ...definition, fields }] as const;
    });
    return [name, { ...flag, environments: new Map(environments) }] as const;
  });
  return { ...desired, flags: new Map(flags) };
}
