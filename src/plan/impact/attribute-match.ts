import { ownMember } from '../../model/collections.js';
import type { Json } from '../../model/json.js';
import type { Matcher } from '../../model/flag/flag.js';
import { expressionOf } from '../../model/matcher/expression.js';
import { dateMs } from '../../model/matcher/condition.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Types that ask about other objects than the key and its attributes, all of which evaluators know. */
const ABOUT_OBJECTS = ['IN_SEGMENT', 'IN_SPLIT', 'IN_LARGE_SEGMENT', 'IN_RULE_BASED_SEGMENT'];

/** Whether evaluators know the type of a matcher. Where they do not, they serve `control` for the whole flag. */
export function isKnownType(type: string): boolean {
  return ABOUT_OBJECTS.includes(type) || ownMember(TESTS, type) !== undefined;
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
  return ownMember(TESTS, matcher.type)?.(value, matcher);
}

type Test = (value: unknown, matcher: Matcher) => boolean | undefined;

const TESTS: Readonly<Record<string, Test>> = {
  IN_LIST_STRING: someText((text, each) => text === each),
  STARTS_WITH_STRING: someText((text, each) => text.startsWith(each)),
  ENDS_WITH_STRING: someText((text, each) => text.endsWith(each)),
  CONTAINS_STRING: someText((text, each) => text.includes(each)),
  MATCHES_STRING: (value, { string }) => meetsExpression(string, textOf(value)),
  BOOLEAN: (value, { bool }) => textOf(value).toLowerCase() === textOf(bool),
  IN_LIST_SEMVER: someText((text, each) => isVersion(text, each, (a, b) => a.text === b.text)),
  EQUAL_TO_SEMVER: (value, { string }) => isVersion(value, string, (a, b) => a.text === b.text),
  GREATER_THAN_OR_EQUAL_TO_SEMVER: (value, { string }) => isVersion(value, string, isFrom),
  LESS_THAN_OR_EQUAL_TO_SEMVER: (value, { string }) => isVersion(value, string, isUpTo),
  BETWEEN_SEMVER: (value, { between }) => {
    const { from, to } = endsOf(between);
    return isVersion(value, from, isFrom) && isVersion(value, to, isUpTo);
  },
  EQUAL_NUMBER: (value, { number }) => number !== undefined && numberOf(value) === number,
  GREATER_THAN_OR_EQUAL_NUMBER: (value, { number }) => isWithin(value, { from: number }),
  LESS_THAN_OR_EQUAL_NUMBER: (value, { number }) => isWithin(value, { to: number }),
  BETWEEN_NUMBER: (value, { between }) => isWithin(value, between),
  ON_DATE: (value, { date }) => isWithin(value, { from: date, to: date }, DAY_MS),
  ON_OR_AFTER_DATE: (value, { date }) => isWithin(value, { from: date }, MINUTE_MS),
  ON_OR_BEFORE_DATE: (value, { date }) => isWithin(value, { to: date }, MINUTE_MS),
  BETWEEN_DATE: (value, { between }) => isWithin(value, between, MINUTE_MS),
  EQUAL_SET: ofSets(({ common, wanted, held }) => common === wanted && common === held),
  ANY_OF_SET: ofSets(({ common }) => common > 0),
  ALL_OF_SET: ofSets(({ common, wanted }) => common === wanted),
  PART_OF_SET: ofSets(({ common, held }) => common === held),
};

function someText(isMet: (text: string, each: string) => boolean): Test {
  return (value, { strings }) => {
    const text = textOf(value);
    return text !== '' && textsIn(strings).some((each) => isMet(text, each));
  };
}

function ofSets(isMet: (sizes: { wanted: number; held: number; common: number }) => boolean): Test {
  return (value, { strings }) => {
    const wanted = new Set(textsIn(strings));
    const held = new Set(Array.isArray(value) ? value.map(String) : []);
    const common = [...wanted].filter((each) => held.has(each)).length;
    return held.size > 0 && isMet({ wanted: wanted.size, held: held.size, common });
  };
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
function isWithin(value: unknown, range: unknown, step?: number): boolean {
  const { from, to } = endsOf(range);
  const number = numberOf(value);
  if (number === undefined) return false;
  const whole = (each: number): number => (step === undefined ? each : Math.floor(each / step));
  return (
    (typeof from !== 'number' || whole(number) >= whole(from)) &&
    (typeof to !== 'number' || whole(number) <= whole(to))
  );
}

function endsOf(range: unknown): { readonly from?: unknown; readonly to?: unknown } {
  return range ?? {};
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

export function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** A version as semver.org writes it, with numbers as text of any length. */
interface Version {
  /** Without leading zeros, with what stands behind `+`: equal versions have equal texts. */
  readonly text: string;
  readonly numbers: readonly string[];
  readonly preRelease: readonly string[];
}

function isVersion(
  value: unknown,
  written: unknown,
  compare: (version: Version, other: Version) => boolean,
): boolean {
  const version = versionOf(textOf(value));
  const other = typeof written === 'string' ? versionOf(written) : undefined;
  return version !== undefined && other !== undefined && compare(version, other);
}

const VERSION = /^(\d+\.\d+\.\d+)(?:-([^+]+))?(?:\+(.+))?$/s;

function versionOf(text: string): Version | undefined {
  const [, core, labels, build = ''] = VERSION.exec(text) ?? [];
  const numbers = core?.split('.').map(plainNumber);
  const preRelease = labels?.split('.').map(plainNumber) ?? [];
  if (!numbers || preRelease.includes('')) return undefined;
  return { numbers, preRelease, text: `${numbers.join('.')}-${preRelease.join('.')}+${build}` };
}

const DIGITS = /^\d+$/;

function plainNumber(text: string): string {
  return DIGITS.test(text) ? text.replace(/^0+(?=\d)/, '') : text;
}

function isFrom(a: Version, b: Version): boolean {
  return compareVersions(a, b) >= 0;
}

function isUpTo(a: Version, b: Version): boolean {
  return compareVersions(a, b) <= 0;
}

/** Negative where `a` comes before `b`. A pre-release comes before its release; of two builds neither does. */
function compareVersions(a: Version, b: Version): number {
  const byNumbers = firstDifference(a.numbers, b.numbers);
  if (byNumbers !== 0) return byNumbers;
  if (a.preRelease.length === 0 || b.preRelease.length === 0) {
    return b.preRelease.length - a.preRelease.length;
  }
  return firstDifference(a.preRelease, b.preRelease) || a.preRelease.length - b.preRelease.length;
}

function firstDifference(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 0;
    const areNumbers = DIGITS.test(part) && DIGITS.test(other);
    if (areNumbers && part.length !== other.length) return part.length - other.length;
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}
