import { isDeepStrictEqual } from 'node:util';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { badRequest } from '../problem.js';
import type { Schema } from './matchers.js';

/** A test holds the schemas against the meta-schema: to compile that one too took as long as all of ours. */
const ajv = new Ajv2020({
  allowUnionTypes: true,
  strict: true,
  strictRequired: false,
  meta: false,
  validateSchema: false,
});

/** The one compiler of JSON Schemas: of routes, and of rules that look at documents which no route saw. */
export function compileSchema(schema: Schema): ValidateFunction {
  return ajv.compile(schema);
}

/** @throws Problem (400) with the first thing that is wrong and where. */
export function checkShape(validate: ValidateFunction, value: unknown, what = 'Body'): void {
  if (validate(value)) return;
  throw badRequest(describeShapeErrors(validate.errors ?? [], what));
}

/** `if` fails only because its `then` did, which says what is wrong. */
export function describeShapeErrors(errors: readonly ErrorObject[], what: string): string {
  const error = errors.find(({ keyword }) => keyword !== 'if') ?? errors[0];
  if (error === undefined) return `${what} is invalid`;
  const place = error.instancePath === '' ? what : `${what} at ${error.instancePath}`;
  const allowed: unknown = (error.params as { allowedValues?: unknown }).allowedValues;
  const choices = Array.isArray(allowed) ? `: ${JSON.stringify(allowed)}` : '';
  return `${place} ${error.message ?? 'is invalid'}${choices}`;
}

/** @throws Problem (400) one of the members that a client cannot set differs. */
export function checkUntouched(before: object, after: object, members: readonly string[]): void {
  const read = (holder: object, name: string): unknown =>
    Object.hasOwn(holder, name) ? (holder as Record<string, unknown>)[name] : undefined;
  for (const name of members) {
    if (!isDeepStrictEqual(read(before, name), read(after, name))) {
      throw badRequest(`${name} cannot be changed`);
    }
  }
}
