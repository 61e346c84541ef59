import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { WireEnvironment, WirePage, WireWorkspace } from '../../src/admin-api/wire.js';
import { aDefinition, at, callsOf, ruleOn, type ServiceCalls } from '../support/service-calls.js';
import { aService, startTestService, type TestService } from '../support/service.js';

/** Who may do what: keys, their restrictions, approvals, required words, and how often. */
const service = aService({
  seed: {
    workspaces: [
      {
        name: 'Default',
        environments: [
          { name: 'staging' },
          { name: 'guarded', approvalsRequired: true },
          { name: 'killable', approvalsRequired: true, allowKills: true },
        ],
        trafficTypes: ['user'],
      },
      {
        name: 'Worded',
        requiresTitleAndComments: true,
        environments: [{ name: 'live' }],
        trafficTypes: ['user'],
      },
    ],
  },
});
const client = callsOf(service);

const withKey = (key: string): ServiceCalls => callsOf({ origin: service.origin, key });

describe('Admin API keys', () => {
  it('are made, listed without their secret, and revoked, by HTTP', async () => {
    const made = await client.ok<{ id: string; key: string }>('POST', '/apiKeys', { name: 'ci' });
    const mine = withKey(made.key);
    const before = await mine.call('GET', '/workspaces');
    const listed = await client.call('GET', '/apiKeys');

    const revoked = await client.call('DELETE', `/apiKeys/${made.id}`);
    const after = await mine.call('GET', '/workspaces');

    expect([before.status, after.status]).toEqual([200, 401]);
    expect(revoked.text).toBe('true');
    expect(listed.text).toContain('"ci"');
    expect(listed.text).not.toContain(made.key);
    expect(listed.text).not.toContain('hash');
  });

  it('have names of their own; the name of a revoked key is free again', async () => {
    const made = await client.ok<{ id: string }>('POST', '/apiKeys', { name: 'once' });

    const second = await client.call('POST', '/apiKeys', { name: 'once' });
    await client.ok('DELETE', `/apiKeys/${made.id}`);
    const third = await client.call('POST', '/apiKeys', { name: 'once' });

    expect([second.status, third.status]).toEqual([409, 200]);
  });

  it('that have ended are refused with the reason, to whoever has them alone, and free their name', async () => {
    let now = Date.now();
    const timed = await startTestService({ clock: () => now });
    const admin = callsOf(timed);
    const body = { name: 'ci', expirationTime: now + 60_000 };
    const made = await admin.ok<{ key: string; expirationTime: number }>('POST', '/apiKeys', body);
    const mine = callsOf({ origin: timed.origin, key: made.key });
    const before = await mine.call('GET', '/workspaces');
    const sameName = await admin.call('POST', '/apiKeys', { name: 'ci' });
    now += 60_000;

    const after = await mine.call('GET', '/workspaces');
    const past = await admin.call('POST', '/apiKeys', { name: 'late', expirationTime: now });
    const next = await admin.call('POST', '/apiKeys', { name: 'ci' });
    await timed.stop();

    expect([before.status, after.status]).toEqual([200, 401]);
    expect(after.text).toContain(`ended at ${new Date(now).toISOString()}`);
    expect(made.expirationTime).toBe(now);
    expect([sameName.status, past.status, next.status]).toEqual([409, 400, 200]);
  });

  it('tell when they were last used, which is written once in an hour', async () => {
    let now = 1_800_000_000_000;
    const timed = await startTestService({ clock: () => now });
    const admin = callsOf(timed);
    const lastUse = async (): Promise<number | null | undefined> => {
      const [first] = await admin.ok<{ lastUseTime: number | null }[]>('GET', '/apiKeys');
      return first?.lastUseTime;
    };
    const used: unknown[] = [];
    // The service writes the note after its answer, and before the next change.
    const wait = async (): Promise<unknown> => admin.ok('POST', '/workspaces', { name: `w${now}` });
    await wait();
    used.push(await lastUse());
    now += 3_599_999;
    used.push(await lastUse());
    await wait();
    used.push(await lastUse());
    now += 1;
    await lastUse();
    await wait();
    used.push(await lastUse());
    const unused = await admin.ok<{ id: string }>('POST', '/apiKeys', { name: 'unused' });
    const keys = await admin.ok<{ id: string; lastUseTime: number | null }[]>('GET', '/apiKeys');
    await timed.stop();

    const first = now - 3_600_000;
    expect(used).toEqual([first, first, first, now]);
    expect(keys.find(({ id }) => id === unused.id)?.lastUseTime).toBeNull();
  });

  it('that are lent do everything under their name, and are nowhere in the store', async () => {
    const listed = await client.call('GET', '/apiKeys');
    const changes = await service.audit({ kind: 'admin-key' });

    const mine = withKey(service.lendKey('borrower'));
    await mine.flag('by-borrower');
    const made = await mine.ok<{ id: string }>('POST', '/apiKeys', { name: 'by borrower' });
    await mine.ok('DELETE', `/apiKeys/${made.id}`);

    const [change] = await service.audit({ name: 'by-borrower' });
    expect(change?.keyName).toBe('borrower');
    expect(listed.text).not.toContain('borrower');
    expect((await client.call('GET', '/apiKeys')).text).not.toContain('"borrower"');
    expect(await service.audit({ kind: 'admin-key' })).toHaveLength(changes.length + 2);
  });

  it('are asked for before anything else is looked at', async () => {
    const nobody = withKey('none');

    const answers = [
      await nobody.call('GET', '/nothing'),
      await nobody.send('POST', '/workspaces', '{'),
      await nobody.call('GET', '/workspaces?limit=x'),
    ];

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  });
});

