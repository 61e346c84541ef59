import type { ConditionSpec } from '../../generated/flag.schema.d.js';

/**
 * What a matcher compares with. The type of the value decides how a spec writes it, how a matcher holds it, and how a
 * report shows it.
 */
export type Operand =
  | 'name'
  | 'dependency'
  | 'pattern'
  | 'version'
  | 'strings'
  | 'bool'
  | 'number'
  | 'date'
  | 'number-range'
  | 'version-range'
  | 'date-range';

/** The member of a matcher that holds its operand. */
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
} as const satisfies Record<Operand, string>;

/** All that specs and reports have to know of one type of matcher. */
export interface MatcherRow {
  /** The member of a spec's condition that makes the comparison. A type without one is written as `matcher`. */
  readonly word?: keyof ConditionSpec;
  readonly operand: Operand;
  /** Whether an attribute is compared. With `optional` and without an attribute the key itself is. */
  readonly attribute: 'none' | 'required' | 'optional';
  /** What a report says between the attribute and the operand. */
  readonly phrase: string;
  /** The same where the matcher has `negate`. */
  readonly negatedPhrase: string;
}

/**
 * One row for each type of matcher that the public documentation of such services names, by the service's name of it.
 * Any other type is kept as it is, and shown as JSON. `segment` and `flag` are no words here: they have rules of their
 * own in a condition. The order of the words is the one in which a condition with two of them is reported.
 */
export const MATCHERS = {
  IN_SEGMENT: row('name', 'none', 'in segment', 'not in segment'),
  IN_LARGE_SEGMENT: row('name', 'none', 'in large segment', 'not in large segment'),
  IN_RULE_BASED_SEGMENT: row('name', 'none', 'in rule-based segment', 'not in rule-based segment'),
  IN_SPLIT: row('dependency', 'none', 'serves', 'does not serve'),
  IN_LIST_STRING: { word: 'in', ...row('strings', 'optional', 'in', 'not in') },
  STARTS_WITH_STRING: {
    word: 'startsWith',
    ...row('strings', 'optional', 'starts with', 'does not start with'),
  },
  ENDS_WITH_STRING: {
    word: 'endsWith',
    ...row('strings', 'optional', 'ends with', 'does not end with'),
  },
  CONTAINS_STRING: {
    word: 'contains',
    ...row('strings', 'optional', 'contains', 'does not contain'),
  },
  MATCHES_STRING: { word: 'matches', ...row('pattern', 'optional', 'matches', 'does not match') },
  BOOLEAN: { word: 'is', ...row('bool', 'required', 'is', 'is not') },
  EQUAL_NUMBER: { word: 'equals', ...row('number', 'required', '=', '≠') },
  GREATER_THAN_OR_EQUAL_NUMBER: { word: 'atLeast', ...row('number', 'required', '≥', 'not ≥') },
  LESS_THAN_OR_EQUAL_NUMBER: { word: 'atMost', ...row('number', 'required', '≤', 'not ≤') },
  BETWEEN_NUMBER: { word: 'between', ...row('number-range', 'required', 'between', 'not between') },
  ON_DATE: { word: 'on', ...row('date', 'required', 'on', 'not on') },
  ON_OR_AFTER_DATE: {
    word: 'onOrAfter',
    ...row('date', 'required', 'on or after', 'not on or after'),
  },
  ON_OR_BEFORE_DATE: {
    word: 'onOrBefore',
    ...row('date', 'required', 'on or before', 'not on or before'),
  },
  BETWEEN_DATE: {
    word: 'betweenDates',
    ...row('date-range', 'required', 'between', 'not between'),
  },
  EQUAL_SET: { word: 'setEquals', ...row('strings', 'required', 'is exactly', 'is not exactly') },
  ANY_OF_SET: { word: 'setAnyOf', ...row('strings', 'required', 'has any of', 'has none of') },
  ALL_OF_SET: {
    word: 'setAllOf',
    ...row('strings', 'required', 'has all of', 'does not have all of'),
  },
  PART_OF_SET: {
    word: 'setPartOf',
    ...row('strings', 'required', 'is part of', 'is not part of'),
  },
  EQUAL_TO_SEMVER: row('version', 'required', '=', '≠'),
  LESS_THAN_OR_EQUAL_TO_SEMVER: row('version', 'required', '≤', 'not ≤'),
  GREATER_THAN_OR_EQUAL_TO_SEMVER: row('version', 'required', '≥', 'not ≥'),
  BETWEEN_SEMVER: row('version-range', 'required', 'between', 'not between'),
  IN_LIST_SEMVER: row('strings', 'required', 'in', 'not in'),
} as const satisfies Readonly<Record<string, MatcherRow>>;

function row<O extends Operand, A extends MatcherRow['attribute']>(
  operand: O,
  attribute: A,
  phrase: string,
  negatedPhrase: string,
) {
  return { operand, attribute, phrase, negatedPhrase } as const;
}

type MatcherType = keyof typeof MATCHERS;
type WordedRow = Extract<(typeof MATCHERS)[MatcherType], { readonly word: string }>;

/** A word that a condition of a spec has for a comparison. */
export type ComparisonWord = WordedRow['word'];

/** What a word stands for: the service's type of matcher, what it compares with, and whether it needs an attribute. */
export interface Comparison {
  readonly type: MatcherType;
  /** Only operands that specs can write have words. */
  readonly operand: WordedRow['operand'];
  readonly attribute: WordedRow['attribute'];
}

/** The comparisons that specs have words for, by word. */
export const COMPARISONS = Object.fromEntries(
  Object.entries(MATCHERS).flatMap(([type, known]) =>
    'word' in known ? [[known.word, { ...known, type }]] : [],
  ),
) as unknown as Readonly<Record<ComparisonWord, Comparison>>;

/** Undefined: a type that no row describes. */
export function matcherRow(type: string): MatcherRow | undefined {
  return Object.hasOwn(MATCHERS, type) ? MATCHERS[type as MatcherType] : undefined;
}

/** Undefined: a matcher of this type is written as `matcher`. */
export function wordOf(type: string): ComparisonWord | undefined {
  const known = Object.hasOwn(MATCHERS, type) ? MATCHERS[type as MatcherType] : undefined;
  return known && 'word' in known ? known.word : undefined;
}

const OPERAND_MEMBERS: ReadonlySet<string> = new Set(Object.values(OPERAND_MEMBER));

/** Whether matchers of some known type hold their operand in this member. */
export function isOperandMember(name: string): boolean {
  return OPERAND_MEMBERS.has(name);
}

/** The member that holds the operand of a type. Undefined: the type is not known, and any member may hold it. */
export function operandOfType(type: string): (typeof OPERAND_MEMBER)[Operand] | undefined {
  const row = matcherRow(type);
  return row && OPERAND_MEMBER[row.operand];
}
