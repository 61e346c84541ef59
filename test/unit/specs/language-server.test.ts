import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getLanguageService, type LanguageService } from 'yaml-language-server';
import { cliRun } from '../../support/terminal.js';

let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'flagkeel-editor-'));
  await cliRun(['init', directory, '--no-workflows', '--quiet']);
}, 30_000);
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** What editors ask of YAML, with the settings of an editor in which nobody set anything. */
const service = getLanguageService({
  schemaRequestService: async (uri) => readFile(fileURLToPath(uri), 'utf8'),
  workspaceContext: { resolveRelativePath: (path, from) => new URL(path, from).href },
});
service.configure({ validate: true, hover: true, completion: true });

type Document = Parameters<LanguageService['doHover']>[0];

/** What the server makes of an open file. */
const { TextDocument } = createRequire(
  createRequire(import.meta.url).resolve('yaml-language-server'),
)('vscode-languageserver-textdocument') as {
  TextDocument: { create(uri: string, language: string, version: number, text: string): Document };
};

/** A file with a text that need not be on disk. */
function opened(path: string, text: string): Document {
  return TextDocument.create(pathToFileURL(join(directory, path)).href, 'yaml', 1, text);
}

async function problemsOf(path: string, text: string): Promise<string[]> {
  return (await service.doValidation(opened(path, text), false)).map(({ message }) => message);
}

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
    expect(await problemsOf(path, text)).toEqual([]);
  });

  it('offers the fields of a flag and of a condition, and says what they are', async () => {
    const file = opened(
      'flags/pay.yaml',
      `${headerOf('flag', 1)}flag: pay
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production:
    rules:
      - if:
          
        serve: "on"
    
`,
    );
    const offered = async (line: number, character: number): Promise<string[]> =>
      (await service.doComplete(file, { line, character }, false)).items.map(({ label }) => label);

    expect(await offered(10, 4)).toEqual(
      expect.arrayContaining(['defaultRule', 'killed', 'trafficAllocation']),
    );
    expect(await offered(8, 10)).toEqual(
      expect.arrayContaining(['segment', 'attribute', 'onOrAfter']),
    );
    const { properties } = JSON.parse(
      readFileSync(join(directory, 'schemas/flag.schema.json'), 'utf8'),
    ) as { properties: Readonly<Record<string, { description: string }>> };
    const hover = JSON.stringify(await service.doHover(file, { line: 3, character: 2 }));
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
      found[path] = await problemsOf(path, text);
    }

    expect(await cliRun(['validate', directory])).toMatchObject({ exitCode: 0 });
    expect(found).toEqual(Object.fromEntries(Object.keys(files).map((path) => [path, []])));
  });
});