describe('a key for one workspace', () => {
  it('does not see the others', async () => {
    const mine = withKey(await service.createKey('w1', { workspaces: ['Worded'] }));
    await client.segment('unseen');
    await client.define('unseen');

    const { objects } = await mine.ok<WirePage<WireWorkspace>>('GET', '/workspaces');

    expect(objects.map(({ name }) => name)).toEqual(['Worded']);
    expect(await mine.status('GET', '/environments/ws/Default')).toBe(404);
    expect(await mine.status('GET', '/segments/staging/unseen/keys')).toBe(404);
    expect(await mine.status('GET', '/splits/ws/Default/environments/staging')).toBe(404);
    expect(await mine.status('GET', '/splits/ws/Worded')).toBe(200);
  });

  it('may not make keys or workspaces, or read what others did', async () => {
    const mine = withKey(await service.createKey('w', { workspaces: ['Worded'] }));

    const answers = [
      await mine.call('POST', '/apiKeys', { name: 'more' }),
      await mine.call('GET', '/apiKeys'),
      await mine.call('POST', '/workspaces', { name: 'More' }),
      await mine.call('GET', '/auditLog'),
      await mine.call('GET', '/auditLog/ws/Default'),
      await mine.call('GET', '/auditLog/ws/Worded'),
    ];

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 404, 200]);
    const [type] = await client.ok<{ id: string }[]>('GET', '/trafficTypes/ws/Default');
    for (const id of [type?.id ?? '', 'none']) {
      expect(await mine.status('DELETE', `/trafficTypes/${id}`)).toBe(404);
    }
  });
});

describe('a key that is made over HTTP', () => {
  it('is for what its body names: by id or name, alone or within an object', async () => {
    const workspaces = await client.ok<WirePage<WireWorkspace>>('GET', '/workspaces');
    const id = workspaces.objects.find(({ name }) => name === 'Worded')?.id;
    const seen = async (restriction: object): Promise<string[]> => {
      const body = { name: JSON.stringify(restriction), ...restriction };
      const { key } = await client.ok<{ key: string }>('POST', '/apiKeys', body);
      const page = await withKey(key).ok<WirePage<WireWorkspace>>('GET', '/workspaces');
      return page.objects.map(({ name }) => name);
    };

    expect(await seen({ workspaces: [{ id }] })).toEqual(['Worded']);
    expect(await seen({ workspace: 'Worded' })).toEqual(['Worded']);
    expect(await seen({ workspace: { id }, workspaces: ['Default'] })).toHaveLength(2);
    expect(await seen({ environments: [{ id: 'live' }] })).toEqual(['Worded']);
    const unknown = await client.call('POST', '/apiKeys', { name: 'x', workspaces: ['None'] });
    expect(unknown.status).toBe(404);
  });
});

