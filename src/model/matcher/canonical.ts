import type { WireMatcher } from '../../admin-api/wire.js';
import type { Matcher } from '../flag/flag.js';
import { isRecord, sortedSet, type Json } from '../json.js';
import { OPERAND_MEMBERS, operandOfType } from './matchers.js';

/** Fields that hold numbers, however an answer spells them. */
const NUMERIC_FIELDS = new Set(['number', 'date', 'from', 'to']);

/**
 * Canonical form of a matcher, from specs or service: without members that mean nothing; numbers as numbers and texts
 * as texts, sets sorted, and an empty list where a type that compares with a list has none. Keeps unknown fields.
 */
export function canonicalMatcher(raw: WireMatcher | Matcher): Matcher {
  const operand = operandOfType(raw.type);
  const fields: Record<string, Json> = {};
  for (const [name, value] of membersOf(raw as Readonly<Record<string, Json | undefined>>)) {
    if (meansNothing(name, value, operand)) continue;
    fields[name] = canonicalField(raw.type, name, value);
  }
  if (operand === 'strings') fields['strings'] ??= [];
  return { ...fields, type: raw.type };
}

/** Services and other tools write out such members. */
function meansNothing(name: string, value: Json, operand: string | undefined): boolean {
  if (name === 'negate') return value === false;
  if (name === 'attribute') return value === '';
  if (operand === undefined || name === operand) return false;
  return OPERAND_MEMBERS.has(name) && isEmpty(value);
}

function isEmpty(value: Json | undefined): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.values(value).every(isEmpty);
}

function canonicalField(type: string, name: string, value: Json): Json {
  // A version such as "1.10" must not become a number.
  if (NUMERIC_FIELDS.has(name) && !type.endsWith('_SEMVER')) return asNumber(value);
  if (name === 'strings' && isTextList(value)) return sortedSet(value);
  if (name === operandOfType(type) && name === 'strings') return textsOf(value);
  if (name === 'depends' && isRecord(value)) return canonicalDepends(value);
  if (name === 'between' && isRecord(value)) {
    const ends = membersOf(value).map(([end, limit]) => [end, canonicalField(type, end, limit)]);
    return Object.fromEntries(ends) as Json;
  }
  return value;
}

/** An answer may write null for an absent member. */
function membersOf(fields: Readonly<Record<string, Json | undefined>>): [string, Json][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    (value ?? null) === null ? [] : [[name, value as Json]],
  );
}

/** Some answers name one treatment in `treatment`; the canonical form is the list. */
function canonicalDepends(depends: Readonly<Record<string, Json>>): Json {
  const { treatment, treatments, ...rest } = Object.fromEntries(membersOf(depends));
  const single = typeof treatment === 'string' ? [treatment] : [];
  return { ...rest, treatments: sortedSet(isTextList(treatments) ? treatments : single) };
}

/** Turns numbers in a list of scalars back into texts; leaves any other list alone. */
function textsOf(value: Json): Json {
  const isScalar = (each: Json): boolean => typeof each === 'string' || typeof each === 'number';
  return Array.isArray(value) && value.every(isScalar) ? sortedSet(value.map(String)) : value;
}

function asNumber(value: Json): Json {
  const isText = typeof value === 'string' && value.trim() !== '';
  const number = isText ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return value;
  // YAML and JavaScript have a negative zero, JSON in transit has not.
  return number === 0 ? 0 : number;
}

function isTextList(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

export function segmentOf(matcher: Matcher): string | undefined {
  const name = matcher['string'];
  return matcher.type === 'IN_SEGMENT' && typeof name === 'string' ? name : undefined;
}

export function dependencyOf(
  matcher: Matcher,
): { readonly flag: string; readonly treatments: readonly string[] } | undefined {
  const depends = matcher['depends'];
  if (matcher.type !== 'IN_SPLIT' || depends === undefined || !isRecord(depends)) return undefined;
  const flag = depends['splitName'];
  const treatments = depends['treatments'];
  if (typeof flag !== 'string') return undefined;
  return { flag, treatments: isTextList(treatments) ? treatments : [] };
}
