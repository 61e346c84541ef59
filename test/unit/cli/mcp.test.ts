import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serveMcp } from '../../../src/cli/mcp.js';
import { runCli } from '../../../src/cli/program.js';
import { capturedTerminal } from '../../support/captured-terminal.js';
import { useScenario } from '../../support/scenario.js';
import { flagText, PROTECTED_CONFIG } from '../../support/spec-texts.js';
import { cliRun } from '../../support/terminal.js';
import { projectText } from '../docs/page.js';

interface Answer {
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly isError?: boolean;
}

const scenario = useScenario();
let clients: Client[];

beforeEach(async () => {
  clients = [];
  scenario.commit(
    {
      'flagkeel.yaml': PROTECTED_CONFIG,
      'flags/pay.yaml': flagText('pay', 10),
      'segments/vip.yaml':
        'segment: vip\ntrafficType: user\nenvironments: { staging: { keys: [customer-7] } }\n',
    },
    'Add pay at 10 %',
  );
  await cliRun(['reconcile', ...where()], scenario.env);
  scenario.commit({ 'flags/pay.yaml': flagText('pay', 25) }, 'Ramp pay to 25 %');
});

afterEach(async () => {
  for (const client of clients) await client.close();
});

const where = (): string[] => ['--url', scenario.service.origin, scenario.repository.directory];

/** A client of the official library, connected to a server over the repository. */
async function connected(environment: Readonly<Record<string, string>> = scenario.env) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const { terminal } = capturedTerminal(environment);
  const place = [`--url=${scenario.service.origin}`];
  const { directory } = scenario.repository;
  await serveMcp(far, { directory, place, terminal, run: runCli });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(near);
  clients.push(client);
  const call = async (name: string, given: object = {}): Promise<Answer> =>
    (await client.callTool({ name, arguments: { ...given } })) as unknown as Answer;
  return { client, call };
}

/** One call of each tool, and of the tools with parameters one with all of them. */
const CALLS: readonly (readonly [string, object])[] = [
  ['plan', {}],
  [
    'plan',
    { environment: ['staging'], only: ['flag/pay'], since: 'HEAD~1', at: '2026-01-01T00:00Z' },
  ],
  ['impact', {}],
  ['drift', { environment: ['production'] }],
  ['history', {}],
  ['history', { object: 'flag/pay', since: '7d', maxCount: 1 }],
  ['validate', {}],
  ['list', {}],
  ['read', { object: 'flag/pay' }],
  [
    'read',
    {
      ...{ object: 'flag/pay', environment: ['staging'], key: 'a' },
      ...{ segment: ['vip'], attribute: ['x=y'] },
    },
  ],
  ['find_usage', { object: 'segment/vip' }],
  ['explain_code', { code: 'unknown-field' }],
];

/** Digest of every file of the repository, git's own included. */
function digest(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const path = join(folder, name);
    if (statSync(path).isFile()) hash.update(name).update(readFileSync(path));
  }
  return hash.digest('hex');
}

