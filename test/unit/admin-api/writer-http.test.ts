import { describe, expect, it } from 'vitest';
import { look, type Look } from '../../../src/admin-api/look.js';
import type { WireDefinition, WireDefinitionBody } from '../../../src/admin-api/wire.js';
import type { AdminWriter } from '../../../src/admin-api/writer.js';
import {
  closeAfterEach,
  ENVIRONMENTS,
  httpFixture,
  pageOf,
  wireDefinition,
  wireFlag,
  wireSegment,
} from '../../support/http-fixture.js';
import { byLine, errorReply, lineOf, type Reply, type Script } from '../../support/http.js';

closeAfterEach();

const WORDS = { title: 'Ramp & go', comment: 'abc1234 Ana: why?' };
const PLACE = { workspaceId: 'w', environmentId: 'e-1', flag: 'f' };
const FLAG = { name: 'f', trafficType: 'user', description: '' };
const BODY: WireDefinitionBody = {
  treatments: [{ name: 'on', description: '' }, { name: 'off' }],
  defaultTreatment: 'off',
  rules: [],
  defaultRule: [{ treatment: 'off', size: 100 }],
};
const ACTIVATION = {
  name: 's',
  environment: ENVIRONMENTS[0],
  trafficType: { id: 't', name: 'user' },
  creationTime: 1,
};
const TRUE: Reply = { status: 200, body: 'true' };

type Write = (writer: AdminWriter) => Promise<unknown>;

const WRITES: [string, string, Reply, Write, unknown][] = [
  [
    'createFlag',
    'POST /splits/ws/w/trafficTypes/user',
    { status: 200, body: wireFlag('f') },
    async (writer) => writer.createFlag('w', FLAG, WORDS),
    { name: 'f', description: '' },
  ],
  [
    'patchFlag',
    'PATCH /splits/ws/w/f',
    { status: 200, body: wireFlag('f') },
    async (writer) => writer.patchFlag('w', 'f', [{ op: 'remove', path: '/tags' }], WORDS),
    [{ op: 'remove', path: '/tags' }],
  ],
  [
    'deleteFlag',
    'DELETE /splits/ws/w/f',
    TRUE,
    async (writer) => writer.deleteFlag('w', 'f', WORDS),
    undefined,
  ],
  [
    'archiveFlag',
    'POST /splits/ws/w/f/archive',
    { status: 200, body: wireFlag('f') },
    async (writer) => writer.archiveFlag('w', 'f', WORDS),
    WORDS,
  ],
  [
    'createDefinition',
    'POST /splits/ws/w/f/environments/e-1',
    { status: 200, body: wireDefinition('f') },
    async (writer) => writer.createDefinition(PLACE, BODY, WORDS),
    { ...BODY, ...WORDS },
  ],
  [
    'patchDefinition',
    'PATCH /splits/ws/w/f/environments/e-1',
    { status: 200, body: wireDefinition('f') },
    async (writer) => writer.patchDefinition(PLACE, [{ op: 'remove', path: '/x' }], WORDS),
    [{ op: 'remove', path: '/x' }],
  ],
  [
    'deleteDefinition',
    'DELETE /splits/ws/w/f/environments/e-1',
    TRUE,
    async (writer) => writer.deleteDefinition(PLACE, WORDS),
    undefined,
  ],
  [
    'createSegment',
    'POST /segments/ws/w/trafficTypes/user',
    { status: 200, body: wireSegment('f') },
    async (writer) => writer.createSegment('w', FLAG, WORDS),
    { name: 'f', description: '' },
  ],
  [
    'activateSegment',
    'POST /segments/e-1/s',
    { status: 200, body: ACTIVATION },
    async (writer) => writer.activateSegment('e-1', 's', WORDS),
    undefined,
  ],
  [
    'uploadKeys',
    'PUT /segments/e-1/s/uploadKeys',
    { status: 200, body: {} },
    async (writer) => writer.uploadKeys('e-1', 's', ['a', 'b'], WORDS),
    { keys: ['a', 'b'], ...WORDS },
  ],
  [
    'removeKeys',
    'PUT /segments/e-1/s/removeKeys',
    { status: 200, body: { code: 200, message: 'Deleted 1 keys' } },
    async (writer) => writer.removeKeys('e-1', 's', ['a'], WORDS),
    { keys: ['a'], ...WORDS },
  ],
  [
    'deactivateSegment',
    'DELETE /segments/e-1/s',
    TRUE,
    async (writer) => writer.deactivateSegment('e-1', 's', WORDS),
    undefined,
  ],
  [
    'deleteSegment',
    'DELETE /segments/ws/w/s',
    TRUE,
    async (writer) => writer.deleteSegment('w', 's', WORDS),
    undefined,
  ],
];

