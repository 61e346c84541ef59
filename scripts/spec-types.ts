import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCHEMA_NAMES } from '../src/specs/parse/schemas.js';
import { compile, type JSONSchema } from 'json-schema-to-typescript';

const SCHEMAS = join(import.meta.dirname, '..', 'schemas');

/** The types of the values that a schema of `schemas/` describes, as the text of a module. */
export async function specTypes(name: string): Promise<string> {
  const text = readFileSync(join(SCHEMAS, `${name}.schema.json`), 'utf8');
  return compile(JSON.parse(text, anyValue) as JSONSchema, name, {
    cwd: SCHEMAS,
    // A document is written, and no function that makes a list returns the tuple of one that has to have an entry.
    ignoreMinAndMaxItems: !SCHEMA_NAMES.some((each) => each === name),
    // The library fetches references as files or over HTTP; ours are URNs.
    $refOptions: {
      resolve: {
        urn: {
          order: 1,
          canRead: /^urn:flagkeel:schema:/,
          read: ({ url }: { readonly url: string }) =>
            readFileSync(join(SCHEMAS, `${String(url.split(':')[3])}.schema.json`), 'utf8'),
        },
      },
    },
  });
}

/** A schema that only describes allows any value; the library would take it for one of objects. */
function anyValue(_: string, schema: unknown): unknown {
  const isAny =
    typeof schema === 'object' && schema !== null && Object.keys(schema).join() === 'description';
  return isAny ? { ...schema, tsType: 'unknown' } : schema;
}
