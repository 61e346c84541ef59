import type { ConditionSpec } from '../generated/flag.schema.d.ts';
import { COMPARISONS, matcherOf, type ComparisonWord } from './condition.js';
import type { Matcher } from './flag.js';
import { sameJson, type Json } from './json.js';
import { dependencyOf, segmentOf } from './matcher.js';

const WORD_OF_TYPE: ReadonlyMap<string, ComparisonWord> = new Map(
  Object.entries(COMPARISONS).map(([word, { type }]) => [type, word as ComparisonWord]),
);

/**
 * The condition that stands for a canonical matcher: in the words of the specs where they say all of it, otherwise the
 * matcher passed through, so that nothing the service holds is lost.
 */
export function conditionOf(matcher: Matcher): ConditionSpec {
  const { negate, ...bare } = matcher;
  const worded = wordedCondition(bare);
  const condition = worded && { ...worded, ...(negate === true && { not: true }) };
  if (condition !== undefined && standsFor(condition, matcher)) return condition;
  return { matcher: inOrder(matcher) };
}

/** A matcher may have members that the words have no place for; only turning back tells. */
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
  const word = WORD_OF_TYPE.get(matcher.type);
  const operand = word && operandOf(matcher, word);
  if (word === undefined || operand === undefined) return undefined;
  const { attribute } = matcher;
  if (attribute === '') return undefined;
  return { ...(typeof attribute === 'string' && { attribute }), [word]: operand };
}

function operandOf(matcher: Matcher, word: ComparisonWord): Json | undefined {
  const { strings, string, bool, number, date, between } = matcher;
  switch (COMPARISONS[word].operand) {
    case 'strings':
      return Array.isArray(strings) && strings.length > 0 ? (strings as Json) : undefined;
    case 'string':
      return typeof string === 'string' && string !== '' ? string : undefined;
    case 'bool':
      return typeof bool === 'boolean' ? bool : undefined;
    case 'number':
      return typeof number === 'number' ? number : undefined;
    case 'date':
      return typeof date === 'number' ? dateText(date) : undefined;
    case 'number-range':
      return rangeOf(between, (end) => end);
    case 'date-range':
      return rangeOf(between, dateText);
  }
}

function rangeOf(between: Json | undefined, write: (end: number) => Json): Json | undefined {
  const { from, to } = (between ?? {}) as { from?: Json; to?: Json };
  if (typeof from !== 'number' || typeof to !== 'number') return undefined;
  return [write(from), write(to)];
}

/** A day where the moment is its midnight in UTC; milliseconds where no date of four digits says it. */
function dateText(ms: number): string | number {
  const moment = Number.isInteger(ms) ? new Date(ms) : undefined;
  if (moment === undefined || Number.isNaN(moment.getTime())) return ms;
  const text = moment.toISOString();
  if (!/^\d{4}-/.test(text)) return ms;
  if (text.endsWith('T00:00:00.000Z')) return text.slice(0, 10);
  return text.replace('.000Z', 'Z');
}

/** The type first, the rest by name: an answer's own order may be another one the next time. */
function inOrder(matcher: Matcher): { type: string; [name: string]: unknown } {
  const { type, ...rest } = matcher;
  const names = Object.keys(rest).sort();
  return { type, ...Object.fromEntries(names.map((name) => [name, rest[name]])) };
}
