import { describe, expect, it } from 'vitest';
import { SpecCache } from '../../../../src/specs/cache.js';
import { formattedSpec } from '../../../../src/specs/edit/format.js';
import { readSpecs } from '../../../../src/specs/read-specs.js';
import { treeOf } from '../../../support/spec-tree.js';

const CONFIG = `
workspace: Default
environments: { staging: {}, production: {} }
defaults: { trafficType: user }
`;

/** The flag `pay`. Its schema stands in line 3, its treatments in lines 5 and 6, those of production in 11 and 12. */
function pay(
  schema: string,
  configuration = '{ steps: 3 }',
  inProduction = '{ steps: 1 }',
): string {
  return `flag: pay
configurationSchema:
  ${schema}
treatments:
  "on": { configuration: ${configuration} }
  "off": Old
defaultTreatment: "off"
environments:
  production:
    treatments:
      "on": { configuration: ${inProduction} }
      "off": Old
    defaultRule: "off"
`;
}

const STEPS =
  '{ type: object, required: [steps], properties: { steps: { type: integer, maximum: 5 } }, additionalProperties: false }';

async function found(text: string, more: Record<string, string> = {}): Promise<string[]> {
  const tree = treeOf({ 'flagkeel.yaml': CONFIG, 'flags/pay.yaml': text, ...more });
  const result = await readSpecs(tree, new SpecCache());
  const diagnostics = result.ok ? result.warnings : result.diagnostics;
  return diagnostics.map(
    ({ code, location: { file, line, column }, message }) =>
      `${file}:${line}:${column} ${code} ${message}`,
  );
}

describe('the configurations of a flag with a schema', () => {
  it('are valid if they meet it, and stay what is sent', async () => {
    const tree = treeOf({ 'flagkeel.yaml': CONFIG, 'flags/pay.yaml': pay(STEPS) });

    const result = await readSpecs(tree);

    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
    expect(result.warnings).toEqual([]);
    expect(result.desired.flags.get('pay')?.fields).toEqual({});
    expect(JSON.stringify(result.desired.flags.get('pay'))).not.toContain('maximum');
  });

  it('are wrong where they differ, each at its place', async () => {
    expect(await found(pay(STEPS, '{ steps: "3", colour: red }', '7'))).toEqual([
      'flags/pay.yaml:5:26 configuration-mismatch configuration of "on" must NOT have additional properties: "colour"',
      'flags/pay.yaml:5:35 configuration-mismatch configuration of "on" at /steps must be integer',
      'flags/pay.yaml:11:30 configuration-mismatch configuration of "on" must be object',
    ]);
  });

  it('are judged in blocks of environments and in overlays', async () => {
    const overlay = `flag: pay
environment: staging
treatments: { "on": { configuration: {} }, "off": Old }
defaultRule: "off"
`;

    const lines = await found(pay(STEPS, '{ steps: 3 }', '{ steps: 9 }'), {
      'flags/pay@staging.yaml': overlay,
    });

    expect(lines).toEqual([
      'flags/pay.yaml:11:39 configuration-mismatch configuration of "on" at /steps must be <= 5',
      `flags/pay@staging.yaml:3:38 configuration-mismatch configuration of "on" must have required property 'steps'`,
    ]);
  });

  it('may be absent or null, which takes them away', async () => {
    expect(await found(pay(STEPS, 'null', '~'))).toEqual([]);
  });

  it('are told the words of a list, and of alternatives one sentence', async () => {
    const colour = '{ enum: [red, blue] }';
    const either = '{ properties: { steps: { anyOf: [{ type: integer }, { type: boolean }] } } }';

    expect(await found(pay(colour, 'green', 'red'))).toEqual([
      'flags/pay.yaml:5:26 configuration-mismatch configuration of "on" must be equal to one of the allowed values: ["red","blue"]',
    ]);
    expect(await found(pay(either, '{ steps: much }', '{ steps: true }'))).toEqual([
      'flags/pay.yaml:5:35 configuration-mismatch configuration of "on" at /steps must match a schema in anyOf',
    ]);
  });

  it.each([
    ['const', '{ const: { a: [1] } }', '{ a: [1] }', '{ a: [2] }'],
    [
      'uniqueItems',
      '{ uniqueItems: true }',
      '[{ a: 1, b: 2 }, { a: 1 }]',
      '[{ a: 1, b: 2 }, { b: 2, a: 1 }]',
    ],
    ['two patterns', '{ prefixItems: [{ pattern: ^a }, { pattern: ^b }] }', '[a, b]', '[a, a]'],
    ['$defs', '{ $ref: "#/$defs/n", $defs: { n: { type: number } } }', '1', 'one'],
  ])('compare by %s', async (_, schema, right, wrong) => {
    expect(await found(pay(schema, right, right))).toEqual([]);
    expect(await found(pay(schema, wrong, right))).toHaveLength(1);
  });

  it('cannot take long by a pattern, repeated elements, or doubled references', async () => {
    const long = 'a'.repeat(50_000);
    const many = Array.from({ length: 20_000 }, (_, i) => `[${i}]`).join(', ');
    const doubled = Array.from(
      { length: 60 },
      (_, i) => `d${i}: { allOf: [{ $ref: "#/$defs/d${i + 1}" }, { $ref: "#/$defs/d${i + 1}" }] }`,
    );
    const start = performance.now();

    expect(await found(pay('{ pattern: ^(a+)+$ }', `${long}b`, 'a'))).toHaveLength(1);
    expect(await found(pay('{ uniqueItems: true }', `[${many}]`, '[]'))).toEqual([]);
    const schema = `{ $ref: "#/$defs/d0", $defs: { ${doubled.join(', ')}, d60: {} } }`;
    expect((await found(pay(schema))).join()).toContain('it is too large');

    expect(performance.now() - start).toBeLessThan(20_000);
  });
});

const CANNOT = 'configurationSchema is no JSON Schema that can be used: ';

it.each([
  ['{ type: objekt }', '3:11', 'at /type must match a schema in anyOf'],
  ['{ requird: [steps] }', '3:3', 'strict mode: unknown keyword: "requird"'],
  ['{ pattern: "(" }', '3:3', 'pattern "(" cannot be used'],
  ['{ $ref: "https://example.com/s.json" }', '3:11', 'is not followed, because nothing is fetched'],
  ['{ $ref: other.json }', '3:11', '"other.json" is not followed'],
  ['{ $ref: "#/$defs/none" }', '3:11', '"#/$defs/none" is not in it'],
  ['{ items: { $ref: "#" } }', '3:20', 'it refers to itself'],
  ['{ $id: "https://example.com/" }', '3:10', '"$id" has no meaning here'],
])('a schema that cannot be used is one error at its place: %s', async (schema, place, why) => {
  const lines = await found(pay(schema));

  expect(lines[0]).toContain(`flags/pay.yaml:${place} `);
  expect(lines[0]).toContain(`configuration-schema ${CANNOT}`);
  expect(lines[0]).toContain(why);
});

it('fmt leaves the order inside a schema alone', () => {
  const text = pay(
    '{ properties: { tags: { enum: [b, a] } }, required: [b, a], examples: [{ keys: [b, a] }] }',
  );

  expect(formattedSpec('flag', text)).toBe(text);
});
