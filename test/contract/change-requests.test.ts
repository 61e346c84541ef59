import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { WireDefinition, WireRolloutStatus } from '../../src/admin-api/wire.js';
import { expectAnswers, replacing, type Exchange } from '../support/exchanges.js';
import { makeDirectory } from '../support/git.js';
import { sharesOf } from '../support/on-off.js';
import { aDefinition, callsOf, type Request, type ServiceCalls } from '../support/service-calls.js';
import { aService, startTestService } from '../support/service.js';

const service = aService({
  seed: {
    workspaces: [
      {
        name: 'Default',
        environments: [
          { name: 'staging' },
          { name: 'production', approvalsRequired: true, allowKills: true },
          { name: 'vault', approvalsRequired: true },
          { name: 'open' },
        ],
        trafficTypes: ['user'],
      },
      {
        name: 'Worded',
        requiresTitleAndComments: true,
        environments: [{ name: 'live', approvalsRequired: true }],
        trafficTypes: ['user'],
      },
    ],
  },
});
/** Asks. */
let ana: ServiceCalls;
/** Approves. */
let ben: ServiceCalls;

beforeAll(async () => {
  ana = await callsAs('ana');
  ben = await callsAs('ben');
});

/** A client with a key of its own. */
async function callsAs(name: string, restrictions: object = {}): Promise<ServiceCalls> {
  return callsOf({ origin: service.origin, key: await service.createKey(name, restrictions) });
}

interface Requested {
  readonly id: string;
  readonly status: string;
}

const at = (flag: string, environment = 'production'): string =>
  `/splits/ws/Default/${flag}/environments/${environment}`;
const REQUESTS = '/changeRequests/ws/Default/environments';
const halved = sharesOf(50);

async function submit(body: object, environment = 'production', who = ana): Promise<Requested> {
  return who.ok('POST', `${REQUESTS}/${environment}`, body);
}

/** The body of a request for a definition. */
const ofFlag = (operationType: string, name: string, definition: object = {}): object => {
  return { operationType, split: { name, ...definition } };
};
const ofKeys = (operationType: string, name: string, keys: readonly string[] = ['a']): object => {
  return { operationType, segment: { name, keys } };
};
const WORDS = { title: 'A title', comment: 'A comment' };

async function ask(
  name: string,
  operation: string,
  definition: object = {},
  environment?: string,
): Promise<Requested> {
  return submit({ ...ofFlag(operation, name, definition), ...WORDS }, environment);
}

async function decide(who: ServiceCalls, { id }: Requested, status: string): Promise<Requested> {
  return who.ok('PUT', `/changeRequests/${id}`, { status, comment: 'Seen' });
}

/** A flag with a definition in an environment that requires approvals. */
async function defined(name: string): Promise<WireDefinition> {
  await ana.flag(name);
  await decide(ben, await ask(name, 'CREATE', aDefinition()), 'APPROVED');
  return ana.ok('GET', at(name));
}

const deciding = ({ id }: Requested, status: string): Request => [
  'PUT',
  `/changeRequests/${id}`,
  { status },
];
const allocating = (value: number): readonly object[] => replacing('/trafficAllocation', value);
const PRODUCTION = { workspaces: ['Default'], environments: ['production'] };

