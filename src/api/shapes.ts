import { FlaghoistError } from '../errors.js';

/**
 * Checks of what the service answered: just enough that a wrong body never looks like an absence, an empty list, or an
 * object of another kind. Further fields are left as they are.
 */

/** @throws FlaghoistError `UNREADABLE`, naming the place in the answer. */
export type Check<T> = (value: unknown, place: string) => T;

function wrong(place: string, expected: string, value: unknown): FlaghoistError {
  const found = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  return new FlaghoistError(
    'UNREADABLE',
    `cannot understand the service's answer: ${place} should be ${expected}, but is ${found}`,
  );
}

export const text: Check<string> = (value, place) => {
  if (typeof value !== 'string') throw wrong(place, 'a text', value);
  return value;
};

export const integer: Check<number> = (value, place) => {
  if (typeof value !== 'number' || !Number.isInteger(value))
    throw wrong(place, 'a whole number', value);
  return value;
};

export const flag: Check<boolean> = (value, place) => {
  if (typeof value !== 'boolean') throw wrong(place, 'true or false', value);
  return value;
};

export function list<T>(check: Check<T>): Check<T[]> {
  return (value, place) => {
    if (!Array.isArray(value)) throw wrong(place, 'a list', value);
    return value.map((each, index) => check(each, `${place}[${index}]`));
  };
}

/** Null and absent are both taken, and left as they are. */
export function optional(check: Check<unknown>): Check<unknown> {
  return (value, place) => (value === undefined || value === null ? value : check(value, place));
}

/** An object in which at least these members are as they should be; it is answered whole, as `T`. */
export function shape<T>(members: Readonly<Record<string, Check<unknown>>>): Check<T> {
  return (value, place) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw wrong(place, 'an object', value);
    }
    for (const [name, check] of Object.entries(members)) {
      check((value as Record<string, unknown>)[name], `${place}.${name}`);
    }
    return value as T;
  };
}
