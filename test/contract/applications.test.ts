import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { backUp, restore } from '../../src/service/store/backup.js';
import {
  aServedWorld,
  applicationKey,
  changesOf,
  startServedWorld,
  type SplitChanges,
} from '../support/applications.js';
import { replacing } from '../support/exchanges.js';
import { makeDirectory } from '../support/git.js';
import { aDefinition, at, ruleOn } from '../support/service-calls.js';

/** `test/sdk` runs the SDKs themselves. */
const world = aServedWorld();

interface SegmentChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly till: number;
}

const changes = async (since: number, of = world): Promise<SplitChanges> => changesOf(of, since);
const splitOf = async (name: string, of = world) => {
  const found = (await changes(-1, of)).ff.d.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no split ${name}`);
  return found;
};
const keysSince = async (segment: string, since: number): Promise<SegmentChanges> =>
  world.ask(`/sdk/segmentChanges/${segment}?since=${since}`);

describe('splitChanges', () => {
  it('has every flag of its environment at first, and then what changed alone, a kill at once', async () => {
    await world.admin.define('first');
    await world.admin.flag('elsewhere');
    await world.admin.ok('POST', at('elsewhere', 'production'), aDefinition());
    const { ff: before } = await changes(-1);
    const { ff: nothing } = await changes(before.t);
    await world.admin.define('second');
    await world.admin.ok('PUT', `${at('first')}/kill`);
    const { ff: after } = await changes(before.t);

    const names = before.d.map(({ name }) => name);
    expect(names).toContain('first');
    expect(names).not.toContain('elsewhere');
    expect(nothing).toEqual({ d: [], s: before.t, t: before.t });
    expect(after.d.toSorted((a, b) => a.name.localeCompare(b.name))).toMatchObject([
      { name: 'first', killed: true },
      { name: 'second', status: 'ACTIVE', killed: false },
    ]);
    expect(after.t).toBeGreaterThan(before.t);
  });

  it('says that a flag is gone: deleted here, deleted everywhere, archived', async () => {
    for (const name of ['gone-here', 'gone', 'archived']) await world.admin.define(name);
    const { ff: before } = await changes(-1);
    await world.admin.ok('DELETE', at('gone-here'));
    await world.admin.ok('DELETE', '/splits/ws/Default/gone');
    await world.admin.ok('POST', '/splits/ws/Default/archived/archive');

    const { ff: after } = await changes(before.t);
    expect(after.d.map(({ name, status }) => [name, status]).toSorted()).toEqual([
      ['archived', 'ARCHIVED'],
      ['gone', 'ARCHIVED'],
      ['gone-here', 'ARCHIVED'],
    ]);
    expect((await changes(-1)).ff.d.map(({ name }) => name)).not.toContain('gone');
  });

  it('keeps the seeds of a definition for its life, whatever administrators send, who see them, and draws others when it is reallocated', async () => {
    const { admin } = world;
    const { seed, trafficAllocationSeed } = await admin.define('seeded');
    const seeds = { seed, trafficAllocationSeed };
    const others = { seed: 1, trafficAllocationSeed: 2 };
    await admin.ok('PATCH', at('seeded'), replacing('/trafficAllocation', 50));
    const put = await admin.ok('PUT', at('seeded'), aDefinition({ killed: true, ...others }));
    for (const act of ['archive', 'unarchive']) {
      await admin.ok('POST', `/splits/ws/Default/seeded/${act}`);
    }
    const path = '/splits/ws/Default/environments/staging?limit=50';
    const { objects } = await admin.ok<{ objects: { name: string }[] }>('GET', path);

    expect(seed).not.toBe(trafficAllocationSeed);
    const own = objects.find(({ name }) => name === 'seeded');
    for (const shown of [put, own, await splitOf('seeded')]) {
      expect(shown).toMatchObject({ killed: true, ...seeds });
    }
    await admin.ok('POST', `${at('seeded')}/reallocate`);
    expect(await splitOf('seeded')).not.toMatchObject(seeds);
  });

  it('has conditions in the order of evaluation, buckets in that of the rule', async () => {
    await world.admin.segment('ordered');
    await world.admin.define('ordered', {
      treatments: [
        { name: 'on', segments: ['ordered'] },
        { name: 'off', keys: ['ana'] },
      ],
      rules: [ruleOn({ type: 'IN_SEGMENT', string: 'ordered', negate: true })],
      defaultRule: [
        { treatment: 'off', size: 90 },
        { treatment: 'on', size: 10 },
      ],
    });

    const { conditions } = await splitOf('ordered');
    const types = conditions.map(({ conditionType, matcherGroup: { matchers } }) =>
      [conditionType, matchers[0]?.['matcherType'], matchers[0]?.['negate']].join(' '),
    );
    expect(types).toEqual([
      'WHITELIST WHITELIST false',
      'WHITELIST IN_SEGMENT false',
      'ROLLOUT IN_SEGMENT true',
      'ROLLOUT ALL_KEYS false',
    ]);
    expect(conditions.at(-1)?.partitions.map(({ treatment }) => treatment)).toEqual(['off', 'on']);
  });

  it.each(['constructor', '__proto__', 'NEWEST'])(
    'still answers where a flag has a matcher of the type %s, which no SDK knows',
    async (type) => {
      const name = `odd-${type.toLowerCase().replaceAll('_', '')}`;
      await world.admin.define(name, { rules: [ruleOn({ type })] });

      const { conditions } = await splitOf(name);
      expect(conditions[0]?.matcherGroup.matchers).toMatchObject([{ matcherType: 'UNKNOWN' }]);
    },
  );

  it('answers older specs in the old form, and refuses one that it does not know', async () => {
    for (const spec of ['1.0', '1.1', '1.2']) {
      const old = await world.ask<object>(`/sdk/splitChanges?s=${spec}&since=-1`);
      expect(Object.keys(old)).toEqual(['splits', 'since', 'till']);
    }
    // Then the SDK asks with an older one.
    expect((await world.send('GET', '/sdk/splitChanges?s=2.0&since=-1')).status).toBe(400);
  });

  it('tells everything to an SDK that knows a number of another life of the service', async () => {
    await world.admin.define('of-this-life');
    const { ff } = await changes(9_000_000_000_000_000);

    expect(ff.d.map(({ name }) => name)).toContain('of-this-life');
  });
});

describe('segmentChanges', () => {
  it('has all keys at first, and then what was added and removed', async () => {
    const path = await world.admin.segment('moving');
    await world.admin.ok('PUT', `${path}/uploadKeys`, { keys: ['a', 'b', 'c'] });
    const first = await keysSince('moving', -1);
    await world.admin.ok('PUT', `${path}/removeKeys`, { keys: ['a', 'b'] });
    await world.admin.ok('PUT', `${path}/uploadKeys`, { keys: ['b', 'd'] });
    const next = await keysSince('moving', first.till);

    expect(first).toMatchObject({ added: ['a', 'b', 'c'], removed: [] });
    expect(next.added.toSorted()).toEqual(['b', 'd']);
    expect(next.removed).toEqual(['a']);
    expect(await keysSince('moving', next.till)).toMatchObject({ added: [], removed: [] });
  });

  it('takes the keys of a deleted segment away', async () => {
    await world.admin.segment('deleted');
    await world.admin.ok('PUT', '/segments/staging/deleted/uploadKeys', { keys: ['a', 'b'] });
    const { till } = await keysSince('deleted', -1);
    await world.admin.ok('DELETE', '/segments/ws/Default/deleted');

    expect(await keysSince('deleted', till)).toMatchObject({ added: [], removed: ['a', 'b'] });
    expect(await keysSince('deleted', -1)).toMatchObject({ added: [], removed: [] });
  });

  it('has all keys for an SDK that missed more changes than are kept', async () => {
    await world.admin.segment('busy');
    const path = '/segments/staging/busy';
    await world.admin.ok('PUT', `${path}/uploadKeys`, { keys: ['stays'] });
    const { till } = await keysSince('busy', -1);
    const keys = Array.from({ length: 501 }, (_, turn) => `k${turn}`);
    // At once, because writers that wait share a transaction.
    await Promise.all(
      keys.map(async (key) => world.admin.ok('PUT', `${path}/uploadKeys`, { keys: [key] })),
    );
    await world.admin.ok('PUT', `${path}/removeKeys`, { keys });

    const late = await keysSince('busy', till);
    expect(late.added).toEqual(['stays']);
    expect(late.removed).toContain('k500');
  });

  it('is empty for a segment that is not active', async () => {
    const first = await keysSince('nowhere', -1);

    expect(first).toMatchObject({ added: [], since: -1 });
    const { till } = first;
    expect(await keysSince('nowhere', till)).toMatchObject({ since: till, till });
  });

  it('is closed to keys of pages, which everybody can read', async () => {
    const key = await applicationKey(world.service, 'client_side');
    const status = async (path: string): Promise<number> =>
      (await world.send('GET', path, { key })).status;

    expect(await status('/sdk/segmentChanges/moving?since=-1')).toBe(403);
    expect(await status('/sdk/splitChanges?s=1.3&since=-1')).toBe(200);
  });
});

describe('an application', () => {
  it('asks for the segments of a key, with any character in it', async () => {
    await world.admin.segment('holding');
    await world.admin.ok('PUT', '/segments/staging/holding/uploadKeys', { keys: ['a/b%é'] });

    const held = await world.ask(`/sdk/memberships/${encodeURIComponent('a/b%é')}`);
    expect(held).toMatchObject({ ms: { k: [{ n: 'holding' }] }, ls: { k: [] } });
    expect(await world.ask('/sdk/memberships/nobody')).toMatchObject({ ms: { k: [] } });
  });

  it('learns that nothing is streamed, and may have its SDK add /api to the address', async () => {
    expect(await world.ask('/sdk/v2/auth?s=1.3')).toEqual({ pushEnabled: false, token: '' });
    expect((await world.send('GET', '/sdk/api/splitChanges?s=1.1&since=-1')).status).toBe(200);
  });

  it.each([
    ...['events/bulk', 'testImpressions/bulk', 'testImpressions/count'],
    ...['v1/metrics/config', 'v1/metrics/usage', 'v1/keys/ss', 'v1/keys/cs'],
  ])('sends reports to %s, which are dropped unread and may not be endless', async (place) => {
    const path = `/sdk/${place}`;
    const unread = { body: '[{"no":"JSON', headers: { 'content-encoding': 'gzip' } };
    const large = { body: 'x'.repeat(9 * 1024 * 1024) };

    expect((await world.send('POST', path, unread)).status).toBe(200);
    const answer = await world.send('POST', path, large).catch(() => null);
    expect(answer?.status ?? 413).toBe(413);
  });

  it('asks under the key of an application alone, of this service, and not revoked', async () => {
    const short = await applicationKey(world.service);
    const paths = ['/sdk/splitChanges?since=-1', '/sdk/memberships/a', '/sdk/v2/auth'];
    const statuses = async (key: string): Promise<number[]> =>
      Promise.all(paths.map(async (path) => (await world.send('GET', path, { key })).status));

    expect(await statuses(short)).toEqual([200, 200, 200]);
    const all = await world.service.listKeys();
    await world.service.revokeKey(all.at(-1)?.id ?? '');
    for (const key of [short, world.service.key, '']) {
      expect(await statuses(key)).toEqual([401, 401, 401]);
    }
    const refused = await world.send('GET', '/sdk/v2/auth', { key: world.service.key });
    expect(await refused.text()).toContain('of another type');
  });

  it('may be a page of another site', async () => {
    const headers = {
      origin: 'http://localhost:3000',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization,splitsdkversion',
    };
    const url = `${world.service.origin}/sdk/splitChanges`;
    const asked = await fetch(url, { method: 'OPTIONS', headers });
    const answer = await world.send('GET', '/sdk/splitChanges?since=-1', { headers });

    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-headers')).toBe('authorization,splitsdkversion');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });
});

it('a store that was restored serves the same keys the same, by the same numbers', async () => {
  const directory = makeDirectory();
  const locationOf = (name: string) => {
    return { kind: 'directory', path: join(directory, name) } as const;
  };
  const start = async (name: string) => {
    const served = await startServedWorld({ store: locationOf(name) });
    onTestFinished(async () => served.service.stop());
    return served;
  };
  const first = await start('from');
  await first.admin.define('restored');
  const before = await changes(-1, first);
  const backup = join(directory, 'backup');
  await backUp(locationOf('from'), backup, Date.now());
  await restore(locationOf('to'), backup);
  const second = await start('to');

  expect(await changes(-1, second)).toEqual(before);
  expect((await changes(before.ff.t, second)).ff.d).toEqual([]);
});