it('uploads as the contract shows it where the other endpoint is missing, and asks for that once', async () => {
  const missing = {
    status: 404,
    body: { code: 404, message: 'x', details: '', transactionId: null },
  };
  const { writer, server } = await httpFixture(
    byLine({
      'PUT /segments/e-1/s/uploadKeys': [missing],
      'PUT /segments/e-1/s/upload': [
        { status: 200, body: {} },
        { status: 200, body: {} },
      ],
    }),
  );

  await writer.uploadKeys('e-1', 's', ['a'], WORDS);
  await writer.uploadKeys('e-1', 's', ['b'], WORDS);

  expect(server.lines()).toEqual([
    'PUT /segments/e-1/s/uploadKeys',
    'PUT /segments/e-1/s/upload',
    'PUT /segments/e-1/s/upload',
  ]);
  expect(server.seen.at(-1)?.body).toBe('["b"]');
});

describe('a service that knows definitions by id alone', () => {
  it.each<[string, Write]>([
    ['the flag', async (writer) => writer.createFlag('w', FLAG, WORDS)],
    ['the definition', async (writer) => writer.createDefinition(PLACE, BODY, WORDS)],
  ])('is asked by the id that the creation of %s answered', async (_, create) => {
    const { writer, reader, server } = await httpFixture(
      byLine({
        'POST /splits/ws/w/trafficTypes/user': [{ status: 200, body: wireFlag('f') }],
        'POST /splits/ws/w/f/environments/e-1': [{ status: 200, body: wireDefinition('f') }],
        'GET /splits/ws/w/id-f/environments/e-1': [{ status: 200, body: wireDefinition('f') }],
      }),
    );
    const lookIn = async (workspaceId: string): Promise<Look> =>
      look(reader, { workspaceId, environmentId: 'e-1' }, { name: 'f' }, { flags: 'asked' });
    expect(await lookIn('w')).toEqual({ is: 'unknown' });

    await create(writer);

    expect(await lookIn('w')).toMatchObject({ is: 'seen', definition: { name: 'f' } });
    expect(await lookIn('another')).toEqual({ is: 'unknown' });
    expect(server.lines().slice(2, 4)).toEqual([
      'GET /splits/ws/w/f/environments/e-1',
      'GET /splits/ws/w/id-f/environments/e-1',
    ]);
  });
});

describe('a service that refuses title and comment in bodies', () => {
  const refusing: Script = ({ body, ...request }) => {
    if (body.includes('"title"')) return errorReply(400, 'unknown member "title"');
    const isDefinition = lineOf({ body, ...request }).startsWith('POST');
    return { status: 200, body: isDefinition ? wireDefinition('f') : {} };
  };

  it('is spoken to without them, and asked once for each kind of write', async () => {
    const { writer, server } = await httpFixture(refusing);
    const writes: (() => Promise<unknown>)[] = [
      async () => writer.createDefinition(PLACE, BODY, WORDS),
      async () => writer.uploadKeys('e-1', 's', ['a'], WORDS),
      async () => writer.removeKeys('e-1', 's', ['a'], WORDS),
    ];
    for (const write of [...writes, ...writes]) await write();

    const [definition, upload, removal] = [
      'POST /splits/ws/w/f/environments/e-1',
      'PUT /segments/e-1/s/uploadKeys',
      'PUT /segments/e-1/s/removeKeys',
    ];
    expect(server.lines()).toEqual([
      ...[definition, definition, upload, upload, removal, removal],
      ...[definition, upload, removal],
    ]);
    for (const { url } of server.seen) {
      expect(new URL(url, 'http://x').searchParams.get('title')).toBe(WORDS.title);
    }
  });

  it('is asked by one of the writes that go side by side, and the others wait for it', async () => {
    const { writer, server } = await httpFixture(refusing);

    const writes = Array.from({ length: 8 }, async () =>
      writer.createDefinition(PLACE, BODY, WORDS),
    );
    await Promise.all(writes);

    expect(server.seen).toHaveLength(9);
  });

  it('lets the next write ask where the one before it failed', async () => {
    const { writer, server } = await httpFixture(({ body, ...request }, nth) =>
      nth === 0 ? errorReply(403, 'not here') : refusing({ body, ...request }, nth),
    );

    const writes = Array.from({ length: 3 }, async () =>
      writer.createDefinition(PLACE, BODY, WORDS),
    );
    const ends = await Promise.allSettled(writes);

    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(server.seen).toHaveLength(4);
  });

  it('is believed about what it says of the body without them', async () => {
    const { writer, server } = await httpFixture(({ body }) =>
      errorReply(400, body.includes('"title"') ? 'unknown member' : 'no such treatment'),
    );
    const write = async (): Promise<unknown> => writer.createDefinition(PLACE, BODY, WORDS);

    await expect(write()).rejects.toMatchObject({ serviceMessage: 'no such treatment' });
    await expect(write()).rejects.toMatchObject({ serviceMessage: 'no such treatment' });
    const bodies = [{ ...BODY, ...WORDS }, { ...BODY, comment: WORDS.comment }, { ...BODY }];
    expect(server.seen.map(({ body }): unknown => JSON.parse(body))).toEqual([
      ...bodies,
      ...bodies,
    ]);
  });
});

