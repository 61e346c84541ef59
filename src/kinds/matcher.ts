import type { WireMatcher } from '../api/wire.js';
import type { Matcher } from './flag.js';
import { sortedSet, type Json } from './json.js';

/** Fields that hold numbers, whatever spelling an answer gives them. */
const NUMERIC_FIELDS = new Set(['number', 'date', 'from', 'to']);

/** Types whose `between` and `string` are texts, so that `"1.10"` must not become a number. */
function isSemver(type: string): boolean {
  return type.endsWith('_SEMVER');
}

/**
 * Canonical form of a matcher, from either side: without nulls and `negate: false`, numbers as numbers, sets sorted.
 * Fields that are not known are kept as they are. Doing it twice changes nothing.
 */
export function canonicalMatcher(raw: WireMatcher | Matcher): Matcher {
  const given = raw as Readonly<Record<string, Json | undefined>>;
  const fields: Record<string, Json> = {};
  for (const name of Object.keys(given)) {
    const value = given[name];
    // An answer may spell out what is absent.
    if (value === null || value === undefined || (name === 'negate' && value === false)) continue;
    fields[name] = canonicalField(raw.type, name, value);
  }
  return { ...fields, type: raw.type };
}

function canonicalField(type: string, name: string, value: Json): Json {
  if (NUMERIC_FIELDS.has(name) && !isSemver(type)) return asNumber(value);
  if (name === 'strings' && isTextList(value)) return sortedSet(value);
  if (name === 'depends' && isObject(value)) return canonicalDepends(value);
  if (name === 'between' && isObject(value)) {
    return Object.fromEntries(
      Object.entries(withoutNulls(value)).map(([end, limit]) => [
        end,
        canonicalField(type, end, limit),
      ]),
    );
  }
  return value;
}

/** An answer may spell out what is absent. */
function withoutNulls(fields: Readonly<Record<string, Json | undefined>>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, value] as const],
    ),
  );
}

/** Some answers name one treatment in `treatment`; the list form says the same. */
function canonicalDepends(depends: Readonly<Record<string, Json>>): Json {
  const { treatment, treatments, ...rest } = withoutNulls(depends);
  const names = isTextList(treatments)
    ? treatments
    : typeof treatment === 'string'
      ? [treatment]
      : [];
  return { ...rest, treatments: sortedSet(names) };
}

function asNumber(value: Json): Json {
  if (typeof value !== 'string' || value.trim() === '') return value;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

function isTextList(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isObject(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Name of the segment that a matcher asks about. */
export function segmentOf(matcher: Matcher): string | undefined {
  const name = matcher['string'];
  return matcher.type === 'IN_SEGMENT' && typeof name === 'string' ? name : undefined;
}

/** Flag and treatments that a matcher asks about. */
export function dependencyOf(
  matcher: Matcher,
): { readonly flag: string; readonly treatments: readonly string[] } | undefined {
  const depends = matcher['depends'];
  if (matcher.type !== 'IN_SPLIT' || depends === undefined || !isObject(depends)) return undefined;
  const flag = depends['splitName'];
  const treatments = depends['treatments'];
  if (typeof flag !== 'string') return undefined;
  return { flag, treatments: isTextList(treatments) ? treatments : [] };
}
