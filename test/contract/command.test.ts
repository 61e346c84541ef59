import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runService, type ServiceCommandOptions } from '../../src/cli/commands/service/service.js';
import { runServiceAudit, runServiceKeys } from '../../src/cli/commands/service/store.js';
import { aDefinition, callsOf, ruleOn } from '../support/service-calls.js';

let directory: string;
let output: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'service-command-'));
  output = [];
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const write = (text: string): void => {
  output.push(text);
};

/** Runs the command until `work` is done with it. */
async function whileServing(
  options: ServiceCommandOptions,
  work: (service: { origin: string; key: string }) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const served = runService(
    { directory, port: 0, ...options },
    {
      write,
      log,
      signal: controller.signal,
    },
  );
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
    output = [];
    await whileServing({}, async () => Promise.resolve());

    expect(first).toMatch(
      /^listening on http:\/\/127\.0\.0\.1:\d+\nAdmin API key, shown this once: fka_\w{48}\n$/,
    );
    expect(output.join('')).not.toContain('fka_');
  });

  it.each([
    [{}, 200, 200],
    [{ console: false }, 401, 200],
    [{ strict: true }, 401, 401],
  ])(
    'has pages for people and figures, unless it is told otherwise: %j',
    async (options, page, figures) => {
      await whileServing({ memory: true, ...options }, async ({ origin }) => {
        const statuses = [
          (await fetch(`${origin}/`)).status,
          (await fetch(`${origin}/metrics`)).status,
        ];
        expect(statuses).toEqual([page, figures]);
      });
    },
  );

  it('plants the seed that a file names', async () => {
    const seed = join(directory, 'seed.json');
    writeFileSync(
      seed,
      JSON.stringify({
        workspaces: [{ name: 'Mine', environments: [{ name: 'dev' }], trafficTypes: ['user'] }],
      }),
    );

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

    const failure = whileServing({ seed }, async () => Promise.resolve());

    await expect(failure).rejects.toMatchObject({ code: 'USAGE' });
    await expect(failure).rejects.toThrow(message);
  });

  it.each(['20', '0/10', '20/0', 'x/y'])('refuses the rate limit %s', async (rateLimit) => {
    await expect(whileServing({ rateLimit }, async () => Promise.resolve())).rejects.toMatchObject({
      code: 'USAGE',
    });
  });
});

