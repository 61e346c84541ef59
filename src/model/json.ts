import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** A value that nothing changes, down to its last member. */
export type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/** An element of a list in a document whose schema the type was generated from. */
export type ItemOf<T> = NonNullable<T> extends readonly (infer I)[] ? Frozen<I> : never;

export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** RFC 8785. Half surrogate pairs, which an answer may hold but that form excludes, become U+FFFD. */
export function canonicalJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch {
    text = canonicalize(JSON.parse(JSON.stringify(value, wellFormed)));
  }
  if (text === undefined) throw new Error('bug: canonical form asked of undefined');
  return text;
}

function wellFormed(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/**
 * Equality of canonical forms: the order of members does not matter, the order of lists does, half surrogate pairs
 * count as U+FFFD, and an undefined member counts as missing.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === 'string' && typeof b === 'string') {
    return a.length === b.length && a.toWellFormed() === b.toWellFormed();
  }
  if (!isContainer(a) || !isContainer(b)) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((each, i) => sameJson(each, b[i]));
  }
  return sameMembers(a as Members, b as Members);
}

type Members = Readonly<Record<string, unknown>>;

function sameMembers(a: Members, b: Members): boolean {
  return (
    Object.keys(a).every((name) =>
      sameJson(a[name], Object.hasOwn(b, name) ? b[name] : undefined),
    ) && Object.keys(b).every((name) => b[name] === undefined || Object.hasOwn(a, name))
  );
}

export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Lower-case hex, of UTF-8 text. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The same order on every machine, unlike `localeCompare`. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function sortedSet(values: Iterable<string>): string[] {
  const all = [...values];
  // Most lists are sorted already: people wrote them so, or this function made them.
  if (isAscending(all)) return all;
  const sorted = all.sort(byCodeUnits);
  return isAscending(sorted) ? sorted : [...new Set(sorted)];
}

function isAscending(values: readonly string[]): boolean {
  return values.every((each, at) => at === 0 || (values[at - 1] ?? '') < each);
}

export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((each) => isDeeperThan(each, levels - 1));
}

/** JSON Pointer (RFC 6901) of a path; `''` for the empty path, which is the whole document. */
export function pointerOf(path: readonly (string | number)[]): string {
  return path
    .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

/** The path of a JSON Pointer. Ignores any text before its first `/`. */
export function partsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** An object that is no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export type Check = (value: unknown) => boolean;

/** A list has the form of its elements. Of members, `name?` may be missing, `*` is every one, and others do not count. */
export type Form =
  'text' | 'boolean' | 'count' | Check | readonly [Form] | { readonly [member: string]: Form };

export function hasForm(value: unknown, form: Form): boolean {
  if (form === 'text') return typeof value === 'string';
  if (form === 'boolean') return typeof value === 'boolean';
  if (form === 'count') return Number.isSafeInteger(value) && Number(value) >= 0;
  if (typeof form === 'function') return form(value);
  if (form instanceof Array)
    return Array.isArray(value) && value.every((each) => hasForm(each, form[0]));
  if (!isRecord(value)) return false;
  return Object.entries(form).every(([name, member]) => {
    if (name === '*') return Object.values(value).every((each) => hasForm(each, member));
    if (!name.endsWith('?')) return hasForm(value[name], member);
    const found = value[name.slice(0, -1)];
    return found === undefined || hasForm(found, member);
  });
}

/** Undefined for anything but an own member of a mapping, or an element of a list. */
export function memberOf(value: unknown, part: string | number): unknown {
  return isContainer(value) && Object.hasOwn(value, part) ? (value as Members)[part] : undefined;
}

export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce(memberOf, value);
}
