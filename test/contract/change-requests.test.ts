import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { WireDefinition, WireRolloutStatus } from '../../src/admin-api/wire.js';
import type { StoreLocation } from '../../src/service/store/store.js';
import { aDefinition, callsOf, type ServiceCalls } from '../support/service-calls.js';
import { aService, startTestService } from '../support/service.js';

/** What nobody may change alone: one key asks, another approves. */
const service = aService({
  seed: {
    workspaces: [
      {
        name: 'Default',
        environments: [
          { name: 'staging' },
          { name: 'production', approvalsRequired: true, allowKills: true },
          { name: 'vault', approvalsRequired: true },
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
const halved = [
  { treatment: 'on', size: 50 },
  { treatment: 'off', size: 50 },
];

async function submit(body: object, environment = 'production'): Promise<Requested> {
  return ana.ok('POST', `${REQUESTS}/${environment}`, body);
}

async function ask(
  name: string,
  operationType: string,
  definition: object = {},
  environment = 'production',
): Promise<Requested> {
  const split = { name, ...definition };
  const words = { title: 'A title', comment: 'A comment' };
  return submit({ split, operationType, ...words }, environment);
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

describe('a change in an environment that requires approvals', () => {
  it('is refused, and the refusal names the way out', async () => {
    await defined('guarded');
    const keys = await ana.segment('guarded', 'production');
    await ana.flag('guarded-new');

    const answers = [
      await ana.call('POST', at('guarded-new'), aDefinition()),
      await ana.call('PATCH', at('guarded'), []),
      await ana.call('DELETE', '/splits/ws/Default/guarded'),
      await ana.call('PATCH', at('guarded'), [
        { op: 'replace', path: '/trafficAllocation', value: 1 },
      ]),
      await ana.call('PUT', at('guarded'), aDefinition()),
      await ana.call('PUT', `${at('guarded')}/restore`),
      await ana.call('DELETE', at('guarded')),
      await ana.call('PUT', `${keys}/upload`, ['a']),
      await ana.call('PUT', `${keys}/removeKeys`, { keys: ['a'] }),
    ];

    for (const { status, body } of answers) {
      expect(status).toBe(403);
      expect(body).toMatchObject({
        code: 403,
        message: expect.stringMatching(/^Approvals are required\. orgId=\S+ envId=\S+$/) as string,
        details: 'Submit a change request, which another Admin API key approves',
      });
    }
  });

  it('is made when another key approves it: a creation', async () => {
    const flag = await ana.flag('created');

    const request = await ask('created', 'CREATE', aDefinition({ trafficAllocation: 40 }));
    const absent = await ana.call('GET', at('created'));
    const approved = await decide(ben, request, 'APPROVED');

    expect(request).toMatchObject({ status: 'REQUESTED', operationType: 'CREATE' });
    expect(absent.status).toBe(404);
    expect(approved).toMatchObject({ id: request.id, status: 'PUBLISHED' });
    expect(await ana.ok('GET', at('created'))).toMatchObject({
      id: flag.id,
      trafficAllocation: 40,
    });
  });

  it('is made when another key approves it: an update, which leaves the kill and the allocation', async () => {
    await defined('updated');
    const first = await ask('updated', 'UPDATE', aDefinition({ trafficAllocation: 30 }));
    await decide(ben, first, 'APPROVED');
    await ana.ok('PUT', `${at('updated')}/kill`);
    const { trafficAllocation, killed, ...rest } = aDefinition({ defaultRule: halved }) as Record<
      string,
      unknown
    >;

    await decide(ben, await ask('updated', 'UPDATE', rest), 'APPROVED');

    expect([trafficAllocation, killed]).toEqual([100, false]);
    expect(await ana.ok('GET', at('updated'))).toMatchObject({
      killed: true,
      trafficAllocation: 30,
      defaultRule: halved,
    });
  });

  it('is made when another key approves it: a kill, its end, and a deletion', async () => {
    await defined('ended');
    const seen: unknown[] = [];

    for (const operation of ['KILL', 'RESTORE']) {
      await decide(ben, await ask('ended', operation), 'APPROVED');
      seen.push((await ana.ok<WireDefinition>('GET', at('ended'))).killed);
    }
    await decide(ben, await ask('ended', 'ARCHIVE'), 'APPROVED');

    expect(seen).toEqual([true, false]);
    expect(await ana.status('GET', at('ended'))).toBe(404);
  });

  it('is made when another key approves it: keys of a segment', async () => {
    const path = await ana.segment('keyed', 'production');
    const words = { title: 't', comment: 'c' };

    const segment = { name: 'keyed', keys: ['a', 'b'] };
    const added = await submit({ segment, operationType: 'CREATE', ...words });
    const waiting = await ana.ok('GET', `${path}/keys`);
    await decide(ben, added, 'APPROVED');
    const removal = { name: 'keyed', keys: ['a'] };
    const removed = await submit({ segment: removal, operationType: 'ARCHIVE', ...words });
    await decide(ben, removed, 'APPROVED');

    expect(added).toMatchObject({ segment, split: null });
    expect(waiting).toMatchObject({ keys: [], openChangeRequestId: added.id });
    expect(await ana.ok('GET', `${path}/keys`)).toMatchObject({
      keys: [{ key: 'b' }],
      openChangeRequestId: null,
    });
  });

  it('moves the rollout status too, where the request says so', async () => {
    await defined('ramped');
    const statuses = await ana.ok<WireRolloutStatus[]>('GET', '/rolloutStatuses?wsId=Default');
    const ramping = statuses.find(({ name }) => name === 'Ramping');
    const body = { split: { name: 'ramped' }, operationType: 'KILL' };

    const wrong = await ana.call('POST', `${REQUESTS}/production`, {
      ...body,
      rolloutStatus: { id: 'none' },
    });
    const request = await submit({ ...body, rolloutStatus: { id: ramping?.id } });
    await decide(ben, request, 'APPROVED');

    expect(wrong.status).toBe(400);
    expect(request).toMatchObject({ rolloutStatus: { id: ramping?.id } });
    expect(await ana.ok('GET', '/splits/ws/Default/ramped')).toMatchObject({
      rolloutStatus: { name: 'Ramping' },
    });
  });

  it('leaves a row of the request, and rows of who approved and of what changed, in one transaction', async () => {
    await defined('traced');
    const { id } = await ask('traced', 'UPDATE', aDefinition({ defaultRule: halved }));
    await decide(ben, { id, status: '' }, 'APPROVED');

    const [approval, change, request] = await service.audit({
      kind: 'flag',
      name: 'traced',
      environment: 'production',
    });

    const summary = { id, operationType: 'UPDATE', status: 'REQUESTED', author: 'ana' };
    expect(request).toMatchObject({ action: 'request-change', keyName: 'ana', title: 'A title' });
    expect(request?.difference).toEqual([{ path: '/changeRequest', after: summary }]);
    expect(approval).toMatchObject({ action: 'approve', keyName: 'ben', comment: 'Seen' });
    expect(approval?.difference).toEqual([
      { path: '/changeRequest', before: summary, after: { ...summary, status: 'PUBLISHED' } },
    ]);
    expect(change).toMatchObject({
      action: 'update',
      keyName: 'ben',
      title: 'A title',
      comment: 'A comment',
      transactionId: approval?.transactionId,
    });
    expect(change?.difference).toContainEqual({
      path: '/defaultRule',
      before: [{ treatment: 'off', size: 100 }],
      after: halved,
    });
  });
});

describe('while a change request is open', () => {
  it('the definition bears its id, and no longer after its end', async () => {
    const before = await defined('marked');
    const request = await ask('marked', 'UPDATE', aDefinition({ defaultRule: halved }));
    const page = async (): Promise<{ objects: WireDefinition[] }> =>
      ana.ok('GET', '/splits/ws/Default/environments/production?limit=50');
    const find = async (): Promise<WireDefinition | undefined> =>
      (await page()).objects.find(({ name }) => name === 'marked');

    const open = [await ana.ok('GET', at('marked')), await find()];
    await decide(ana, request, 'WITHDRAWN');

    expect(before.openChangeRequestId).toBeUndefined();
    expect(open).toEqual([1, 2].map(() => ({ ...before, openChangeRequestId: request.id })));
    expect([await ana.ok('GET', at('marked')), await find()]).toEqual([before, before]);
  });

  it('nothing else changes what it is about, in any environment: 423', async () => {
    await ana.flag('held');
    await ana.ok('POST', at('held', 'staging'), aDefinition());
    const keys = await ana.segment('held', 'staging');
    const { id } = await ask('held', 'UPDATE', aDefinition({ defaultRule: halved }), 'staging');
    const segment = { name: 'held', keys: ['a'] };
    const other = await submit({ segment, operationType: 'CREATE' }, 'staging');
    const before = await ana.ok('GET', at('held', 'staging'));
    const words = { keys: ['a'], comment: 'c' };
    const patch = [{ op: 'replace', path: '/trafficAllocation', value: 1 }];

    await ana.flag('awaited');
    const creation = await ask('awaited', 'CREATE', aDefinition(), 'staging');

    const writes: [string, string, unknown?][] = [
      ['POST', at('awaited', 'staging'), aDefinition()],
      ['PATCH', at('held', 'staging'), patch],
      ['PUT', at('held', 'staging'), aDefinition()],
      ['DELETE', at('held', 'staging')],
      ['DELETE', '/splits/ws/Default/held'],
      ['POST', `${REQUESTS}/staging`, { split: { name: 'held' }, operationType: 'ARCHIVE' }],
      ['PUT', `${keys}/upload`, ['b']],
      ['PUT', `${keys}/removeKeys`, words],
      ['DELETE', keys],
      ['DELETE', '/segments/ws/Default/held'],
      ['POST', `${REQUESTS}/staging`, { segment, operationType: 'ARCHIVE' }],
    ];

    for (const [method, path, body] of writes) {
      const answer = await ben.call(method, path, body);
      expect([method, path, answer.status]).toEqual([method, path, 423]);
      const { message } = answer.body as { message: string };
      expect([id, other.id, creation.id].some((open) => message.includes(open))).toBe(true);
    }
    expect(await ana.ok('GET', at('held', 'staging'))).toEqual(before);
    expect(await ana.ok('GET', `${keys}/keys`)).toMatchObject({ count: 0 });
  });

  it('other environments of the same flag change as ever', async () => {
    await ana.flag('elsewhere');
    await ask('elsewhere', 'CREATE', aDefinition());

    await ana.ok('POST', at('elsewhere', 'staging'), aDefinition());

    expect(await ana.ok('GET', at('elsewhere', 'staging'))).not.toHaveProperty(
      'openChangeRequestId',
    );
  });

  it('a kill goes past it where kills need no approval, and what is approved later leaves it', async () => {
    await defined('killed');
    const request = await ask('killed', 'UPDATE', aDefinition({ defaultRule: halved }));

    const kill = { op: 'replace', path: '/killed', value: true };
    const more = { op: 'replace', path: '/trafficAllocation', value: 1 };
    const mixed = await ana.call('PATCH', at('killed'), [kill, more]);
    const undone = await ana.call('PATCH', at('killed'), [{ ...kill, value: false }]);
    await ana.ok('PATCH', at('killed'), [kill]);
    await ana.ok('PUT', `${at('killed')}/kill`);
    const restore = await ana.call('PUT', `${at('killed')}/restore`);
    await decide(ben, request, 'APPROVED');

    expect([mixed, undone, restore].map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(await ana.ok('GET', at('killed'))).toMatchObject({ killed: true, defaultRule: halved });
  });

  it('a killed flag is restored past it, by PUT and by a patch', async () => {
    await ana.flag('restored');
    await ana.ok('POST', at('restored', 'staging'), aDefinition({ killed: true }));
    const path = at('restored', 'staging');
    const { id } = await ask('restored', 'UPDATE', aDefinition({ defaultRule: halved }), 'staging');
    const seen: unknown[] = [];

    await ana.ok('PUT', `${path}/restore`);
    seen.push(await ana.ok('GET', path));
    await ana.ok('PUT', `${path}/kill`);
    await ana.ok('PATCH', path, [{ op: 'replace', path: '/killed', value: false }]);
    seen.push(await ana.ok('GET', path));

    const open = { killed: false, openChangeRequestId: id };
    expect(seen).toMatchObject([open, open]);
  });

  it('the end of a kill that needs an approval is requested and approved beside it', async () => {
    await defined('beside');
    await ana.ok('PUT', `${at('beside')}/kill`);
    const update = await ask('beside', 'UPDATE', aDefinition({ defaultRule: halved }));

    const restore = await ask('beside', 'RESTORE');
    const again = await ben.call('POST', `${REQUESTS}/production`, {
      split: { name: 'beside' },
      operationType: 'RESTORE',
    });
    const kill = await ask('beside', 'KILL');
    await decide(ben, restore, 'APPROVED');
    const restored = await ana.ok('GET', at('beside'));
    await decide(ben, update, 'APPROVED');
    const updated = await ana.ok('GET', at('beside'));
    await decide(ben, kill, 'APPROVED');

    expect(again.status).toBe(423);
    expect(restored).toMatchObject({ killed: false, openChangeRequestId: update.id });
    expect(updated).toMatchObject({ defaultRule: halved, openChangeRequestId: kill.id });
    expect(await ana.ok('GET', at('beside'))).not.toHaveProperty('openChangeRequestId');
  });

  it('a kill is refused where kills need an approval too', async () => {
    await ana.flag('safe');
    await decide(ben, await ask('safe', 'CREATE', aDefinition(), 'vault'), 'APPROVED');

    const kill = [{ op: 'replace', path: '/killed', value: true }];
    expect(await ana.status('PUT', `${at('safe', 'vault')}/kill`)).toBe(403);
    expect(await ana.status('PATCH', at('safe', 'vault'), kill)).toBe(403);
  });
});

describe('a change request', () => {
  it('is neither approved nor rejected by its author, and withdrawn by no other restricted key', async () => {
    await defined('own');
    const production = { workspaces: ['Default'], environments: ['production'] };
    const dan = await callsAs('dan', production);
    const eve = await callsAs('eve', production);
    const { id } = await dan.ok<Requested>('POST', `${REQUESTS}/production`, {
      split: { name: 'own' },
      operationType: 'KILL',
    });
    const put = async (who: ServiceCalls, status: string): Promise<number> =>
      await who.status('PUT', `/changeRequests/${id}`, { status });

    const answers = [
      await put(dan, 'APPROVED'),
      await put(dan, 'REJECTED'),
      await put(eve, 'WITHDRAWN'),
    ];

    expect(answers).toEqual([403, 403, 403]);
    expect(await ana.ok('GET', at('own'))).toMatchObject({ killed: false });
    expect(await ben.ok('GET', `/changeRequests/${id}`)).toMatchObject({ status: 'REQUESTED' });
  });

  it('is not approved by its author, however much its key may do', async () => {
    await defined('approved-by-none');
    const { id } = await ask('approved-by-none', 'KILL');

    expect(await ana.status('PUT', `/changeRequests/${id}`, { status: 'APPROVED' })).toBe(403);
    expect(await ana.ok('GET', at('approved-by-none'))).toMatchObject({ killed: false });
  });

  it.each(['REJECTED', 'WITHDRAWN'])(
    'whose author and approver are revoked holds its flag until a key without restrictions ends it: %s',
    async (status) => {
      const name = `orphaned-${status.toLowerCase()}`;
      await defined(name);
      const production = { workspaces: ['Default'], environments: ['production'] };
      const author = await callsAs(`author of ${name}`, production);
      await callsAs(`approver of ${name}`, production);
      const { id } = await author.ok<Requested>('POST', `${REQUESTS}/production`, {
        split: { name, ...aDefinition({ defaultRule: halved }) },
        operationType: 'UPDATE',
        approvers: [`approver of ${name}`],
      });
      for (const each of await service.listKeys()) {
        if (each.name.endsWith(name)) await service.revokeKey(each.id);
      }

      const approval = await ben.call('PUT', `/changeRequests/${id}`, { status: 'APPROVED' });
      const ended = await ben.ok<Requested>('PUT', `/changeRequests/${id}`, { status });

      expect(approval.status).toBe(403);
      expect(ended.status).toBe(status);
      const definition = await ana.ok<WireDefinition>('GET', at(name));
      expect(definition.openChangeRequestId).toBeUndefined();
      expect(definition.defaultRule).not.toEqual(halved);
    },
  );

  it.each([
    ['REJECTED', 'reject'],
    ['WITHDRAWN', 'withdraw'],
  ])('that is %s changes nothing and is over', async (status, action) => {
    const name = `over-${action}`;
    const before = await defined(name);
    const request = await ask(name, 'UPDATE', aDefinition({ defaultRule: halved }));
    const who = action === 'withdraw' ? ana : ben;

    const ended = await decide(who, request, status);
    const again = await ben.call('PUT', `/changeRequests/${request.id}`, { status: 'APPROVED' });

    expect(ended).toMatchObject({ status, comments: [{ user: 'ana' }, { comment: 'Seen' }] });
    expect(again.status).toBe(409);
    expect(await ana.ok('GET', at(name))).toEqual(before);
    const [row] = await service.audit({ kind: 'flag', name });
    expect(row).toMatchObject({ action });
    await decide(ana, await ask(name, 'KILL'), 'WITHDRAWN');
  });

  it('is about as many keys as an upload takes, and none that cannot be kept', async () => {
    await ana.segment('wide', 'production');
    const keys = Array.from({ length: 10_000 }, (_, index) => `${index}`.padEnd(120, 'k'));
    const bodyOf = (given: string[]): object => ({
      segment: { name: 'wide', keys: given },
      operationType: 'CREATE',
      ...{ title: 't', comment: 'c' },
    });

    const half = await ana.call('POST', `${REQUESTS}/production`, bodyOf(['\ud83d']));
    const asked = await submit(bodyOf(keys));

    expect(half.status).toBe(400);
    expect(asked).toMatchObject({ segment: { keys } });
    await decide(ana, asked, 'WITHDRAWN');
  });

  it('is refused with approvers of which none could approve it', async () => {
    await defined('unapprovable');
    await callsAs('of staging', { workspaces: ['Default'], environments: ['staging'] });
    await callsAs('of Worded', { workspaces: ['Worded'] });
    const dan = await callsAs('alone', { workspaces: ['Default'], environments: ['production'] });
    const body = { split: { name: 'unapprovable' }, operationType: 'KILL' };

    for (const approvers of [['of staging'], ['of Worded'], ['alone'], ['alone', 'alone']]) {
      const answer = await dan.call('POST', `${REQUESTS}/production`, { ...body, approvers });
      expect([approvers, answer.status]).toEqual([approvers, 400]);
    }
    expect(await ana.ok('GET', at('unapprovable'))).not.toHaveProperty('openChangeRequestId');
  });

  it('is approved by those keys alone that it names', async () => {
    await defined('chosen');
    const cleo = callsOf({ origin: service.origin, key: await service.createKey('cleo') });
    const body = { split: { name: 'chosen' }, operationType: 'KILL' };

    const unknown = await ana.call('POST', `${REQUESTS}/production`, {
      ...body,
      approvers: ['nobody'],
    });
    await service.createKey('gone');
    const gone = (await service.listKeys()).find(({ name }) => name === 'gone');
    await service.revokeKey(gone?.id ?? '');
    const revoked = await ana.call('POST', `${REQUESTS}/production`, {
      ...body,
      approvers: ['gone'],
    });
    const request = await submit({ ...body, approvers: ['cleo'] });
    const refused = await ben.call('PUT', `/changeRequests/${request.id}`, { status: 'APPROVED' });
    await decide(cleo, request, 'APPROVED');

    expect([unknown.status, revoked.status]).toEqual([400, 400]);
    expect(request).toMatchObject({ approvers: ['cleo'] });
    expect(refused.status).toBe(403);
    expect(await ana.ok('GET', at('chosen'))).toMatchObject({ killed: true });
  });

  const about = (operationType: string, split: object = {}, name = 'asked'): object => ({
    split: { name, ...split },
    operationType,
  });
  const aboutKeys = (operationType: string, name: string): object => ({
    segment: { name, keys: ['a'] },
    operationType,
  });

  it.each<[string, number, object]>([
    ['nothing', 400, { operationType: 'KILL' }],
    ['two objects', 400, { ...about('CREATE', {}, 'f'), ...aboutKeys('CREATE', 's') }],
    ['a flag that is not there', 404, about('KILL', {}, 'none')],
    ['a creation of a flag that is not there', 404, about('CREATE', aDefinition(), 'none')],
    ['a segment that is not active', 404, aboutKeys('CREATE', 'none')],
    ['a kill of a segment', 400, aboutKeys('KILL', 's')],
    ['an unknown operation', 400, about('RENAME')],
    ['a time', 400, { ...about('KILL'), scheduledFor: 1 }],
    ['a misspelt member', 400, about('KILL', { kiled: true })],
    ['a creation of what is there', 409, about('CREATE', aDefinition())],
    ['an update without a definition', 400, about('UPDATE')],
    [
      'sizes that do not sum to 100',
      400,
      about('UPDATE', aDefinition({ defaultRule: halved.slice(1) })),
    ],
    [
      'a segment that is not there',
      400,
      about(
        'UPDATE',
        aDefinition({ treatments: [{ name: 'on', segments: ['none'] }, { name: 'off' }] }),
      ),
    ],
    [
      'another environment',
      400,
      about('UPDATE', { environment: { name: 'staging' }, ...aDefinition() }),
    ],
  ])('about %s is refused', async (_, status, body) => {
    if ((await ana.status('GET', at('asked'))) === 404) await defined('asked');

    expect(await ana.status('POST', `${REQUESTS}/production`, body)).toBe(status);
    expect(await ana.ok('GET', at('asked'))).not.toHaveProperty('openChangeRequestId');
  });

  it('needs title and comment where the workspace requires them', async () => {
    await ana.ok('POST', '/splits/ws/Worded/trafficTypes/user', { name: 'worded' });
    const path = '/changeRequests/ws/Worded/environments/live';
    const body = { split: { name: 'worded', ...aDefinition() }, operationType: 'CREATE' };

    const bare = await ana.call('POST', path, { ...body, title: 't' });
    const request = await ana.ok<Requested>('POST', path, { ...body, title: 't', comment: 'c' });
    const { id } = request;
    await ben.ok('PUT', `/changeRequests/${id}`, { status: 'APPROVED' });

    expect(bare.status).toBe(400);
    await ben.ok('GET', '/splits/ws/Worded/worded/environments/live');
  });

  it('that can no longer be made stays open', async () => {
    await defined('stuck');
    const path = await ana.segment('support', 'production');
    const treatments = [{ name: 'on', segments: ['support'] }, { name: 'off' }];
    const request = await ask('stuck', 'UPDATE', aDefinition({ treatments }));
    await ana.ok('DELETE', path);

    expect(await ben.status('PUT', `/changeRequests/${request.id}`, { status: 'APPROVED' })).toBe(
      400,
    );
    expect(await ben.ok('GET', `/changeRequests/${request.id}`)).toMatchObject({
      status: 'REQUESTED',
      comments: [{ role: 'SUBMITTER' }],
    });
    expect(await ana.ok('GET', at('stuck'))).toMatchObject({ openChangeRequestId: request.id });
  });

  it('is not there for a key that does not see its environment', async () => {
    await defined('hidden');
    const { id } = await ask('hidden', 'KILL');
    for (const restrictions of [{ environments: ['staging'] }, { workspaces: ['Worded'] }]) {
      const key = await service.createKey(`without ${JSON.stringify(restrictions)}`, restrictions);
      const stranger = callsOf({ origin: service.origin, key });

      const { data } = await stranger.ok<{ data: Requested[] }>('GET', '/changeRequests?limit=100');
      const answers = [
        await stranger.call('GET', `/changeRequests/${id}`),
        await stranger.call('PUT', `/changeRequests/${id}`, { status: 'APPROVED' }),
        await stranger.call('POST', `${REQUESTS}/production`, {
          split: { name: 'hidden' },
          operationType: 'KILL',
        }),
      ];

      expect(data.map((each) => each.id)).not.toContain(id);
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
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

describe('the list of change requests', () => {
  interface RequestPage {
    readonly data: readonly Requested[];
    readonly nextMarker: string | null;
    readonly count: number;
  }

  it('shows the newest first, in pages that lead to the next', async () => {
    const mine: string[] = [];
    for (const name of ['l1', 'l2', 'l3']) {
      await ana.flag(name);
      mine.push((await ask(name, 'CREATE', aDefinition(), 'vault')).id);
    }
    const elsewhere = await ask('l1', 'CREATE', aDefinition());
    const page = async (query: string): Promise<RequestPage> =>
      ana.ok('GET', `/changeRequests?environmentId=vault&status=REQUESTED${query}`);

    const first = await page('&limit=2');
    expect((await page('&limit=1')).nextMarker).toMatch(/^\d+$/);
    expect((await page('&limit=3')).nextMarker).toBeNull();
    const second = await page(`&limit=2&after=${first.nextMarker ?? ''}`);

    expect(first).toMatchObject({ limit: 2, count: 2, previousMarker: null });
    expect(second.nextMarker).toBeNull();
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(mine.toReversed());
    expect((await page('')).count).toBe(3);
    const { data } = await ana.ok<RequestPage>('GET', '/changeRequests?environmentId=&status=');
    expect(data[0]?.id).toBe(elsewhere.id);
    expect(await ana.status('GET', '/changeRequests?limit=0')).toBe(400);
  });

  it('shows those of one status', async () => {
    await defined('listed');
    const request = await ask('listed', 'KILL');
    await decide(ben, request, 'REJECTED');
    const ids = async (status: string): Promise<string[]> =>
      (await ana.ok<RequestPage>('GET', `/changeRequests?limit=100&status=${status}`)).data.map(
        ({ id }) => id,
      );

    expect(await ids('REJECTED')).toContain(request.id);
    expect(await ids('REQUESTED')).not.toContain(request.id);
  });
});

describe('a change request that stays open', () => {
  it('is withdrawn by the service after its time, and holds its flag no longer', async () => {
    const short = await startTestService({ requestsExpireAfterMs: 300 });
    const client = callsOf(short);
    const path = '/splits/ws/Default/forgotten/environments/staging';
    await client.flag('forgotten');
    await client.ok('POST', path, aDefinition());
    const { id } = await client.ok<Requested>(
      'POST',
      '/changeRequests/ws/Default/environments/staging',
      {
        split: { name: 'forgotten' },
        operationType: 'ARCHIVE',
      },
    );
    const find = async (): Promise<Requested> => client.ok('GET', `/changeRequests/${id}`);
    const patch = [{ op: 'replace', path: '/trafficAllocation', value: 5 }];
    const held = await client.call('PATCH', path, patch);

    await expect.poll(async () => (await find()).status, { timeout: 20_000 }).toBe('WITHDRAWN');
    await client.ok('PATCH', path, patch);
    const [, expiry] = await short.audit({ kind: 'flag', name: 'forgotten' });
    const request = await find();
    await short.stop();

    expect(held.status).toBe(423);
    expect(request).toMatchObject({
      comments: [{ role: 'SUBMITTER' }, { comment: 'The change request expired' }],
    });
    expect(expiry).toMatchObject({ action: 'expire', keyId: null, keyName: 'flagkeel service' });
  });

  it.each([
    [30 * 86_400_000, 'REQUESTED'],
    [30 * 86_400_000 + 1, 'WITHDRAWN'],
  ])('for %i ms is %s at the next start', async (age, status) => {
    const location = { kind: 'directory', path: mkdtempSync(join(tmpdir(), 'service-requests-')) };
    const now = 1_800_000_000_000;
    const start = async (time: number) =>
      startTestService({ store: location as StoreLocation, clock: () => time });
    const first = await start(now);
    await callsOf(first).ok('POST', '/splits/ws/Default/trafficTypes/user', { name: 'old' });
    const { id } = await callsOf(first).ok<Requested>(
      'POST',
      '/changeRequests/ws/Default/environments/staging',
      {
        split: { name: 'old', ...aDefinition() },
        operationType: 'CREATE',
      },
    );
    await first.stop();
    // The stop waits for the look that began with the start.
    await (await start(now + age)).stop();

    const second = await start(now + age);
    const found = await callsOf(second).ok<Requested>('GET', `/changeRequests/${id}`);
    await second.stop();
    rmSync(location.path, { recursive: true, force: true });

    expect(found.status).toBe(status);
  });
});
