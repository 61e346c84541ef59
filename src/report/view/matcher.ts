import { keyList } from '../../model/segment-keys.js';
import type { Matcher } from '../../model/flag/flag.js';
import { matcherRow, OPERAND_MEMBER, type MatcherRow } from '../../model/matcher/matchers.js';
import { clean, quoted } from '../sanitize.js';
import { noBreak } from '../text/layout.js';
import { isRecord } from '../../model/json.js';
import { boundedJson, isTexts, listsKeys, listText, maskKeys, plural } from '../values.js';

/** The settings for a matcher's lists. */
interface MatcherOptions {
  /** Shows the keys of a matcher in full; otherwise their number and the beginning of their hash. */
  readonly showKeys: boolean;
  /** The most values of a list to show. */
  readonly limit?: number;
}

/**
 * A matcher in words: `in segment staff`, `country in [ES, FR]`. If words cannot describe it completely, it is shown as
 * `TYPE {json}`.
 */
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

/** All matchers of a rule: `in segment staff and country in [ES, FR]`. */
export function conditionText(matchers: readonly Matcher[], options: MatcherOptions): string {
  if (matchers.length === 0) return 'always';
  return matchers.map((matcher) => matcherText(matcher, options)).join(' and ');
}

/**
 * The words for a matcher's type. Undefined also for a matcher with a member that the words would leave out, because
 * half a condition would be worse than JSON.
 */
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

/** The value in words; undefined if its form does not fit the type. */
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

/** A list of values. A list of keys is shown as number and hash, unless keys are shown. */
function stringsText(
  matcher: Matcher,
  values: readonly string[],
  { showKeys, limit }: MatcherOptions,
): string {
  if (showKeys || !listsKeys(matcher)) return listText(values, limit);
  return `a list of ${plural(values.length, 'key')} (sha256 ${keyList(values).digest.sha256.slice(0, 8)}…)`;
}

/** The treatments of a dependency on another flag. */
function servedText(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const { splitName, treatment, treatments, ...others } = value;
  if (typeof splitName !== 'string' || Object.keys(others).length > 0) return undefined;
  if (treatments === undefined && typeof treatment === 'string') return listText([treatment]);
  return treatment === undefined && isTexts(treatments) ? listText(treatments) : undefined;
}

/** Both bounds of a range; undefined if it has another form. */
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

/** Type and fields as JSON. */
function rawText(matcher: Matcher, { showKeys }: MatcherOptions): string {
  const shown = showKeys ? matcher : (maskKeys(matcher) as Matcher);
  const { type, ...fields } = shown;
  return `${quoted(type)} ${boundedJson(fields)}`;
}
