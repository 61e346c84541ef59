import type { WireBucket, WireDefinition, WireMatcher } from '../admin-api/wire.js';
import { ownMember } from '../model/collections.js';
import { canonicalMatcher, dependencyOf } from '../model/matcher/canonical.js';
import type { Json } from '../model/json.js';
import type { Matcher } from '../model/flag/flag.js';
import type { Seeds } from '../plan/impact/serving.js';

/** A definition with the seeds that the SDKs hash keys with. */
export interface SeededSplit {
  readonly definition: WireDefinition & { readonly impressionsDisabled?: boolean };
  readonly seeds: Seeds;
}

/** Every SDK of today hashes with MurmurHash3. */
const MURMUR = 2;

/**
 * A flag in the form that the SDKs read (`splitChanges`), as JSON; without a split, as one that they have to forget.
 *
 * @param number of its newest change.
 */
export function splitText(name: string, number: number, split: SeededSplit | null): string {
  return JSON.stringify({
    name,
    changeNumber: number,
    ...(split === null ? FORGOTTEN : served(split)),
    algo: MURMUR,
    sets: [],
    prerequisites: [],
  });
}

/** The SDKs read all members of an archived flag too, and drop it. */
const FORGOTTEN: ReturnType<typeof served> = {
  status: 'ARCHIVED',
  trafficTypeName: 'user',
  killed: true,
  defaultTreatment: 'control',
  trafficAllocation: 100,
  trafficAllocationSeed: 1,
  seed: 1,
  configurations: {},
  conditions: [],
  impressionsDisabled: false,
};

function served({ definition, seeds }: SeededSplit) {
  const configurations = definition.treatments.flatMap((treatment) =>
    treatment.configurations === undefined ? [] : [[treatment.name, treatment.configurations]],
  );
  return {
    status: 'ACTIVE',
    trafficTypeName: definition.trafficType.name,
    killed: definition.killed,
    defaultTreatment: definition.defaultTreatment,
    trafficAllocation: definition.trafficAllocation,
    trafficAllocationSeed: seeds.allocationSeed,
    seed: seeds.seed,
    configurations: Object.fromEntries(configurations) as Record<string, string>,
    conditions: conditionsOf(definition),
    impressionsDisabled: definition.impressionsDisabled === true,
  };
}

/** Individual targets, segments that are targeted whole, rules, default rule: the first that matches counts. */
function conditionsOf(definition: WireDefinition): object[] {
  const { treatments, rules, defaultRule } = definition;
  const traffic = definition.trafficType.name;
  const targets = treatments.flatMap(({ name, keys = [] }) => {
    const matcher = { type: 'IN_LIST_STRING', strings: keys };
    return keys.length === 0 ? [] : [target('whitelisted', name, matcher, traffic)];
  });
  const segments = treatments.flatMap(({ name, segments: names = [] }) =>
    names.map((segment) => {
      const matcher = { type: 'IN_SEGMENT', string: segment };
      return target(`whitelisted segment ${segment}`, name, matcher, traffic);
    }),
  );
  return [
    ...targets,
    ...segments,
    ...rules.map(({ condition, buckets }, index) => {
      const matchers = condition.matchers.map((matcher) => sdkMatcher(matcher, traffic));
      return conditionOf('ROLLOUT', `rule ${index + 1}`, matchers, buckets);
    }),
    conditionOf('ROLLOUT', 'default rule', [plainMatcher('ALL_KEYS', traffic)], defaultRule),
  ];
}

function target(label: string, treatment: string, matcher: WireMatcher, traffic: string): object {
  const whole = [{ treatment, size: 100 }];
  return conditionOf('WHITELIST', label, [sdkMatcher(matcher, traffic)], whole);
}

function conditionOf(
  conditionType: 'WHITELIST' | 'ROLLOUT',
  label: string,
  matchers: readonly object[],
  buckets: readonly WireBucket[],
): object {
  const partitions = buckets.map(({ treatment, size }) => ({ treatment, size }));
  return { conditionType, label, matcherGroup: { combiner: 'AND', matchers }, partitions };
}

function plainMatcher(matcherType: string, trafficType: string, attribute: Json = null): object {
  return { keySelector: { trafficType, attribute }, matcherType, negate: false };
}

/** The operand of a matcher, under the name and in the form that the SDKs read it. */
type Operand = (matcher: Matcher) => Readonly<Record<string, Json>>;

const text: Operand = ({ string: value = '' }) => ({ stringMatcherData: value });
const list: Operand = ({ strings = [] }) => ({ whitelistMatcherData: { whitelist: strings } });
const segment: Operand = ({ string: name = '' }) => ({
  userDefinedSegmentMatcherData: { segmentName: name },
});
const one =
  (dataType: string, member: 'number' | 'date'): Operand =>
  (matcher) => ({ unaryNumericMatcherData: { dataType, value: matcher[member] ?? 0 } });
