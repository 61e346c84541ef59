import { whyInvalid } from '../model/matcher/expression.js';
import { sameJson } from '../model/json.js';
import type { Matcher, Rule } from '../model/flag/flag.js';
import { segmentOf } from '../model/matcher/canonical.js';
import { quotedList } from '../specs/parse/suggest.js';
import {
  eachCondition,
  isProtected,
  ofBlock,
  ofRule,
  type DefinitionRule,
  type Finding,
  type LintedDefinition,
  type LintedRepository,
} from './rule.js';

/** Messages count the flag's rules from 1, as people do. */
export const DEFINITION_RULES: readonly DefinitionRule[] = [
  { code: 'unreachable-rule', level: 'warning', find: unreachableRules },
  { code: 'contradictory-rule', level: 'warning', find: contradictoryRules },
  { code: 'duplicate-condition', level: 'warning', find: duplicateConditions },
  { code: 'use-between', level: 'warning', find: halvesOfRanges },
  { code: 'rule-like-default', level: 'warning', find: ruleLikeDefault },
  { code: 'invalid-regex', level: 'error', find: invalidExpressions },
  { code: 'empty-segment', level: 'warning', find: emptySegments },
  { code: 'full-rollout', level: 'warning', find: fullRollout },
];

/** The first match wins, so no key reaches a rule behind a wider one. Reported once, with the first wider rule. */
function unreachableRules(subject: LintedDefinition): Finding[] {
  const { rules } = subject.definition.creation;
  return rules.flatMap((rule, position) => {
    const first = rules.findIndex((earlier, at) => at < position && covers(earlier, rule));
    if (first === -1) return [];
    const message = `rule ${position + 1} is never reached: rule ${first + 1} matches everybody whom it matches`;
    return [ofRule(subject, position, [], message)];
  });
}

/** Each condition of the first follows from one of the second. */
function covers(first: Rule, second: Rule): boolean {
  return first.matchers.every((wide) => second.matchers.some((narrow) => implies(narrow, wide)));
}

/** Matchers that hold if any one of their texts does, so that more texts match more keys. */
const ANY_OF: ReadonlySet<string> = new Set([
  'IN_LIST_STRING',
  'STARTS_WITH_STRING',
  'ENDS_WITH_STRING',
  'CONTAINS_STRING',
  'ANY_OF_SET',
]);

/** As far as the two alone can prove it. */
function implies(narrow: Matcher, wide: Matcher): boolean {
  if (sameJson(narrow, wide)) return true;
  const { type } = narrow;
  if (type !== wide.type || isNegated(narrow) || isNegated(wide)) return false;
  if (!sameJson(narrow['attribute'], wide['attribute'])) return false;
  if (ANY_OF.has(type)) {
    const texts = new Set(textsOf(wide));
    return textsOf(narrow).every((text) => texts.has(text));
  }
  const [bound, wideBound] = [narrow['number'], wide['number']];
  if (typeof bound !== 'number' || typeof wideBound !== 'number') return false;
  if (type === 'GREATER_THAN_OR_EQUAL_NUMBER') return bound >= wideBound;
  return type === 'LESS_THAN_OR_EQUAL_NUMBER' && bound <= wideBound;
}

function contradictoryRules(subject: LintedDefinition): Finding[] {
  return pairsOfConditions(
    subject,
    exclude,
    (first) => `this condition and condition ${first} of the rule never hold together`,
  );
}

function exclude(a: Matcher, b: Matcher): boolean {
  if (isNegated(a) !== isNegated(b)) return sameJson(positive(a), positive(b));
  if (isNegated(a) || !sameJson(a['attribute'], b['attribute'])) return false;
  if (a.type === 'IN_LIST_STRING' && b.type === 'IN_LIST_STRING') {
    const texts = new Set(textsOf(a));
    return textsOf(b).every((text) => !texts.has(text));
  }
  const range = rangeOf(a, b);
  return range !== undefined && range.from > range.to;
}

/** Compares conditions in canonical form: the order of a list, and a matcher written raw, make no difference. */
function duplicateConditions(subject: LintedDefinition): Finding[] {
  return pairsOfConditions(
    subject,
    sameJson,
    (first) => `the condition says the same as condition ${first} of the rule`,
  );
}

/** `atLeast` and `atMost` include their ends, and so does `between`: the rule means the same afterwards. */
function halvesOfRanges(subject: LintedDefinition): Finding[] {
  const isHalf = (a: Matcher, b: Matcher): boolean => {
    const range = rangeOf(a, b);
    return range !== undefined && range.from <= range.to;
  };
  return pairsOfConditions(subject, isHalf, (first, a, b) => {
    const { from, to } = rangeOf(a, b) ?? { from: 0, to: 0 };
    return `with condition ${first} of the rule this is one range: between: [${from}, ${to}]`;
  });
}

