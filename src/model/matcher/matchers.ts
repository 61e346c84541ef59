import type { ConditionSpec } from '../../generated/flag.schema.d.js';

/** The kinds of operands, each with the member of a matcher that holds it. */
export const OPERAND_MEMBER = {
  name: 'string',
  dependency: 'depends',
  pattern: 'string',
  version: 'string',
  strings: 'strings',
  bool: 'bool',
  number: 'number',
  date: 'date',
  'number-range': 'between',
  'version-range': 'between',
  'date-range': 'between',
} as const;

/** Decides how a spec writes the operand of a matcher, how a matcher holds it, and how a report shows it. */
export type Operand = keyof typeof OPERAND_MEMBER;

export interface MatcherRow {
  /** The member of a spec's condition that makes the comparison. A type without one is written as `matcher`. */
  readonly word: keyof ConditionSpec | undefined;
  readonly operand: Operand;
  /** Whether an attribute is compared. With `optional`, a matcher without an attribute compares the key itself. */
  readonly attribute: 'none' | 'required' | 'optional';
  /** The words of a report between the attribute and the operand. */
  readonly phrase: string;
  /** The words where the matcher has `negate`. */
  readonly negatedPhrase: string;
}

/**
 * One row for each type of matcher in the public documentation of such services, by the service's name of it. Any other
 * type is kept as it is and shown as JSON. `segment` and `flag` have no words here: conditions treat them by rules of
 * their own. The order of the words is the one in which a condition with two of them is reported.
 */
export const MATCHERS = {
  IN_SEGMENT: row('name', 'none', 'in segment', 'not in segment'),
  IN_LARGE_SEGMENT: row('name', 'none', 'in large segment', 'not in large segment'),
  IN_RULE_BASED_SEGMENT: row('name', 'none', 'in rule-based segment', 'not in rule-based segment'),
  IN_SPLIT: row('dependency', 'none', 'serves', 'does not serve'),
  IN_LIST_STRING: row('strings', 'optional', 'in', 'not in', 'in'),
  STARTS_WITH_STRING: row(
    'strings',
    'optional',
    'starts with',
    'does not start with',
    'startsWith',
  ),
  ENDS_WITH_STRING: row('strings', 'optional', 'ends with', 'does not end with', 'endsWith'),
  CONTAINS_STRING: row('strings', 'optional', 'contains', 'does not contain', 'contains'),
  MATCHES_STRING: row('pattern', 'optional', 'matches', 'does not match', 'matches'),
  BOOLEAN: row('bool', 'required', 'is', 'is not', 'is'),
  EQUAL_NUMBER: row('number', 'required', '=', '≠', 'equals'),
  GREATER_THAN_OR_EQUAL_NUMBER: row('number', 'required', '≥', 'not ≥', 'atLeast'),
  LESS_THAN_OR_EQUAL_NUMBER: row('number', 'required', '≤', 'not ≤', 'atMost'),
  BETWEEN_NUMBER: row('number-range', 'required', 'between', 'not between', 'between'),
  ON_DATE: row('date', 'required', 'on', 'not on', 'on'),
  ON_OR_AFTER_DATE: row('date', 'required', 'on or after', 'not on or after', 'onOrAfter'),
  ON_OR_BEFORE_DATE: row('date', 'required', 'on or before', 'not on or before', 'onOrBefore'),
  BETWEEN_DATE: row('date-range', 'required', 'between', 'not between', 'betweenDates'),
  EQUAL_SET: row('strings', 'required', 'is exactly', 'is not exactly', 'setEquals'),
  ANY_OF_SET: row('strings', 'required', 'has any of', 'has none of', 'setAnyOf'),
  ALL_OF_SET: row('strings', 'required', 'has all of', 'does not have all of', 'setAllOf'),
  PART_OF_SET: row('strings', 'required', 'is part of', 'is not part of', 'setPartOf'),
  EQUAL_TO_SEMVER: row('version', 'required', '=', '≠'),
  LESS_THAN_OR_EQUAL_TO_SEMVER: row('version', 'required', '≤', 'not ≤'),
  GREATER_THAN_OR_EQUAL_TO_SEMVER: row('version', 'required', '≥', 'not ≥'),
  BETWEEN_SEMVER: row('version-range', 'required', 'between', 'not between'),
  IN_LIST_SEMVER: row('strings', 'required', 'in', 'not in'),
} as const satisfies Readonly<Record<string, MatcherRow>>;

function row<
  O extends Operand,
  A extends MatcherRow['attribute'],
  W extends keyof ConditionSpec | undefined = undefined,
>(operand: O, attribute: A, phrase: string, negatedPhrase: string, word?: W) {
  return { operand, attribute, phrase, negatedPhrase, word: word as W } as const;
}

type MatcherType = keyof typeof MATCHERS;
type WordedRow = Extract<(typeof MATCHERS)[MatcherType], { readonly word: string }>;

export type ComparisonWord = WordedRow['word'];

export interface Comparison {
  readonly type: MatcherType;
  /** Only types whose operand specs can write have a word. */
  readonly operand: WordedRow['operand'];
  readonly attribute: WordedRow['attribute'];
}

export const COMPARISONS = Object.fromEntries(
  Object.entries(MATCHERS).flatMap(([type, known]) =>
    known.word === undefined ? [] : [[known.word, { ...known, type }]],
  ),
) as unknown as Readonly<Record<ComparisonWord, Comparison>>;

export function matcherRow(type: string): MatcherRow | undefined {
  return Object.hasOwn(MATCHERS, type) ? MATCHERS[type as MatcherType] : undefined;
}

/** The word of a type, unless specs write it as `matcher`. */
export function wordOf(type: string): ComparisonWord | undefined {
  return matcherRow(type)?.word as ComparisonWord | undefined;
}

export const OPERAND_MEMBERS: ReadonlySet<string> = new Set(Object.values(OPERAND_MEMBER));

/** The member that holds the operand of a type. Undefined for an unknown type, whose operand may be in any member. */
export function operandOfType(type: string): (typeof OPERAND_MEMBER)[Operand] | undefined {
  const row = matcherRow(type);
  return row && OPERAND_MEMBER[row.operand];
}