describe('a key where two workspaces have an environment of one name', () => {
  let twins: TestService;
  let admin: ServiceCalls;

  beforeAll(async () => {
    const environments = [{ name: 'staging' }, { name: 'production', production: true }];
    twins = await startTestService({
      seed: {
        workspaces: ['One', 'Two'].map((name) => ({ name, environments, trafficTypes: ['user'] })),
      },
    });
    admin = callsOf(twins);
    return async () => twins.stop();
  });

  /** Names of the environments that a key sees, by the names of their workspaces. */
  async function seen(key: string): Promise<Record<string, string[]>> {
    const theirs = callsOf({ origin: twins.origin, key });
    const { objects } = await theirs.ok<WirePage<WireWorkspace>>('GET', '/workspaces');
    const places = objects.map(async ({ name }) => {
      const found = await theirs.ok<WireEnvironment[]>('GET', `/environments/ws/${name}`);
      return [name, found.map((each) => each.name)] as const;
    });
    return Object.fromEntries(await Promise.all(places));
  }

  it('for staging of one workspace kills no flag in staging of the other', async () => {
    const restrictions = { workspaces: ['One'], environments: ['staging'] };
    const key = await twins.createKey('staging of One', restrictions);
    const path = '/splits/ws/Two/spared/environments/staging';
    await admin.ok('POST', '/splits/ws/Two/trafficTypes/user', { name: 'spared' });
    await admin.ok('POST', path, aDefinition());

    const kill = await callsOf({ origin: twins.origin, key }).call('PUT', `${path}/kill`);

    expect(kill.status).toBe(404);
    expect(await admin.ok('GET', path)).toMatchObject({ killed: false });
    expect(await seen(key)).toEqual({ One: ['staging'] });
  });

  it('that names the environment alone is refused with the choice', async () => {
    const [one] = await admin.ok<WireEnvironment[]>('GET', '/environments/ws/One');
    const [two] = await admin.ok<WireEnvironment[]>('GET', '/environments/ws/Two');

    const answer = await admin.call('POST', '/apiKeys', { name: 'x', environments: ['staging'] });
    const { key } = await admin.ok<{ key: string }>('POST', '/apiKeys', {
      name: 'by id',
      environments: [two?.id],
    });

    expect(answer.body).toMatchObject({ code: 400 });
    for (const part of ['One', 'Two', one?.id ?? '?', two?.id ?? '?']) {
      expect(answer.text).toContain(part);
    }
    expect(await seen(key)).toEqual({ Two: ['staging'] });
  });

  it('for an environment of another workspace than the one that is named is not made', async () => {
    const [two] = await admin.ok<WireEnvironment[]>('GET', '/environments/ws/Two');
    const body = { name: 'nowhere', workspace: 'One', environments: [two?.id] };

    expect(await admin.status('POST', '/apiKeys', body)).toBe(404);
  });

  it('for both workspaces and one name is for that environment of both', async () => {
    const body = { name: 'both', workspaces: ['One', 'Two'], environments: ['production'] };
    const { key } = await admin.ok<{ key: string }>('POST', '/apiKeys', body);

    expect(await seen(key)).toEqual({ One: ['production'], Two: ['production'] });
  });

  it('is listed with the names of what it reaches', async () => {
    const listed = await twins.listKeys();

    const found = listed.find(({ name }) => name === 'staging of One');
    expect(found?.workspaces?.map(({ name }) => name)).toEqual(['One']);
    expect(found?.environments).toMatchObject([{ name: 'staging', workspace: { name: 'One' } }]);
    expect(listed[0]).toMatchObject({ workspaces: null, environments: null });
  });
});

describe('a key for an empty list of restrictions', () => {
  it.each([
    { environments: [] },
    { workspaces: [] },
    { workspaces: ['Worded'], environments: [] },
    { workspace: 'Worded', workspaces: [] },
  ])('is not made a key for everything: %j', async (restrictions) => {
    const answer = await client.call('POST', '/apiKeys', { name: 'wide', ...restrictions });

    expect(answer.body).toMatchObject({ code: 400 });
    expect(await client.ok<object[]>('GET', '/apiKeys')).not.toContainEqual(
      expect.objectContaining({ name: 'wide' }),
    );
  });

  it('is not made without HTTP either', async () => {
    await expect(service.createKey('wide', { environments: [] })).rejects.toMatchObject({
      status: 400,
    });
  });
});