/** In whichever order the two stand. */
function rangeOf(a: Matcher, b: Matcher): { from: number; to: number } | undefined {
  const [low, high] = a.type === 'GREATER_THAN_OR_EQUAL_NUMBER' ? [a, b] : [b, a];
  if (low.type !== 'GREATER_THAN_OR_EQUAL_NUMBER' || high.type !== 'LESS_THAN_OR_EQUAL_NUMBER') {
    return undefined;
  }
  if (isNegated(low) || isNegated(high)) return undefined;
  const [from, to] = [low['number'], high['number']];
  if (!sameJson(low['attribute'], high['attribute'])) return undefined;
  return typeof from === 'number' && typeof to === 'number' ? { from, to } : undefined;
}

/** Reports the later of two conditions of one rule, once, with the number from 1 of the first that it conflicts with. */
function pairsOfConditions(
  subject: LintedDefinition,
  isFound: (earlier: Matcher, later: Matcher) => boolean,
  messageOf: (first: number, earlier: Matcher, later: Matcher) => string,
): Finding[] {
  return eachCondition(subject, (later, at, matchers) => {
    const first = matchers.findIndex((earlier, i) => i < at && isFound(earlier, later));
    const earlier = matchers[first];
    return earlier && messageOf(first + 1, earlier, later);
  });
}

/**
 * A key has one place among the buckets, whichever rule it meets, so equal buckets serve it the same treatment. Skips
 * rules or a default rule that git does not manage: they may differ on the service.
 */
function ruleLikeDefault(subject: LintedDefinition): Finding[] {
  const { rules, defaultRule } = subject.definition.fields;
  const last = rules?.at(-1);
  if (rules === undefined || defaultRule === undefined || last === undefined) return [];
  if (!sameJson(last.buckets, defaultRule)) return [];
  const message = `rule ${rules.length} serves the same as defaultRule, and is the last: without it everybody gets the same`;
  return [ofRule(subject, rules.length - 1, [], message)];
}

/**
 * Evaluators in other languages accept forms that JavaScript does not, and the reverse; a flag that means such a form
 * lists the code in its `allow`.
 */
function invalidExpressions(subject: LintedDefinition): Finding[] {
  return eachCondition(subject, ({ type, string: pattern }) => {
    if (type !== 'MATCHES_STRING' || typeof pattern !== 'string') return undefined;
    const why = whyInvalid(pattern);
    return why && `"${pattern}" is no regular expression: ${why}`;
  });
}

/** Reports only `exact` segments: others may be filled outside git, and those of other repositories are unknown. */
function emptySegments(
  subject: LintedDefinition,
  { segments }: Pick<LintedRepository, 'segments'>,
): Finding[] {
  return eachCondition(subject, (matcher) => {
    const name = segmentOf(matcher);
    if (name === undefined || isNegated(matcher)) return undefined;
    const activation = segments.get(name)?.environments.get(subject.environment);
    if (activation?.mode !== 'exact' || activation.keys?.digest.count !== 0) return undefined;
    return `segment "${name}" holds no key in "${subject.environment}", so the rule is for nobody`;
  });
}

function fullRollout(
  subject: LintedDefinition,
  { config, settings }: Pick<LintedRepository, 'config' | 'settings'>,
): Finding[] {
  const { flag, environment, definition } = subject;
  const kinds = settings.fullRollout;
  if (kinds === undefined || !isProtected(config, environment)) return [];
  if (kinds.includes(flag.spec.kind ?? '')) return [];
  const { defaultRule, defaultTreatment, trafficAllocation, killed } = definition.creation;
  const [only, second] = defaultRule;
  if (only === undefined || second !== undefined || killed || trafficAllocation < 100) return [];
  if (only.treatment === defaultTreatment) return [];
  const message = `everybody whom no rule concerns gets "${only.treatment}" in "${environment}", which only flags of kind ${quotedList(kinds)} may do`;
  return [ofBlock(subject, message)];
}

function isNegated({ negate }: Matcher): boolean {
  return negate === true;
}

function positive({ negate: _, ...rest }: Matcher): object {
  return rest;
}

function textsOf(matcher: Matcher): readonly unknown[] {
  const texts = matcher['strings'];
  return Array.isArray(texts) ? texts : [];
}
