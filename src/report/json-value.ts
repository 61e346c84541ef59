import { isRecord, type Json } from '../model/json.js';

/**
 * The value with members in code-unit order of their names, so that equal values print as equal text.
 *
 * @param mask is applied to every object first, and then its members are visited.
 */
export function ordered(
  value: unknown,
  mask: (record: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>> = same,
): Json {
  if (Array.isArray(value)) return value.map((each) => ordered(each, mask));
  if (!isRecord(value)) return scalar(value);
  const masked = mask(value);
  const names = Object.keys(masked).filter((name) => masked[name] !== undefined);
  return Object.fromEntries(names.sort().map((name) => [name, ordered(masked[name], mask)]));
}

/**
 * Text that is equal for equal values. Unlike the form of RFC 8785 it exists for every string, even with halves of
 * surrogate pairs, because a report must not fail on an answer of the service.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(ordered(value));
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function same<T>(value: T): T {
  return value;
}

function scalar(value: unknown): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return value;
  throw new Error('bug: a planned value that JSON cannot say');
}
