import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import * as generated from '../generated/validators.js';
import type { SchemaName } from './schemas.js';

/** Compiled ahead: to compile them took longer than what most runs use them for. A test holds them to `schemas/`. */
const VALIDATORS = {
  config: generated.config,
  flag: generated.flag,
  'flag-overlay': generated.flagOverlay,
  segment: generated.segment,
  identities: generated.identities,
  kills: generated.kills,
  'spec-test': generated.specTest,
  watch: generated.watch,
} as unknown as Readonly<Record<SchemaName, ValidateFunction>>;

/** Every error of a value, in the order of the schema's keywords. */
export function schemaErrors(name: SchemaName, value: unknown): readonly ErrorObject[] {
  const validate = VALIDATORS[name];
  return validate(value) ? [] : (validate.errors ?? []);
}
