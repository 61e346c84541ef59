import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { WireEnvironment, WirePage, WireWorkspace } from '../../src/admin-api/wire.js';
import type { ServiceOptions } from '../../src/service/service.js';
import { expectAnswers, refusal, replacing, type Exchange } from '../support/exchanges.js';
import { aDefinition, at, callsOf, type ServiceCalls } from '../support/service-calls.js';
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

const KEYS = '/apiKeys';
const withKey = (key: string): ServiceCalls => callsOf({ origin: service.origin, key });

/** A service of one test. */
async function aServiceWith(options: Partial<ServiceOptions>): Promise<TestService> {
  const started = await startTestService(options);
  onTestFinished(async () => started.stop());
  return started;
}

/** Names of the environments that a key sees, by the names of their workspaces. */
async function seenBy(key: string, of: TestService = service): Promise<Record<string, string[]>> {
  const theirs = callsOf({ origin: of.origin, key });
  const { objects } = await theirs.ok<WirePage<WireWorkspace>>('GET', '/workspaces');
  const places = objects.map(async ({ name }) => {
    const found = await theirs.ok<WireEnvironment[]>('GET', `/environments/ws/${name}`);
    return [name, found.map((each) => each.name)] as const;
  });
  return Object.fromEntries(await Promise.all(places));
}

async function makeKey(body: object, admin = client): Promise<string> {
  return (await admin.ok<{ key: string }>('POST', KEYS, body)).key;
}

describe('Admin API keys', () => {
  it('are made, listed without their secret, and revoked, by HTTP, which frees their name', async () => {
    const body = { name: 'ci' };
    const made = await client.ok<{ id: string; key: string }>('POST', KEYS, body);
    const mine = withKey(made.key);
    const { text } = await client.call('GET', KEYS);

    await expectAnswers(mine, [200, 'GET', '/workspaces']);
    await expectAnswers(client, [409, 'POST', KEYS, body]);
    expect(await client.ok('DELETE', `${KEYS}/${made.id}`)).toBe(true);
    await expectAnswers(client, [200, 'POST', KEYS, body]);
    await expectAnswers(mine, [401, 'GET', '/workspaces']);
    expect(text).toContain('"ci"');
    expect(text).not.toContain(made.key);
    expect(text).not.toContain('hash');
  });

  it('that have ended are refused with the reason, to whoever has them alone, and free their name', async () => {
    let now = Date.now();
    const timed = await aServiceWith({ clock: () => now });
    const admin = callsOf(timed);
    const end = now + 60_000;
    const made = await admin.ok<{ key: string }>('POST', KEYS, { name: 'ci', expirationTime: end });
    const mine = callsOf({ origin: timed.origin, key: made.key });

    expect(made).toMatchObject({ expirationTime: end });
    await expectAnswers(mine, [200, 'GET', '/workspaces']);
    await expectAnswers(admin, [409, 'POST', KEYS, { name: 'ci' }]);
    now = end;
    const why = refusal(401, `ended at ${new Date(end).toISOString()}`);
    await expectAnswers(mine, [401, 'GET', '/workspaces', undefined, why]);
    await expectAnswers(
      admin,
      [400, 'POST', KEYS, { name: 'late', expirationTime: now }],
      [200, 'POST', KEYS, { name: 'ci' }],
    );
  });

  it('tell when they were last used, which is written once in an hour', async () => {
    let now = 1_800_000_000_000;
    const begin = now;
    const admin = callsOf(await aServiceWith({ clock: () => now }));
    const lastUses = async (): Promise<unknown[]> =>
      (await admin.ok<{ lastUseTime: unknown }[]>('GET', KEYS)).map((each) => each.lastUseTime);
    // The service writes the note after its answer, and before the next change.
    const write = async (): Promise<unknown> =>
      admin.ok('POST', '/workspaces', { name: `w${now}` });
    await write();
    expect(await lastUses()).toEqual([begin]);
    now += 3_599_999;
    expect(await lastUses()).toEqual([begin]);
    await write();
    expect(await lastUses()).toEqual([begin]);
    now += 1;
    await lastUses();
    await write();
    expect(await lastUses()).toEqual([now]);

    await makeKey({ name: 'unused' }, admin);
    expect(await lastUses()).toEqual([now, null]);
  });

  it('that are lent do everything under their name, and are nowhere in the store', async () => {
    const changes = await service.audit({ kind: 'admin-key' });

    const mine = withKey(service.lendKey('borrower'));
    await mine.flag('by-borrower');
    const made = await mine.ok<{ id: string }>('POST', KEYS, { name: 'by borrower' });
    await mine.ok('DELETE', `${KEYS}/${made.id}`);

    const [change] = await service.audit({ name: 'by-borrower' });
    expect(change?.keyName).toBe('borrower');
    expect((await client.call('GET', KEYS)).text).not.toContain('"borrower"');
    expect(await service.audit({ kind: 'admin-key' })).toHaveLength(changes.length + 2);
  });

  it('are asked for before anything else is looked at', async () => {
    const nobody = withKey('none');

    expect((await nobody.send('POST', '/workspaces', '{')).status).toBe(401);
    await expectAnswers(nobody, [401, 'GET', '/nothing'], [401, 'GET', '/workspaces?limit=x']);
  });
});

