import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runService, type ServiceCommandOptions } from '../../src/cli/commands/service/service.js';
import { replacing } from '../support/exchanges.js';
import { makeDirectory } from '../support/git.js';
import { sharesOf } from '../support/on-off.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
import { cliRun } from '../support/terminal.js';

let directory: string;
let output: string[];

beforeEach(() => {
  directory = makeDirectory();
});

const write = (text: string): void => {
  output.push(text);
};

/** Runs `flagkeel service …` on the store of the test. @returns what it printed. */
async function onStore(...words: readonly string[]): Promise<string> {
  const place = ['--directory', directory];
  const { exitCode, stdout, stderr } = await cliRun(['service', ...words, ...place]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

/** Runs the command until `work` is done with it. */
async function whileServing(
  options: ServiceCommandOptions,
  work: (service: { origin: string; key: string }) => Promise<void> = async () => Promise.resolve(),
): Promise<void> {
  output = [];
  const controller = new AbortController();
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const { signal } = controller;
  const served = runService({ directory, port: 0, ...options }, { write, log, signal });
  try {
    while (!output.some((line) => line.startsWith('listening'))) {
      await Promise.race([served, new Promise((resolve) => setTimeout(resolve, 5))]);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    const origin = /listening on (\S+)\n/.exec(output.join(''))?.[1] ?? '';
    const key = /(fka_\w+)\n/.exec(output.join(''))?.[1] ?? '';
    await work({ origin, key });
  } finally {
    controller.abort();
    await served;
  }
}

describe('the service command', () => {
  it('says where it listens and shows the first key once', async () => {
    await whileServing({}, async (service) => {
      expect((await callsOf(service).call('GET', '/workspaces')).status).toBe(200);
    });
    const first = output.join('');
    await whileServing({});

    expect(first).toMatch(
      /^listening on http:\/\/127\.0\.0\.1:\d+\nAdmin API key, shown this once: fka_\w{48}\n$/,
    );
    expect(output.join('')).not.toContain('fka_');
  });

  it.each([
    [{}, 200, 200],
    [{ console: false }, 404, 200],
    [{ strict: true }, 404, 404],
  ])(
    'has pages for people and figures, unless it is told otherwise: %j',
    async (options, page, figures) => {
      await whileServing({ memory: true, ...options }, async ({ origin, key }) => {
        const headers = { authorization: `Bearer ${key}` };
        expect((await fetch(`${origin}/`, { headers })).status).toBe(page);
        expect((await fetch(`${origin}/metrics`, { headers })).status).toBe(figures);
      });
    },
  );

  it('plants the seed that a file names', async () => {
    const seed = join(directory, 'seed.json');
    const mine = { name: 'Mine', environments: [{ name: 'dev' }], trafficTypes: ['user'] };
    writeFileSync(seed, JSON.stringify({ workspaces: [mine] }));

    await whileServing({ memory: true, seed }, async (service) => {
      expect(await callsOf(service).ok('GET', '/workspaces')).toMatchObject({
        objects: [{ name: 'Mine' }],
      });
    });
  });

  it.each([
    ['{"workspaces": [{}]}', /workspaces\/0 must have required property/],
    [
      '{"workspaces": [{"id": "1", "name": "A", "environments": [], "trafficTypes": []}]}',
      /workspaces\/0\/id must match pattern/,
    ],
    ['{', /cannot read the seed/],
  ])('refuses the seed %s', async (text, message) => {
    const seed = join(directory, 'seed.json');
    writeFileSync(seed, text);

    const failure = whileServing({ seed });

    await expect(failure).rejects.toMatchObject({ code: 'USAGE' });
    await expect(failure).rejects.toThrow(message);
  });

  it.each(['20', '0/10', '20/0', 'x/y'])('refuses the rate limit %s', async (rateLimit) => {
    await expect(whileServing({ rateLimit })).rejects.toMatchObject({ code: 'USAGE' });
  });
});

describe('the key command', () => {
  it('creates, lists and revokes while no service has the store open', async () => {
    await whileServing({});

    const key = await onStore('keys', 'create', 'ci\u001b[2J', '--environment', 'staging');
    const id = /^(\w+) {2}valid {4}ci/m.exec(await onStore('keys', 'list'))?.[1] ?? '';
    await onStore('keys', 'revoke', id);

    expect(key).toMatch(/^fka_\w+\n$/);
    expect(await onStore('keys', 'list')).toContain(
      `${id}  revoked  ci<U+001B>[2J  not used  reaches Default/staging\n`,
    );
    await whileServing({}, async ({ origin }) => {
      expect(await callsOf({ origin, key: key.trim() }).status('GET', '/workspaces')).toBe(401);
    });
  });

  it.each(['keys list', 'keys revoke x', 'log', 'backup x.backup'])(
    'makes no store where there is none, to look into it: %s',
    async (words) => {
      const missing = join(directory, 'mistyped');
      const ended = await cliRun(['service', ...words.split(' '), '--directory', missing]);

      expect(ended).toMatchObject({
        exitCode: 64,
        stderr: expect.stringContaining(`"${missing}": there is none`) as string,
      });
      expect(existsSync(missing)).toBe(false);
    },
  );

  it('works beside a running service, which heeds it from the next request on', async () => {
    await whileServing({}, async ({ origin, key }) => {
      const client = callsOf({ origin, key });
      await client.ok('GET', '/workspaces');
      const other = callsOf({ origin, key: (await onStore('keys', 'create', 'beside')).trim() });
      expect(await other.status('GET', '/workspaces')).toBe(200);
      const listed = await onStore('keys', 'list');
      const id = /^(\w+) {2}valid {4}beside {2}/m.exec(listed)?.[1] ?? '';

      await onStore('keys', 'revoke', id);

      expect(await other.status('GET', '/workspaces')).toBe(401);
      await client.flag('still-writes');
    });
  });

  it('waits for its turn among many writers of a running service, who wait for it', async () => {
    await whileServing({}, async ({ origin, key }) => {
      const client = callsOf({ origin, key });
      const flags = Array.from({ length: 40 }, (_, index) => `f${index}`);

      await Promise.all([
        ...flags.map(async (name) => client.flag(name)),
        ...flags.slice(0, 5).map(async (name) => onStore('keys', 'create', name)),
      ]);

      const { totalCount } = await client.ok<{ totalCount: number }>('GET', '/splits/ws/Default');
      expect(totalCount).toBe(40);
      expect(await client.ok('GET', '/apiKeys')).toHaveLength(6);
    });
  });

  it('says when keys end, when they were last used, which end soon, and what each reaches, in text and in JSON', async () => {
    const inDefault = ['--workspace', 'Default'];
    const inBoth = ['--environment', 'staging', '--environment', 'production'];
    await whileServing({}, async ({ origin }) => {
      await onStore('keys', 'create', 'far', '--expires', '90d');
      await onStore('keys', 'create', 'soon', '--expires', '13d', ...inDefault);
      const used = await onStore(
        'keys',
        'create',
        'used',
        '--expires',
        '15d',
        ...inDefault,
        ...inBoth,
      );
      await callsOf({ origin, key: used.trim() }).ok('GET', '/workspaces');
    });

    const listed = (await onStore('keys', 'list')).trimEnd().split('\n');
    const json = await onStore('keys', 'list', '--format', 'json');

    const lines = listed.map((line) => line.slice(14).replaceAll(/[\d:.-]+(T|Z)/g, '$1'));
    expect(lines).toEqual([
      'valid    first  not used  reaches everything',
      'valid    far  not used  ends TZ  reaches everything',
      'ending   soon  not used  ends TZ  reaches Default',
      'valid    used  last used TZ  ends TZ  reaches Default/production, Default/staging',
    ]);
    const id = expect.any(String) as string;
    expect(JSON.parse(json)).toMatchObject([
      { state: 'valid', workspaces: null, environments: null },
      { workspaces: null, environments: null },
      { workspaces: [{ id, name: 'Default' }], environments: null },
      { environments: [{ id }, { id }] },
    ]);
    expect(json).not.toMatch(/fka_|hash/);
  });

  it.each([
    ['--expires', '0s'],
    ['--workspace', 'none'],
  ])('refuses a key with %s %s', async (...restriction) => {
    const create = ['service', 'keys', 'create', 'x', ...restriction];

    expect(await cliRun([...create, '--directory', directory])).toMatchObject({ exitCode: 64 });
  });
});

describe('the audit command', () => {
  /** The entries of an object as text, the newest first. */
  async function entriesOf(object: string): Promise<string[]> {
    const text = await onStore('log', '--object', object);
    return text.split(/^(?=\d{4}-\S+Z {2})/m);
  }

  it('says when, what, by which key and why, with a line for each member that a change touched', async () => {
    await whileServing({}, async (service) => {
      const client = callsOf(service);
      const path = '/splits/ws/Default/trafficTypes/user';
      const describe = async (value: string) =>
        client.ok('PATCH', '/splits/ws/Default/a', replacing('/description', value));
      await client.ok('POST', `${path}?title=First%0aline&comment=Why`, { name: 'a' });
      await describe('x'.repeat(300));
      const strings = Array.from({ length: 30 }, (_, n) => `k${n}`);
      const share = (on: number) => ({
        ...ruleOn({ type: 'IN_LIST_STRING', strings }),
        buckets: sharesOf(on),
      });
      await client.ok('POST', at('a'), aDefinition({ rules: [share(1)] }));
      await client.ok('PATCH', at('a'), replacing('/rules', [share(99)]));
      await describe('a b');
      await describe('a\nb');
      await client.segment('s');
      await client.ok('PUT', '/segments/staging/s/upload', ['k1', 'k2\u001b']);
    });

    const [broken, , ruled, , update, create] = await entriesOf('flag/a');
    const [uploaded] = await entriesOf('segment/s');

    expect(update).toMatch(
      /^\d{4}-\S+Z {2}update {2}flag\/a {2}by first \(\w{12}\)\n {4}description: "" → "x{300}"\n$/,
    );
    expect(create).toMatch(/ {2}by first \(\w{12}\) {2}First line {2}Why\n/);
    expect(create).toContain('\n    name: none → a\n');
    expect(ruled).toMatch(/\n {4}~ rule 1: if .*, serve on 1 → 99 %, off 99 → 1 %\n/);
    expect(broken).toContain('\n    description: from line 1\n    - a b\n    + a\n    + b\n');
    expect(uploaded).toContain('\n    keys: +2 −0 keys: + k1, "k2<U+001B>"\n');
  });

  it('prints what a removed treatment and a deleted definition had', async () => {
    const configurations = '{"color":"red"}';
    await whileServing({}, async (service) => {
      const client = callsOf(service);
      const treatments = [
        { name: 'on', description: 'The new way' },
        { name: 'off' },
        { name: 'old', description: 'The old way', configurations },
      ];
      await client.define('a', { treatments });
      await client.ok('PATCH', at('a'), [{ op: 'remove', path: '/treatments/2' }]);
      await client.ok('DELETE', at('a'));
    });

    const [deleted, patched] = (await entriesOf('flag/a')).map((text) =>
      text.replaceAll('\u00A0', ' '),
    );

    expect(patched).toContain(
      '\n    - treatment old: description "The old way"; configuration {"color":"red"}\n',
    );
    expect(deleted).toContain('\n    - treatment on: description "The new way"\n');
  });

  it('prints the whole log as one JSON list, however long it is', async () => {
    await whileServing({}, async (service) => {
      const path = '/trafficTypes/user/environments/staging/identities';
      const identities = Array.from({ length: 1_005 }, (_, index) => ({
        key: `k${index}`,
        values: { seats: 1 },
      }));
      await callsOf(service).ok('POST', path, identities);
    });

    const json = await onStore('log', '--object', 'identity', '--format', 'json');
    const entries = JSON.parse(json) as { id: number }[];

    expect(entries).toHaveLength(1_005);
    expect(entries.map(({ id }) => id)).toEqual(entries.map(({ id }) => id).sort((a, b) => b - a));
    expect(await onStore('log', '--object', 'flag', '--format', 'json')).toBe('[]\n');
  });
});