describe('the key command', () => {
  it('creates, lists and revokes while no service has the store open', async () => {
    await whileServing({}, async () => Promise.resolve());
    output = [];

    await runServiceKeys(
      { directory },
      { action: 'create', name: 'ci\u001b[2J', environments: ['staging'] },
      { write },
    );
    await runServiceKeys({ directory }, { action: 'list' }, { write });
    const key = output[0]?.trim() ?? '';
    const id = /^(\w+) {2}valid {4}ci/m.exec(output.join(''))?.[1] ?? '';
    await runServiceKeys({ directory }, { action: 'revoke', id }, { write });
    output = output.slice(0, 0);
    await runServiceKeys({ directory }, { action: 'list' }, { write });

    expect(key).toMatch(/^fka_/);
    expect(output.join('')).toContain(
      `${id}  revoked  ci<U+001B>[2J  not used  reaches Default/staging\n`,
    );
    await whileServing({}, async ({ origin }) => {
      expect((await callsOf({ origin, key }).call('GET', '/workspaces')).status).toBe(401);
    });
  });

  it('works beside a running service, which heeds it from the next request on', async () => {
    await whileServing({}, async ({ origin, key }) => {
      const client = callsOf({ origin, key });
      await client.ok('GET', '/workspaces');
      output = [];
      await runServiceKeys({ directory }, { action: 'create', name: 'beside' }, { write });
      const other = callsOf({ origin, key: output[0]?.trim() ?? '' });
      const before = await other.call('GET', '/workspaces');
      await runServiceKeys({ directory }, { action: 'list' }, { write });
      const id = /^(\w+) {2}valid {4}beside {2}/m.exec(output.join(''))?.[1] ?? '';

      await runServiceKeys({ directory }, { action: 'revoke', id }, { write });
      const after = await other.call('GET', '/workspaces');

      expect([before.status, after.status]).toEqual([200, 401]);
      await client.ok('POST', '/splits/ws/Default/trafficTypes/user', { name: 'still-writes' });
    });
  });

  it('waits for its turn among many writers of a running service, who wait for it', async () => {
    await whileServing({}, async ({ origin, key }) => {
      const client = callsOf({ origin, key });
      const flags = Array.from({ length: 40 }, (_, index) => `f${index}`);

      await Promise.all([
        ...flags.map(async (name) =>
          client.ok('POST', '/splits/ws/Default/trafficTypes/user', { name }),
        ),
        ...flags.slice(0, 5).map(async (name) => {
          await runServiceKeys({ directory }, { action: 'create', name }, { write });
        }),
      ]);

      const { totalCount } = await client.ok<{ totalCount: number }>('GET', '/splits/ws/Default');
      expect(totalCount).toBe(40);
      expect(await client.ok('GET', '/apiKeys')).toHaveLength(6);
    });
  });

  it('says when keys end and when they were last used, and which of them end soon', async () => {
    await whileServing({}, async ({ origin }) => {
      output = [];
      for (const [name, days] of Object.entries({ far: 90, soon: 13, used: 15 })) {
        const create = { action: 'create', name, expires: days * 86_400_000 } as const;
        await runServiceKeys({ directory }, create, { write });
      }
      await callsOf({ origin, key: output[2]?.trim() ?? '' }).ok('GET', '/workspaces');
    });
    output = [];
    await runServiceKeys({ directory }, { action: 'list' }, { write });

    const lines = output.map((line) => line.slice(14, -1).replaceAll(/[\d:.-]+(T|Z)/g, '$1'));
    expect(lines).toEqual([
      'valid    first  not used  reaches everything',
      'valid    far  not used  ends TZ  reaches everything',
      'ending   soon  not used  ends TZ  reaches everything',
      'valid    used  last used TZ  ends TZ  reaches everything',
    ]);
  });

  it('says what each key reaches, in text and in JSON', async () => {
    await whileServing({}, async () => Promise.resolve());
    const make = async (name: string, restrictions: object): Promise<void> =>
      runServiceKeys({ directory }, { action: 'create', name, ...restrictions }, { write });
    await make('of a workspace', { workspaces: ['Default'] });
    const environments = ['staging', 'production'];
    await make('of environments', { workspaces: ['Default'], environments });
    output = [];

    await runServiceKeys({ directory }, { action: 'list', format: 'text' }, { write });
    const reaches = [...output.join('').matchAll(/ {2}reaches (.*)$/gm)].map(([, each]) => each);
    output = [];
    await runServiceKeys({ directory }, { action: 'list', format: 'json' }, { write });

    expect(reaches).toEqual(['everything', 'Default', 'Default/production, Default/staging']);
    const id = expect.any(String) as string;
    const [first, second, third] = JSON.parse(output.join('')) as {
      readonly environments: readonly { readonly name: string }[] | null;
    }[];
    expect(first).toMatchObject({ state: 'valid', workspaces: null, environments: null });
    expect(second).toMatchObject({ workspaces: [{ id, name: 'Default' }], environments: null });
    expect(third?.environments?.map(({ name }) => name).sort()).toEqual(environments.toSorted());
    expect(output.join('')).not.toMatch(/fka_|hash/);
  });

  it('says in words what it cannot do', async () => {
    await expect(
      runServiceKeys({ directory }, { action: 'create', name: 'x', expires: 0 }, { write }),
    ).rejects.toMatchObject({ code: 'USAGE' });
    await expect(
      runServiceKeys(
        { directory },
        { action: 'create', name: 'x', workspaces: ['none'] },
        { write },
      ),
    ).rejects.toMatchObject({ code: 'USAGE' });
  });
});

