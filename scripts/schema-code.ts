import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type standalone from 'ajv/dist/standalone/index.js';
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import { SPEC_KINDS } from '../src/model/ref.js';
import { packageFile } from '../src/platform/package-files.js';
import { SCHEMA_NAMES, schemaOf, type Schema } from '../src/specs/parse/schemas.js';
import { specTypes } from './spec-types.js';

/** The files that the build writes. Every run reads specs, few read a reviewed plan: its validator is a file of its own. */
export const GENERATED: Readonly<Record<string, () => string | Promise<string>>> = {
  'src/generated/validators.ts': specValidators,
  'src/generated/plan-validator.ts': planValidator,
  'src/generated/spec-types.d.ts': typesByKind,
  ...Object.fromEntries(
    [...SCHEMA_NAMES, 'plan', 'help', 'status'].map((name) => [
      `src/generated/${name}.schema.d.ts`,
      async () => specTypes(name),
    ]),
  ),
};

/** The library writes `require` for its own helpers also where it was asked for a module. */
const HEADER = `// @ts-nocheck
/* Generated from schemas/ by \`npm run build\`; do not edit. */
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
`;

/** What the library would compile in every run that reads a spec, as the text of a module. */
function specValidators(): string {
  const schemas = SCHEMA_NAMES.map((name) => [exportName(name), schemaOf(name)] as const);
  const code = codeFor(schemas, { allErrors: true, verbose: true });
  const members = SCHEMA_NAMES.map((name) => `'${name}': ${exportName(name)}`).join(', ');
  return `${code}\nexport const VALIDATORS: Readonly<Record<string, unknown>> = { ${members} };\n`;
}

/** A later version may have given a plan further members: they are taken out of the value, and not refused. */
function planValidator(): string {
  const text = readFileSync(packageFile('schemas/plan.schema.json'), 'utf8');
  return codeFor([['plan', JSON.parse(text) as Schema]], { removeAdditional: true });
}

function codeFor(schemas: readonly (readonly [string, Schema])[], options: Options): string {
  const ajv = new Ajv2020({
    ...options,
    allowUnionTypes: true,
    strictTypes: false,
    code: { source: true, esm: true, lines: true },
  });
  ajv.addVocabulary(['x-expected', 'x-removed', 'tsType']);
  for (const [, schema] of schemas) ajv.addSchema(schema);
  const exported = schemas.map(([name, { $id }]) => [name, String($id)]);
  // The library is CommonJS, and says what it exports in a way that only `require` understands.
  const { default: codeOf } = createRequire(import.meta.url)('ajv/dist/standalone/index.js') as {
    default: typeof standalone.default;
  };
  const code = codeOf(ajv, Object.fromEntries(exported) as Record<string, string>);
  // Without a type the compiler would walk all of a function to find one.
  return HEADER + code.replaceAll(/^export const (\w+) = /gm, 'export const $1: unknown = ');
}

/** What a valid file of each kind holds, as the text of a module. */
function typesByKind(): string {
  const types = SPEC_KINDS.map((kind) => {
    const name = exportName(kind);
    return [kind, `${name.charAt(0).toUpperCase()}${name.slice(1)}Spec`] as const;
  });
  const imports = types.map(
    ([kind, type]) => `import type { ${type} } from './${kind}.schema.d.js';`,
  );
  const members = types.map(([kind, type]) => `  '${kind}': ${type};`);
  return [...imports, 'export interface SpecTypes {', ...members, '}', ''].join('\n');
}

/** `flag-overlay` → `flagOverlay` */
function exportName(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