const range =
  (dataType: string): Operand =>
  ({ between }) => ({ betweenMatcherData: { dataType, ...endsOf(between) } });

function endsOf(between: Json | undefined): { readonly start: Json; readonly end: Json } {
  const { from = 0, to = 0 } = between as { readonly from?: Json; readonly to?: Json };
  return { start: from, end: to };
}

/** Type of a matcher in the administration → type and operand that the SDKs know. */
const SDK_MATCHERS: Readonly<Record<string, readonly [type: string, operand: Operand]>> = {
  IN_SEGMENT: ['IN_SEGMENT', segment],
  IN_RULE_BASED_SEGMENT: ['IN_RULE_BASED_SEGMENT', segment],
  IN_LARGE_SEGMENT: [
    'IN_LARGE_SEGMENT',
    ({ string: name = '' }) => ({ userDefinedLargeSegmentMatcherData: { largeSegmentName: name } }),
  ],
  IN_SPLIT: [
    'IN_SPLIT_TREATMENT',
    (matcher) => {
      const { flag = '', treatments = [] } = dependencyOf(matcher) ?? {};
      return { dependencyMatcherData: { split: flag, treatments } };
    },
  ],
  EQUAL_SET: ['EQUAL_TO_SET', list],
  ANY_OF_SET: ['CONTAINS_ANY_OF_SET', list],
  ALL_OF_SET: ['CONTAINS_ALL_OF_SET', list],
  PART_OF_SET: ['PART_OF_SET', list],
  ON_DATE: ['EQUAL_TO', one('DATETIME', 'date')],
  ON_OR_AFTER_DATE: ['GREATER_THAN_OR_EQUAL_TO', one('DATETIME', 'date')],
  ON_OR_BEFORE_DATE: ['LESS_THAN_OR_EQUAL_TO', one('DATETIME', 'date')],
  BETWEEN_DATE: ['BETWEEN', range('DATETIME')],
  EQUAL_NUMBER: ['EQUAL_TO', one('NUMBER', 'number')],
  GREATER_THAN_OR_EQUAL_NUMBER: ['GREATER_THAN_OR_EQUAL_TO', one('NUMBER', 'number')],
  LESS_THAN_OR_EQUAL_NUMBER: ['LESS_THAN_OR_EQUAL_TO', one('NUMBER', 'number')],
  BETWEEN_NUMBER: ['BETWEEN', range('NUMBER')],
  BOOLEAN: ['EQUAL_TO_BOOLEAN', ({ bool = false }) => ({ booleanMatcherData: bool })],
  IN_LIST_STRING: ['WHITELIST', list],
  STARTS_WITH_STRING: ['STARTS_WITH', list],
  ENDS_WITH_STRING: ['ENDS_WITH', list],
  CONTAINS_STRING: ['CONTAINS_STRING', list],
  MATCHES_STRING: ['MATCHES_STRING', text],
  EQUAL_TO_SEMVER: ['EQUAL_TO_SEMVER', text],
  GREATER_THAN_OR_EQUAL_TO_SEMVER: ['GREATER_THAN_OR_EQUAL_TO_SEMVER', text],
  LESS_THAN_OR_EQUAL_TO_SEMVER: ['LESS_THAN_OR_EQUAL_TO_SEMVER', text],
  BETWEEN_SEMVER: [
    'BETWEEN_SEMVER',
    ({ between }) => ({ betweenStringMatcherData: { ...endsOf(between) } }),
  ],
  IN_LIST_SEMVER: ['IN_LIST_SEMVER', list],
};

/** Types that ask about the key, whatever attribute a client wrote beside them. */
const WITHOUT_ATTRIBUTE = new Set([
  'IN_SEGMENT',
  'IN_RULE_BASED_SEGMENT',
  'IN_LARGE_SEGMENT',
  'IN_SPLIT',
]);

/** The SDKs serve `control` for a flag with a matcher of an unknown type. */
const UNKNOWN_TYPE = 'UNKNOWN';

function sdkMatcher(raw: WireMatcher, trafficType: string): object {
  const matcher = canonicalMatcher(raw);
  const [type, operand] = ownMember(SDK_MATCHERS, matcher.type) ?? [UNKNOWN_TYPE, () => ({})];
  const attribute = WITHOUT_ATTRIBUTE.has(matcher.type) ? null : (matcher['attribute'] ?? null);
  return {
    ...plainMatcher(type, trafficType, attribute),
    negate: matcher['negate'] === true,
    ...operand(matcher),
  };
}
