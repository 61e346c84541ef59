import { readFileSync } from 'node:fs';

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
  readonly $id?: string;
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

const loaded = new Map<SchemaName, Schema>();

export function schemaOf(name: SchemaName): Schema {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const url = new URL(`../../schemas/${name}.schema.json`, import.meta.url);
  const schema = JSON.parse(readFileSync(url, 'utf8')) as Schema;
  loaded.set(name, schema);
  return schema;
}
