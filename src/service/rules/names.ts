import { badRequest } from '../http/problem.js';
import { closed, type Schema } from './matchers.js';

/**
 * The contract shows no rule for names. Public documentation of such services has one: a letter first, then letters,
 * digits, `-` and `_`.
 */
const NAME = /^[A-Za-z][-_A-Za-z0-9]*$/;
const MAX_NAME_LENGTH = 256;

export const NAME_SCHEMA: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  pattern: NAME.source,
};

/** The contract's body of a new flag or segment. The traffic type comes from the path alone. */
export const CONTRACT_NEW_OBJECT_BODY = closed(
  { name: NAME_SCHEMA, description: { type: 'string', maxLength: 10_000 } },
  ['name'],
);

/** Any text on one line. */
export const TITLE_NAME_SCHEMA: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  pattern: '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$',
};

export const MAX_KEY_NAME_LENGTH = 100;

/** Any text that is not blank. */
export const KEY_NAME_SCHEMA: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_KEY_NAME_LENGTH,
  pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$',
};

/** Public documentation of such services does not allow these names for flags. */
const RESERVED_FLAG_NAMES: ReadonlySet<string> = new Set(['datetime', 'string', 'set', 'integer']);

/** Clients get this treatment if a flag cannot be evaluated; a treatment of the same name would hide that. */
const RESERVED_TREATMENT_NAME = 'control';

/** Names of treatments may start with `_` too. */
const TREATMENT_NAME = /^[_A-Za-z][-_A-Za-z0-9]*$/;

/** The form of the name is checked by `NAME_SCHEMA` before. @throws Problem (400) the name is a reserved word. */
export function checkFlagName(name: string): void {
  if (RESERVED_FLAG_NAMES.has(name)) throw badRequest(`Feature flag name ${name} is reserved`);
}

/** For seeds; the bodies of requests are checked by `NAME_SCHEMA`. @throws Problem (400) the name has a wrong form. */
export function checkTrafficTypeName(name: string): void {
  checkLength('Traffic type', name);
  if (!NAME.test(name)) {
    throw badRequest(
      'Traffic type names must start with a letter and can contain "-_ a-z A-Z 0-9"',
    );
  }
}

/**
 * A treatment may be called `true`: names are values here and never names of members.
 *
 * @throws Problem (400)
 */
export function checkTreatmentName(name: string): void {
  if (name === RESERVED_TREATMENT_NAME) throw badRequest(`Treatment name ${name} is reserved`);
  checkLength('Treatment', name);
  if (!TREATMENT_NAME.test(name)) {
    throw badRequest(
      'Treatment names must start with a letter or _ and can contain "-_ a-z A-Z 0-9"',
    );
  }
}

function checkLength(what: string, name: string): void {
  if (name.length <= MAX_NAME_LENGTH) return;
  throw badRequest(`${what} names have at most ${MAX_NAME_LENGTH} characters`);
}

/** @throws Problem (400) the name is blank, too long, or holds a control character. */
export function checkTitleName(what: string, name: string): void {
  if (name.trim() === '' || name.length > MAX_NAME_LENGTH || /[\u0000-\u001f\u007f]/.test(name)) {
    throw badRequest(`${what} names have 1 to ${MAX_NAME_LENGTH} printable characters`);
  }
}

/** A row with the form of its name by which lists are sorted, byte by byte: upper and lower case make no difference. */
export function sorted<Row extends { readonly name: string }>(row: Row) {
  return { ...row, sort_name: row.name.toLowerCase() };
}