describe('flagkeel mcp', () => {
  it('lists tools that only read, each explained, with the options of its command as input', async () => {
    const { client } = await connected();
    const { tools } = await client.listTools();
    const inputOf = (name: string) => tools.find((tool) => tool.name === name)?.inputSchema;

    expect(tools.map(({ name }) => name)).toEqual([...new Set(CALLS.map(([name]) => name))]);
    for (const { name, annotations, inputSchema, description } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(description).not.toBe('');
      expect(projectText('docs/mcp.md')).toContain(`| \`${name}\``);
    }
    expect(inputOf('history')).toMatchObject({
      properties: {
        object: { type: 'string' },
        since: { type: 'string', description: expect.stringContaining('7d') as string },
        maxCount: { type: 'integer', minimum: 1, description: 'list this many, the newest' },
      },
      required: [],
    });
    expect(inputOf('read')).toMatchObject({
      properties: { key: { type: 'string' }, attribute: { type: 'array' } },
      required: ['object'],
    });
  });

  it('writes nothing to the service, to git or to a file, and tells no key, whatever is called', async () => {
    const { call } = await connected();
    scenario.service.requests.length = 0;
    const before = digest(scenario.repository.directory);

    const answers = [];
    for (const [name, given] of CALLS) answers.push([name, await call(name, given)] as const);

    const failed = answers.filter(([, { isError }]) => isError === true);
    expect(failed).toEqual([]);
    expect(scenario.service.requests.length).toBeGreaterThan(10);
    expect(scenario.writes()).toEqual([]);
    expect(digest(scenario.repository.directory)).toBe(before);
    const git = ['-C', scenario.repository.directory, 'status', '--porcelain'];
    expect(execFileSync('git', git, { encoding: 'utf8' })).toBe('');
    expect(JSON.stringify(answers)).not.toContain(scenario.service.key);
    expect(JSON.stringify(answers)).not.toContain('customer-7');
  });

  it('answers with the documents of the commands, as text and as structure', async () => {
    const { call } = await connected();
    const { stdout } = await cliRun(['plan', '--format', 'json', ...where()], scenario.env);

    const { structuredContent, content } = await call('plan');

    expect(structuredContent).toEqual(JSON.parse(stdout));
    expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent);
    expect((await call('impact')).structuredContent?.['changes']).toMatchObject([
      { id: 'flag/pay@staging', title: 'Ramp pay to 25 %', impact: [{ flag: 'pay' }] },
      { id: 'flag/pay@production' },
    ]);
  });

  it('says what is live where there is a key, and why not where there is none', async () => {
    const [withKey, without] = [await connected(), await connected({})];
    const read = { object: 'flag/pay' };

    expect((await withKey.call('read', read)).structuredContent).toMatchObject({
      liveState: { known: true },
      environments: [{ live: { defaultRule: [{ treatment: 'on', size: 10 }, {}] } }, {}],
    });
    expect((await without.call('read', read)).structuredContent).toMatchObject({
      liveState: { known: false, why: expect.stringContaining('no Admin API key') as string },
      environments: [{ environment: 'production' }, { environment: 'staging' }],
    });
    const { isError, structuredContent } = await without.call('plan');
    expect(isError).toBe(true);
    expect(structuredContent).toMatchObject({ error: { code: 'NO_KEY' } });
  });

  it('tells invalid specs with their diagnostics, and serves on', async () => {
    const { call } = await connected();
    scenario.commit({ 'flags/pay.yaml': 'flag: pay\nkiled: true\n' }, 'Break pay');

    const { isError, structuredContent } = await call('validate');

    expect(isError).toBeUndefined();
    expect(JSON.stringify(structuredContent)).toContain('unknown-field');
    expect((await call('plan')).structuredContent).toMatchObject({
      error: { code: 'SPECS_INVALID' },
    });
    scenario.commit({ 'flags/pay.yaml': flagText('pay', 30) }, 'Mend pay');
    expect((await call('plan')).structuredContent).toMatchObject({ summary: { update: 2 } });
  });

  it('refuses what is no call of a tool, whatever stands in it, and serves on', async () => {
    const { call } = await connected();
    const before = digest(scenario.repository.directory);
    const output = `--output=${join(scenario.repository.directory, 'written')}`;
    const refusals: readonly (readonly [string, object, string])[] = [
      ['apply', {}, 'there is no tool "apply"'],
      ['constructor', {}, 'there is no tool "constructor"'],
      ['plan', { output: '/tmp/x' }, 'additional properties'],
      ['plan', { only: 'flag/pay' }, 'must be array'],
      ['plan', { since: output }, output],
      ['read', {}, "required property 'object'"],
      ['read', { object: output }, 'KIND/NAME'],
      ['history', { object: output }, 'expected KIND/NAME'],
      ['history', { object: '/etc' }, 'expected KIND/NAME'],
      ['explain_code', { code: '--help' }, 'it is no code'],
      ['find_usage', { object: 'flag/nobody' }, 'nobody'],
    ];
    for (const [name, given, why] of refusals) {
      const { isError, content } = await call(name, given);
      expect(isError, JSON.stringify(given)).toBe(true);
      expect(content[0]?.text).toContain(why);
    }
    expect(digest(scenario.repository.directory)).toBe(before);
    expect((await call('validate')).isError).toBeUndefined();
  });

  it('loads its library when it is called, and not before', () => {
    const source = projectText('src/cli/mcp.ts');

    expect(source).toContain("import('@modelcontextprotocol/sdk/server/mcp.js')");
    expect(source).not.toMatch(/^import (?!type)[^;]*'@modelcontextprotocol/m);
  });

  it('gives the pages and schemas of the package, and no other file', async () => {
    const { client } = await connected();
    const { resources } = await client.listResources();
    const uris = resources.map(({ uri }) => uri);

    expect(uris).toContain('flagkeel://docs/plan.md');
    const { contents } = await client.readResource({ uri: 'flagkeel://schemas/plan.schema.json' });
    expect(contents[0]).toMatchObject({ text: projectText('schemas/plan.schema.json') });
    await expect(client.readResource({ uri: 'flagkeel://docs/../package.json' })).rejects.toThrow(
      'no such resource',
    );
  });
});
