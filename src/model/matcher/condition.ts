import type { ConditionSpec } from '../../generated/flag.schema.d.js';
import type { Matcher } from '../flag/flag.js';
import { memberOf, sameJson, sortedSet, type Json } from '../json.js';
import { canonicalMatcher, dependencyOf, segmentOf } from './canonical.js';
import {
  COMPARISONS,
  OPERAND_MEMBER,
  wordOf,
  type Comparison,
  type ComparisonWord,
} from './matchers.js';
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
  const operand = OPERANDS[comparison.operand].read(condition[subject] as never, subject);
  if (!operand.ok) return operand;
  return valid({
    type: comparison.type,
    ...(attribute !== undefined && { attribute }),
    [OPERAND_MEMBER[comparison.operand]]: operand.value,
  });
}

interface OperandForm {
  /** Of a value that fits its schema. */
  readonly read: (written: never, word: ComparisonWord) => Checked<Json>;
  /** Undefined for a value that specs cannot write. */
  readonly write: (value: Json | undefined) => Json | undefined;
}

/** How specs write the operands that have words. */
const OPERANDS: Readonly<Record<Comparison['operand'], OperandForm>> = {
  strings: {
    read: (written: string | string[]) => valid(sortedSet([written].flat())),
    write: (value) => (Array.isArray(value) && value.length > 0 ? (value as Json) : undefined),
  },
  pattern: {
    read: valid,
    write: (value) => (typeof value === 'string' && value !== '' ? value : undefined),
  },
  bool: { read: valid, write: (value) => (typeof value === 'boolean' ? value : undefined) },
  number: { read: valid, write: (value) => (typeof value === 'number' ? value : undefined) },
  date: {
    read: (written: string | number, word) => {
      const ms = dateMs(written);
      return ms === undefined ? invalid(dateFault([word], written)) : valid(ms);
    },
    write: (value) => (typeof value === 'number' ? dateText(value) : undefined),
  },
  'number-range': {
    read: (written: object, word) => readRange(word, written, (end) => end as number),
    write: (value) => writtenRange(value, (end) => end),
  },
  'date-range': {
    read: (written: object, word) =>
      readRange(word, written, (end) => dateMs(end as string | number)),
    write: (value) => writtenRange(value, dateText),
  },
};

function readRange(
  word: ComparisonWord,
  written: object,
  read: (end: unknown) => number | undefined,
): Checked<Json> {
  const names = Array.isArray(written) ? [0, 1] : ['from', 'to'];
  const ends = names.map((name) => memberOf(written, name));
  const [from, to] = ends.map(read);
  if (from === undefined || to === undefined) {
    const wrong = names.filter((_, at) => [from, to][at] === undefined);
    return invalid(...wrong.map((name) => dateFault([word, name], memberOf(written, name))));
  }
  if (from <= to) return valid({ from, to });
  const message = `"${word}" starts after it ends`;
  return invalid({ code: 'range-reversed', path: [word], at: 'value', message });
}

function writtenRange(between: Json | undefined, write: (end: number) => Json): Json | undefined {
  const { from, to } = (between ?? {}) as { from?: Json; to?: Json };
  if (typeof from !== 'number' || typeof to !== 'number') return undefined;
  return [write(from), write(to)];
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

/** Milliseconds of a day (its midnight in UTC), of a moment with its zone, or as written; undefined for other texts. */
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
  const form = word && COMPARISONS[word].operand;
  const operand = form && OPERANDS[form].write(matcher[OPERAND_MEMBER[form]]);
  if (word === undefined || operand === undefined) return undefined;
  const { attribute } = matcher;
  if (attribute === '') return undefined;
  return { ...(typeof attribute === 'string' && { attribute }), [word]: operand };
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