describe('a service that takes bodies exactly as the contract shows them', () => {
  const members = (body: string): string =>
    Object.keys(JSON.parse(body) as object)
      .sort()
      .join();
  const exact: Script = (request) => {
    const isDefinition = lineOf(request).startsWith('POST');
    const shown = isDefinition ? Object.keys(BODY).sort().join() : 'comment,keys';
    if (lineOf(request).endsWith('/uploadKeys')) return errorReply(404);
    if (members(request.body) !== shown) return errorReply(400, 'the body is another one');
    return { status: 200, body: isDefinition ? wireDefinition('f') : { code: 200 } };
  };

  it('removes keys with the comment alone in the body, and remembers that it has to', async () => {
    const { writer, server } = await httpFixture(exact);

    await writer.removeKeys('e-1', 's', ['a'], WORDS);
    await writer.removeKeys('e-1', 's', ['b'], WORDS);

    expect(server.seen.map(({ body }): unknown => JSON.parse(body))).toEqual([
      { keys: ['a'], ...WORDS },
      { keys: ['a'], comment: WORDS.comment },
      { keys: ['b'], comment: WORDS.comment },
    ]);
  });

  it('creates definitions without words in the body', async () => {
    const { writer, server } = await httpFixture(exact);

    await writer.createDefinition(PLACE, BODY, WORDS);

    expect(server.seen.map(({ body }) => members(body)).at(-1)).toBe(
      Object.keys(BODY).sort().join(),
    );
  });
});

it('sends a refused body once where the service has taken title and comment before', async () => {
  const { writer, server } = await httpFixture((_, nth) =>
    nth === 0 ? { status: 200, body: wireDefinition('f') } : errorReply(400, 'no such treatment'),
  );
  await writer.createDefinition(PLACE, BODY, WORDS);

  await expect(writer.createDefinition(PLACE, BODY, WORDS)).rejects.toMatchObject({ status: 400 });
  expect(server.seen).toHaveLength(2);
});

describe.each(WRITES)('%s', (_, line, reply, write, body) => {
  it('is one request with title and comment in its query, and its body as the contract has it', async () => {
    const { writer, server } = await httpFixture(byLine({ [line]: [reply] }));

    await write(writer);

    expect(server.lines()).toEqual([line]);
    const [seen] = server.seen;
    const query = new URL(seen?.url ?? '', 'http://x').searchParams;
    query.delete('replace');
    expect(Object.fromEntries(query)).toEqual(WORDS);
    expect(seen?.body === '' ? undefined : JSON.parse(seen?.body ?? '')).toEqual(body);
  });

  it('passes a refusal on, with nothing repeated', async () => {
    const { writer, server } = await httpFixture(() => errorReply(409, 'exists'));

    await expect(write(writer)).rejects.toMatchObject({ status: 409, serviceMessage: 'exists' });
    expect(server.seen).toHaveLength(1);
  });
});