describe('a change in an environment that requires approvals', () => {
  it('is refused, and the refusal names the way out', async () => {
    await defined('guarded');
    const keys = await ana.segment('guarded', 'production');
    await ana.flag('guarded-new');

    const wayOut = {
      code: 403,
      message: expect.stringMatching(/^Approvals are required\. orgId=\S+ envId=\S+$/) as string,
      details: 'Submit a change request, which another Admin API key approves',
    };

    await expectAnswers(
      ana,
      [403, 'POST', at('guarded-new'), aDefinition(), wayOut],
      [403, 'PATCH', at('guarded'), [], wayOut],
      [403, 'DELETE', '/splits/ws/Default/guarded', undefined, wayOut],
      [403, 'PATCH', at('guarded'), allocating(1), wayOut],
      [403, 'PUT', at('guarded'), aDefinition(), wayOut],
      [403, 'PUT', `${at('guarded')}/restore`, undefined, wayOut],
      [403, 'POST', `${at('guarded')}/reallocate`, undefined, wayOut],
      [403, 'DELETE', at('guarded'), undefined, wayOut],
      [403, 'PUT', `${keys}/upload`, ['a'], wayOut],
      [403, 'PUT', `${keys}/removeKeys`, { keys: ['a'] }, wayOut],
    );
  });

  it('is made when another key approves it: of a definition', async () => {
    const flag = await ana.flag('made');
    const request = await ask('made', 'CREATE', aDefinition({ trafficAllocation: 40 }));
    const absent = await ana.status('GET', at('made'));
    const approved = await decide(ben, request, 'APPROVED');
    const seen: unknown[] = [await ana.ok('GET', at('made'))];
    for (const operation of ['KILL', 'RESTORE', 'KILL']) {
      await decide(ben, await ask('made', operation), 'APPROVED');
      seen.push(await ana.ok('GET', at('made')));
    }
    // A replacement leaves the kill and the allocation that it does not name.
    const unnamed = { trafficAllocation: undefined, killed: undefined };
    const rest = aDefinition({ defaultRule: halved, ...unnamed });
    await decide(ben, await ask('made', 'UPDATE', rest), 'APPROVED');
    seen.push(await ana.ok('GET', at('made')));
    await decide(ben, await ask('made', 'ARCHIVE'), 'APPROVED');

    expect(request).toMatchObject({ status: 'REQUESTED', operationType: 'CREATE' });
    expect(approved).toMatchObject({ id: request.id, status: 'PUBLISHED' });
    expect(seen).toMatchObject([
      { id: flag.id, trafficAllocation: 40, killed: false },
      { killed: true },
      { killed: false },
      { killed: true },
      { killed: true, trafficAllocation: 40, defaultRule: halved },
    ]);
    expect([absent, await ana.status('GET', at('made'))]).toEqual([404, 404]);
  });

  it('is made when another key approves it: of keys of a segment', async () => {
    const path = await ana.segment('keyed', 'production');
    const added = await submit({ ...ofKeys('CREATE', 'keyed', ['a', 'b']), ...WORDS });
    const waiting = await ana.ok('GET', `${path}/keys`);
    await decide(ben, added, 'APPROVED');
    await decide(ben, await submit({ ...ofKeys('ARCHIVE', 'keyed'), ...WORDS }), 'APPROVED');

    expect(added).toMatchObject({ segment: { name: 'keyed', keys: ['a', 'b'] }, split: null });
    expect([waiting, await ana.ok('GET', `${path}/keys`)]).toMatchObject([
      { keys: [], openChangeRequestId: added.id },
      { keys: [{ key: 'b' }], openChangeRequestId: null },
    ]);
  });

  it('moves the rollout status too, where the request says so', async () => {
    await defined('ramped');
    const statuses = await ana.ok<WireRolloutStatus[]>('GET', '/rolloutStatuses?wsId=Default');
    const rolloutStatus = { id: statuses.find(({ name }) => name === 'Ramping')?.id };
    const kill = ofFlag('KILL', 'ramped');
    const wrong = { ...kill, rolloutStatus: { id: 'none' } };

    expect(await ana.status('POST', `${REQUESTS}/production`, wrong)).toBe(400);
    const request = await submit({ ...kill, rolloutStatus });
    await decide(ben, request, 'APPROVED');

    expect(request).toMatchObject({ rolloutStatus });
    expect(await ana.ok('GET', '/splits/ws/Default/ramped')).toMatchObject({
      rolloutStatus: { name: 'Ramping' },
    });
  });

  it('leaves a row of the request, and rows of who approved and of what changed, in one transaction', async () => {
    await defined('traced');
    const { id } = await ask('traced', 'UPDATE', aDefinition({ defaultRule: halved }));
    await decide(ben, { id, status: '' }, 'APPROVED');

    const rows = await service.audit({ kind: 'flag', name: 'traced', environment: 'production' });

    const summary = { id, operationType: 'UPDATE', status: 'REQUESTED', author: 'ana' };
    const published = { ...summary, status: 'PUBLISHED' };
    const { transactionId } = rows[0] ?? {};
    expect(rows.slice(0, 3)).toMatchObject([
      {
        action: 'approve',
        keyName: 'ben',
        comment: 'Seen',
        difference: [{ path: '/changeRequest', before: summary, after: published }],
      },
      { action: 'update', keyName: 'ben', ...WORDS, transactionId },
      { action: 'request-change', keyName: 'ana', ...WORDS },
    ]);
    expect(rows[2]?.difference).toEqual([{ path: '/changeRequest', after: summary }]);
    const before = [{ treatment: 'off', size: 100 }];
    expect(rows[1]?.difference).toContainEqual({ path: '/defaultRule', before, after: halved });
  });
});