it('a key for one workspace does not see the others, makes no keys or workspaces, and reads its own log alone', async () => {
  const key = await service.createKey('w', { workspaces: ['Worded'] });
  const [type] = await client.ok<{ id: string }[]>('GET', '/trafficTypes/ws/Default');

  expect(await seenBy(key)).toEqual({ Worded: ['live'] });
  await expectAnswers(
    withKey(key),
    [404, 'GET', '/splits/ws/Default/environments/staging'],
    [200, 'GET', '/splits/ws/Worded'],
    [403, 'POST', KEYS, { name: 'more' }],
    [403, 'GET', KEYS],
    [403, 'POST', '/workspaces', { name: 'More' }],
    [403, 'GET', '/auditLog'],
    [404, 'GET', '/auditLog/ws/Default'],
    [200, 'GET', '/auditLog/ws/Worded'],
    [404, 'DELETE', `/trafficTypes/${type?.id ?? ''}`],
    [404, 'DELETE', '/trafficTypes/none'],
    [403, 'DELETE', '/workspaces/Worded'],
    [403, 'DELETE', `${KEYS}/any`],
    [200, 'POST', '/environments/ws/Worded', { name: 'more' }],
  );
  await client.ok('DELETE', '/environments/ws/Worded/more');
});

describe('a key that is made over HTTP', () => {
  it('is for what its body names: by id or name, alone or within an object', async () => {
    const { objects } = await client.ok<WirePage<WireWorkspace>>('GET', '/workspaces');
    const id = objects.find(({ name }) => name === 'Worded')?.id;
    const seenWith = async (restriction: object): Promise<string[]> =>
      Object.keys(
        await seenBy(await makeKey({ name: JSON.stringify(restriction), ...restriction })),
      );

    expect(await seenWith({ workspaces: [{ id }] })).toEqual(['Worded']);
    expect(await seenWith({ workspace: 'Worded' })).toEqual(['Worded']);
    expect(await seenWith({ workspace: { id }, workspaces: ['Default'] })).toHaveLength(2);
    expect(await seenWith({ environments: [{ id: 'live' }] })).toEqual(['Worded']);
    await expectAnswers(client, [404, 'POST', KEYS, { name: 'x', workspaces: ['None'] }]);
  });

  it('is not for everything where its list of restrictions is empty', async () => {
    const empty = [
      { environments: [] },
      { workspaces: [] },
      { workspaces: ['Worded'], environments: [] },
      { workspace: 'Worded', workspaces: [] },
    ];

    await expectAnswers(
      client,
      ...empty.map((restrictions): Exchange => {
        return [400, 'POST', KEYS, { name: 'wide', ...restrictions }, { code: 400 }];
      }),
    );
    expect((await client.call('GET', KEYS)).text).not.toContain('"wide"');
    const madeHere = service.createKey('wide', { environments: [] });
    await expect(madeHere).rejects.toMatchObject({ status: 400 });
  });
});

describe('a key where two workspaces have an environment of one name', () => {
  const environments = [{ name: 'staging' }, { name: 'production', production: true }];
  const twins = aService({
    seed: {
      workspaces: ['One', 'Two'].map((name) => ({ name, environments, trafficTypes: ['user'] })),
    },
  });
  const admin = callsOf(twins);
  let one: string;
  let two: string;

  beforeAll(async () => {
    const idIn = async (workspace: string): Promise<string> => {
      const path = `/environments/ws/${workspace}`;
      return (await admin.ok<WireEnvironment[]>('GET', path))[0]?.id ?? '';
    };
    [one, two] = [await idIn('One'), await idIn('Two')];
  });

  it('for staging of one workspace kills no flag in staging of the other, and is listed so', async () => {
    const restrictions = { workspaces: ['One'], environments: ['staging'] };
    const key = await twins.createKey('staging of One', restrictions);
    const path = at('spared', 'staging', 'Two');
    await admin.ok('POST', '/splits/ws/Two/trafficTypes/user', { name: 'spared' });
    await admin.ok('POST', path, aDefinition());

    await expectAnswers(callsOf({ origin: twins.origin, key }), [404, 'PUT', `${path}/kill`]);
    expect(await admin.ok('GET', path)).toMatchObject({ killed: false });
    expect(await seenBy(key, twins)).toEqual({ One: ['staging'] });
    const listed = await twins.listKeys();
    expect(listed[0]).toMatchObject({ workspaces: null, environments: null });
    expect(listed.find(({ name }) => name === 'staging of One')).toMatchObject({
      workspaces: [{ name: 'One' }],
      environments: [{ name: 'staging', workspace: { name: 'One' } }],
    });
  });

  it('that names the environment alone is refused with the choice', async () => {
    const answer = await admin.call('POST', KEYS, { name: 'x', environments: ['staging'] });

    expect(answer.body).toMatchObject({ code: 400 });
    for (const part of ['One', 'Two', one, two]) expect(answer.text).toContain(part);
    const byId = await makeKey({ name: 'by id', environments: [two] }, admin);
    expect(await seenBy(byId, twins)).toEqual({ Two: ['staging'] });
  });

  it('is for the environment of both workspaces that it names, and for none of a third', async () => {
    const both = { name: 'both', workspaces: ['One', 'Two'], environments: ['production'] };
    const nowhere = { name: 'nowhere', workspace: 'One', environments: [two] };

    const key = await makeKey(both, admin);
    expect(await seenBy(key, twins)).toEqual({ One: ['production'], Two: ['production'] });
    await expectAnswers(admin, [404, 'POST', KEYS, nowhere]);
  });
});