describe('the audit command', () => {
  it('says when, what, by which key and why, with a line for each member that a change touched', async () => {
    await whileServing({}, async (service) => {
      const client = callsOf(service);
      const path = '/splits/ws/Default/trafficTypes/user';
      await client.ok('POST', `${path}?title=First%0aline&comment=Why`, { name: 'a' });
      await client.ok('PATCH', '/splits/ws/Default/a', [
        { op: 'replace', path: '/description', value: 'x'.repeat(300) },
      ]);
      const share = (on: number) => ({
        ...ruleOn({
          type: 'IN_LIST_STRING',
          strings: Array.from({ length: 30 }, (_, n) => `k${n}`),
        }),
        buckets: [
          { treatment: 'on', size: on },
          { treatment: 'off', size: 100 - on },
        ],
      });
      const at = '/splits/ws/Default/a/environments/staging';
      await client.ok('POST', at, aDefinition({ rules: [share(1)] }));
      await client.ok('PATCH', at, [{ op: 'replace', path: '/rules', value: [share(99)] }]);
      await client.ok('PATCH', '/splits/ws/Default/a', [
        { op: 'replace', path: '/description', value: 'a b' },
      ]);
      await client.ok('PATCH', '/splits/ws/Default/a', [
        { op: 'replace', path: '/description', value: 'a\nb' },
      ]);
      await client.ok('POST', '/segments/ws/Default/trafficTypes/user', { name: 's' });
      await client.ok('POST', '/segments/staging/s');
      await client.ok('PUT', '/segments/staging/s/upload', ['k1', 'k2\u001b']);
    });
    output = [];

    await runServiceAudit({ directory }, { object: 'flag/a', format: 'text' }, { write });
    const [broken, , ruled, , update, create] = output;
    output = [];
    await runServiceAudit({ directory }, { object: 'segment/s', format: 'text' }, { write });

    expect(update).toMatch(
      /^\d{4}-\S+Z {2}update {2}flag\/a {2}by first \(\w{12}\)\n {4}description: "" → "x{300}"\n$/,
    );
    expect(create).toMatch(/ {2}by first \(\w{12}\) {2}First line {2}Why\n/);
    expect(create).toContain('\n    name: none → a\n');
    expect(ruled).toMatch(/\n {4}~ rule 1: if .*, serve on 1 → 99 %, off 99 → 1 %\n/);
    expect(broken).toContain('\n    description: from line 1\n    - a b\n    + a\n    + b\n');
    expect(output[0]).toContain('\n    keys: +2 −0 keys: + k1, "k2<U+001B>"\n');
  });

  it('prints what a removed treatment and a deleted definition had', async () => {
    const configurations = '{"color":"red"}';
    await whileServing({}, async (service) => {
      const client = callsOf(service);
      await client.ok('POST', '/splits/ws/Default/trafficTypes/user', { name: 'a' });
      const at = '/splits/ws/Default/a/environments/staging';
      const treatments = [
        { name: 'on', description: 'The new way' },
        { name: 'off' },
        { name: 'old', description: 'The old way', configurations },
      ];
      await client.ok('POST', at, aDefinition({ treatments }));
      await client.ok('PATCH', at, [{ op: 'remove', path: '/treatments/2' }]);
      await client.ok('DELETE', at);
    });
    output = [];

    await runServiceAudit({ directory }, { object: 'flag/a', format: 'text' }, { write });
    const [deleted, patched] = output.map((text) => text.replaceAll('\u00A0', ' '));

    expect(patched).toContain(
      '\n    - treatment old: description "The old way"; configuration {"color":"red"}\n',
    );
    expect(deleted).toContain('\n    - treatment on: description "The new way"\n');
  });

  it('prints the log of a running service', async () => {
    await whileServing({}, async (service) => {
      await callsOf(service).ok('POST', '/splits/ws/Default/trafficTypes/user', { name: 'now' });
      output = [];

      await runServiceAudit({ directory }, { object: 'flag/now', format: 'text' }, { write });

      expect(output.join('')).toMatch(/ {2}create {2}flag\/now {2}by first/);
    });
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
    output = [];

    await runServiceAudit({ directory }, { object: 'identity', format: 'json' }, { write });
    const entries = JSON.parse(output.join('')) as { id: number }[];
    output = [];
    await runServiceAudit({ directory }, { object: 'flag', format: 'json' }, { write });

    expect(entries).toHaveLength(1_005);
    expect(entries.map(({ id }) => id)).toEqual(entries.map(({ id }) => id).sort((a, b) => b - a));
    expect(JSON.parse(output.join(''))).toEqual([]);
  });
});