describe('while a change request is open', () => {
  it('nothing else changes what it is about, in any environment: 423', async () => {
    await ana.define('held');
    const keys = await ana.segment('held', 'staging');
    const { id } = await ask('held', 'UPDATE', aDefinition({ defaultRule: halved }), 'staging');
    const other = await submit(ofKeys('CREATE', 'held'), 'staging');
    const before = await ana.ok('GET', at('held', 'staging'));
    await ana.flag('awaited');
    const creation = await ask('awaited', 'CREATE', aDefinition(), 'staging');

    const writes: Request[] = [
      ['POST', at('awaited', 'staging'), aDefinition()],
      ['PATCH', at('held', 'staging'), allocating(1)],
      ['PUT', at('held', 'staging'), aDefinition()],
      ['DELETE', at('held', 'staging')],
      ['DELETE', '/splits/ws/Default/held'],
      ['POST', `${REQUESTS}/staging`, ofFlag('ARCHIVE', 'held')],
      ['PUT', `${keys}/upload`, ['b']],
      ['PUT', `${keys}/removeKeys`, { keys: ['a'], comment: 'c' }],
      ['DELETE', keys],
      ['DELETE', '/segments/ws/Default/held'],
      ['POST', `${REQUESTS}/staging`, ofKeys('ARCHIVE', 'held')],
    ];

    for (const write of writes) {
      const answer = await ben.call(...write);
      expect([...write, answer.status]).toEqual([...write, 423]);
      expect([id, other.id, creation.id].some((open) => answer.text.includes(open))).toBe(true);
    }
    expect(await ana.ok('GET', at('held', 'staging'))).toEqual(before);
    expect(await ana.ok('GET', `${keys}/keys`)).toMatchObject({ count: 0 });
    // In other environments the same flag changes as ever.
    const elsewhere = await ana.ok('POST', at('awaited', 'open'), aDefinition());
    expect(elsewhere).not.toHaveProperty('openChangeRequestId');
  });

  it('a kill goes past it where kills need no approval, and what is approved later leaves it', async () => {
    await defined('killed');
    const request = await ask('killed', 'UPDATE', aDefinition({ defaultRule: halved }));
    await decide(ben, await ask('killed', 'CREATE', aDefinition(), 'vault'), 'APPROVED');
    const [path, vault] = [at('killed'), at('killed', 'vault')];
    const killing = replacing('/killed', true);

    await expectAnswers(
      ana,
      [403, 'PATCH', path, [...killing, ...allocating(1)]],
      [403, 'PATCH', path, replacing('/killed', false)],
      [403, 'PATCH', path, [{ ...killing[0], op: 'test' }]],
      [403, 'PATCH', path, [{ ...killing[0], op: 'add', path: '/impressionsDisabled' }]],
      [200, 'PATCH', path, [{ ...killing[0], op: 'add' }]],
      [200, 'PATCH', path, killing],
      [200, 'PUT', `${path}/kill`],
      [403, 'PUT', `${path}/restore`],
      [403, 'PUT', `${vault}/kill`],
      [403, 'PATCH', vault, killing],
    );
    await decide(ben, request, 'APPROVED');

    expect(await ana.ok('GET', path)).toMatchObject({ killed: true, defaultRule: halved });
  });

  it('a killed flag is restored past it, by PUT and by a patch', async () => {
    await ana.define('restored', { killed: true });
    const path = at('restored', 'staging');
    const { id } = await ask('restored', 'UPDATE', aDefinition({ defaultRule: halved }), 'staging');
    const open = { killed: false, openChangeRequestId: id };

    await expectAnswers(
      ana,
      [200, 'PUT', `${path}/restore`],
      [200, 'GET', path, undefined, open],
      [200, 'PUT', `${path}/kill`],
      [200, 'PATCH', path, replacing('/killed', false)],
      [200, 'GET', path, undefined, open],
    );
  });

  it('the end of a kill that needs an approval is requested and approved beside it', async () => {
    await defined('beside');
    await ana.ok('PUT', `${at('beside')}/kill`);
    const update = await ask('beside', 'UPDATE', aDefinition({ defaultRule: halved }));
    const restore = await ask('beside', 'RESTORE');
    const again = ofFlag('RESTORE', 'beside');
    expect(await ben.status('POST', `${REQUESTS}/production`, again)).toBe(423);
    const killing = await ask('beside', 'KILL');

    const seen: unknown[] = [];
    for (const request of [restore, update, killing]) {
      await decide(ben, request, 'APPROVED');
      seen.push(await ana.ok('GET', at('beside')));
    }

    expect(seen).toMatchObject([
      { killed: false, openChangeRequestId: update.id },
      { defaultRule: halved, openChangeRequestId: killing.id },
      { killed: true },
    ]);
    expect(seen[2]).not.toHaveProperty('openChangeRequestId');
  });
});

