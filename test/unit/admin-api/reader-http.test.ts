import { describe, expect, it } from 'vitest';
import { countKeys, listKeys, listSegments } from '../../../src/admin-api/segments.js';
import {
  closeAfterEach,
  ENVIRONMENTS,
  httpFixture,
  pageOf,
  wireDefinition,
  wireFlag,
  wireSegment,
} from '../../support/http-fixture.js';
import { errorReply, lineOf, type Reply, type Script } from '../../support/http.js';

closeAfterEach();

const segments = (count: number) =>
  Array.from({ length: count }, (_, index) => wireSegment(`s-${index}`));

const unreadable = (text: string) => ({
  code: 'UNREADABLE',
  message: expect.stringContaining(text) as string,
});

/** Answers environments, and everything else by the given replies. */
function withEnvironments(script: Script): Script {
  return (request, nth) =>
    lineOf(request).startsWith('GET /environments/')
      ? { status: 200, body: ENVIRONMENTS }
      : script(request, nth);
}

describe('a list', () => {
  it('is read again when its total moved, an object came twice, or a page was empty', async () => {
    const all = segments(60);
    const faults: Record<string, object> = {
      total: { objects: all.slice(50), offset: 50, limit: 50, totalCount: 61 },
      twice: { objects: all.slice(49, 59), offset: 50, limit: 50, totalCount: 60 },
      empty: { objects: [], offset: 50, limit: 50, totalCount: 60 },
      more: { objects: segments(71).slice(50), offset: 50, limit: 50, totalCount: 60 },
    };
    for (const [fault, body] of Object.entries(faults)) {
      const { reader, server } = await httpFixture(({ url }, nth) =>
        nth === 1 ? { status: 200, body } : pageOf(all, url),
      );

      expect([fault, (await listSegments(reader, 'w')).length]).toEqual([fault, 60]);
      expect(server.seen).toHaveLength(4);
    }
  });

  it.each<[string, unknown, string]>([
    ['null', null, 'the answer: expected an object, got null'],
    ['a bare list', [], 'the answer: expected an object, got a list'],
    ['an object without a list', { totalCount: 0 }, 'objects: expected a list, got nothing'],
    ['a list without a total', { objects: [] }, 'totalCount: expected a whole number, got nothing'],
    [
      'an object without a name',
      { objects: [wireSegment('a'), wireSegment('')], totalCount: 2 },
      'objects[1].name: expected a name, got empty text',
    ],
    [
      'another kind of object',
      { objects: [{ name: 'a' }], totalCount: 1 },
      'objects[0].trafficType: expected an object, got nothing',
    ],
  ])('is not taken from %s', async (_, body, text) => {
    const { reader, server } = await httpFixture(() => ({ status: 200, body }));

    await expect(listSegments(reader, 'w')).rejects.toMatchObject(
      unreadable(`cannot read segments from ${server.url}: ${text}`),
    );
  });

  it('of workspaces is asked for in the largest pages, and lets nothing look like an empty one', async () => {
    const { reader, server } = await httpFixture(() => errorReply(404));

    await expect(reader.listWorkspaces()).rejects.toMatchObject({
      code: 'UNREADABLE',
      status: 404,
    });
    expect(server.seen[0]?.url).toContain('limit=200');
  });

  it('at the root is checked as well; that of rollout statuses names the workspace in the query', async () => {
    const statuses = [{ id: 'r', name: 'Ramping', description: '' }];
    const wrong = await httpFixture(() => ({ status: 200, body: { objects: [] } }));
    const right = await httpFixture(() => ({ status: 200, body: statuses }));

    for (const read of [
      wrong.reader.listEnvironments('w'),
      wrong.reader.listRolloutStatuses('w'),
    ]) {
      await expect(read).rejects.toMatchObject(unreadable('a list'));
    }
    expect(await right.reader.listRolloutStatuses('w')).toEqual(statuses);
    expect(right.server.seen[0]?.url).toBe('/internal/api/v2/rolloutStatuses?wsId=w');
  });
});