it('a key for one environment works there, and changes nothing that all environments share', async () => {
  await client.flag('scoped');
  await client.ok('POST', at('scoped', 'open'), aDefinition());
  const key = await service.createKey('e', { environments: ['staging'] });

  expect(await seenBy(key)).toEqual({ Default: ['staging'] });
  // An answer to another key is not the answer to this one.
  await client.ok('GET', at('scoped', 'open'));
  await expectAnswers(
    withKey(key),
    [200, 'POST', at('scoped', 'staging'), aDefinition()],
    [200, 'GET', '/splits/ws/Default/environments/staging'],
    [200, 'GET', '/schema/ws/Default/trafficTypes/user'],
    [403, 'POST', '/schema/ws/Default/trafficTypes/user', { id: 'plan' }],
    [404, 'GET', at('scoped', 'open')],
    [404, 'GET', '/splits/ws/Default/environments/open'],
    [404, 'PATCH', at('scoped', 'open'), replacing('/killed', true)],
    [404, 'GET', '/environments/ws/Worded'],
    [403, 'DELETE', '/splits/ws/Default/scoped'],
    [403, 'POST', '/segments/ws/Default/trafficTypes/user', { name: 's' }],
    [403, 'POST', '/environments/ws/Default', { name: 'more' }],
  );
});

