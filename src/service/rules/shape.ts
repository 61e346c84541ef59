import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { badRequest } from '../http/problem.js';
import { isSameJson } from './json.js';

export type { ValidateFunction };

/** A JSON Schema (2020-12) as data. */
export type Schema = Readonly<Record<string, unknown>>;

export function closed<P extends Schema>(properties: P, required: readonly string[] = []) {
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    properties,
  } as const;
}

/** A test checks the schemas against their meta-schema, which takes as long to compile as all of ours. */
const ajv = new Ajv2020({
  allowUnionTypes: true,
  strict: true,
  strictRequired: false,
  meta: false,
  validateSchema: false,
});

export function compileSchema(schema: Schema): ValidateFunction {
  return ajv.compile(schema);
}

/** @throws Problem (400) with the first fault and its place. */
export function checkShape(validate: ValidateFunction, value: unknown, what = 'Body'): void {
  if (validate(value)) return;
  throw badRequest(describeShapeErrors(validate.errors ?? [], what));
}

/** Errors of the keyword `if` only say that the `then` failed, whose own error gives the reason. */
export function describeShapeErrors(errors: readonly ErrorObject[], what: string): string {
  const error = errors.find(({ keyword }) => keyword !== 'if') ?? errors[0];
  if (error === undefined) return `${what} is invalid`;
  const place = error.instancePath === '' ? what : `${what} at ${error.instancePath}`;
  if (error.keyword === 'additionalProperties') {
    return `${place} has no member ${(error.params as { additionalProperty: string }).additionalProperty}`;
  }
  const allowed: unknown = (error.params as { allowedValues?: unknown }).allowedValues;
  const choices = Array.isArray(allowed) ? `: ${JSON.stringify(allowed)}` : '';
  return `${place} ${error.message ?? 'is invalid'}${choices}`;
}

/** @throws Problem (400) a member that clients cannot set differs. */
export function checkUntouched(before: object, after: object, members: readonly string[]): void {
  const read = (holder: object, name: string): unknown =>
    Object.hasOwn(holder, name) ? (holder as Record<string, unknown>)[name] : undefined;
  for (const name of members) {
    if (!isSameJson(read(before, name), read(after, name))) {
      throw badRequest(`${name} cannot be changed`);
    }
  }
}
