import { readFileSync } from 'node:fs';
import { keptIn } from '../../model/collections.js';
import { SPEC_KINDS } from '../../model/ref.js';
import { fileKindOf } from '../../model/spec-tree.js';
import { packageFile } from '../../platform/package-files.js';

/** `watch` describes the sources of a daemon, which are outside config repositories. */
export const SCHEMA_NAMES = [...SPEC_KINDS, 'watch'] as const;

/** The name of a file in `schemas/`, without its extension. */
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
  /** The expected content in words, for messages about alternatives. */
  readonly 'x-expected'?: string;
  /** Values of an `enum`, or members of an object, that an earlier version accepted, with advice on replacing them. */
  readonly 'x-removed'?: Readonly<Record<string, string>>;
}

const loaded = new Map<SchemaName, Schema>();

export function schemaOf(name: SchemaName): Schema {
  return keptIn(loaded, name, () => {
    const file = packageFile(`schemas/${name}.schema.json`);
    return JSON.parse(readFileSync(file, 'utf8')) as Schema;
  });
}

export function schemaNameOf(id: string): SchemaName | undefined {
  return SCHEMA_NAMES.find((name) => schemaOf(name).$id === id);
}

/**
 * The schema for editors. They parse YAML before they apply the schema, so a text that looks like a number or a boolean
 * is one to them, but a text in specs. Schemas refer to each other as files in one folder, and have no `$id`: editors
 * resolve references against it and cannot fetch a URN.
 */
export function editorSchemaOf(name: SchemaName): unknown {
  const { $id: _, ...schema } = schemaOf(name);
  return withPlainScalars(schema, '');
}

/** @param member the keyword that contains the schema. */
function withPlainScalars(schema: unknown, member: string): unknown {
  // Names of members are always text, and choices are compared as they are.
  if (member === 'propertyNames' || member === 'enum' || member === 'const') return schema;
  if (Array.isArray(schema)) return schema.map((each) => withPlainScalars(each, member));
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([keyword, value]: [string, unknown]) => {
    if (keyword === '$ref') return [keyword, fileReference(String(value))];
    const isText = keyword === 'type' && value === 'string' && !('enum' in schema);
    if (!isText) return [keyword, withPlainScalars(value, keyword)];
    // In a list even `null` may be meant as a key; a member without a value is mostly still being written.
    return [keyword, ['string', 'number', 'boolean', ...(member === 'items' ? ['null'] : [])]];
  });
  return Object.fromEntries(entries);
}

/** `urn:flagkeel:schema:flag:1#/$defs/x` → `flag.schema.json#/$defs/x`; a reference within the document as it is. */
function fileReference(reference: string): string {
  const [id = '', fragment = ''] = reference.split('#');
  const name = schemaNameOf(id);
  return name === undefined ? reference : `${name}.schema.json#${fragment}`;
}

/** Specs, by path in the config directory, with the first lines by which an editor finds their schemas. */
export function withSchemaLines(files: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...files].map(([path, text]) => [path, withSchemaLine(path, text)]));
}

function withSchemaLine(path: string, text: string): string {
  const kind = fileKindOf(path);
  if (kind === undefined || kind === 'keys' || kind === 'identities-csv') return text;
  const up = '../'.repeat(path.split('/').length - 1);
  return `# yaml-language-server: $schema=${up}schemas/${kind}.schema.json\n${text}`;
}
