import type { Bucket, Matcher, Rule } from '../../model/flag/flag.js';
import { isRecord } from '../../model/json.js';
import { matcherRow, type MatcherRow, OPERAND_MEMBER } from '../../model/matcher/matchers.js';
import { keyList } from '../../model/segment-keys.js';
import { clean, quoted } from '../sanitize.js';
import { type FieldLine, noBreak, span, type Tone } from '../text/layout.js';
import { boundedJson, isTexts, listsKeys, listText, maskKeys, NONE, plural } from '../values.js';

interface MatcherOptions {
  readonly showKeys: boolean;
  readonly limit?: number;
}

/** `in segment staff`, `country in [ES, FR]`; as `TYPE {json}` if words cannot describe it completely. */
export function matcherText(matcher: Matcher, options: MatcherOptions): string {
  const subject = matcherSubject(matcher);
  const operand = subject === undefined ? undefined : operandText(matcher, options);
  return subject === undefined || operand === undefined
    ? rawText(matcher, options)
    : `${subject} ${operand}`;
}

/** The part before the compared value, such as `country not in`; undefined if there are no words for the matcher. */
export function matcherSubject(matcher: Matcher): string | undefined {
  const row = rowOf(matcher);
  if (!row) return undefined;
  const verb = noBreak(matcher['negate'] === true ? row.negatedPhrase : row.phrase);
  const { attribute, depends } = matcher;
  if (row.operand === 'dependency') {
    const flag = isRecord(depends) ? depends['splitName'] : undefined;
    return typeof flag === 'string' ? `flag ${quoted(flag)} ${verb}` : undefined;
  }
  if (row.attribute === 'none') return verb;
  return `${typeof attribute === 'string' ? quoted(attribute) : 'key'} ${verb}`;
}

export function conditionText(matchers: readonly Matcher[], options: MatcherOptions): string {
  if (matchers.length === 0) return 'always';
  return matchers.map((matcher) => matcherText(matcher, options)).join(' and ');
}

/** Undefined also if words would leave a member out, because half a condition would be worse than JSON. */
function rowOf(matcher: Matcher): MatcherRow | undefined {
  const row = matcherRow(matcher.type);
  if (!row) return undefined;
  const member = OPERAND_MEMBER[row.operand];
  const known = ['type', 'negate', member, ...(row.attribute === 'none' ? [] : ['attribute'])];
  if (Object.keys(matcher).some((name) => !known.includes(name))) return undefined;
  const { attribute, negate } = matcher;
  if (negate !== undefined && typeof negate !== 'boolean') return undefined;
  if (attribute === undefined) return row.attribute === 'required' ? undefined : row;
  return typeof attribute === 'string' ? row : undefined;
}

function operandText(matcher: Matcher, options: MatcherOptions): string | undefined {
  const operand = rowOf(matcher)?.operand;
  if (operand === undefined) return undefined;
  const value = matcher[OPERAND_MEMBER[operand]];
  switch (operand) {
    case 'name':
    case 'version':
      return typeof value === 'string' ? quoted(value) : undefined;
    case 'pattern':
      return typeof value === 'string' ? JSON.stringify(clean(value)) : undefined;
    case 'number':
      return typeof value === 'number' ? String(value) : undefined;
    case 'bool':
      return typeof value === 'boolean' ? String(value) : undefined;
    case 'date':
      return dateText(value);
    case 'number-range':
    case 'version-range':
      return rangeText(value, boundText);
    case 'date-range':
      return rangeText(value, dateText);
    case 'strings':
      return isTexts(value) ? stringsText(matcher, value, options) : undefined;
    case 'dependency':
      return servedText(value);
  }
}

function stringsText(
  matcher: Matcher,
  values: readonly string[],
  { showKeys, limit }: MatcherOptions,
): string {
  if (showKeys || !listsKeys(matcher)) return listText(values, limit);
  return `a list of ${plural(values.length, 'key')} (sha256 ${keyList(values).digest.sha256.slice(0, 8)}…)`;
}

function servedText(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const { splitName, treatment, treatments, ...others } = value;
  if (typeof splitName !== 'string' || Object.keys(others).length > 0) return undefined;
  if (treatments === undefined && typeof treatment === 'string') return listText([treatment]);
  return treatment === undefined && isTexts(treatments) ? listText(treatments) : undefined;
}

function rangeText(
  value: unknown,
  bound: (value: unknown) => string | undefined,
): string | undefined {
  if (!isRecord(value) || Object.keys(value).some((name) => name !== 'from' && name !== 'to')) {
    return undefined;
  }
  const [from, to] = [bound(value['from']), bound(value['to'])];
  return from === undefined || to === undefined ? undefined : `${from} and ${to}`;
}

function boundText(value: unknown): string | undefined {
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'number' ? String(value) : undefined;
}

/** A time from milliseconds since the epoch, in UTC. Midnight is left out. */
function dateText(value: unknown): string | undefined {
  if (typeof value !== 'number') return undefined;
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return undefined;
  const text = date.toISOString().replace(/\.000Z$/, 'Z');
  return text.replace(/T00:00:00Z$/, '');
}

