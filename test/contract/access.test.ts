import { beforeAll, describe, expect, it } from 'vitest';
import type { WireEnvironment, WirePage, WireWorkspace } from '../../src/admin-api/wire.js';
import {
  aDefinition,
  at,
  callsOf,
  ruleOn,
  type Request,
  type ServiceCalls,
} from '../support/service-calls.js';
import { aService, startTestService, type TestService } from '../support/service.js';

const service = aService({
  seed: {
    workspaces: [
      {
        name: 'Default',
        environments: [
          { name: 'staging' },
          { name: 'open' },
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
  it('are made, listed without their secret, and revoked, by HTTP, which frees their name', async () => {
    const body = { name: 'ci' };
    const made = await client.ok<{ id: string; key: string }>('POST', '/apiKeys', body);
    const mine = withKey(made.key);
    const before = await mine.status('GET', '/workspaces');
    const listed = await client.call('GET', '/apiKeys');
    const second = await client.status('POST', '/apiKeys', body);

    expect(await client.ok('DELETE', `/apiKeys/${made.id}`)).toBe(true);
    expect([before, await mine.status('GET', '/workspaces')]).toEqual([200, 401]);
    expect([second, await client.status('POST', '/apiKeys', body)]).toEqual([409, 200]);
    expect(listed.text).toContain('"ci"');
    expect(listed.text).not.toContain(made.key);
    expect(listed.text).not.toContain('hash');
  });

  it('that have ended are refused with the reason, to whoever has them alone, and free their name', async () => {
    let now = Date.now();
    const timed = await startTestService({ clock: () => now });
    const admin = callsOf(timed);
    const body = { name: 'ci', expirationTime: now + 60_000 };
    const made = await admin.ok<{ key: string; expirationTime: number }>('POST', '/apiKeys', body);
    const mine = callsOf({ origin: timed.origin, key: made.key });
    const before = await mine.status('GET', '/workspaces');
    const sameName = await admin.status('POST', '/apiKeys', { name: 'ci' });
    now += 60_000;
    const after = await mine.call('GET', '/workspaces');
    const late: Request = ['POST', '/apiKeys', { name: 'late', expirationTime: now }];
    const next = await admin.statuses(late, ['POST', '/apiKeys', { name: 'ci' }]);
    await timed.stop();

    expect([before, after.status, sameName, ...next]).toEqual([200, 401, 409, 400, 200]);
    expect(after.text).toContain(`ended at ${new Date(now).toISOString()}`);
    expect(made.expirationTime).toBe(now);
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

    expect((await nobody.send('POST', '/workspaces', '{')).status).toBe(401);
    expect(await nobody.statuses(['GET', '/nothing'], ['GET', '/workspaces?limit=x'])).toEqual([
      401, 401,
    ]);
  });
});

describe('a key for one workspace', () => {
  it('does not see the others, makes no keys or workspaces, and reads its own log alone', async () => {
    const mine = withKey(await service.createKey('w', { workspaces: ['Worded'] }));
    await client.segment('unseen');
    await client.define('unseen');
    const [type] = await client.ok<{ id: string }[]>('GET', '/trafficTypes/ws/Default');
    const { objects } = await mine.ok<WirePage<WireWorkspace>>('GET', '/workspaces');
    const requests: [number, ...Request][] = [
      [404, 'GET', '/environments/ws/Default'],
      [404, 'GET', '/segments/staging/unseen/keys'],
      [404, 'GET', '/splits/ws/Default/environments/staging'],
      [200, 'GET', '/splits/ws/Worded'],
      [403, 'POST', '/apiKeys', { name: 'more' }],
      [403, 'GET', '/apiKeys'],
      [403, 'POST', '/workspaces', { name: 'More' }],
      [403, 'GET', '/auditLog'],
      [404, 'GET', '/auditLog/ws/Default'],
      [200, 'GET', '/auditLog/ws/Worded'],
      [404, 'DELETE', `/trafficTypes/${type?.id ?? ''}`],
      [404, 'DELETE', '/trafficTypes/none'],
      [403, 'DELETE', '/workspaces/Worded'],
      [403, 'DELETE', '/apiKeys/any'],
      [200, 'POST', '/environments/ws/Worded', { name: 'more' }],
    ];

    expect(objects.map(({ name }) => name)).toEqual(['Worded']);
    for (const [status, ...request] of requests) {
      expect([...request, await mine.status(...request)]).toEqual([...request, status]);
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
    await client.ok('POST', at('scoped', 'open'), aDefinition());
    const key = await service.createKey('e', { environments: ['staging'] });
    const mine = withKey(key);
    const environments = await mine.ok<WireEnvironment[]>('GET', '/environments/ws/Default');
    // An answer to another key is not the answer to this one.
    await client.ok('GET', at('scoped', 'open'));

    expect(environments.map(({ name }) => name)).toEqual(['staging']);
    expect(
      await mine.statuses(
        ['POST', at('scoped', 'staging'), aDefinition()],
        ['GET', '/splits/ws/Default/environments/staging'],
        ['GET', at('scoped', 'open')],
        ['GET', '/splits/ws/Default/environments/open'],
        ['PATCH', at('scoped', 'open'), [{ op: 'replace', path: '/killed', value: true }]],
        ['GET', '/environments/ws/Worded'],
        ['DELETE', '/splits/ws/Default/scoped'],
        ['POST', '/segments/ws/Default/trafficTypes/user', { name: 's' }],
        ['POST', '/environments/ws/Default', { name: 'more' }],
      ),
    ).toEqual([200, 200, 404, 404, 404, 404, 403, 403, 403]);
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
    interface Listed {
      readonly id: string;
      readonly environments: string[] | null;
      readonly revocationTime: number | null;
    }
    const ours = async (): Promise<Listed[]> =>
      (await client.ok<Listed[]>('GET', '/apiKeys')).filter(({ environments }) =>
        environments?.includes(made.id),
      );
    const before = await ours();
    await client.ok('DELETE', '/environments/ws/Default/own-keys');

    expect(made.apiTokens).toMatchObject([
      { name: 'server_side own-keys', type: 'api_key', apiKeyType: 'server_side' },
      { name: 'client_side own-keys', type: 'api_key', apiKeyType: 'client_side' },
    ]);
    expect(before.map(({ id }) => id).toSorted()).toEqual(
      made.apiTokens.map(({ id }) => id).toSorted(),
    );
    expect((await ours()).map(({ revocationTime }) => revocationTime)).not.toContain(null);
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

    expect(made.apiKeyType).toBe(type);
    expect(
      await withKey(made.key).statuses(
        ['GET', '/workspaces'],
        ['GET', '/environments/ws/Default'],
        ['PUT', `${at('scoped', 'staging')}/kill`],
      ),
    ).toEqual([401, 401, 401]);
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
  const requiring = async (environment: string, value: boolean): Promise<void> => {
    const path = '/changePermissions/areApprovalsRequired';
    const patch = [{ op: 'replace', path, value }];
    await client.ok('PATCH', `/environments/ws/Default/${environment}`, patch);
  };

  it('keeps a segment that has keys there', async () => {
    await requiring('guarded', false);
    await client.segment('kept', 'guarded');
    await client.ok('PUT', '/segments/guarded/kept/upload', ['k']);
    await requiring('guarded', true);

    expect(await client.status('DELETE', '/segments/ws/Default/kept')).toBe(403);
  });

  it('may be exempt for a patch that kills and does nothing else', async () => {
    const path = at('patched', 'killable');
    await client.flag('patched');
    await requiring('killable', false);
    await client.ok('POST', path, aDefinition());
    await requiring('killable', true);
    const kill = { op: 'replace', path: '/killed', value: true };
    const patches = [
      [{ ...kill, op: 'add' }],
      [{ ...kill, value: false }],
      [{ ...kill, op: 'add', path: '/impressionsDisabled' }],
      [{ ...kill, op: 'test' }],
      [kill, { op: 'replace', path: '/trafficAllocation', value: 1 }],
      [],
    ];

    expect(
      await client.statuses(...patches.map((patch): Request => ['PATCH', path, patch])),
    ).toEqual([200, 403, 403, 403, 403, 403]);
  });
});

describe('a workspace that requires title and comment', () => {
  const flag = at('wordy', 'live', 'Worded');
  const segment = '/segments/live/wordy';

  beforeAll(async () => {
    await client.ok('POST', '/splits/ws/Worded/trafficTypes/user', { name: 'wordy' });
    await client.ok('POST', '/segments/ws/Worded/trafficTypes/user', { name: 'wordy' });
  });

  it('refuses each change in an environment without them', async () => {
    const refused: Request[] = [
      ['POST', flag, aDefinition({ title: ' ', comment: 'c' })],
      ['PUT', flag, aDefinition()],
      ['PUT', `${flag}/kill`, { comment: 'c' }],
      ['PUT', `${segment}/removeKeys`, { keys: ['k'] }],
    ];

    for (const request of refused) {
      expect((await client.call(...request)).body).toMatchObject({
        code: 400,
        message: 'Comment/title combination invalid for workspace',
        details: '',
      });
    }
  });

  it('takes them from the body or the query, and asks for none where no environment is changed', async () => {
    const words = { title: 't', comment: 'c' };
    const query = '?title=t&comment=c';

    await client.ok('POST', flag, aDefinition(words));
    await client.ok('PUT', `${flag}${query}`, aDefinition());
    await client.ok('PUT', `${flag}/kill`, words);
    await client.ok('POST', `${segment}${query}`);
    await client.ok('PUT', `${segment}/uploadKeys`, { keys: ['k'], ...words });
    await client.ok('PUT', `${segment}/upload${query}`, ['k2']);
    await client.ok('PUT', `${segment}/removeKeys`, { keys: ['k'], comment: 'c' });
    await client.ok('DELETE', `${flag}${query}`);
    await client.ok('PATCH', '/splits/ws/Worded/wordy', [
      { op: 'replace', path: '/description', value: 'd' },
    ]);

    const changes = await service.audit({ environment: 'live' });
    expect(changes.map(({ comment }) => comment)).toEqual(Array<string>(7).fill('c'));
  });
});

describe('the audit log', () => {
  it('tells what each change was, with its words and its difference, the newest first', async () => {
    await client.flag('told');
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
    const path = at('quiet', 'staging');
    const inNone = aDefinition({ rules: [ruleOn({ type: 'IN_SEGMENT', string: 'none' })] });
    const same = [{ op: 'replace', path: '/description', value: '' }];
    await client.ok('PATCH', '/splits/ws/Default/quiet', same);
    await client.ok('POST', path, aDefinition());
    await client.ok('PUT', `${path}/restore`);
    await client.call('PATCH', path, [{ op: 'remove', path: '/none' }]);
    await client.call('PUT', path, inNone);

    const entries = await service.audit({ kind: 'flag', name: 'quiet' });

    expect(entries.map(({ action }) => action)).toEqual(['create', 'create']);
  });
});

describe('a rate limit', () => {
  it('answers 429 with the time to wait, and lets through again afterwards', async () => {
    let now = 1_000_000;
    const rateLimit = { requests: 2, perSeconds: 10 };
    const limited = await startTestService({ rateLimit, clock: () => now });
    const ask = async () => callsOf(limited).call('GET', '/workspaces');

    const early = [await ask(), await ask()];
    now += 4_000;
    const refused = await ask();
    now += 6_000;
    const later = await ask();
    await limited.stop();

    const statuses = [...early, refused, later].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 429, 200]);
    expect(early[0]?.headers.get('x-ratelimit-remaining-org')).toBe('1');
    expect(refused.body).toMatchObject({ code: 429, details: '' });
    for (const name of [
      'retry-after',
      'x-ratelimit-reset-seconds-org',
      'x-ratelimit-reset-seconds-ip',
    ]) {
      expect(refused.headers.get(name)).toBe('6');
    }
  });
});

describe('the access log', () => {
  it('tells method, path, status and key name, and never the key or the query', async () => {
    const lines: string[] = [];
    const note = (fields: object, message: string) =>
      lines.push(JSON.stringify({ ...fields, message }));
    const logged = await startTestService({ log: { info: note, warn: note, error: note } });

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