describe('a key for one environment', () => {
  it('works there, and changes nothing that all environments share', async () => {
    await client.flag('scoped');
    const mine = withKey(await service.createKey('e', { environments: ['staging'] }));

    const environments = await mine.ok<WireEnvironment[]>('GET', '/environments/ws/Default');
    const here = await mine.call('POST', at('scoped', 'staging'), aDefinition());
    const elsewhere = await mine.call('GET', at('scoped', 'guarded'));
    const flag = await mine.call('DELETE', '/splits/ws/Default/scoped');

    expect(environments.map(({ name }) => name)).toEqual(['staging']);
    const segment = await mine.status('POST', '/segments/ws/Default/trafficTypes/user', {
      name: 's',
    });
    expect([here.status, elsewhere.status, flag.status, segment]).toEqual([200, 404, 403, 403]);
    expect(await mine.status('GET', '/environments/ws/Worded')).toBe(404);
  });
});

describe('the keys of applications', () => {
  interface Token {
    readonly id: string;
    readonly name: string;
    readonly apiKeyType: string;
    readonly key: string;
  }
  interface Made extends WireEnvironment {
    readonly apiTokens: readonly Token[];
  }

  it('are made with every new environment, by either type, and go with it', async () => {
    const made = await client.ok<Made>('POST', '/environments/ws/Default', { name: 'own-keys' });
    const listed = await client.ok<{ id: string; environments: string[] | null }[]>(
      'GET',
      '/apiKeys',
    );
    const mine = listed.filter(({ environments }) => environments?.includes(made.id));
    await client.ok('DELETE', '/environments/ws/Default/own-keys');
    const after = await client.ok<{ id: string; revocationTime: number | null }[]>(
      'GET',
      '/apiKeys',
    );

    const ids = made.apiTokens.map(({ id }) => id);
    expect(made.apiTokens).toMatchObject([
      { name: 'server_side own-keys', type: 'api_key', apiKeyType: 'server_side' },
      { name: 'client_side own-keys', type: 'api_key', apiKeyType: 'client_side' },
    ]);
    expect(mine.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    const revoked = after.filter(({ id }) => ids.includes(id));
    expect(revoked.map(({ revocationTime }) => revocationTime)).not.toContain(null);
    const log = await client.call('GET', '/auditLog');
    for (const { key } of made.apiTokens) expect(log.text).not.toContain(key);
  });

  it('are made for environments of equal names in several workspaces', async () => {
    for (const name of ['Twin A', 'Twin B']) await client.ok('POST', '/workspaces', { name });
    const first = await client.ok<Made>('POST', '/environments/ws/Twin A', { name: 'dev' });
    const second = await client.ok<Made>('POST', '/environments/ws/Twin B', { name: 'dev' });

    expect(first.apiTokens.map(({ name }) => name)).toEqual(['server_side dev', 'client_side dev']);
    expect(second.apiTokens.map(({ name }) => name)).toEqual([
      `server_side ${second.id}`,
      `client_side ${second.id}`,
    ]);
  });

  it.each(['server_side', 'client_side'])('of the type %s open no administration', async (type) => {
    const made = await client.ok<Token>('POST', '/apiKeys', {
      name: `app ${type}`,
      apiKeyType: type,
      environments: [{ type: 'environment', id: 'staging' }],
      workspace: { type: 'workspace', id: 'Default' },
      roles: ['API_FEATURE_FLAG_VIEWER'],
    });

    const answers = [
      await withKey(made.key).call('GET', '/workspaces'),
      await withKey(made.key).call('GET', '/environments/ws/Default'),
      await withKey(made.key).call('PUT', `${at('scoped', 'staging')}/kill`),
    ];

    expect(made.apiKeyType).toBe(type);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  });

  it.each([
    ['no environment', {}],
    ['two environments', { environments: ['staging', 'guarded'], workspace: 'Default' }],
  ])('are for exactly one environment, and not for %s', async (_, reach) => {
    const wanted = { name: 'app for many', apiKeyType: 'server_side', ...reach };
    const answer = await client.call('POST', '/apiKeys', wanted);

    expect(answer.body).toMatchObject({ code: 400 });
    await expect(
      service.createKey('app for many', { apiKeyType: 'server_side' }),
    ).rejects.toMatchObject({ status: 400 });
  });
});

describe('an environment that requires approvals', () => {
  it('keeps a segment that has keys there', async () => {
    await client.ok('PATCH', '/environments/ws/Default/guarded', [
      { op: 'replace', path: '/changePermissions/areApprovalsRequired', value: false },
    ]);
    await client.segment('kept', 'guarded');
    await client.ok('PUT', '/segments/guarded/kept/upload', ['k']);
    await client.ok('PATCH', '/environments/ws/Default/guarded', [
      { op: 'replace', path: '/changePermissions/areApprovalsRequired', value: true },
    ]);

    expect(await client.status('DELETE', '/segments/ws/Default/kept')).toBe(403);
  });

  it.each<[number, object[]]>([
    [200, [{ op: 'add', path: '/killed', value: true }]],
    [403, [{ op: 'replace', path: '/killed', value: false }]],
    [403, [{ op: 'add', path: '/impressionsDisabled', value: true }]],
    [403, [{ op: 'test', path: '/killed', value: true }]],
    [
      403,
      [
        { op: 'replace', path: '/killed', value: true },
        { op: 'replace', path: '/trafficAllocation', value: 1 },
      ],
    ],
    [403, []],
  ])('answers %i to a patch, which may kill and nothing else: %j', async (status, operations) => {
    const name = `patched-${status}`;
    if (status === 200) {
      await client.flag(name);
      const approvals = (value: boolean): object[] => [
        { op: 'replace', path: '/changePermissions/areApprovalsRequired', value },
      ];
      await client.ok('PATCH', '/environments/ws/Default/killable', approvals(false));
      await client.ok('POST', at(name, 'killable'), aDefinition());
      await client.ok('PATCH', '/environments/ws/Default/killable', approvals(true));
    }

    expect(await client.status('PATCH', at(name, 'killable'), operations)).toBe(status);
  });
});

describe('a workspace that requires title and comment', () => {
  const path = '/splits/ws/Worded/wordy/environments/live';

  it('takes them from the body or the query of each change in an environment', async () => {
    await client.ok('POST', '/splits/ws/Worded/trafficTypes/user', { name: 'wordy' });
    await client.ok('POST', '/segments/ws/Worded/trafficTypes/user', { name: 'worded' });
    const words = { title: 't', comment: 'c' };

    await client.ok('POST', path, aDefinition(words));
    await client.ok('PUT', `${path}?title=t&comment=c`, aDefinition());
    await client.ok('PUT', `${path}/kill`, words);
    await client.ok('POST', '/segments/live/worded?title=t&comment=c');
    await client.ok('PUT', '/segments/live/worded/uploadKeys', { keys: ['k'], ...words });
    await client.ok('PUT', '/segments/live/worded/upload?title=t&comment=c', ['k2']);
    await client.ok('PUT', '/segments/live/worded/removeKeys', { keys: ['k'], comment: 'c' });
    await client.ok('DELETE', `${path}?title=t&comment=c`);

    for (const entry of await service.audit({ environment: 'live' })) {
      expect(entry.comment).toBe('c');
    }
  });

  it('refuses each without them', async () => {
    await client.ok('POST', '/splits/ws/Worded/trafficTypes/user', { name: 'mute' });
    await client.ok('POST', '/segments/ws/Worded/trafficTypes/user', { name: 'muted' });
    const mute = '/splits/ws/Worded/mute/environments/live';

    const answers = [
      await client.call('POST', mute, aDefinition({ title: ' ', comment: 'c' })),
      await client.call('PUT', mute, aDefinition()),
      await client.call('PUT', `${mute}/kill`, { comment: 'c' }),
      await client.call('PUT', '/segments/live/muted/removeKeys', { keys: ['k'] }),
    ];

    for (const answer of answers) {
      expect(answer.body).toMatchObject({
        code: 400,
        message: 'Comment/title combination invalid for workspace',
        details: '',
      });
    }
  });

  it('does not ask for them where no environment is changed', async () => {
    await client.ok('POST', '/splits/ws/Worded/trafficTypes/user', { name: 'free' });
    await client.ok('PATCH', '/splits/ws/Worded/free', [
      { op: 'replace', path: '/description', value: 'd' },
    ]);
    await client.ok('POST', '/segments/ws/Worded/trafficTypes/user', { name: 'free' });
  });
});

describe('the audit log', () => {
  it('tells what each change was, with its words and its difference, the newest first', async () => {
    await client.ok('POST', '/splits/ws/Default/trafficTypes/user?title=t1&comment=c1', {
      name: 'told',
    });
    await client.ok('POST', at('told', 'staging'), aDefinition({ title: 't2', comment: 'c2' }));
    await client.ok('PATCH', `${at('told', 'staging')}?title=t3&comment=c3`, [
      { op: 'replace', path: '/trafficAllocation', value: 50 },
    ]);
    await client.ok('DELETE', `${at('told', 'staging')}?title=t4`);

    const page = await client.ok<WirePage<object>>(
      'GET',
      '/auditLog/ws/Default?object=flag/told&limit=3',
    );

    expect(page).toMatchObject({ offset: 0, limit: 3, totalCount: 4 });
    expect(page.objects).toMatchObject([
      { action: 'delete', environment: 'staging', title: 't4', comment: null },
      {
        action: 'update',
        title: 't3',
        comment: 'c3',
        kind: 'flag',
        name: 'told',
        keyName: 'test',
        keyId: expect.any(String) as string,
        transactionId: expect.any(String) as string,
        difference: [
          { path: '/lastUpdateTime' },
          { path: '/trafficAllocation', before: 100, after: 50 },
        ],
      },
      { action: 'create', title: 't2', comment: 'c2' },
    ]);
  });

  it('records nothing of what was refused or changed nothing', async () => {
    await client.flag('quiet');
    await client.ok('PATCH', '/splits/ws/Default/quiet', [
      { op: 'replace', path: '/description', value: '' },
    ]);
    await client.ok('POST', at('quiet', 'staging'), aDefinition());
    await client.ok('PUT', `${at('quiet', 'staging')}/restore`);
    await client.call('PATCH', at('quiet', 'staging'), [{ op: 'remove', path: '/none' }]);
    await client.call(
      'PUT',
      at('quiet', 'staging'),
      aDefinition({ rules: [ruleOn({ type: 'IN_SEGMENT', string: 'none' })] }),
    );

    const entries = await service.audit({ kind: 'flag', name: 'quiet' });

    expect(entries.map(({ action }) => action)).toEqual(['create', 'create']);
  });
});

describe('a rate limit', () => {
  let limited: TestService | undefined;

  afterEach(async () => {
    await limited?.stop();
  });

  it('answers 429 with the time to wait, and lets through again afterwards', async () => {
    let now = 1_000_000;
    limited = await startTestService({
      rateLimit: { requests: 2, perSeconds: 10 },
      clock: () => now,
    });
    const other = callsOf(limited);

    const first = await other.call('GET', '/workspaces');
    const second = await other.call('GET', '/workspaces');
    now += 4_000;
    const third = await other.call('GET', '/workspaces');
    now += 6_000;
    const fourth = await other.call('GET', '/workspaces');

    expect([first.status, second.status, third.status, fourth.status]).toEqual([
      200, 200, 429, 200,
    ]);
    expect(first.headers.get('x-ratelimit-remaining-org')).toBe('1');
    expect(third.body).toMatchObject({ code: 429, details: '' });
    for (const name of [
      'retry-after',
      'x-ratelimit-reset-seconds-org',
      'x-ratelimit-reset-seconds-ip',
    ]) {
      expect(third.headers.get(name)).toBe('6');
    }
  });
});

describe('the access log', () => {
  it('tells method, path, status and key name, and never the key or the query', async () => {
    const lines: string[] = [];
    const logged = await startTestService({
      log: {
        info: (fields, message) => lines.push(JSON.stringify({ ...fields, message })),
        warn: (fields, message) => lines.push(JSON.stringify({ ...fields, message })),
        error: (fields, message) => lines.push(JSON.stringify({ ...fields, message })),
      },
    });

    await callsOf(logged).call('GET', '/workspaces?limit=3');
    await logged.stop();

    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      message: 'request',
      method: 'GET',
      path: '/internal/api/v2/workspaces',
      status: 200,
      key: 'test',
    });
    expect(lines.join('')).not.toContain(logged.key);
  });
});

describe('the health endpoint', () => {
  it('answers without a key', async () => {
    const response = await fetch(`${service.origin}/health`);

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ok' });
  });
});
