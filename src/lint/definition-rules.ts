import { whyInvalid } from '../model/matcher/expression.js';
import { sameJson } from '../model/json.js';
import type { Matcher, Rule } from '../model/flag/flag.js';
import { segmentOf } from '../model/matcher/canonical.js';
import { quotedList } from '../specs/parse/suggest.js';
import {
  eachCondition,
  isProtected,
  placeOfRule,
  type LintedDefinition,
  type LintRule,
  type Report,
} from './rule.js';

/** Messages count the flag's rules from 1, as people do. */
export const DEFINITION_RULES: readonly LintRule<LintedDefinition>[] = [
  { code: 'unreachable-rule', level: 'warning', find: unreachableRules },
  { code: 'contradictory-rule', level: 'warning', find: pairFinder(contradiction) },
  { code: 'duplicate-condition', level: 'warning', find: pairFinder(repetition) },
  { code: 'use-between', level: 'warning', find: pairFinder(halves) },
  { code: 'rule-like-default', level: 'warning', find: ruleLikeDefault },
  { code: 'invalid-regex', level: 'error', find: invalidExpressions },
  { code: 'empty-segment', level: 'warning', find: emptySegments },
  { code: 'full-rollout', level: 'warning', find: fullRollout },
];

/** The first match wins, so no key reaches a rule behind a wider one. Reported once, with the first wider rule. */
function unreachableRules(subject: LintedDefinition, report: Report): void {
  const { rules } = subject.definition.creation;
  for (const [position, rule] of rules.entries()) {
    const first = rules.findIndex((earlier, at) => at < position && covers(earlier, rule));
    if (first === -1) continue;
    const message = `rule ${position + 1} is never reached: rule ${first + 1} matches everybody whom it matches`;
    report(placeOfRule(subject, position), message);
  }
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

/** The message about the later of two conditions of one rule; `first` names the earlier one, as `condition 1 of the rule`. */
type PairMessage = (earlier: Matcher, later: Matcher, first: string) => string | undefined;

/** Reports each condition once, with the first that it conflicts with. */
function pairFinder(messageOf: PairMessage): LintRule<LintedDefinition>['find'] {
  return (subject, report) => {
    eachCondition(subject, (later, place, before) => {
      for (const [at, earlier] of before.entries()) {
        const message = messageOf(earlier, later, `condition ${at + 1} of the rule`);
        if (message === undefined) continue;
        report(place(), message);
        return;
      }
    });
  };
}

function contradiction(earlier: Matcher, later: Matcher, first: string): string | undefined {
  return exclude(earlier, later) ? `this condition and ${first} never hold together` : undefined;
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
function repetition(earlier: Matcher, later: Matcher, first: string): string | undefined {
  return sameJson(earlier, later) ? `the condition says the same as ${first}` : undefined;
}

/** `atLeast` and `atMost` include their ends, and so does `between`: the rule means the same afterwards. */
function halves(earlier: Matcher, later: Matcher, first: string): string | undefined {
  const { from = 1, to = 0 } = rangeOf(earlier, later) ?? {};
  return from <= to ? `with ${first} this is one range: between: [${from}, ${to}]` : undefined;
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

/**
 * A key has one place among the buckets, whichever rule it meets, so equal buckets serve it the same treatment. Skips
 * rules or a default rule that git does not manage: they may differ on the service.
 */
function ruleLikeDefault(subject: LintedDefinition, report: Report): void {
  const { rules = [], defaultRule } = subject.definition.fields;
  const last = rules.at(-1);
  if (last === undefined || !sameJson(last.buckets, defaultRule)) return;
  const message = `rule ${rules.length} serves the same as defaultRule, and is the last: without it everybody gets the same`;
  report(placeOfRule(subject, rules.length - 1), message);
}

/** Evaluators in other languages accept other forms than JavaScript: a flag that means one lists the code in `allow`. */
function invalidExpressions(subject: LintedDefinition, report: Report): void {
  eachCondition(subject, ({ type, string: pattern }, place) => {
    if (type !== 'MATCHES_STRING' || typeof pattern !== 'string') return;
    const why = whyInvalid(pattern);
    if (why !== undefined) report(place(), `"${pattern}" is no regular expression: ${why}`);
  });
}

/** Reports only `exact` segments: others may be filled outside git, and those of other repositories are unknown. */
function emptySegments(subject: LintedDefinition, report: Report): void {
  const { repository, environment } = subject;
  eachCondition(subject, (matcher, place) => {
    const name = segmentOf(matcher);
    if (name === undefined || isNegated(matcher)) return;
    const activation = repository.segments.get(name)?.environments.get(environment);
    if (activation?.mode !== 'exact' || activation.keys?.digest.count !== 0) return;
    const message = `segment "${name}" holds no key in "${environment}", so the rule is for nobody`;
    report(place(), message);
  });
}

function fullRollout(subject: LintedDefinition, report: Report): void {
  const { repository, flag, environment, definition, block } = subject;
  const kinds = repository.settings.fullRollout;
  if (kinds === undefined || !isProtected(subject)) return;
  if (kinds.includes(flag.spec.kind ?? '')) return;
  const { defaultRule, defaultTreatment, trafficAllocation, killed } = definition.creation;
  const [only, second] = defaultRule;
  if (only === undefined || second !== undefined || killed || trafficAllocation < 100) return;
  if (only.treatment === defaultTreatment) return;
  const message = `everybody whom no rule concerns gets "${only.treatment}" in "${environment}", which only flags of kind ${quotedList(kinds)} may do`;
  report(block, message);
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
