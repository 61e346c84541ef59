import { keyList } from '../kinds/key-list.js';
import type { Matcher } from '../kinds/flag.js';
import { clean, quoted } from './clean.js';
import { glue } from './layout.js';
import { isRecord, isTexts } from './json-text.js';
import { listsKeys, maskKeys } from './listed-keys.js';
import { jsonWords, listWords, plural } from './value-words.js';

export interface MatcherOptions {
  /** Keys that a matcher lists, in full; otherwise count and the head of their hash. */
  readonly showKeys: boolean;
  /** Values of a list that are shown at most. */
  readonly limit?: number;
}

/** One type of matcher: how it reads, how it reads negated, and the field that holds what it compares with. */
interface Phrase {
  readonly is: string;
  readonly isNot: string;
  readonly operand: Operand;
  /** Whether an attribute is compared; `optional`: without one it is the key. */
  readonly attribute: 'none' | 'needed' | 'optional';
}

type Operand =
  | 'string'
  | 'strings'
  | 'text'
  | 'number'
  | 'bool'
  | 'date'
  | 'between'
  | 'betweenDates'
  | 'depends';

const phrase = (
  is: string,
  isNot: string,
  operand: Operand,
  attribute: Phrase['attribute'] = 'needed',
): Phrase => ({ is, isNot, operand, attribute });

const PHRASES: Readonly<Record<string, Phrase>> = {
  IN_SEGMENT: phrase('in segment', 'not in segment', 'string', 'none'),
  IN_LARGE_SEGMENT: phrase('in large segment', 'not in large segment', 'string', 'none'),
  IN_RULE_BASED_SEGMENT: phrase(
    'in rule-based segment',
    'not in rule-based segment',
    'string',
    'none',
  ),
  IN_SPLIT: phrase('serves', 'does not serve', 'depends', 'none'),
  IN_LIST_STRING: phrase('in', 'not in', 'strings', 'optional'),
  STARTS_WITH_STRING: phrase('starts with', 'does not start with', 'strings', 'optional'),
  ENDS_WITH_STRING: phrase('ends with', 'does not end with', 'strings', 'optional'),
  CONTAINS_STRING: phrase('contains', 'does not contain', 'strings', 'optional'),
  MATCHES_STRING: phrase('matches', 'does not match', 'text', 'optional'),
  EQUAL_SET: phrase('is exactly', 'is not exactly', 'strings'),
  ANY_OF_SET: phrase('has any of', 'has none of', 'strings'),
  ALL_OF_SET: phrase('has all of', 'does not have all of', 'strings'),
  PART_OF_SET: phrase('is part of', 'is not part of', 'strings'),
  BOOLEAN: phrase('is', 'is not', 'bool'),
  EQUAL_NUMBER: phrase('=', '≠', 'number'),
  LESS_THAN_OR_EQUAL_NUMBER: phrase('≤', 'not ≤', 'number'),
  GREATER_THAN_OR_EQUAL_NUMBER: phrase('≥', 'not ≥', 'number'),
  BETWEEN_NUMBER: phrase('between', 'not between', 'between'),
  ON_DATE: phrase('on', 'not on', 'date'),
  ON_OR_AFTER_DATE: phrase('on or after', 'not on or after', 'date'),
  ON_OR_BEFORE_DATE: phrase('on or before', 'not on or before', 'date'),
  BETWEEN_DATE: phrase('between', 'not between', 'betweenDates'),
  EQUAL_TO_SEMVER: phrase('=', '≠', 'string'),
  LESS_THAN_OR_EQUAL_TO_SEMVER: phrase('≤', 'not ≤', 'string'),
  GREATER_THAN_OR_EQUAL_TO_SEMVER: phrase('≥', 'not ≥', 'string'),
  BETWEEN_SEMVER: phrase('between', 'not between', 'between'),
  IN_LIST_SEMVER: phrase('in', 'not in', 'strings'),
};

/** Where on the wire an operand stands; the others stand in the field of their own name. */
const FIELD_OF: Partial<Record<Operand, string>> = { text: 'string', betweenDates: 'between' };

/** `in segment staff`, `country in [ES, FR]`; what we cannot say whole is `TYPE {json}`. */
export function matcherWords(matcher: Matcher, options: MatcherOptions): string {
  const subject = matcherSubject(matcher);
  const operand = subject === undefined ? undefined : operandWords(matcher, options);
  return subject === undefined || operand === undefined
    ? rawWords(matcher, options)
    : `${subject} ${operand}`;
}

