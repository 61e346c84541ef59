import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { referencePage, REFERENCE_FILE } from '../../../../scripts/reference-page.js';
import { GENERATED } from '../../../../scripts/schema-code.js';
import { schemaErrors } from '../../../../src/specs/parse/schema-problems.js';
import { SCHEMA_NAMES } from '../../../../src/specs/parse/schemas.js';

const ROOT = join(import.meta.dirname, '../../../..');
const SCHEMAS = join(ROOT, 'schemas');

/** Pointers of all fields that lack a description, and of all objects that admit fields by omission. */
function holes(schema: unknown, pointer = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, additionalProperties, type } = schema as Record<string, unknown>;
  const fields = Object.entries((properties ?? {}) as Record<string, { description?: string }>);
  return [
    ...fields
      .filter(([, { description = '' }]) => description === '')
      .map(([name]) => `${pointer}/${name} has no description`),
    ...(type === 'object' && additionalProperties === undefined ? [`${pointer} is open`] : []),
    ...Object.entries(schema).flatMap(([name, member]) => holes(member, `${pointer}/${name}`)),
  ];
}

describe.each(SCHEMA_NAMES)('the schema %s', (name) => {
  const text = readFileSync(join(SCHEMAS, `${name}.schema.json`), 'utf8');
  const schema = JSON.parse(text) as Record<string, unknown>;

  it('explains itself and every field to an editor', () => {
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `urn:flagkeel:schema:${name}:1`,
      title: expect.any(String) as string,
      description: expect.any(String) as string,
    });
    expect(holes(schema)).toEqual([]);
  });

  it('compiles, and admits no unknown field', () => {
    const keywords = schemaErrors(name, { surely: 'unknown' }).map(({ keyword }) => keyword);

    expect(keywords).toContain('additionalProperties');
  });
});

it.each(Object.entries(GENERATED))(
  'have code that was generated from them: %s',
  async (file, codeOf) => {
    expect(readFileSync(join(ROOT, file), 'utf8')).toBe(await codeOf());
  },
);

it('have a page that names every field, made from them', async () => {
  expect(readFileSync(join(ROOT, REFERENCE_FILE), 'utf8')).toBe(await referencePage());
});
