import type { Json } from '../../model/json.js';
import type { Matcher } from '../../model/flag/flag.js';
import { expressionOf } from '../../model/matcher/expression.js';
import { dateMs } from '../../model/matcher/from-condition.js';

const DAY_MS = 86_400_000;

/**
 * Whether a value meets a matcher, ignoring its `negate`. A value of another type than the matcher compares does not
 * meet it. Numbers, dates and booleans may be given as text, as on a command line.
 *
 * @param value an attribute of the key, or the key itself where the matcher names no attribute.
 * @returns undefined where only the service's own evaluators can decide: versions, and unknown matchers.
 */
export function meets(matcher: Matcher, value: unknown): boolean | undefined {
  const strings = textsIn(matcher['strings']);
  switch (matcher.type) {
    case 'IN_LIST_STRING':
      return strings.includes(textOf(value));
    case 'STARTS_WITH_STRING':
      return strings.some((each) => textOf(value).startsWith(each));
    case 'ENDS_WITH_STRING':
      return strings.some((each) => textOf(value).endsWith(each));
    case 'CONTAINS_STRING':
      return strings.some((each) => textOf(value).includes(each));
    case 'MATCHES_STRING':
      return meetsExpression(matcher['string'], textOf(value));
    case 'BOOLEAN':
      return textOf(value).toLowerCase() === textOf(matcher['bool']);
    case 'EQUAL_NUMBER':
      return numberOf(value) === matcher['number'];
    case 'GREATER_THAN_OR_EQUAL_NUMBER':
      return isWithin(numberOf(value), { from: matcher['number'] });
    case 'LESS_THAN_OR_EQUAL_NUMBER':
      return isWithin(numberOf(value), { to: matcher['number'] });
    case 'BETWEEN_NUMBER':
      return isWithin(numberOf(value), matcher['between']);
    case 'ON_DATE':
      return isOnDay(momentOf(value), matcher['date']);
    case 'ON_OR_AFTER_DATE':
      return isWithin(momentOf(value), { from: matcher['date'] });
    case 'ON_OR_BEFORE_DATE':
      return isWithin(momentOf(value), { to: matcher['date'] });
    case 'BETWEEN_DATE':
      return isWithin(momentOf(value), matcher['between']);
    default:
      return meetsSet(matcher.type, new Set(strings), new Set(setOf(value)));
  }
}

function meetsSet(
  type: string,
  wanted: ReadonlySet<string>,
  held: ReadonlySet<string>,
): boolean | undefined {
  const common = [...wanted].filter((each) => held.has(each)).length;
  switch (type) {
    case 'EQUAL_SET':
      return common === wanted.size && common === held.size;
    case 'ANY_OF_SET':
      return common > 0;
    case 'ALL_OF_SET':
      return common === wanted.size;
    case 'PART_OF_SET':
      return held.size > 0 && common === held.size;
    default:
      return undefined;
  }
}

/** Evaluators in other languages accept more forms: an expression that is unreadable here stays undecided. */
function meetsExpression(pattern: Json | undefined, value: string): boolean | undefined {
  return typeof pattern === 'string' ? expressionOf(pattern)?.isIn(value) : undefined;
}

/** Includes both ends; a missing end sets no limit. */
function isWithin(value: number | undefined, range: unknown): boolean {
  const { from, to } = (range ?? {}) as { from?: unknown; to?: unknown };
  if (value === undefined) return false;
  return (typeof from !== 'number' || value >= from) && (typeof to !== 'number' || value <= to);
}

function isOnDay(moment: number | undefined, day: Json | undefined): boolean {
  if (moment === undefined || typeof day !== 'number') return false;
  return Math.floor(moment / DAY_MS) === Math.floor(day / DAY_MS);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function momentOf(value: unknown): number | undefined {
  return typeof value === 'string' || typeof value === 'number' ? dateMs(value) : undefined;
}

function setOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [textOf(value)];
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
