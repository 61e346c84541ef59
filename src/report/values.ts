import type { Location } from '../model/diagnostic.js';
import type { Bucket, Matcher, Rule, Treatment } from '../model/flag/flag.js';
import { isRecord, type Json } from '../model/json.js';
import type { KeyChange } from '../model/plan.js';
import { keyList } from '../model/segment-keys.js';
import { clean, quoted } from './sanitize.js';
import { cut, noBreak } from './text/layout.js';

export const NONE = 'none';

export function listText(values: readonly string[], limit = Infinity): string {
  return `[${itemText(values, limit)}]`;
}

/** `ES, FR, … 3 more`. */
export function itemText(values: readonly string[], limit: number): string {
  return firstOf(values, limit, quoted, moreText).join(', ');
}

export function firstOf<T, U>(
  all: readonly T[],
  limit: number,
  show: (each: T) => U,
  rest: (more: number) => U,
): U[] {
  const more = all.length - limit;
  return [...all.slice(0, limit).map(show), ...(more > 0 ? [rest(more)] : [])];
}

export function moreText(more: number): string {
  return `… ${String(more)} more`;
}

/** `a, b and 3 more`: the first cleaned names. */
export function namesText(names: readonly string[], limit: number): string {
  const more = names.length > limit ? ` and ${String(names.length - limit)} more` : '';
  return `${names.slice(0, limit).map(clean).join(', ')}${more}`;
}

export function boundedJson(value: unknown, columns = Infinity): string {
  return cut(clean(jsonText(value)), columns);
}

/** A scalar by itself, anything else as JSON, and `none` for a missing value. */
export function valueText(value: unknown, columns = Infinity): string {
  if (value === undefined) return NONE;
  if (typeof value === 'boolean') return yesNo(value);
  return typeof value === 'string' ? cut(quoted(value), columns) : boundedJson(value, columns);
}

/** Both sides of a changed value; as JSON if they are texts that differ only in what cleaning takes away. */
export function valueChange(before: unknown, after: unknown): string {
  const [a, b] = [valueText(before), valueText(after)];
  const areAlike = a === b && typeof before === 'string' && typeof after === 'string';
  return areAlike ? `${boundedJson(before)} → ${boundedJson(after)}` : `${a} → ${b}`;
}

export function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

export function shortSha(commit: string): string {
  return commit.slice(0, 7);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}

export function counted(count: number, one: string): string[] {
  return count === 0 ? [] : [plural(count, one)];
}

export function placeText({ file, line }: Pick<Location, 'file' | 'line'>): string {
  return `${clean(file)}:${String(line)}`;
}

/** In quotes. Long texts are cut on both sides of the first difference, so that it is always visible. */
export function textChange(before: string, after: string, columns = 60): [string, string] {
  const [a, b] = visibly(before, after);
  let same = 0;
  while (same < Math.min(a.length, b.length) && a[same] === b[same]) same += 1;
  const from = Math.max(a.length, b.length) > columns && same > 24 ? wordStart(a, same - 16) : 0;
  const side = (text: string): string => {
    return `"${from > 0 ? '…' : ''}${cut(text.slice(from), columns)}"`;
  };
  return [side(a), side(b)];
}

/** Both texts cleaned; as JSON if they differ only in what cleaning takes away, such as line breaks. */
function visibly(before: string, after: string): [string, string] {
  const [a, b] = [clean(before), clean(after)];
  const inside = (text: string): string => clean(JSON.stringify(text).slice(1, -1));
  return a === b ? [inside(before), inside(after)] : [a, b];
}

function wordStart(text: string, index: number): number {
  const space = text.lastIndexOf(' ', index);
  if (space > index - 16) return space + 1;
  // Does not cut between the halves of a surrogate pair.
  return /[\udc00-\udfff]/.test(text[index] ?? '') ? index - 1 : index;
}

export const isTexts = listOf((each): each is string => typeof each === 'string');

export const isTreatments = listOf(
  (each): each is Treatment => isRecord(each) && typeof each['name'] === 'string',
);

export const isBuckets = listOf(
  (each): each is Bucket =>
    isRecord(each) && typeof each['treatment'] === 'string' && typeof each['size'] === 'number',
);

const areMatchers = listOf(
  (each): each is Matcher => isRecord(each) && typeof each['type'] === 'string',
);

export const isRules = listOf(
  (each): each is Rule =>
    isRecord(each) && isBuckets(each['buckets']) && areMatchers(each['matchers']),
);

function listOf<T>(isItem: (each: unknown) => each is T) {
  return (value: unknown): value is readonly T[] => Array.isArray(value) && value.every(isItem);
}

/** With members in code-unit order, so that equal values print as equal text. `mask` is applied to every object first. */
export function withSortedMembers(
  value: unknown,
  mask = (record: Readonly<Record<string, unknown>>) => record,
): Json {
  if (Array.isArray(value)) return value.map((each) => withSortedMembers(each, mask));
  if (!isRecord(value)) {
    if (value === null || ['string', 'boolean', 'number'].includes(typeof value)) {
      return value as Json;
    }
    throw new Error('bug: a planned value that JSON cannot say');
  }
  const masked = mask(value);
  const names = Object.keys(masked).filter((name) => masked[name] !== undefined);
  return Object.fromEntries(
    names.sort().map((name) => [name, withSortedMembers(masked[name], mask)]),
  );
}

/** Equal for equal values. Unlike the form of RFC 8785 it exists for halves of surrogate pairs, which a service may answer. */
export function jsonText(value: unknown): string {
  return JSON.stringify(withSortedMembers(value));
}

const SHOWN_KEYS = 5;

export function keysText(
  { added, removed }: Pick<KeyChange, 'added' | 'removed'>,
  { showKeys, inFull = false }: { readonly showKeys: boolean; readonly inFull?: boolean },
): string {
  const counts = noBreak(`+${String(added.length)} −${String(removed.length)} keys`);
  if (!showKeys || added.length + removed.length === 0) return counts;
  return `${counts}: ${signedItems(added, removed, inFull ? Infinity : SHOWN_KEYS)}`;
}

export function signedItems(
  added: readonly string[],
  removed: readonly string[],
  limit: number,
): string {
  const parts = [
    ...(added.length > 0 ? [`+ ${itemText(added, limit)}`] : []),
    ...(removed.length > 0 ? [`− ${itemText(removed, limit)}`] : []),
  ];
  return parts.join('; ');
}

/** Whether a matcher lists keys one by one: `IN_LIST_STRING` without an attribute compares the key itself. */
export function listsKeys(
  matcher: Readonly<Record<string, unknown>>,
): matcher is { readonly strings: readonly string[] } {
  return (
    matcher['type'] === 'IN_LIST_STRING' &&
    matcher['attribute'] === undefined &&
    isTexts(matcher['strings'])
  );
}

/** A field's value, ordered, with `{count, sha256}` in place of the lists of keys in its rules. */
export function maskKeys(value: unknown): Json {
  return withSortedMembers(value, (record) => {
    if (!listsKeys(record)) return record;
    return { ...record, strings: keyList(record.strings).digest };
  });
}