describe('a change request', () => {
  it('is neither approved nor rejected by its author, and withdrawn by no other restricted key', async () => {
    await defined('own');
    const [dan, eve] = [await callsAs('dan', PRODUCTION), await callsAs('eve', PRODUCTION)];
    const request = await submit(ofFlag('KILL', 'own'), 'production', dan);
    const wide = await ask('own', 'RESTORE');

    const byAuthor = ['APPROVED', 'REJECTED'].map((each) => deciding(request, each));
    await expectAnswers(dan, ...byAuthor.map((each): Exchange => [403, ...each]));
    await expectAnswers(eve, [403, ...deciding(request, 'WITHDRAWN')]);
    // However much the key of the author may do.
    await expectAnswers(ana, [403, ...deciding(wide, 'APPROVED')]);
    expect(await ana.ok('GET', at('own'))).toMatchObject({ killed: false });
    const { id } = request;
    expect(await ben.ok('GET', `/changeRequests/${id}`)).toMatchObject({ status: 'REQUESTED' });
  });

  it.each(['REJECTED', 'WITHDRAWN'])(
    'whose author and approver are revoked holds its flag until a key without restrictions ends it: %s',
    async (status) => {
      const name = `orphaned-${status.toLowerCase()}`;
      await defined(name);
      const author = await callsAs(`author of ${name}`, PRODUCTION);
      await callsAs(`approver of ${name}`, PRODUCTION);
      const update = ofFlag('UPDATE', name, aDefinition({ defaultRule: halved }));
      const body = { ...update, approvers: [`approver of ${name}`] };
      const request = await submit(body, 'production', author);
      for (const each of await service.listKeys()) {
        if (each.name.endsWith(name)) await service.revokeKey(each.id);
      }

      expect(await ben.status(...deciding(request, 'APPROVED'))).toBe(403);
      expect(await decide(ben, request, status)).toMatchObject({ status });
      const definition = await ana.ok<WireDefinition>('GET', at(name));
      expect(definition.openChangeRequestId).toBeUndefined();
      expect(definition.defaultRule).not.toEqual(halved);
    },
  );

  it.each([
    ['REJECTED', 'reject'],
    ['WITHDRAWN', 'withdraw'],
  ])(
    'marks its definition until it is %s, which changes nothing and ends it',
    async (status, action) => {
      const name = `over-${action}`;
      const before = await defined(name);
      const request = await ask(name, 'UPDATE', aDefinition({ defaultRule: halved }));
      const shown = async (): Promise<unknown[]> => {
        const path = '/splits/ws/Default/environments/production?limit=50';
        const { objects } = await ana.ok<{ objects: WireDefinition[] }>('GET', path);
        return [await ana.ok('GET', at(name)), objects.find(({ id }) => id === before.id)];
      };
      const open = { ...before, openChangeRequestId: request.id };
      expect(before.openChangeRequestId).toBeUndefined();
      expect(await shown()).toEqual([open, open]);

      const ended = await decide(action === 'withdraw' ? ana : ben, request, status);

      expect(ended).toMatchObject({ status, comments: [{ user: 'ana' }, { comment: 'Seen' }] });
      expect(await ben.status(...deciding(request, 'APPROVED'))).toBe(409);
      expect(await shown()).toEqual([before, before]);
      expect((await service.audit({ kind: 'flag', name }))[0]).toMatchObject({ action });
      await decide(ana, await ask(name, 'KILL'), 'WITHDRAWN');
    },
  );

  it('is about as many keys as an upload takes, and none that cannot be kept', async () => {
    await ana.segment('wide', 'production');
    const keys = Array.from({ length: 10_000 }, (_, index) => `${index}`.padEnd(120, 'k'));
    const broken = ofKeys('CREATE', 'wide', ['\ud83d']);

    expect(await ana.status('POST', `${REQUESTS}/production`, broken)).toBe(400);
    const asked = await submit(ofKeys('CREATE', 'wide', keys));
    expect(asked).toMatchObject({ segment: { keys: keys.toSorted() } });
    await decide(ana, asked, 'WITHDRAWN');
  });

  it('is approved by those keys alone that it names, of which one could approve it', async () => {
    await defined('chosen');
    await callsAs('of staging', { workspaces: ['Default'], environments: ['staging'] });
    await callsAs('of Worded', { workspaces: ['Worded'] });
    const alone = await callsAs('alone', PRODUCTION);
    const cleo = await callsAs('cleo');
    await service.createKey('gone');
    const gone = (await service.listKeys()).find(({ name }) => name === 'gone');
    await service.revokeKey(gone?.id ?? '');

    const wrong = ['nobody', 'gone', 'of staging', 'of Worded', 'alone', 'alone,alone'];
    await expectAnswers(
      alone,
      ...wrong.map((names): Exchange => {
        const body = { ...ofFlag('KILL', 'chosen'), approvers: names.split(',') };
        return [400, 'POST', `${REQUESTS}/production`, body];
      }),
    );
    expect(await ana.ok('GET', at('chosen'))).not.toHaveProperty('openChangeRequestId');
    const request = await submit({ ...ofFlag('KILL', 'chosen'), approvers: ['cleo'] });
    expect(request).toMatchObject({ approvers: ['cleo'] });
    expect(await ben.status(...deciding(request, 'APPROVED'))).toBe(403);
    await decide(cleo, request, 'APPROVED');
    expect(await ana.ok('GET', at('chosen'))).toMatchObject({ killed: true });
  });

  it('that moves the rollout status names no approver who may not move it', async () => {
    await defined('moved');
    const here = await callsAs('here alone', PRODUCTION);
    const [status] = await ana.ok<{ id: string }[]>('GET', '/rolloutStatuses/ws/Default');
    const request = (approvers: string[]) => ({
      ...ofFlag('KILL', 'moved'),
      rolloutStatus: { id: status?.id },
      approvers,
    });

    expect(await here.status('POST', `${REQUESTS}/production`, request(['here alone']))).toBe(400);
    expect(await ana.status('POST', `${REQUESTS}/production`, request(['here alone']))).toBe(400);
    const asked = await submit(request(['ben']));
    await decide(ben, asked, 'APPROVED');
    expect(await ana.ok('GET', at('moved'))).toMatchObject({ killed: true });
  });

  const inNone = { treatments: [{ name: 'on', segments: ['none'] }, { name: 'off' }] };

  it('is refused where it could not be made', async () => {
    await defined('asked');
    const refused: [number, object][] = [
      [400, { operationType: 'KILL' }],
      [400, { ...ofFlag('CREATE', 'f'), ...ofKeys('CREATE', 's') }],
      [404, ofFlag('KILL', 'none')],
      [404, ofFlag('CREATE', 'none', aDefinition())],
      [404, ofKeys('CREATE', 'none')],
      [400, ofKeys('KILL', 's')],
      [400, ofFlag('RENAME', 'asked')],
      [400, { ...ofFlag('KILL', 'asked'), scheduledFor: 1 }],
      [400, ofFlag('KILL', 'asked', { kiled: true })],
      [409, ofFlag('CREATE', 'asked', aDefinition())],
      [400, ofFlag('UPDATE', 'asked')],
      [400, ofFlag('UPDATE', 'asked', aDefinition({ defaultRule: halved.slice(1) }))],
      [400, ofFlag('UPDATE', 'asked', aDefinition(inNone))],
      [400, ofFlag('UPDATE', 'asked', aDefinition({ environment: { name: 'staging' } }))],
    ];

    await expectAnswers(
      ana,
      ...refused.map(([code, body]): Exchange => [code, 'POST', `${REQUESTS}/production`, body]),
    );
    expect(await ana.ok('GET', at('asked'))).not.toHaveProperty('openChangeRequestId');
  });

  it('needs title and comment where the workspace requires them', async () => {
    await ana.ok('POST', '/splits/ws/Worded/trafficTypes/user', { name: 'worded' });
    const path = '/changeRequests/ws/Worded/environments/live';
    const body = ofFlag('CREATE', 'worded', aDefinition());

    expect(await ana.status('POST', path, { ...body, title: 't' })).toBe(400);
    const request = await ana.ok<Requested>('POST', path, { ...body, title: 't', comment: 'c' });
    await ben.ok(...deciding(request, 'APPROVED'));

    await ben.ok('GET', '/splits/ws/Worded/worded/environments/live');
  });

  it('that can no longer be made stays open', async () => {
    await defined('stuck');
    const path = await ana.segment('support', 'production');
    const treatments = [{ name: 'on', segments: ['support'] }, { name: 'off' }];
    const request = await ask('stuck', 'UPDATE', aDefinition({ treatments }));
    await ana.ok('DELETE', path);

    expect(await ben.status(...deciding(request, 'APPROVED'))).toBe(400);
    expect(await ben.ok('GET', `/changeRequests/${request.id}`)).toMatchObject({
      status: 'REQUESTED',
      comments: [{ role: 'SUBMITTER' }],
    });
    expect(await ana.ok('GET', at('stuck'))).toMatchObject({ openChangeRequestId: request.id });
  });

  it('is not there for a key that does not see its environment', async () => {
    await defined('hidden');
    const request = await ask('hidden', 'KILL');
    for (const restrictions of [{ environments: ['staging'] }, { workspaces: ['Worded'] }]) {
      const stranger = await callsAs(`without ${JSON.stringify(restrictions)}`, restrictions);

      const { data } = await stranger.ok<{ data: Requested[] }>('GET', '/changeRequests?limit=100');
      expect(data.map((each) => each.id)).not.toContain(request.id);
      await expectAnswers(
        stranger,
        [404, 'GET', `/changeRequests/${request.id}`],
        [404, ...deciding(request, 'APPROVED')],
        [404, 'POST', `${REQUESTS}/production`, ofFlag('KILL', 'hidden')],
      );
    }
  });

  it('goes with its environment', async () => {
    await ana.ok('POST', '/environments/ws/Default', { name: 'passing' });
    await ana.flag('passing');
    const { id } = await ask('passing', 'CREATE', aDefinition(), 'passing');

    await ana.ok('DELETE', '/environments/ws/Default/passing');

    expect(await ana.status('GET', `/changeRequests/${id}`)).toBe(404);
    await ana.ok('DELETE', '/splits/ws/Default/passing');
  });
});

