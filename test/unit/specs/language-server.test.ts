import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LanguageServer } from '../../support/language-server.js';
import { cliRun } from '../../support/terminal.js';

let directory: string;
let server: LanguageServer;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'flagkeel-editor-'));
  await cliRun(['init', directory, '--no-workflows', '--quiet']);
  server = new LanguageServer();
  await server.start(directory);
}, 30_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

function headerOf(kind: string, folders: number): string {
  return `# yaml-language-server: $schema=${'../'.repeat(folders)}schemas/${kind}.schema.json\n`;
}

describe('an editor', () => {
  it.each([
    'flagkeel.yaml',
    'flags/example-banner.yaml',
    'tests/example-banner.test.yaml',
    'kills/production.yaml',
  ])('finds nothing wrong with %s that init writes', async (path) => {
    const text = readFileSync(join(directory, path), 'utf8');

    expect(text).toMatch(/^# yaml-language-server: \$schema=/);
    expect(await server.open(join(directory, path), text)).toEqual([]);
  });

  it('offers the fields of a flag and of a condition, and says what they are', async () => {
    const path = join(directory, 'flags/pay.yaml');
    const text = `${headerOf('flag', 1)}flag: pay
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production:
    rules:
      - if:
          
        serve: "on"
    
`;
    await server.open(path, text);

    const fields = await server.complete(path, { line: 10, character: 4 });
    expect(fields).toEqual(expect.arrayContaining(['defaultRule', 'killed', 'trafficAllocation']));
    const conditions = await server.complete(path, { line: 8, character: 10 });
    expect(conditions).toEqual(expect.arrayContaining(['segment', 'attribute', 'onOrAfter']));
    const { properties } = JSON.parse(
      readFileSync(join(directory, 'schemas/flag.schema.json'), 'utf8'),
    ) as { properties: Readonly<Record<string, { description: string }>> };
    const hover = await server.hover(path, { line: 3, character: 2 });
    expect(hover.replaceAll('\\', '')).toContain(properties['defaultTreatment']?.description);
  });

  it('accepts what flagkeel accepts: numbers and truths where texts are meant', async () => {
    const flag = `${headerOf('flag', 1)}flag: tiers
trafficType: user
tags: [2026]
treatments: { 1: One, 2: "", on: Yes, 1.5: { configuration: 3 } }
defaultTreatment: 1
environments:
  production:
    targets: { 1: [0012345, 42, 1e5, true, null] }
    rules:
      - { if: { attribute: tier, in: [1, 2, true] }, serve: 2 }
      - { if: { attribute: tier, in: 3 }, serve: { 1: 50, 2: rest } }
    defaultRule: on
`;
    const segment = `${headerOf('segment', 1)}segment: staff
trafficType: user
environments: { production: { keys: [0012345, 42, 1e5, true] } }
`;
    const identities = `${headerOf('identities', 1)}identities:
  trafficType: user
  environment: production
  keys: { 1042: { seats: 25, beta: true, plan: pro } }
`;
    const test = `${headerOf('spec-test', 1)}tests: tiers
cases:
  - { name: 1, environment: production, key: 42, attributes: { tier: 1 }, expect: 1 }
  - { name: two, environment: production, segments: [], expect: { 1: 50, 2: 50 } }
`;
    const files = {
      'flags/tiers.yaml': flag,
      'segments/staff.yaml': segment,
      'identities/user.production.yaml': identities,
      'tests/tiers.test.yaml': test,
    };
    const found: Record<string, readonly string[]> = {};
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), text);
      found[path] = await server.open(join(directory, path), text);
    }

    expect(await cliRun(['validate', directory])).toMatchObject({ exitCode: 0 });
    expect(found).toEqual(Object.fromEntries(Object.keys(files).map((path) => [path, []])));
  });
});
