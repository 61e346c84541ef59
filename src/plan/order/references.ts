import type { WireDefinition, WireMatcher, WireRule } from '../../admin-api/wire.js';
import type { Matcher, Rule } from '../../model/flag/flag.js';
import { canonicalMatcher, dependencyOf, segmentOf } from '../../model/matcher/canonical.js';
import { keyOf, objectId, type ObjectId } from '../../model/ref.js';

/** An object that a rule names: a segment, or a flag with the treatments that the rule asks for. */
export interface Use {
  readonly id: ObjectId;
  /** Empty for a segment. */
  readonly treatments: readonly string[];
}

/** The objects that the rules of a definition in this environment name, with repetitions. */
export function usesOf(rules: readonly Rule[], environment: string): Use[] {
  return rules.flatMap((rule) => rule.matchers).flatMap((matcher) => useOf(matcher, environment));
}

/** `KIND/NAME` of the objects that rules name, with repetitions. */
export function namesIn(rules: readonly Rule[]): string[] {
  return rules.flatMap(({ matchers }) => matchers).flatMap(nameIn);
}

/** `KIND/NAME` of the objects that the service's definition names in rules and as targeted segments. */
export function namesInLive({ rules, treatments }: WireDefinition): string[] {
  const matchers = rules.flatMap(({ condition }) => condition.matchers);
  const targeted = treatments.flatMap(({ segments }) => segments ?? []);
  return [...matchers.flatMap(nameIn), ...targeted.map((name) => keyOf('segment', name))];
}

/** Uses by the service's definition, in rules and as targeted segments. */
export function liveUsesOf(definition: WireDefinition, environment: string): Use[] {
  const matchers = definition.rules.flatMap((rule: WireRule) => rule.condition.matchers);
  return [
    ...matchers.flatMap((matcher) => useOf(matcher, environment)),
    ...targetedSegments(definition, environment),
  ];
}

/** Segments that are targeted whole: no spec can express this, and flagkeel never removes it. */
export function targetedSegments({ treatments }: WireDefinition, environment: string): Use[] {
  return treatments
    .flatMap(({ segments }) => segments ?? [])
    .map((name) => ({ id: objectId({ kind: 'segment', name, environment }), treatments: [] }));
}

/** Specs may hold raw matchers, and answers older spellings: only the canonical form shows the name reliably. */
function useOf(raw: WireMatcher | Matcher, environment: string): Use[] {
  const matcher = canonicalMatcher(raw);
  const segment = segmentOf(matcher);
  if (segment !== undefined) {
    return [{ id: objectId({ kind: 'segment', name: segment, environment }), treatments: [] }];
  }
  const dependency = dependencyOf(matcher);
  if (!dependency) return [];
  const { flag, treatments } = dependency;
  return [{ id: objectId({ kind: 'flag', name: flag, environment }), treatments }];
}

function nameIn(raw: WireMatcher | Matcher): string[] {
  // Every matcher that names something has one of these types, in any spelling.
  if (raw.type !== 'IN_SEGMENT' && raw.type !== 'IN_SPLIT') return [];
  const matcher = canonicalMatcher(raw);
  const segment = segmentOf(matcher);
  if (segment !== undefined) return [keyOf('segment', segment)];
  const dependency = dependencyOf(matcher);
  return dependency ? [keyOf('flag', dependency.flag)] : [];
}
