import type { Json } from '../../model/json.js';
import type { Matcher } from '../../model/flag/flag.js';
import { expressionOf } from '../../model/matcher/expression.js';
import { dateMs } from '../../model/matcher/from-condition.js';
import { compareVersions, versionOf, type Version } from './version.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Types that ask about other objects than the key and its attributes, all of which evaluators know. */
const ABOUT_OBJECTS = ['IN_SEGMENT', 'IN_SPLIT', 'IN_LARGE_SEGMENT', 'IN_RULE_BASED_SEGMENT'];

/** Whether evaluators know the type of a matcher. Where they do not, they serve `control` for the whole flag. */
export function isKnownType(type: string): boolean {
  return (
    ABOUT_OBJECTS.includes(type) ||
    meets({ type }, 'any') !== undefined ||
    type === 'MATCHES_STRING'
  );
}

/**
 * A value as people write it, on a command line or in a file, in the type that a matcher compares: a date as
 * milliseconds since the epoch, a single text as a set of one.
 */
export function asCompared({ type }: Matcher, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (type.includes('_DATE')) return dateMs(value) ?? value;
  return type.endsWith('_SET') ? [value] : value;
}

/**
 * Whether a value meets a matcher, ignoring its `negate`, as the vendor's SDKs decide it. A value of another type than
 * the matcher compares does not meet it, nor does an empty text or list. Numbers and booleans may be given as text.
 *
 * @param value an attribute of the key, or the key itself where the matcher names no attribute.
 * @returns undefined for unknown types of matchers, and for expressions that evaluators read differently.
 */
export function meets(matcher: Matcher, value: unknown): boolean | undefined {
  const text = textOf(value);
  if (matcher.type === 'MATCHES_STRING') return meetsExpression(matcher['string'], text);
  return meetsText(matcher, text) ?? meetsNumber(matcher, value) ?? meetsSet(matcher, value);
}

function meetsText(matcher: Matcher, text: string): boolean | undefined {
  const strings = text === '' ? [] : textsIn(matcher['strings']);
  switch (matcher.type) {
    case 'IN_LIST_STRING':
      return strings.includes(text);
    case 'STARTS_WITH_STRING':
      return strings.some((each) => text.startsWith(each));
    case 'ENDS_WITH_STRING':
      return strings.some((each) => text.endsWith(each));
    case 'CONTAINS_STRING':
      return strings.some((each) => text.includes(each));
    case 'BOOLEAN':
      return text.toLowerCase() === textOf(matcher['bool']);
    case 'IN_LIST_SEMVER':
      return strings.some((each) =>
        hasVersion(text, each, (version, other) => version.text === other.text),
      );
    case 'EQUAL_TO_SEMVER':
      return hasVersion(text, matcher['string'], (version, other) => version.text === other.text);
    case 'GREATER_THAN_OR_EQUAL_TO_SEMVER':
      return isFrom(text, matcher['string']);
    case 'LESS_THAN_OR_EQUAL_TO_SEMVER':
      return isUpTo(text, matcher['string']);
    case 'BETWEEN_SEMVER': {
      const { from, to } = (matcher['between'] ?? {}) as { from?: Json; to?: Json };
      return isFrom(text, from) && isUpTo(text, to);
    }
    default:
      return undefined;
  }
}

function isFrom(text: string, least: Json | undefined): boolean {
  return hasVersion(text, least, (version, other) => compareVersions(version, other) >= 0);
}

function isUpTo(text: string, most: Json | undefined): boolean {
  return hasVersion(text, most, (version, other) => compareVersions(version, other) <= 0);
}

function hasVersion(
  text: string,
  written: Json | undefined,
  compare: (version: Version, other: Version) => boolean,
): boolean {
  const version = versionOf(text);
  const other = typeof written === 'string' ? versionOf(written) : undefined;
  return version !== undefined && other !== undefined && compare(version, other);
}

function meetsNumber(matcher: Matcher, value: unknown): boolean | undefined {
  const number = numberOf(value);
  switch (matcher.type) {
    case 'EQUAL_NUMBER':
      return number !== undefined && number === matcher['number'];
    case 'GREATER_THAN_OR_EQUAL_NUMBER':
      return isWithin(number, { from: matcher['number'] });
    case 'LESS_THAN_OR_EQUAL_NUMBER':
      return isWithin(number, { to: matcher['number'] });
    case 'BETWEEN_NUMBER':
      return isWithin(number, matcher['between']);
    case 'ON_DATE':
      return isWithin(number, { from: matcher['date'], to: matcher['date'] }, DAY_MS);
    case 'ON_OR_AFTER_DATE':
      return isWithin(number, { from: matcher['date'] }, MINUTE_MS);
    case 'ON_OR_BEFORE_DATE':
      return isWithin(number, { to: matcher['date'] }, MINUTE_MS);
    case 'BETWEEN_DATE':
      return isWithin(number, matcher['between'], MINUTE_MS);
    default:
      return undefined;
  }
}

function meetsSet({ type, strings }: Matcher, value: unknown): boolean | undefined {
  const wanted = new Set(textsIn(strings));
  const held = new Set(Array.isArray(value) ? value.map(String) : []);
  const common = [...wanted].filter((each) => held.has(each)).length;
  switch (type) {
    case 'EQUAL_SET':
      return held.size > 0 && common === wanted.size && common === held.size;
    case 'ANY_OF_SET':
      return common > 0;
    case 'ALL_OF_SET':
      return held.size > 0 && common === wanted.size;
    case 'PART_OF_SET':
      return held.size > 0 && common === held.size;
    default:
      return undefined;
  }
}

/** Evaluators in other languages accept more forms: an expression that is unreadable here stays undecided. */
function meetsExpression(pattern: Json | undefined, value: string): boolean | undefined {
  if (value === '') return false;
  return typeof pattern === 'string' ? expressionOf(pattern)?.isIn(value) : undefined;
}

/**
 * Includes both ends; a missing end sets no limit.
 *
 * @param step dates are compared in whole minutes or days.
 */
function isWithin(value: number | undefined, range: unknown, step?: number): boolean {
  const { from, to } = (range ?? {}) as { from?: unknown; to?: unknown };
  if (value === undefined) return false;
  const whole = (number: number): number =>
    step === undefined ? number : Math.floor(number / step);
  return (
    (typeof from !== 'number' || whole(value) >= whole(from)) &&
    (typeof to !== 'number' || whole(value) <= whole(to))
  );
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value))
    return value.map((each) => (typeof each === 'string' ? each : '')).join();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