describe('a creation whose answer was lost', () => {
  const paged = (...objects: unknown[]) => [pageOf(objects, '/?limit=50&offset=0')];

  it('of a definition is ours when the service holds what we sent, whatever it added', async () => {
    const { writer, server } = await httpFixture(
      byLine({
        'POST /splits/ws/w/f/environments/e-1': ['reset'],
        'GET /splits/ws/w/f/environments/e-1': [{ status: 200, body: wireDefinition('f') }],
      }),
    );

    expect(await writer.createDefinition(PLACE, BODY, WORDS)).toMatchObject({ id: 'id-f' });
    expect(server.lines().filter((line) => line.startsWith('POST'))).toHaveLength(1);
  });

  it('of a definition is sent again when it is not there', async () => {
    const line = 'POST /splits/ws/w/f/environments/e-1';
    const made: Reply = { status: 200, body: wireDefinition('f') };
    const { writer, server } = await httpFixture(byLine({ [line]: ['reset', made] }));

    await writer.createDefinition(PLACE, BODY, WORDS);

    const looks = ['GET /splits/ws/w/f/environments/e-1', 'GET /splits/ws/w/f'];
    expect(server.lines()).toEqual([line, ...looks, line]);
  });

  it('of a definition is not taken for ours when somebody else made another one', async () => {
    const other = wireDefinition('f', { defaultRule: [{ treatment: 'on', size: 100 }] });
    const { writer } = await httpFixture(
      byLine({
        'POST /splits/ws/w/f/environments/e-1': ['reset', errorReply(409, 'exists')],
        'GET /splits/ws/w/f/environments/e-1': [{ status: 200, body: other }],
      }),
    );

    await expect(writer.createDefinition(PLACE, BODY, WORDS)).rejects.toMatchObject({
      status: 409,
    });
  });

  it('of a segment is looked up in the list', async () => {
    const { writer, server } = await httpFixture(
      byLine({
        'POST /segments/ws/w/trafficTypes/user': ['reset'],
        'GET /segments/ws/w': paged(wireSegment('g'), wireSegment('f')),
      }),
    );

    expect((await writer.createSegment('w', FLAG, WORDS)).name).toBe('f');
    expect(server.seen).toHaveLength(2);
  });

  it('of a flag is looked up in the list where there is one', async () => {
    const { writer, server } = await httpFixture(
      byLine({
        'POST /splits/ws/w/trafficTypes/user': [errorReply(500)],
        'GET /splits/ws/w': paged(wireFlag('f')),
      }),
    );

    expect((await writer.createFlag('w', FLAG, WORDS)).id).toBe('id-f');
    expect(server.lines().filter((line) => line.startsWith('PATCH'))).toEqual([]);
  });

  it('of a flag is looked up by a patch that changes nothing where there is no list', async () => {
    const { writer, server } = await httpFixture(
      byLine({
        'POST /splits/ws/w/trafficTypes/user': ['reset'],
        'GET /environments/ws/w': [{ status: 200, body: ENVIRONMENTS }],
        'PATCH /splits/ws/w/f': [{ status: 200, body: wireFlag('f') }],
      }),
    );

    expect((await writer.createFlag('w', FLAG, WORDS)).id).toBe('id-f');
    expect(server.seen.at(-1)?.body).toBe('[{"op":"replace","path":"/description","value":""}]');
  });

  it('of an activation is read off the list of keys', async () => {
    const keys = { keys: [], openChangeRequestId: null, count: 0, offset: 0, limit: 1 };
    const { writer, server } = await httpFixture(
      byLine({
        'POST /segments/e-1/s': ['reset'],
        'GET /segments/e-1/s/keys': [{ status: 200, body: keys }],
      }),
    );

    expect((await writer.activateSegment('e-1', 's', WORDS)).name).toBe('s');
    expect(server.seen).toHaveLength(2);
  });
});

