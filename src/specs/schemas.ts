import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';

/** What stands in a config repository. */
export const SPEC_SCHEMA_NAMES = [
  'config',
  'flag',
  'flag-overlay',
  'segment',
  'identities',
  'kills',
  'spec-test',
] as const;

export const SCHEMA_NAMES = [...SPEC_SCHEMA_NAMES, 'watch'] as const;

export type SchemaName = (typeof SCHEMA_NAMES)[number];

/** The part of JSON Schema that our schemas use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly $defs?: Readonly<Record<string, Schema>>;
  /** What belongs here, in words, for messages about alternatives. */
  readonly 'x-expected'?: string;
}

/**
 * The schemas are ours and a test holds them against the meta-schema. To compile that one, and to polish generated code
 * that a run uses once, took longer than all that it is used for.
 */
const QUICK_START = { meta: false, validateSchema: false, code: { optimize: false } } as const;

const loaded = new Map<SchemaName, Schema>();
const compiled = new Map<SchemaName, ValidateFunction>();
let ajv: Ajv2020 | undefined;

export function schemaOf(name: SchemaName): Schema {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const url = new URL(`../../schemas/${name}.schema.json`, import.meta.url);
  const schema = JSON.parse(readFileSync(url, 'utf8')) as Schema;
  loaded.set(name, schema);
  return schema;
}

/** Every error of a value, in the order of the schema's keywords. Schemas are compiled when first asked for. */
export function schemaErrors(name: SchemaName, value: unknown): readonly ErrorObject[] {
  let validate = compiled.get(name);
  if (validate === undefined) {
    validate = validator().compile(schemaOf(name));
    compiled.set(name, validate);
  }
  return validate(value) ? [] : (validate.errors ?? []);
}

function validator(): Ajv2020 {
  if (ajv === undefined) {
    ajv = new Ajv2020({
      allErrors: true,
      verbose: true,
      allowUnionTypes: true,
      strictTypes: false,
      ...QUICK_START,
    });
    ajv.addVocabulary(['x-expected', 'tsType']);
    // The overlay's schema points into the flag's.
    ajv.addSchema(schemaOf('flag'));
  }
  return ajv;
}
