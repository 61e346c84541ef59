import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFromFile } from 'json-schema-to-typescript';

const SCHEMAS = join(import.meta.dirname, '..', 'schemas');

/** The types of the values that a schema of `schemas/` describes, as the text of a module. */
export async function specTypes(name: string): Promise<string> {
  return compileFromFile(join(SCHEMAS, `${name}.schema.json`), {
    cwd: SCHEMAS,
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
