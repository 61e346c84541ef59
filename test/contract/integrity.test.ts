import { describe, expect, it } from 'vitest';
import type { WireDefinition, WireSegmentKeys } from '../../src/admin-api/wire.js';
import { expectAnswers, replacing } from '../support/exchanges.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
import { aService, startTestService } from '../support/service.js';

/** Rules that keep the data whole, whoever writes and in whatever order. */
const service = aService();
const client = callsOf(service);

async function flagWith(name: string, definition?: object, environment = 'staging') {
  await client.call('POST', '/splits/ws/Default/trafficTypes/user', { name });
  if (definition) await client.ok('POST', at(name, environment), definition);
}

const inSegment = (name: string): object =>
  aDefinition({ rules: [ruleOn({ type: 'IN_SEGMENT', string: name })] });
const dependsOn = (name: string): object =>
  aDefinition({
    rules: [ruleOn({ type: 'IN_SPLIT', depends: { splitName: name, treatments: ['on'] } })],
  });

it('a patch is run whole or not at all, may pass through states that would be refused, and leaves the times alone where it changes nothing', async () => {
  await flagWith('whole', aDefinition());
  const before = await client.ok<WireDefinition>('GET', at('whole'));
  const first = replacing('/trafficAllocation', 1);

  await expectAnswers(
    client,
    [400, 'PATCH', at('whole'), [...first, { op: 'remove', path: '/nowhere' }]],
    [400, 'PATCH', at('whole'), [...first, ...replacing('/defaultRule/0/size', 99)]],
  );
  expect(await client.ok('GET', at('whole'))).toEqual(before);
  const same = replacing('/trafficAllocation', 100);
  expect(await client.ok('PATCH', at('whole'), same)).toEqual(before);
  const after = await client.ok<WireDefinition>('PATCH', at('whole'), [
    { op: 'replace', path: '/defaultRule/0/size', value: 40 },
    { op: 'add', path: '/defaultRule/-', value: { treatment: 'on', size: 60 } },
  ]);
  expect(after.defaultRule).toEqual([
    { treatment: 'off', size: 40 },
    { treatment: 'on', size: 60 },
  ]);
});

it('times grow with each change, even when the clock stands still', async () => {
  const still = await startTestService({ clock: () => 1_000 });
  const calls = callsOf(still);
  await calls.define('f');
  const [, next] = await calls.ok<{ id: string }[]>('GET', '/rolloutStatuses?wsId=Default');
  const moving = replacing('/rolloutStatus/id', next?.id);
  const segment = await calls.segment('s');
  const updated = { creationTime: 1_000, lastUpdateTime: 1_001 };
  const moved = { creationTime: 1_000, rolloutStatusTimestamp: 1_001 };

  await expectAnswers(
    calls,
    [200, 'PATCH', at('f'), replacing('/trafficAllocation', 1), updated],
    [200, 'PATCH', '/splits/ws/Default/f', moving, moved],
    [200, 'PUT', `${segment}/upload`, ['k'], updated],
  );
  await still.stop();
});

describe('a segment that a definition names', () => {
  it('must be active in that environment', async () => {
    await client.segment('elsewhere', 'production');
    await flagWith('needs-segment');

    await expectAnswers(
      client,
      [400, 'POST', at('needs-segment'), inSegment('elsewhere')],
      [400, 'POST', at('needs-segment'), inSegment('unknown')],
      [200, 'POST', at('needs-segment', 'production'), inSegment('elsewhere')],
    );
  });

  it('can be neither deleted nor deactivated until no definition names it, also of a flag that went', async () => {
    for (const name of ['held', 'freed']) await client.segment(name);
    await flagWith('holds', inSegment('held'));
    await flagWith('frees', inSegment('freed'));
    const message = 'Segment held is used by feature flag holds in the environment staging';

    await expectAnswers(
      client,
      [409, 'DELETE', '/segments/ws/Default/held', undefined, { message }],
      [409, 'DELETE', '/segments/staging/held'],
      [200, 'PATCH', at('holds'), replacing('/rules', [])],
      [200, 'DELETE', '/segments/staging/held'],
      [200, 'DELETE', '/splits/ws/Default/frees'],
      [200, 'DELETE', '/segments/ws/Default/freed'],
    );
  });
});