describe('the keys of applications', () => {
  interface Made extends WireEnvironment {
    readonly apiTokens: readonly { readonly id: string; readonly name: string; key: string }[];
  }

  it('are made with every new environment, by either type, and go with it', async () => {
    interface Listed {
      readonly id: string;
      readonly environments: string[] | null;
      readonly revocationTime: number | null;
    }
    const made = await client.ok<Made>('POST', '/environments/ws/Default', { name: 'own-keys' });
    const ours = async (): Promise<Listed[]> =>
      (await client.ok<Listed[]>('GET', KEYS)).filter(({ environments }) =>
        environments?.includes(made.id),
      );
    const before = await ours();
    await client.ok('DELETE', '/environments/ws/Default/own-keys');

    expect(made.apiTokens).toMatchObject([
      { name: 'server_side own-keys', type: 'api_key', apiKeyType: 'server_side' },
      { name: 'client_side own-keys', type: 'api_key', apiKeyType: 'client_side' },
    ]);
    const ids = made.apiTokens.map(({ id }) => id);
    expect(before.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect((await ours()).map(({ revocationTime }) => revocationTime)).not.toContain(null);
    const log = await client.call('GET', '/auditLog');
    for (const { key } of made.apiTokens) expect(log.text).not.toContain(key);
  });

  it('are made for environments of equal names in several workspaces', async () => {
    const makeIn = async (name: string): Promise<Made> => {
      await client.ok('POST', '/workspaces', { name });
      return client.ok('POST', `/environments/ws/${name}`, { name: 'dev' });
    };
    const [first, second] = [await makeIn('Twin A'), await makeIn('Twin B')];

    const names = [first, second].map(({ apiTokens }) => apiTokens.map(({ name }) => name));
    expect(names).toEqual([
      ['server_side dev', 'client_side dev'],
      [`server_side ${second.id}`, `client_side ${second.id}`],
    ]);
  });

  it.each(['server_side', 'client_side'])('of the type %s open no administration', async (type) => {
    const made = await client.ok<{ key: string }>('POST', KEYS, {
      name: `app ${type}`,
      apiKeyType: type,
      environments: [{ type: 'environment', id: 'staging' }],
      workspace: { type: 'workspace', id: 'Default' },
      roles: ['API_FEATURE_FLAG_VIEWER'],
    });

    expect(made).toMatchObject({ apiKeyType: type });
    await expectAnswers(
      withKey(made.key),
      [401, 'GET', '/workspaces'],
      [401, 'GET', '/environments/ws/Default'],
      [401, 'PUT', `${at('scoped', 'staging')}/kill`],
    );
  });

  it('are for exactly one environment', async () => {
    const many = { name: 'app for many', apiKeyType: 'server_side' };
    const two = { environments: ['staging', 'guarded'], workspace: 'Default' };

    await expectAnswers(
      client,
      [400, 'POST', KEYS, many],
      [400, 'POST', KEYS, { ...many, ...two }],
    );
    const madeHere = service.createKey('app for many', { apiKeyType: 'server_side' });
    await expect(madeHere).rejects.toMatchObject({ status: 400 });
  });
});

it('an environment that requires approvals keeps a segment that has keys there', async () => {
  const required = '/changePermissions/areApprovalsRequired';
  const guarded = '/environments/ws/Default/guarded';
  await client.ok('PATCH', guarded, replacing(required, false));
  const path = await client.segment('kept', 'guarded');

  await expectAnswers(
    client,
    [200, 'PUT', `${path}/upload`, ['k']],
    [200, 'PATCH', guarded, replacing(required, true)],
    [403, 'DELETE', '/segments/ws/Default/kept'],
  );
});

it('a workspace that requires title and comment takes them from the body or the query, and asks for none where no environment is changed', async () => {
  const whole = '/splits/ws/Worded/wordy';
  const flag = `${whole}/environments/live`;
  const segment = '/segments/live/wordy';
  const words = { title: 't', comment: 'c' };
  const query = '?title=t&comment=c';
  const message = 'Comment/title combination invalid for workspace';
  const shape = { code: 400, message, details: '' };

  await expectAnswers(
    client,
    [200, 'POST', '/splits/ws/Worded/trafficTypes/user', { name: 'wordy' }],
    [200, 'POST', '/segments/ws/Worded/trafficTypes/user', { name: 'wordy' }],
    [400, 'POST', flag, aDefinition({ title: ' ', comment: 'c' }), shape],
    [400, 'PUT', flag, aDefinition(), shape],
    [400, 'PUT', `${flag}/kill`, { comment: 'c' }, shape],
    [400, 'PUT', `${segment}/removeKeys`, { keys: ['k'] }, shape],
    [200, 'POST', flag, aDefinition(words)],
    [200, 'PUT', `${flag}${query}`, aDefinition({ title: 'other' })],
    [200, 'PUT', `${flag}/kill`, words],
    [200, 'POST', `${segment}${query}`],
    [200, 'PUT', `${segment}/uploadKeys`, { keys: ['k'], ...words }],
    [200, 'PUT', `${segment}/upload${query}`, ['k2']],
    [200, 'PUT', `${segment}/removeKeys`, { keys: ['k'], comment: 'c' }],
    [200, 'DELETE', `${flag}${query}`],
    [200, 'PATCH', whole, replacing('/description', 'd')],
    [400, 'POST', `${whole}/archive`, { comment: 'c' }, shape],
    [200, 'POST', `${whole}/archive`, words],
    [400, 'POST', `${whole}/unarchive`, undefined, shape],
    [200, 'POST', `${whole}/unarchive${query}`],
  );

  const changes = await service.audit({ environment: 'live' });
  expect(changes.map(({ comment }) => comment)).toEqual(Array<string>(7).fill('c'));
  // Of two titles, that of the query counts.
  expect(new Set(changes.map(({ title }) => title))).toEqual(new Set(['t', null]));
});

it('a rate limit answers 429 with the time to wait, and lets through again afterwards', async () => {
  let now = 1_000_000;
  const rateLimit = { requests: 2, perSeconds: 10 };
  const limited = callsOf(await aServiceWith({ rateLimit, clock: () => now }));
  const ask = async () => limited.call('GET', '/workspaces');

  const early = [await ask(), await ask()];
  now += 4_000;
  const refused = await ask();
  now += 6_000;
  const later = await ask();

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

it('the access log tells method, path, status and key name, and never the key or the query', async () => {
  const lines: object[] = [];
  const note = (fields: object, message: string) => lines.push({ ...fields, message });
  const logged = await aServiceWith({ log: { info: note, warn: note, error: note } });

  await callsOf(logged).call('GET', '/workspaces?limit=3');

  const path = '/internal/api/v2/workspaces';
  const line = { message: 'request', method: 'GET', path, status: 200, key: 'test' };
  await expect.poll(() => lines[0]).toMatchObject(line);
  expect(JSON.stringify(lines)).not.toContain('limit');
  expect(JSON.stringify(lines)).not.toContain(logged.key);
});