describe('a list that the contract does not promise', () => {
  it.each<[string, Reply]>([
    ['404', errorReply(404)],
    ['405', errorReply(405)],
    ['a page for 404', { status: 404, body: '<html>Cannot GET</html>' }],
  ])(
    'is null where the service answers %s and knows the ids, and is asked for once',
    async (_, reply) => {
      const { reader, server } = await httpFixture(withEnvironments(() => reply));

      const both = async () => [
        await reader.listFlags('w'),
        await reader.listTrafficTypes('w'),
        await reader.listDefinitions('w', 'env-staging'),
      ];

      expect(await both()).toEqual([null, null, null]);
      const asked = server.seen.length;
      expect(await both()).toEqual([null, null, null]);
      expect(server.seen).toHaveLength(asked);
    },
  );

  it('fails where the workspace or the environment is unknown too', async () => {
    const nothing = await httpFixture(() => errorReply(404));
    const some = await httpFixture(withEnvironments(() => errorReply(404)));

    await expect(nothing.reader.listFlags('w')).rejects.toMatchObject({ code: 'UNREADABLE' });
    await expect(some.reader.listDefinitions('w', 'e-9')).rejects.toMatchObject({
      code: 'NOT_ON_SERVICE',
    });
  });

  it('fails with 404 once it has been answered', async () => {
    const script = withEnvironments(({ url }, nth) =>
      nth === 0 ? pageOf([wireFlag('a')], url) : errorReply(404),
    );
    const { reader } = await httpFixture(script);

    expect(await reader.listFlags('w')).toHaveLength(1);
    await expect(reader.listFlags('w')).rejects.toMatchObject(unreadable('answered before'));
  });

  it('is read whole where the service has it, and not believed about another environment', async () => {
    const definitions = Array.from({ length: 51 }, (_, index) => wireDefinition(`f-${index}`));
    const { reader } = await httpFixture(({ url }) => pageOf(definitions, url));

    expect(await reader.listDefinitions('w', 'env-staging')).toHaveLength(51);
    await expect(reader.listDefinitions('w', 'e-2')).rejects.toMatchObject(
      unreadable('objects[0].environment.id: expected the "e-2" that was asked for'),
    );
  });
});

describe('a definition', () => {
  it('keeps fields that nobody here knows, and empty lists stay absent', async () => {
    const treatments = [{ name: 'on', keys: null, colour: 'red' }, { name: 'off' }];
    const body = wireDefinition('f', { rules: null, flagSets: [{ id: 'x' }], treatments });
    const { reader } = await httpFixture(() => ({ status: 200, body }));

    expect(await reader.getDefinition('w', 'env-staging', { name: 'f', key: 'f' })).toEqual({
      ...body,
      rules: [],
      treatments: [{ name: 'on', colour: 'red' }, { name: 'off' }],
    });
  });

  it.each<[string, Reply, string]>([
    ['a page for 404', { status: 404, body: '<html>' }, '404'],
    ['an error body of another status', { status: 404, body: { code: 500 } }, '404'],
    ['an empty object', { status: 200, body: {} }, 'id: expected a name, got nothing'],
    ['true', { status: 200, body: true }, 'expected an object'],
    ['another flag', { status: 200, body: wireDefinition('g') }, 'it answered flag "g"'],
    [
      'a rule without matchers',
      { status: 200, body: wireDefinition('f', { rules: [{ buckets: [], condition: {} }] }) },
      'rules[0].condition.matchers: expected a list, got nothing',
    ],
    [
      'a size that is no number',
      {
        status: 200,
        body: wireDefinition('f', { defaultRule: [{ treatment: 'on', size: '100' }] }),
      },
      'defaultRule[0].size: expected a whole number, got text',
    ],
  ])('is neither absent nor present for %s', async (_, reply, text) => {
    const { reader } = await httpFixture(() => reply);

    await expect(
      reader.getDefinition('w', 'env-staging', { name: 'f', key: 'f' }),
    ).rejects.toMatchObject(unreadable(text));
  });
});

it('the keys of a segment are absent where it is not active, also in the midst of them, and only there', async () => {
  const inactive = await httpFixture(() => errorReply(404));
  const wrong = await httpFixture(() => ({ status: 200, body: { keys: [] } }));
  const page = Array.from({ length: 100 }, (_, index) => ({ key: `k-${index}` }));
  const body = { keys: page, openChangeRequestId: null, count: 150, offset: 0, limit: 100 };
  const vanishing = await httpFixture((_, nth) =>
    nth === 0 ? { status: 200, body } : errorReply(404),
  );

  expect(await listKeys(inactive.reader, 'env-staging', 'beta')).toBeUndefined();
  expect(await countKeys(inactive.reader, 'env-staging', 'beta')).toBeUndefined();
  await expect(listKeys(wrong.reader, 'env-staging', 'beta')).rejects.toMatchObject(
    unreadable('count'),
  );
  await expect(countKeys(wrong.reader, 'env-staging', 'beta')).rejects.toMatchObject(
    unreadable('count'),
  );
  // Read again, and then it is not active: an answer, not a list of 100 keys.
  expect(await listKeys(vanishing.reader, 'env-staging', 'beta')).toBeUndefined();
});
