import type { ConditionSpec } from '../generated/flag.schema.d.ts';
import type { Matcher } from './flag.js';
import { sortedSet, type Json } from './json.js';
import { canonicalMatcher } from './matcher.js';
import { dateMs } from './spec-date.js';
import { invalid, valid, type Checked, type SpecFault } from './spec-fault.js';

type Operand = 'strings' | 'string' | 'bool' | 'number' | 'date' | 'number-range' | 'date-range';

interface Comparison {
  /** The service's name of the matcher. */
  readonly type: string;
  readonly operand: Operand;
  /** Without attribute the key itself is compared. */
  readonly attribute: 'required' | 'optional';
}

/** The comparisons of an attribute, by the word that a spec uses. */
export const COMPARISONS = {
  in: { type: 'IN_LIST_STRING', operand: 'strings', attribute: 'optional' },
  startsWith: { type: 'STARTS_WITH_STRING', operand: 'strings', attribute: 'optional' },
  endsWith: { type: 'ENDS_WITH_STRING', operand: 'strings', attribute: 'optional' },
  contains: { type: 'CONTAINS_STRING', operand: 'strings', attribute: 'optional' },
  matches: { type: 'MATCHES_STRING', operand: 'string', attribute: 'optional' },
  is: { type: 'BOOLEAN', operand: 'bool', attribute: 'required' },
  equals: { type: 'EQUAL_NUMBER', operand: 'number', attribute: 'required' },
  atLeast: { type: 'GREATER_THAN_OR_EQUAL_NUMBER', operand: 'number', attribute: 'required' },
  atMost: { type: 'LESS_THAN_OR_EQUAL_NUMBER', operand: 'number', attribute: 'required' },
  between: { type: 'BETWEEN_NUMBER', operand: 'number-range', attribute: 'required' },
  on: { type: 'ON_DATE', operand: 'date', attribute: 'required' },
  onOrAfter: { type: 'ON_OR_AFTER_DATE', operand: 'date', attribute: 'required' },
  onOrBefore: { type: 'ON_OR_BEFORE_DATE', operand: 'date', attribute: 'required' },
  betweenDates: { type: 'BETWEEN_DATE', operand: 'date-range', attribute: 'required' },
  setEquals: { type: 'EQUAL_SET', operand: 'strings', attribute: 'required' },
  setAnyOf: { type: 'ANY_OF_SET', operand: 'strings', attribute: 'required' },
  setAllOf: { type: 'ALL_OF_SET', operand: 'strings', attribute: 'required' },
  setPartOf: { type: 'PART_OF_SET', operand: 'strings', attribute: 'required' },
} as const satisfies Partial<Record<keyof ConditionSpec, Comparison>>;

export type ComparisonWord = keyof typeof COMPARISONS;

const COMPARISON_WORDS = Object.keys(COMPARISONS) as readonly ComparisonWord[];
const SUBJECTS = ['segment', 'flag', 'matcher', ...COMPARISON_WORDS] as const;

type Subject = (typeof SUBJECTS)[number];

/** The matcher that a condition stands for, in canonical form, or what is wrong with the condition. */
export function matcherOf(condition: ConditionSpec): Checked<Matcher> {
  const subjects = SUBJECTS.filter((subject) => condition[subject] !== undefined);
  const [subject, second] = subjects;
  if (subject === undefined) {
    return invalid(
      shapeFault(
        [],
        'the condition compares nothing: it needs segment, flag, matcher, or a comparison such as in',
      ),
    );
  }
  if (second !== undefined) {
    return invalid(
      shapeFault(
        [second],
        `a condition makes one comparison, and this one has "${subject}" already (a list of conditions means AND)`,
      ),
    );
  }
  const misfit = companionFault(condition, subject);
  if (misfit !== undefined) return invalid(misfit);
  const bare = bareMatcher(condition, subject);
  if (!bare.ok || condition.not !== true) return bare;
  return valid({ ...bare.value, negate: true });
}

