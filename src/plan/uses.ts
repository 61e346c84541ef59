import type { WireDefinition, WireRule } from '../api/wire.js';
import type { Matcher, Rule } from '../kinds/flag.js';
import { dependencyOf, segmentOf } from '../kinds/matcher.js';
import { objectId, type ObjectId } from '../model/object-id.js';

/** One thing that a rule names: a segment, or a flag of which it asks for some treatments. */
export interface Use {
  readonly id: ObjectId;
  /** Empty for a segment. */
  readonly treatments: readonly string[];
}

/** What the rules of a definition in this environment name, with repetitions. */
export function usesOf(rules: readonly Rule[], environment: string): Use[] {
  return rules.flatMap((rule) => rule.matchers).flatMap((matcher) => useOf(matcher, environment));
}

/** The same of the service's definition. */
export function liveUsesOf({ rules }: WireDefinition, environment: string): Use[] {
  return rules
    .flatMap((rule: WireRule) => rule.condition.matchers)
    .flatMap((matcher) => useOf(matcher as Matcher, environment));
}

function useOf(matcher: Matcher, environment: string): Use[] {
  const segment = segmentOf(matcher);
  if (segment !== undefined) {
    return [{ id: objectId({ kind: 'segment', name: segment, environment }), treatments: [] }];
  }
  const dependency = dependencyOf(matcher);
  if (!dependency) return [];
  const { flag, treatments } = dependency;
  return [{ id: objectId({ kind: 'flag', name: flag, environment }), treatments }];
}
