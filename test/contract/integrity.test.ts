import { describe, expect, it } from 'vitest';
import type { WireDefinition, WireFlag, WireSegmentKeys } from '../../src/admin-api/wire.js';
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

describe('a patch', () => {
  it('is run whole or not at all', async () => {
    await flagWith('whole', aDefinition());
    const before = await client.ok('GET', at('whole'));

    const missing = await client.call('PATCH', at('whole'), [
      { op: 'replace', path: '/trafficAllocation', value: 1 },
      { op: 'remove', path: '/nowhere' },
    ]);
    const invalid = await client.call('PATCH', at('whole'), [
      { op: 'replace', path: '/trafficAllocation', value: 1 },
      { op: 'replace', path: '/defaultRule/0/size', value: 99 },
    ]);

    expect([missing.status, invalid.status]).toEqual([400, 400]);
    expect(await client.ok('GET', at('whole'))).toEqual(before);
  });

  it('may pass through states that would be refused', async () => {
    await flagWith('through', aDefinition());

    const after = await client.ok<WireDefinition>('PATCH', at('through'), [
      { op: 'replace', path: '/defaultRule/0/size', value: 40 },
      { op: 'add', path: '/defaultRule/-', value: { treatment: 'on', size: 60 } },
    ]);

    expect(after.defaultRule).toEqual([
      { treatment: 'off', size: 40 },
      { treatment: 'on', size: 60 },
    ]);
  });

  it('that changes nothing leaves the times alone', async () => {
    await flagWith('same', aDefinition());
    const before = await client.ok<WireDefinition>('GET', at('same'));

    const after = await client.ok('PATCH', at('same'), [
      { op: 'replace', path: '/trafficAllocation', value: 100 },
    ]);

    expect(after).toEqual(before);
  });
});

describe('times', () => {
  it('grow with each change, even when the clock stands still', async () => {
    const still = await startTestService({ clock: () => 1_000 });
    const calls = callsOf(still);
    const flag = '/splits/ws/Default/f';
    const path = `${flag}/environments/staging`;
    await calls.flag('f');
    const [, next] = await calls.ok<{ id: string }[]>('GET', '/rolloutStatuses?wsId=Default');
    await calls.ok('POST', path, aDefinition());

    const definition = await calls.ok<WireDefinition>('PATCH', path, [
      { op: 'replace', path: '/trafficAllocation', value: 1 },
    ]);
    const moved = await calls.ok<WireFlag>('PATCH', flag, [
      { op: 'replace', path: '/rolloutStatus/id', value: next?.id },
    ]);
    await calls.segment('s');
    const keys = await calls.ok('PUT', '/segments/staging/s/upload', ['k']);
    await still.stop();

    expect(keys).toMatchObject({ creationTime: 1_000, lastUpdateTime: 1_001 });
    expect(definition).toMatchObject({ creationTime: 1_000, lastUpdateTime: 1_001 });
    expect(moved).toMatchObject({ creationTime: 1_000, rolloutStatusTimestamp: 1_001 });
  });
});

describe('a segment that a definition names', () => {
  it('must be active in that environment', async () => {
    await client.segment('elsewhere', 'production');
    await flagWith('needs-segment');

    const inactive = await client.call('POST', at('needs-segment'), inSegment('elsewhere'));
    const unknown = await client.call('POST', at('needs-segment'), inSegment('unknown'));
    const active = await client.call(
      'POST',
      at('needs-segment', 'production'),
      inSegment('elsewhere'),
    );

    expect([inactive.status, unknown.status, active.status]).toEqual([400, 400, 200]);
  });

  it('can be neither deleted nor deactivated until no definition names it', async () => {
    await client.segment('held', 'staging');
    await flagWith('holds', inSegment('held'));

    const deleted = await client.call('DELETE', '/segments/ws/Default/held');
    const deactivated = await client.call('DELETE', '/segments/staging/held');
    await client.ok('PATCH', at('holds'), [{ op: 'replace', path: '/rules', value: [] }]);
    const released = await client.call('DELETE', '/segments/staging/held');

    expect([deleted.status, deactivated.status, released.status]).toEqual([409, 409, 200]);
    expect(deleted.body).toMatchObject({
      message: 'Segment held is used by feature flag holds in the environment staging',
    });
  });

  it('is free again when the definition or its flag is deleted', async () => {
    await client.segment('freed', 'staging');
    await flagWith('frees', inSegment('freed'));
    await client.ok('DELETE', '/splits/ws/Default/frees');

    expect(await client.status('DELETE', '/segments/ws/Default/freed')).toBe(200);
  });
});

describe('deactivation', () => {
  it('waits until the segment is empty', async () => {
    await client.segment('emptied', 'staging');
    await client.ok('PUT', '/segments/staging/emptied/upload', ['k']);
    expect(await client.status('PUT', '/segments/staging/emptied/upload', ['b', ''])).toBe(400);

    const full = await client.call('DELETE', '/segments/staging/emptied');
    await client.ok('PUT', '/segments/staging/emptied/removeKeys', { keys: ['k'] });
    const empty = await client.call('DELETE', '/segments/staging/emptied');

    expect(full.status).toBe(409);
    // The upload that was refused left no key behind.
    expect(empty).toMatchObject({ status: 200, text: 'true' });
    expect(await client.status('GET', '/segments/staging/emptied/keys')).toBe(404);
    expect(await client.status('GET', '/segments/ws/Default/emptied')).toBe(200);
  });
});

describe('a flag that a definition depends on', () => {
  it('must exist, and cannot go while it is needed', async () => {
    await flagWith('needed');
    await flagWith('needy');

    const unknown = await client.call('POST', at('needy'), dependsOn('unknown'));
    const known = await client.call('POST', at('needy'), dependsOn('needed'));
    const deleted = await client.call('DELETE', '/splits/ws/Default/needed');

    expect([unknown.status, known.status, deleted.status]).toEqual([400, 200, 409]);
  });

  it('cannot depend on it in turn', async () => {
    for (const name of ['ring-a', 'ring-b', 'ring-c']) await flagWith(name, aDefinition());
    await client.ok('PUT', at('ring-a'), dependsOn('ring-b'));
    await client.ok('PUT', at('ring-b'), dependsOn('ring-c'));

    const closed = await client.call('PUT', at('ring-c'), dependsOn('ring-a'));
    const self = await client.call('PUT', at('ring-c'), dependsOn('ring-c'));

    expect([closed.status, self.status]).toEqual([400, 400]);
  });

  it('keeps its definition in the environment where it is needed', async () => {
    await flagWith('base', aDefinition());
    await client.ok('POST', at('base', 'production'), aDefinition());
    await flagWith('upon', dependsOn('base'));

    const needed = await client.call('DELETE', at('base'));
    const elsewhere = await client.call('DELETE', at('base', 'production'));

    expect([needed.status, elsewhere.status]).toEqual([409, 200]);
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