/** All that stands before what is compared with, for example `country not in`; undefined where we have no words. */
export function matcherSubject(matcher: Matcher): string | undefined {
  const words = phraseOf(matcher);
  if (!words) return undefined;
  const verb = glue(matcher['negate'] === true ? words.isNot : words.is);
  const { attribute, depends } = matcher;
  if (words.operand === 'depends') {
    const flag = isRecord(depends) ? depends['splitName'] : undefined;
    return typeof flag === 'string' ? `flag ${quoted(flag)} ${verb}` : undefined;
  }
  if (words.attribute === 'none') return verb;
  return `${typeof attribute === 'string' ? quoted(attribute) : 'key'} ${verb}`;
}

/** `in segment staff and country in [ES, FR]`. */
export function conditionWords(matchers: readonly Matcher[], options: MatcherOptions): string {
  if (matchers.length === 0) return 'always';
  return matchers.map((matcher) => matcherWords(matcher, options)).join(' and ');
}

/** A matcher with a field that its words would not say has no words: half a condition is worse than JSON. */
function phraseOf(matcher: Matcher): Phrase | undefined {
  const words = Object.hasOwn(PHRASES, matcher.type) ? PHRASES[matcher.type] : undefined;
  if (!words) return undefined;
  const field = FIELD_OF[words.operand] ?? words.operand;
  const known = ['type', 'negate', field, ...(words.attribute === 'none' ? [] : ['attribute'])];
  if (Object.keys(matcher).some((name) => !known.includes(name))) return undefined;
  const { attribute, negate } = matcher;
  if (negate !== undefined && typeof negate !== 'boolean') return undefined;
  if (attribute === undefined) return words.attribute === 'needed' ? undefined : words;
  return typeof attribute === 'string' ? words : undefined;
}

function operandWords(matcher: Matcher, options: MatcherOptions): string | undefined {
  const operand = phraseOf(matcher)?.operand;
  if (operand === undefined) return undefined;
  const value = matcher[FIELD_OF[operand] ?? operand];
  switch (operand) {
    case 'string':
      return typeof value === 'string' ? quoted(value) : undefined;
    case 'text':
      return typeof value === 'string' ? JSON.stringify(clean(value)) : undefined;
    case 'number':
      return typeof value === 'number' ? String(value) : undefined;
    case 'bool':
      return typeof value === 'boolean' ? String(value) : undefined;
    case 'date':
      return dateWords(value);
    case 'between':
      return rangeWords(value, boundWords);
    case 'betweenDates':
      return rangeWords(value, dateWords);
    case 'strings':
      return isTexts(value) ? stringsWords(matcher, value, options) : undefined;
    case 'depends':
      return servedWords(value);
  }
}

function stringsWords(
  matcher: Matcher,
  values: readonly string[],
  { showKeys, limit }: MatcherOptions,
): string {
  if (showKeys || !listsKeys(matcher)) return listWords(values, limit);
  return `a list of ${plural(values.length, 'key')} (sha256 ${keyList(values).digest.sha256.slice(0, 8)}…)`;
}

function servedWords(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const { splitName, treatment, treatments, ...others } = value;
  if (typeof splitName !== 'string' || Object.keys(others).length > 0) return undefined;
  if (treatments === undefined && typeof treatment === 'string') return listWords([treatment]);
  return treatment === undefined && isTexts(treatments) ? listWords(treatments) : undefined;
}

function rangeWords(
  value: unknown,
  bound: (value: unknown) => string | undefined,
): string | undefined {
  if (!isRecord(value) || Object.keys(value).some((name) => name !== 'from' && name !== 'to')) {
    return undefined;
  }
  const [from, to] = [bound(value['from']), bound(value['to'])];
  return from === undefined || to === undefined ? undefined : `${from} and ${to}`;
}

function boundWords(value: unknown): string | undefined {
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'number' ? String(value) : undefined;
}

/** Milliseconds since the epoch, in UTC; the time of day only where it is not midnight. */
function dateWords(value: unknown): string | undefined {
  if (typeof value !== 'number') return undefined;
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return undefined;
  const text = date.toISOString().replace(/\.000Z$/, 'Z');
  return text.replace(/T00:00:00Z$/, '');
}

function rawWords(matcher: Matcher, { showKeys }: MatcherOptions): string {
  const shown = showKeys ? matcher : (maskKeys(matcher) as Matcher);
  const { type, ...fields } = shown;
  return `${quoted(type)} ${jsonWords(fields)}`;
}
