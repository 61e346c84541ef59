import { readFileSync } from 'node:fs';

/** Schemas of the files of a config repository. */
export const SPEC_SCHEMA_NAMES = [
  'config',
  'flag',
  'flag-overlay',
  'segment',
  'identities',
  'kills',
  'spec-test',
] as const;

/**
 * All schemas; `watch` describes the sources of a daemon, which lie outside of config repositories.
 */
export const SCHEMA_NAMES = [...SPEC_SCHEMA_NAMES, 'watch'] as const;

/** The name of a file in `schemas/`, without its ending. */
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

/** Each schema is read from disk once. */
const loaded = new Map<SchemaName, Schema>();

/** The schema as it stands in `schemas/`, with its references unresolved. */
export function schemaOf(name: SchemaName): Schema {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const url = new URL(`../../../schemas/${name}.schema.json`, import.meta.url);
  const schema = JSON.parse(readFileSync(url, 'utf8')) as Schema;
  loaded.set(name, schema);
  return schema;
}