interface RequestPage {
  readonly data: readonly Requested[];
  readonly nextMarker: string | null;
  readonly count: number;
}
const idsIn = ({ data }: RequestPage): string[] => data.map(({ id }) => id);

it('the list of change requests shows the newest first, in pages that lead to the next, or those of one status', async () => {
  const mine: string[] = [];
  for (const name of ['l1', 'l2', 'l3']) {
    await ana.flag(name);
    mine.push((await ask(name, 'CREATE', aDefinition(), 'vault')).id);
  }
  const elsewhere = await ask('l1', 'CREATE', aDefinition());
  const page = async (query: string, status = 'REQUESTED', place = 'vault') =>
    ana.ok<RequestPage>('GET', `/changeRequests?environmentId=${place}&status=${status}${query}`);

  const first = await page('&limit=2');
  expect((await page('&limit=1')).nextMarker).toMatch(/^\d+$/);
  expect((await page('&limit=3')).nextMarker).toBeNull();
  const second = await page(`&limit=2&after=${first.nextMarker ?? ''}`);

  expect(first).toMatchObject({ limit: 2, count: 2, previousMarker: null });
  expect(second.nextMarker).toBeNull();
  expect([...idsIn(first), ...idsIn(second)]).toEqual(mine.toReversed());
  expect((await page('')).count).toBe(3);
  expect(idsIn(await page('', '', ''))[0]).toBe(elsewhere.id);
  expect(await ana.status('GET', '/changeRequests?limit=0')).toBe(400);
  await decide(ben, elsewhere, 'REJECTED');
  expect(idsIn(await page('&limit=100', 'REJECTED', ''))).toContain(elsewhere.id);
  expect(idsIn(await page('&limit=100', 'REQUESTED', ''))).not.toContain(elsewhere.id);
});

