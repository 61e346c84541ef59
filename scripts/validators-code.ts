import { createRequire } from 'node:module';
import type standalone from 'ajv/dist/standalone/index.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { SCHEMA_NAMES, schemaOf } from '../src/specs/parse/schemas.js';

export const VALIDATORS_FILE = 'src/generated/validators.ts';

/** The library writes `require` for its own helpers also where it was asked for a module. */
const HEADER = `// @ts-nocheck
/* Generated from schemas/ by \`npm run build\`; do not edit. */
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
`;

/** What the library would compile in every run that reads a spec, as the text of a module: an export for each schema. */
export function validatorsCode(): string {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    strictTypes: false,
    code: { source: true, esm: true, lines: true },
  });
  ajv.addVocabulary(['x-expected', 'x-removed', 'tsType']);
  for (const name of SCHEMA_NAMES) ajv.addSchema(schemaOf(name));
  const exported = SCHEMA_NAMES.map((name) => [exportName(name), String(schemaOf(name).$id)]);
  // The library is CommonJS, and says what it exports in a way that only `require` understands.
  const { default: codeOf } = createRequire(import.meta.url)('ajv/dist/standalone/index.js') as {
    default: typeof standalone.default;
  };
  const code = codeOf(ajv, Object.fromEntries(exported) as Record<string, string>);
  return HEADER + code;
}

/** `flag-overlay` → `flagOverlay` */
function exportName(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