describe('a patch of a flag whose answer was lost', () => {
  const line = 'PATCH /splits/ws/w/f';
  const read = 'GET /splits/ws/w/f';
  const untagged = wireFlag('f');
  const tagged = { ...untagged, tags: [{ name: 'web' }] };
  const TAG = [{ op: 'replace' as const, path: '/tags', value: tagged.tags }];
  const TAGGED = { before: { tags: [] }, after: { tags: ['web'] } };

  async function patchOver(found: Reply, ...replies: Reply[]) {
    const fixture = await httpFixture(byLine({ [line]: replies, [read]: [found] }));
    const result = fixture.writer.patchFlag('w', 'f', TAG, WORDS, TAGGED);
    return { ...fixture, result };
  }

  it('counts as made where the flag is what it should be', async () => {
    const { result, server } = await patchOver({ status: 200, body: tagged }, 'reset');

    expect((await result).tags).toEqual(tagged.tags);
    expect(server.lines()).toEqual([line, read]);
  });

  it('is sent again where its fields are what they were, whatever became of others', async () => {
    const { result, server } = await patchOver(
      { status: 200, body: { ...untagged, description: 'theirs' } },
      errorReply(500),
      { status: 200, body: tagged },
    );

    expect((await result).tags).toEqual(tagged.tags);
    expect(server.lines()).toEqual([line, read, line]);
  });

  it('is left alone where somebody else has changed the flag', async () => {
    const theirs = { ...untagged, tags: [{ name: 'ops' }] };
    const { result, server } = await patchOver({ status: 200, body: theirs }, 'reset');

    await expect(result).rejects.toThrow('flag "f" is neither what it was nor what it should be');
    expect(server.lines()).toEqual([line, read]);
  });

  it('is looked up by a patch of nothing where the service does not show flags', async () => {
    const { result, server } = await patchOver(
      errorReply(404),
      'reset',
      'reset',
      { status: 200, body: untagged },
      { status: 200, body: tagged },
    );

    expect((await result).tags).toEqual(tagged.tags);
    const bodies = server.seen.filter(({ method }) => method === 'PATCH').map(({ body }) => body);
    expect(bodies).toEqual([JSON.stringify(TAG), '[]', '[]', JSON.stringify(TAG)]);
  });

  it('is sent again where the flag is gone, so that the service says so', async () => {
    const { result } = await patchOver(errorReply(404), 'reset', errorReply(404));

    await expect(result).rejects.toMatchObject({ status: 404 });
  });
});

describe('a patch of a definition', () => {
  it.each<[string, Reply]>([
    ['nothing', { status: 200 }],
    ['true', TRUE],
    ['plain text', { status: 200, body: 'OK', headers: { 'content-type': 'text/plain' } }],
    ['another flag', { status: 200, body: wireDefinition('g') }],
  ])('has to be read back when it answers %s', async (_, reply) => {
    const { writer } = await httpFixture(() => reply);

    expect(await writer.patchDefinition(PLACE, [{ op: 'remove', path: '/x' }], WORDS)).toBeNull();
  });

  describe('whose answer was lost', () => {
    const line = 'PATCH /splits/ws/w/f/environments/e-1';
    const read = 'GET /splits/ws/w/f/environments/e-1';
    const before = wireDefinition('f') as unknown as WireDefinition;
    const after = { ...before, trafficAllocation: 40 };
    const half = [{ op: 'replace' as const, path: '/trafficAllocation', value: 40 }];
    const live = (body: unknown): Reply[] => [{ status: 200, body }];

    async function patchOver(found: unknown, ...replies: Reply[]) {
      const fixture = await httpFixture(byLine({ [line]: replies, [read]: live(found) }));
      const result = fixture.writer.patchDefinition(PLACE, half, WORDS, before);
      return { ...fixture, result };
    }

    it('counts as made where the definition is what it should be', async () => {
      const { result, server } = await patchOver(after, 'reset');

      expect((await result)?.trafficAllocation).toBe(40);
      expect(server.lines()).toEqual([line, read]);
    });

    it('is sent again where the definition is what it was', async () => {
      const { result, server } = await patchOver(before, errorReply(500), ...live(after));

      expect((await result)?.trafficAllocation).toBe(40);
      expect(server.lines()).toEqual([line, read, line]);
    });

    it('is left alone where somebody else has changed the definition', async () => {
      const { result, server } = await patchOver({ ...before, trafficAllocation: 7 }, 'reset');

      await expect(result).rejects.toThrow('neither what it was nor what it should be');
      expect(server.lines()).toEqual([line, read]);
    });
  });

  it('that kills is repeated until it is done; one that restores is not', async () => {
    const line = 'PATCH /splits/ws/w/f/environments/e-1';
    const script = byLine({ [line]: ['reset', { status: 200, body: wireDefinition('f') }] });
    const kill = await httpFixture(script);
    const restore = await httpFixture(script);
    const killed = (value: boolean) => [{ op: 'replace' as const, path: '/killed', value }];

    expect(await kill.writer.patchDefinition(PLACE, killed(true), WORDS)).not.toBeNull();
    await expect(restore.writer.patchDefinition(PLACE, killed(false), WORDS)).rejects.toMatchObject(
      { code: 'UNREACHABLE' },
    );
  });
});