/** `treatments` goes with `flag`, and `attribute` with a comparison, and with nothing else. */
function companionFault(condition: ConditionSpec, subject: Subject): SpecFault | undefined {
  const comparison = isComparison(subject) ? COMPARISONS[subject] : undefined;
  if (condition.treatments !== undefined && subject !== 'flag') {
    return shapeFault(['treatments'], '"treatments" stands beside "flag" only');
  }
  if (condition.treatments === undefined && subject === 'flag') {
    return shapeFault(['flag'], '"flag" needs "treatments": those of the other flag that match');
  }
  if (condition.attribute !== undefined && comparison === undefined) {
    return shapeFault(['attribute'], `"attribute" does not go with "${subject}"`);
  }
  if (condition.attribute === undefined && comparison?.attribute === 'required') {
    return shapeFault([subject], `"${subject}" needs "attribute": what is compared`);
  }
  return undefined;
}

function bareMatcher(condition: ConditionSpec, subject: Subject): Checked<Matcher> {
  const { segment, flag, matcher, attribute } = condition;
  if (segment !== undefined) return valid({ type: 'IN_SEGMENT', string: segment });
  if (flag !== undefined) {
    const treatments = sortedSet(condition.treatments ?? []);
    return valid({ type: 'IN_SPLIT', depends: { splitName: flag, treatments } });
  }
  // What the words cannot say: every matcher that the service knows, or will know.
  if (matcher !== undefined) return valid(canonicalMatcher(matcher as Matcher));
  if (!isComparison(subject)) throw new Error(`bug: no matcher for "${subject}"`);
  const operand = operandOf(condition, subject);
  if (!operand.ok) return operand;
  return valid({
    type: COMPARISONS[subject].type,
    ...(attribute !== undefined && { attribute }),
    ...operand.value,
  });
}

type OperandFields = Readonly<Record<string, Json>>;

function operandOf(condition: ConditionSpec, word: ComparisonWord): Checked<OperandFields> {
  const written: unknown = condition[word];
  switch (COMPARISONS[word].operand) {
    case 'strings':
      return valid({ strings: sortedSet([written as string | string[]].flat()) });
    case 'string':
      return valid({ string: written as string });
    case 'bool':
      return valid({ bool: written as boolean });
    case 'number':
      return valid({ number: written as number });
    case 'date': {
      const ms = dateMs(written as string | number);
      return ms === undefined ? invalid(dateFault([word], written)) : valid({ date: ms });
    }
    case 'number-range':
      return rangeOf(word, written, (end) => end as number);
    case 'date-range':
      return rangeOf(word, written, (end) => dateMs(end as string | number));
  }
}

function rangeOf(
  word: ComparisonWord,
  written: unknown,
  read: (end: unknown) => number | undefined,
): Checked<OperandFields> {
  const names = Array.isArray(written) ? [0, 1] : ['from', 'to'];
  const ends = names.map((name) => (written as Readonly<Record<string | number, unknown>>)[name]);
  const [from, to] = ends.map(read);
  const faults = [from, to].flatMap((end, position) =>
    end === undefined ? [dateFault([word, names[position] ?? ''], ends[position])] : [],
  );
  if (from === undefined || to === undefined) return invalid(...faults);
  if (from > to) {
    return invalid({
      code: 'range-reversed',
      path: [word],
      at: 'value',
      message: `"${word}" starts after it ends`,
    });
  }
  return valid({ between: { from, to } });
}

function dateFault(path: SpecFault['path'], written: unknown): SpecFault {
  return {
    code: 'invalid-date',
    path,
    at: 'value',
    message: `"${String(written)}" is no date: a day (2026-10-03), a moment with its zone (2026-10-03T22:14:00Z), or milliseconds`,
  };
}

function shapeFault(path: SpecFault['path'], message: string): SpecFault {
  return { code: 'condition-shape', path, at: 'key', message };
}

function isComparison(subject: Subject): subject is ComparisonWord {
  return subject in COMPARISONS;
}