describe('deactivation', () => {
  it('waits until the segment is empty', async () => {
    const path = await client.segment('emptied');

    await expectAnswers(
      client,
      [200, 'PUT', `${path}/upload`, ['k']],
      [400, 'PUT', `${path}/upload`, ['b', '']],
      [409, 'DELETE', path],
      [200, 'PUT', `${path}/removeKeys`, { keys: ['k'] }],
    );
    // The upload that was refused left no key behind.
    expect(await client.ok('DELETE', path)).toBe(true);
    await expectAnswers(
      client,
      [404, 'GET', `${path}/keys`],
      [200, 'GET', '/segments/ws/Default/emptied'],
    );
  });
});

describe('a flag that a definition depends on', () => {
  it('must exist, and cannot go while it is needed, with its definition where it is needed', async () => {
    await flagWith('needed', aDefinition());
    await client.ok('POST', at('needed', 'production'), aDefinition());
    await flagWith('needy');

    await expectAnswers(
      client,
      [400, 'POST', at('needy'), dependsOn('unknown')],
      [200, 'POST', at('needy'), dependsOn('needed')],
      [409, 'DELETE', '/splits/ws/Default/needed'],
      [409, 'DELETE', at('needed')],
      [200, 'DELETE', at('needed', 'production')],
    );
  });

  it('cannot depend on it in turn', async () => {
    for (const name of ['ring-a', 'ring-b', 'ring-c']) await flagWith(name, aDefinition());

    await expectAnswers(
      client,
      [200, 'PUT', at('ring-a'), dependsOn('ring-b')],
      [200, 'PUT', at('ring-b'), dependsOn('ring-c')],
      [400, 'PUT', at('ring-c'), dependsOn('ring-a')],
      [400, 'PUT', at('ring-c'), dependsOn('ring-c')],
    );
  });
});

describe('writers at the same time', () => {
  it('create one flag of a name', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () =>
        client.call('POST', '/splits/ws/Default/trafficTypes/user', { name: 'once' }),
      ),
    );

    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array<number>(9).fill(409),
    ]);
  });

  it('undo what they did where they are refused, and nothing of the others', async () => {
    await client.segment('nearly-full', 'staging');
    const upload = async (keys: readonly string[]) =>
      client.call('PUT', '/segments/staging/nearly-full/upload', keys);
    for (let part = 0; part < 10; part += 1) {
      await upload(Array.from({ length: 9_999 }, (_, index) => `k${part}-${index}`));
    }
    // Ten more find room, thirty more do not: that is known only after they were written.
    const lists = Array.from({ length: 20 }, (_, index) =>
      Array.from({ length: index % 2 === 0 ? 1 : 30 }, (_key, at_) => `late${index}-${at_}`),
    );

    const answers = await Promise.all(lists.map(upload));

    expect(answers.map(({ status }) => status)).toEqual(
      lists.map(({ length }) => (length === 1 ? 200 : 400)),
    );
    const path = '/segments/staging/nearly-full/keys?limit=100&offset=99950';
    const page = await client.ok<WireSegmentKeys>('GET', path);
    expect([page.count, page.keys.length]).toEqual([100_000, 50]);
  });

  it('add to one list, and to one segment, without losing each other', async () => {
    const treatments = [{ name: 'on', keys: ['k'] }, { name: 'off' }];
    await flagWith('crowded', aDefinition({ treatments }));
    await client.segment('shared', 'staging');

    await Promise.all(
      Array.from({ length: 40 }, async (_, index) =>
        index % 2 === 0
          ? client.ok('PUT', '/segments/staging/shared/upload', [`k${index}`])
          : client.ok('PATCH', at('crowded'), [
              { op: 'add', path: '/treatments/0/keys/-', value: `k${index}` },
            ]),
      ),
    );

    const definition = await client.ok<WireDefinition>('GET', at('crowded'));
    expect(definition.treatments[0]?.keys).toHaveLength(21);
    const page = await client.ok<WireSegmentKeys>('GET', '/segments/staging/shared/keys');
    expect([page.count, page.keys.length]).toEqual([20, 20]);
  });
});