describe('a deletion', () => {
  it('is done when the second try finds nothing', async () => {
    const { writer } = await httpFixture(
      byLine({ 'DELETE /splits/ws/w/f': ['reset', errorReply(404)] }),
    );

    await expect(writer.deleteFlag('w', 'f', WORDS)).resolves.toBeUndefined();
  });

  it('is not believed when the answer is false', async () => {
    const { writer } = await httpFixture(() => ({ status: 200, body: 'false' }));

    await expect(writer.deleteFlag('w', 'f', WORDS)).rejects.toMatchObject({ code: 'UNREADABLE' });
  });
});

describe('to archive', () => {
  const LINE = 'POST /splits/ws/w/f/archive';

  it('is done when the second try finds nothing, and when the flag was gone before', async () => {
    const lost = await httpFixture(byLine({ [LINE]: ['reset', errorReply(404)] }));
    await expect(lost.writer.archiveFlag('w', 'f', WORDS)).resolves.toBeUndefined();
    const gone = await httpFixture(() => errorReply(404));
    await expect(gone.writer.archiveFlag('w', 'f', WORDS)).resolves.toBeUndefined();
  });

  it.each([
    ['GET', 404],
    ['PATCH', 404],
    ['GET', 405],
    ['GET', 501],
  ])('fails where %s shows the flag, and archiving is answered %i', async (method, status) => {
    const replies = {
      [LINE]: ['reset', errorReply(status)] as const,
      [`${method} /splits/ws/w/f`]: [{ status: 200, body: wireFlag('f') }],
    };
    const { writer, server } = await httpFixture(byLine(replies));

    await expect(writer.archiveFlag('w', 'f', WORDS)).rejects.toMatchObject({
      code: 'NOT_ON_SERVICE',
    });
    expect(server.seen.map(lineOf)).not.toContain('DELETE /splits/ws/w/f');
  });

  it('tells a refusal of the service as what it is', async () => {
    const { writer } = await httpFixture(byLine({ [LINE]: [errorReply(409)] }));

    await expect(writer.archiveFlag('w', 'f', WORDS)).rejects.toMatchObject({
      code: 'REJECTED',
      status: 409,
    });
  });
});

describe('a deactivation', () => {
  const keys = { keys: [], openChangeRequestId: null, count: 0, offset: 0, limit: 1 };
  const active: Reply = { status: 200, body: keys };

  it.each([404, 405])(
    'is left out, now and later, where %i comes for an active segment',
    async (status) => {
      const { writer, server } = await httpFixture(
        byLine({
          'DELETE /segments/e-1/s': [errorReply(status)],
          'GET /segments/e-1/s/keys': [active],
        }),
      );

      await writer.deactivateSegment('e-1', 's', WORDS);
      const asked = server.seen.length;
      await writer.deactivateSegment('e-1', 't', WORDS);
      expect(server.seen).toHaveLength(asked);
    },
  );

  it('is done where 404 comes for a segment that is not active', async () => {
    const { writer, server } = await httpFixture(() => errorReply(404));

    await writer.deactivateSegment('e-1', 's', WORDS);
    await writer.deactivateSegment('e-1', 't', WORDS);

    // The endpoint is not taken for missing: it is asked again.
    expect(server.seen.map(({ method }) => method)).toEqual(['DELETE', 'GET', 'DELETE', 'GET']);
  });
});

it('refuses more keys than one request may carry, before it sends any', async () => {
  const { writer, server } = await httpFixture(() => TRUE);
  const keys = Array.from({ length: 10_001 }, (_, index) => `k-${index}`);

  await expect(writer.uploadKeys('e-1', 's', keys, WORDS)).rejects.toThrow('bug: 10001 keys');
  expect(server.seen).toHaveLength(0);
});