function rawText(matcher: Matcher, { showKeys }: MatcherOptions): string {
  const shown = showKeys ? matcher : (maskKeys(matcher) as Matcher);
  const { type, ...fields } = shown;
  return `${quoted(type)} ${boundedJson(fields)}`;
}

export function bucketsText(buckets: readonly Bucket[]): string {
  if (buckets.length === 0) return NONE;
  return buckets
    .map(({ treatment, size }) => noBreak(`${quoted(treatment)} ${String(size)} %`))
    .join(', ');
}

/** The shares of a new definition: `on 10 %`; the default treatment if it serves no other. */
export function sharesText(buckets: readonly Bucket[], defaultTreatment: unknown): string {
  const served = buckets.filter(({ size }) => size > 0);
  const others = served.filter(({ treatment }) => treatment !== defaultTreatment);
  return bucketsText(others.length > 0 ? others : served);
}

/** `on 10 → 25 %, off 90 → 75 %`; and a changed order, which moves users even if all sizes stay. */
export function bucketsChange(before: readonly Bucket[], after: readonly Bucket[]): string {
  if (repeats(before) || repeats(after) || before.length === 0 || after.length === 0) {
    return `${bucketsText(before)} → ${bucketsText(after)}`;
  }
  const names = [before, after].map((side) => side.map(({ treatment }) => treatment));
  const [held = [], wanted = []] = names;
  return [...allShares(before, after).map(sizeChange), ...orderChange(held, wanted)].join(', ');
}

export interface ShareChange {
  readonly treatment: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
}

const SHOWN_SHARES = 3;

export function sharesChange(before: readonly Bucket[], after: readonly Bucket[]): string {
  const changed = changedShares(before, after);
  const parts = changed.slice(0, SHOWN_SHARES).map(sizeChange);
  return [...parts, ...(changed.length > SHOWN_SHARES ? ['…'] : [])].join(', ');
}

/** In the new order. Of two shares that mirror each other only the first. Empty if sizes would not describe the change. */
export function changedShares(
  before: readonly Bucket[],
  after: readonly Bucket[],
): readonly ShareChange[] {
  if (repeats(before) || repeats(after)) return [];
  const changed = allShares(before, after).filter((share) => share.before !== share.after);
  return changed.length === 2 ? changed.slice(0, 1) : changed;
}

function allShares(before: readonly Bucket[], after: readonly Bucket[]): ShareChange[] {
  const [held, wanted] = [sizes(before), sizes(after)];
  return [...new Set([...wanted.keys(), ...held.keys()])].map((treatment) => {
    return { treatment, before: held.get(treatment), after: wanted.get(treatment) };
  });
}

/** A sentence if treatments of both sides changed their order; otherwise empty. */
export function orderChange(before: readonly string[], after: readonly string[]): string[] {
  const common = before.filter((name) => after.includes(name));
  const now = after.filter((name) => before.includes(name));
  if (common.every((name, index) => name === now[index])) return [];
  return [`bucket order ${listText(common)} → ${listText(now)} (moves users)`];
}

/** No bucket differs from a bucket of size 0. */
function sizeChange({ treatment, before, after }: ShareChange): string {
  const label = quoted(treatment);
  if (before === after) return noBreak(`${label} ${String(after)} %`);
  const from = before ?? (after === 0 ? NONE : 0);
  const to = after ?? (before === 0 ? NONE : 0);
  return noBreak(`${label} ${String(from)} → ${String(to)} %`);
}

function sizes(buckets: readonly Bucket[]): Map<string, number> {
  return new Map(buckets.map(({ treatment, size }) => [treatment, size]));
}

/** Sizes by treatment would then lose information. */
function repeats(buckets: readonly Bucket[]): boolean {
  return sizes(buckets).size < buckets.length;
}

export interface FieldContext {
  readonly showKeys: boolean;
  /** Shows every value that differs, and texts of several lines line by line: nothing is cut, and no list counted. */
  readonly inFull?: boolean;
  readonly ruleNames?: readonly (string | undefined)[];
}

/** The most values to show of a list that did not change itself, and of a new or removed rule. */
export const LIST_LIMIT = 10;

export function wholeRuleLines(rules: readonly Rule[], context: FieldContext): FieldLine[] {
  return rules.map((rule, index) => ruleLine(index, rule, context, '', 'strong'));
}

/** @param index of the rule, from 0; people see positions from 1. */
export function ruleLine(
  index: number,
  { matchers, buckets }: Rule,
  context: FieldContext,
  symbol: string,
  tone: Tone,
): FieldLine {
  const place = noBreak(`rule ${String(index + 1)}`);
  const limit = context.inFull === true ? Infinity : LIST_LIMIT;
  const condition = conditionText(matchers, { ...context, limit });
  return [
    span(`${symbol}${place}${nameOf(index, context)}:`, tone),
    span(` if ${condition}, serve ${bucketsText(buckets)}`),
  ];
}

export function nameOf(index: number, { ruleNames }: FieldContext): string {
  const name = ruleNames?.[index];
  return name === undefined ? '' : ` "${clean(name)}"`;
}