describe('a change request that stays open', () => {
  it('is withdrawn by the service after its time, and holds its flag no longer', async () => {
    const short = await startTestService({ requestsExpireAfterMs: 2_000 });
    const client = callsOf(short);
    const path = at('forgotten', 'staging');
    await client.define('forgotten');
    const body = ofFlag('ARCHIVE', 'forgotten');
    const { id } = await client.ok<Requested>('POST', `${REQUESTS}/staging`, body);
    const find = async (): Promise<Requested> => client.ok('GET', `/changeRequests/${id}`);
    expect(await client.status('PATCH', path, allocating(5))).toBe(423);

    await expect.poll(async () => (await find()).status, { timeout: 20_000 }).toBe('WITHDRAWN');
    await client.ok('PATCH', path, allocating(5));
    const [, expiry] = await short.audit({ kind: 'flag', name: 'forgotten' });
    const request = await find();
    await short.stop();

    expect(request).toMatchObject({
      comments: [{ role: 'SUBMITTER' }, { comment: 'The change request expired' }],
    });
    expect(expiry).toMatchObject({ action: 'expire', keyId: null, keyName: 'flagkeel service' });
  });

  it.each([
    [30 * 86_400_000, 'REQUESTED'],
    [30 * 86_400_000 + 1, 'WITHDRAWN'],
  ])('for %i ms is %s at the next start', async (age, status) => {
    const store = { kind: 'directory', path: join(makeDirectory(), 'store') } as const;
    const now = 1_800_000_000_000;
    const start = async (time: number) => startTestService({ store, clock: () => time });
    const first = await start(now);
    await callsOf(first).flag('old');
    const body = ofFlag('CREATE', 'old', aDefinition());
    const { id } = await callsOf(first).ok<Requested>('POST', `${REQUESTS}/staging`, body);
    await first.stop();
    // The stop waits for the look that began with the start.
    await (await start(now + age)).stop();

    const second = await start(now + age);
    const found = await callsOf(second).ok<Requested>('GET', `/changeRequests/${id}`);
    await second.stop();

    expect(found.status).toBe(status);
  });
});
