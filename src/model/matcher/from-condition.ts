import type { ConditionSpec } from '../../generated/flag.schema.d.js';
import type { Matcher } from '../flag/flag.js';
import { sortedSet, type Json } from '../json.js';
import { canonicalMatcher } from './canonical.js';
import { COMPARISONS, OPERAND_MEMBER, type ComparisonWord } from './matchers.js';
import { invalid, valid, type Checked, type SpecFault } from '../diagnostic.js';

const COMPARISON_WORDS = Object.keys(COMPARISONS) as readonly ComparisonWord[];
const SUBJECTS = ['segment', 'flag', 'matcher', ...COMPARISON_WORDS] as const;

type Subject = (typeof SUBJECTS)[number];

export function matcherOf(condition: ConditionSpec): Checked<Matcher> {
  const subjects = SUBJECTS.filter((subject) => condition[subject] !== undefined);
  const [subject, second] = subjects;
  if (subject === undefined) {
    const needs = 'it needs segment, flag, matcher, or a comparison such as in';
    return invalid(shapeFault([], `the condition compares nothing: ${needs}`));
  }
  if (second !== undefined) {
    const message = `a condition makes one comparison, and this one has "${subject}" already (a list of conditions means AND)`;
    return invalid(shapeFault([second], message));
  }
  const misfit = companionFault(condition, subject);
  if (misfit !== undefined) return invalid(misfit);
  const bare = bareMatcher(condition, subject);
  if (!bare.ok || condition.not !== true) return bare;
  return valid({ ...bare.value, negate: true });
}

/** `treatments` belongs beside `flag` and nothing else, and `attribute` beside a comparison. */
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
  // `matcher` carries matchers that the words cannot express, including those that later services may add.
  if (matcher !== undefined) return valid(canonicalMatcher(matcher as Matcher));
  if (!isComparison(subject)) throw new Error(`bug: no matcher for "${subject}"`);
  const comparison = COMPARISONS[subject];
  const operand = operandOf(condition, subject);
  if (!operand.ok) return operand;
  return valid({
    type: comparison.type,
    ...(attribute !== undefined && { attribute }),
    [OPERAND_MEMBER[comparison.operand]]: operand.value,
  });
}

function operandOf(condition: ConditionSpec, word: ComparisonWord): Checked<Json> {
  const written: unknown = condition[word];
  switch (COMPARISONS[word].operand) {
    case 'strings':
      return valid(sortedSet([written as string | string[]].flat()));
    case 'pattern':
      return valid(written as string);
    case 'bool':
      return valid(written as boolean);
    case 'number':
      return valid(written as number);
    case 'date': {
      const ms = dateMs(written as string | number);
      return ms === undefined ? invalid(dateFault([word], written)) : valid(ms);
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
): Checked<Json> {
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
  return valid({ from, to });
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

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Of a day (its midnight in UTC), a moment with its zone, or milliseconds; undefined for other days. */
export function dateMs(written: string | number): number | undefined {
  const text = String(written);
  if (/^-?\d+$/.test(text)) {
    const ms = Number(text);
    return Number.isSafeInteger(ms) ? ms : undefined;
  }
  if (!DAY.test(text) && !MOMENT.test(text)) return undefined;
  // `Date` takes 30 February for 2 March; writing the day back reveals that.
  const day = text.slice(0, 10);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) {
    return undefined;
  }
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Named conditions: the matchers that each stands for, which must all hold, in canonical form. */
export type NamedConditions = ReadonlyMap<string, readonly Matcher[]>;

export const NO_CONDITIONS: NamedConditions = new Map();

/** @param named null where the config is unreadable; a condition that uses a name then stands for no matcher. */
export function matchersOf(
  condition: ConditionSpec,
  named: NamedConditions | null,
): Checked<readonly Matcher[]> {
  const { use, not } = condition;
  if (use === undefined) {
    const matcher = matcherOf(condition);
    return matcher.ok ? valid([matcher.value]) : matcher;
  }
  const other = Object.keys(condition).find((member) => member !== 'use' && member !== 'not');
  if (other !== undefined) {
    const message = `"${other}" does not go with "use": write a condition of its own`;
    return invalid(shapeFault([other], message));
  }
  if (named === null) return valid([]);
  const matchers = named.get(use);
  if (matchers === undefined) return invalid(unknownName(use, named));
  return not === true ? turned(use, matchers) : valid(matchers);
}

/** Refuses to negate a name with several matchers: no single rule can express "not both". */
function turned(name: string, matchers: readonly Matcher[]): Checked<readonly Matcher[]> {
  const [only, second] = matchers;
  if (second !== undefined) {
    const message = `"${name}" stands for ${matchers.length} conditions, which "not" cannot turn round together`;
    return invalid(shapeFault(['not'], message));
  }
  if (only === undefined) return valid([]);
  const { negate, ...positive } = only;
  return valid([negate === true ? positive : { ...positive, negate: true }]);
}

function unknownName(name: string, named: NamedConditions): SpecFault {
  return {
    code: 'unknown-condition',
    path: ['use'],
    at: 'value',
    message: `flagkeel.yaml has no condition "${name}"`,
    unknown: { name, candidates: [...named.keys()] },
  };
}
