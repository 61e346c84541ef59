import type { ConditionSpec } from '../../generated/flag.schema.d.js';
import { matcherOf } from './from-condition.js';
import type { Matcher } from '../flag/flag.js';
import { sameJson, type Json } from '../json.js';
import { dependencyOf, segmentOf } from './canonical.js';
import { COMPARISONS, OPERAND_MEMBER, wordOf, type ComparisonWord } from './matchers.js';

/** In the words of the specs where they express all of it, otherwise the raw matcher, so that nothing is lost. */
export function conditionOf(matcher: Matcher): ConditionSpec {
  const { negate, ...bare } = matcher;
  const worded = wordedCondition(bare);
  const condition = worded && { ...worded, ...(negate === true && { not: true }) };
  if (condition !== undefined && standsFor(condition, matcher)) return condition;
  return { matcher: inOrder(matcher) };
}

/** Converts the condition back, because a matcher may have members that no word can express. */
function standsFor(condition: ConditionSpec, matcher: Matcher): boolean {
  const turned = matcherOf(condition);
  return turned.ok && sameJson(turned.value, matcher);
}

function wordedCondition(matcher: Matcher): ConditionSpec | undefined {
  const segment = segmentOf(matcher);
  if (segment !== undefined) return segment === '' ? undefined : { segment };
  const dependency = dependencyOf(matcher);
  if (dependency !== undefined) {
    const { flag, treatments } = dependency;
    const [first, ...others] = treatments;
    if (flag === '' || first === undefined || treatments.includes('')) return undefined;
    return { flag, treatments: [first, ...others] };
  }
  const word = wordOf(matcher.type);
  const operand = word && operandOf(matcher, word);
  if (word === undefined || operand === undefined) return undefined;
  const { attribute } = matcher;
  if (attribute === '') return undefined;
  return { ...(typeof attribute === 'string' && { attribute }), [word]: operand };
}

function operandOf(matcher: Matcher, word: ComparisonWord): Json | undefined {
  const { operand } = COMPARISONS[word];
  const value = matcher[OPERAND_MEMBER[operand]];
  switch (operand) {
    case 'strings':
      return Array.isArray(value) && value.length > 0 ? (value as Json) : undefined;
    case 'pattern':
      return typeof value === 'string' && value !== '' ? value : undefined;
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'number':
      return typeof value === 'number' ? value : undefined;
    case 'date':
      return typeof value === 'number' ? dateText(value) : undefined;
    case 'number-range':
      return rangeOf(value, (end) => end);
    case 'date-range':
      return rangeOf(value, dateText);
  }
}

function rangeOf(between: Json | undefined, write: (end: number) => Json): Json | undefined {
  const { from, to } = (between ?? {}) as { from?: Json; to?: Json };
  if (typeof from !== 'number' || typeof to !== 'number') return undefined;
  return [write(from), write(to)];
}

/** A day if the moment is its midnight in UTC; the milliseconds if the year does not have four digits. */
function dateText(ms: number): string | number {
  const moment = Number.isInteger(ms) ? new Date(ms) : undefined;
  if (moment === undefined || Number.isNaN(moment.getTime())) return ms;
  const text = moment.toISOString();
  if (!/^\d{4}-/.test(text)) return ms;
  if (text.endsWith('T00:00:00.000Z')) return text.slice(0, 10);
  return text.replace('.000Z', 'Z');
}

/** The type first, the rest by name: the service may answer in a different order each time. */
function inOrder(matcher: Matcher): { type: string; [name: string]: unknown } {
  const { type, ...rest } = matcher;
  const names = Object.keys(rest).sort();
  return { type, ...Object.fromEntries(names.map((name) => [name, rest[name]])) };
}
