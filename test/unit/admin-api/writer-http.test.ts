import { describe, expect, it } from 'vitest';
import { look, type Look } from '../../../src/admin-api/look.js';
import type { WireContent, WireDefinition, WireIdentity } from '../../../src/admin-api/wire.js';
import type { WirePatchOperation } from '../../../src/admin-api/wire.js';
import type { AdminWriter } from '../../../src/admin-api/writer.js';
import type { FlagFieldsChange } from '../../../src/model/flag/fields.js';
import type { StepRequest } from '../../../src/model/plan.js';
import {
  closeAfterEach,
  ENVIRONMENTS,
  httpFixture,
  pageOf,
  wireDefinition,
  wireFlag,
  wireSegment,
} from '../../support/http-fixture.js';
import {
  byLine,
  errorReply,
  inOrder,
  lineOf,
  type Reply,
  type Script,
} from '../../support/http.js';
import { ruleOn } from '../../support/service-calls.js';

closeAfterEach();

const WORDS = { title: 'Ramp & go', comment: 'abc1234 Ana: why?' };
const PLACE = { workspaceId: 'w', environmentId: 'env-staging', note: WORDS };
const DEFINITION_OF_F = { flag: 'f', environment: 'staging' };
const SEGMENT = { segment: 's', environment: 'staging' };
const BODY: WireContent = {
  killed: false,
  treatments: [{ name: 'on', description: '' }, { name: 'off' }],
  defaultTreatment: 'off',
  baselineTreatment: 'off',
  trafficAllocation: 100,
  rules: [],
  defaultRule: [{ treatment: 'off', size: 100 }],
};
const ACTIVATION = {
  name: 's',
  environment: ENVIRONMENTS[0],
  trafficType: { id: 't', name: 'user' },
  creationTime: 1,
};
const ok = (body: unknown): Reply => ({ status: 200, body });
const TRUE = ok('true');
const DEFINITION = ok(wireDefinition('f'));
const DEFINITION_LINE = '/splits/ws/w/f/environments/env-staging';
const REMOVAL = [{ op: 'remove' as const, path: '/tags' }];

const SENT: WireIdentity[] = [
  { key: 'ana', values: { plan: 'pro', seats: '25' } },
  { key: 'bob', values: {} },
  { key: 'cy', values: { plan: 'free' } },
];
const ALL_WRITTEN = ok({ objects: SENT, failed: [] });

type Write = (writer: AdminWriter) => Promise<unknown>;

const sends =
  (step: StepRequest): Write =>
  async (writer) =>
    writer.send(step, PLACE);

const NEW = { trafficType: 'user', description: '' };
const CREATE_FLAG = sends({ action: 'create-flag', flag: 'f', ...NEW, mayExist: false });
const patchFlag = (operations: readonly WirePatchOperation[], fields: FlagFieldsChange) =>
  sends({ action: 'patch-flag', flag: 'f', operations, fields });
const DELETE_FLAG = sends({ action: 'delete-flag', flag: 'f' });
const ARCHIVE = sends({ action: 'archive-flag', flag: 'f' });
const CREATE_DEFINITION = sends({ action: 'create-definition', ...DEFINITION_OF_F, body: BODY });
const KILL_FLAG = sends({ action: 'kill-flag', ...DEFINITION_OF_F });
const patchDefinition = (operations: readonly WirePatchOperation[]) => {
  const expected = wireDefinition('f') as unknown as WireDefinition;
  return sends({ action: 'patch-definition', ...DEFINITION_OF_F, operations, expected });
};
const CREATE_SEGMENT = sends({ action: 'create-segment', segment: 'f', ...NEW });
const ACTIVATE = sends({ action: 'activate-segment', ...SEGMENT });
const upload = (keys: readonly string[], before?: readonly string[]) =>
  sends({ action: 'upload-keys', ...SEGMENT, keys, ...(before && { before }) });
const UPLOAD = upload(['a']);
const REMOVE = sends({ action: 'remove-keys', ...SEGMENT, keys: ['a'] });
const deactivation = (segment: string) =>
  sends({ action: 'deactivate-segment', ...SEGMENT, segment });
const WRITE_IDENTITIES = sends({
  action: 'write-identities',
  trafficType: 'user',
  trafficTypeId: 'tt-1',
  environment: 'staging',
  identities: SENT,
});

/** For each write its request, an answer, and the body that it has. */
const WRITES: [string, Reply, Write, unknown][] = [
  [
    'POST /splits/ws/w/trafficTypes/user',
    ok(wireFlag('f')),
    CREATE_FLAG,
    { name: 'f', description: '' },
  ],
  [
    'PATCH /splits/ws/w/f',
    ok(wireFlag('f')),
    patchFlag(REMOVAL, { before: {}, after: { tags: [] } }),
    REMOVAL,
  ],
  ['DELETE /splits/ws/w/f', TRUE, DELETE_FLAG, undefined],
  ['POST /splits/ws/w/f/archive', ok(wireFlag('f')), ARCHIVE, WORDS],
  [`POST ${DEFINITION_LINE}`, DEFINITION, CREATE_DEFINITION, { ...BODY, ...WORDS }],
  [`PATCH ${DEFINITION_LINE}`, DEFINITION, patchDefinition(REMOVAL), REMOVAL],
  [
    `DELETE ${DEFINITION_LINE}`,
    TRUE,
    sends({ action: 'delete-definition', ...DEFINITION_OF_F }),
    undefined,
  ],
  [
    'POST /segments/ws/w/trafficTypes/user',
    ok(wireSegment('f')),
    CREATE_SEGMENT,
    { name: 'f', description: '' },
  ],
  ['POST /segments/env-staging/s', ok(ACTIVATION), ACTIVATE, undefined],
  ['PUT /segments/env-staging/s/uploadKeys', ok({}), UPLOAD, { keys: ['a'], ...WORDS }],
  [
    'PUT /segments/env-staging/s/removeKeys',
    ok({ code: 200, message: 'Deleted 1 keys' }),
    REMOVE,
    { keys: ['a'], ...WORDS },
  ],
  ['DELETE /segments/env-staging/s', TRUE, deactivation('s'), undefined],
  ['DELETE /segments/ws/w/s', TRUE, sends({ action: 'delete-segment', segment: 's' }), undefined],
  [
    'POST /trafficTypes/tt-1/environments/env-staging/identities',
    ALL_WRITTEN,
    WRITE_IDENTITIES,
    SENT,
  ],
];

it.each(WRITES)(
  '%s is one request with title and comment in its query, and passes a refusal on',
  async (line, reply, write, body) => {
    const { writer, server } = await httpFixture(
      byLine({ [line]: [reply, errorReply(409, 'exists')] }),
    );

    await write(writer);
    await expect(write(writer)).rejects.toMatchObject({ status: 409, serviceMessage: 'exists' });

    expect(server.lines()).toEqual([line, line]);
    const [seen] = server.seen;
    const query = new URL(seen?.url ?? '', 'http://x').searchParams;
    expect(query.get('replace')).toBe(line.endsWith('uploadKeys') ? 'false' : null);
    query.delete('replace');
    expect(Object.fromEntries(query)).toEqual(WORDS);
    expect(seen?.body === '' ? undefined : JSON.parse(seen?.body ?? '')).toEqual(body);
  },
);

it('uploads as the contract shows it where the other endpoint is missing, and asks for that once', async () => {
  const { writer, server } = await httpFixture(
    byLine({
      'PUT /segments/env-staging/s/uploadKeys': [errorReply(404)],
      'PUT /segments/env-staging/s/upload': [ok({}), ok({})],
    }),
  );

  await UPLOAD(writer);
  await upload(['b'])(writer);

  expect(server.lines()).toEqual([
    'PUT /segments/env-staging/s/uploadKeys',
    'PUT /segments/env-staging/s/upload',
    'PUT /segments/env-staging/s/upload',
  ]);
  expect(server.seen.at(-1)?.body).toBe('["b"]');
});

it('puts keys back that an upload replaced', async () => {
  const left = { keys: [{ key: 'b' }], openChangeRequestId: null, count: 2, offset: 0, limit: 1 };
  const { writer, server } = await httpFixture(
    byLine({
      'PUT /segments/env-staging/s/uploadKeys': [ok({}), ok({})],
      'GET /segments/env-staging/s/keys': [ok(left)],
    }),
  );
  const uploading = upload(['d'], ['a', 'b', 'c'])(writer);

  await expect(uploading).rejects.toMatchObject({ code: 'SEGMENT_SHRANK' });
  expect(JSON.parse(server.seen.at(-1)?.body ?? '')).toEqual({ keys: ['a', 'b', 'c'], ...WORDS });
});

it.each([
  ['flag', CREATE_FLAG],
  ['definition', CREATE_DEFINITION],
])(
  'a service that knows definitions by id alone is asked by the id of the created %s',
  async (_, create) => {
    const { writer, reader, server } = await httpFixture(
      byLine({
        'POST /splits/ws/w/trafficTypes/user': [ok(wireFlag('f'))],
        [`POST ${DEFINITION_LINE}`]: [DEFINITION],
        'GET /splits/ws/w/id-f/environments/env-staging': [DEFINITION],
      }),
    );
    const lookIn = async (workspaceId: string): Promise<Look> =>
      look(reader, { workspaceId, environmentId: 'env-staging' }, { name: 'f' }, 'asked');
    expect(await lookIn('w')).toEqual({ is: 'unknown' });

    await create(writer);

    expect(await lookIn('w')).toMatchObject({ is: 'seen', definition: { name: 'f' } });
    expect(await lookIn('another')).toEqual({ is: 'unknown' });
    expect(server.lines().slice(2, 4)).toEqual([
      `GET ${DEFINITION_LINE}`,
      'GET /splits/ws/w/id-f/environments/env-staging',
    ]);
  },
);

describe('a service that refuses title and comment in bodies', () => {
  const refusing: Script = ({ body, ...request }) => {
    if (body.includes('"title"')) return errorReply(400, 'unknown member "title"');
    const isDefinition = lineOf({ body, ...request }).startsWith('POST');
    return { status: 200, body: isDefinition ? wireDefinition('f') : {} };
  };

  it('is spoken to without them, and asked once for each kind of write', async () => {
    const { writer, server } = await httpFixture(refusing);
    const writes = [CREATE_DEFINITION, UPLOAD, REMOVE];
    for (const write of [...writes, ...writes]) await write(writer);

    const [definition, upload, removal] = [
      `POST ${DEFINITION_LINE}`,
      'PUT /segments/env-staging/s/uploadKeys',
      'PUT /segments/env-staging/s/removeKeys',
    ];
    expect(server.lines()).toEqual([
      ...[definition, definition, upload, upload, removal, removal],
      ...[definition, upload, removal],
    ]);
    for (const { url } of server.seen) {
      expect(new URL(url, 'http://x').searchParams.get('title')).toBe(WORDS.title);
    }
  });

  it.each([
    ['', 8, [], 9],
    [', and the next asks where that one failed', 3, [errorReply(403, 'not here')], 4],
  ])(
    'is asked by one of the writes that go side by side, and the others wait%s',
    async (_, count, first, requests) => {
      const { writer, server } = await httpFixture(
        (request, nth) => first[nth] ?? refusing(request, nth),
      );

      const writes = Array.from({ length: count }, async () => CREATE_DEFINITION(writer));
      const ends = await Promise.allSettled(writes);

      expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(first.length);
      expect(server.seen).toHaveLength(requests);
    },
  );

  it('is believed about what it says of the body without them', async () => {
    const { writer, server } = await httpFixture(({ body }) =>
      errorReply(400, body.includes('"title"') ? 'unknown member' : 'no such treatment'),
    );
    for (let nth = 0; nth < 2; nth += 1) {
      await expect(CREATE_DEFINITION(writer)).rejects.toMatchObject({
        serviceMessage: 'no such treatment',
      });
    }
    const bodies = [{ ...BODY, ...WORDS }, { ...BODY, comment: WORDS.comment }, { ...BODY }];
    expect(server.seen.map(({ body }): unknown => JSON.parse(body))).toEqual([
      ...bodies,
      ...bodies,
    ]);
  });
});

it('sends a refused body once where the service has taken title and comment before', async () => {
  const { writer, server } = await httpFixture((_, nth) =>
    nth === 0 ? DEFINITION : errorReply(400, 'no such treatment'),
  );
  await CREATE_DEFINITION(writer);

  await expect(CREATE_DEFINITION(writer)).rejects.toMatchObject({ status: 400 });
  expect(server.seen).toHaveLength(2);
});

describe('a creation whose answer was lost', () => {
  const paged = (...objects: unknown[]) => [pageOf(objects, '/?limit=50&offset=0')];
  const keys = { keys: [], openChangeRequestId: null, count: 0, offset: 0, limit: 1 };

  it.each<[string, Write, Parameters<typeof byLine>[0], readonly string[]]>([
    [
      'of a definition is ours when the service holds what we sent, whatever it added',
      CREATE_DEFINITION,
      { [`POST ${DEFINITION_LINE}`]: ['reset'], [`GET ${DEFINITION_LINE}`]: [DEFINITION] },
      [`POST ${DEFINITION_LINE}`, `GET ${DEFINITION_LINE}`],
    ],
    [
      'of a definition is sent again when it is not there',
      CREATE_DEFINITION,
      { [`POST ${DEFINITION_LINE}`]: ['reset', DEFINITION] },
      [
        `POST ${DEFINITION_LINE}`,
        `GET ${DEFINITION_LINE}`,
        'GET /splits/ws/w/f',
        `POST ${DEFINITION_LINE}`,
      ],
    ],
    [
      'of a segment is looked up in the list',
      CREATE_SEGMENT,
      {
        'POST /segments/ws/w/trafficTypes/user': ['reset'],
        'GET /segments/ws/w': paged(wireSegment('g'), wireSegment('f')),
      },
      ['POST /segments/ws/w/trafficTypes/user', 'GET /segments/ws/w'],
    ],
    [
      'of a flag is looked up in the list where there is one',
      CREATE_FLAG,
      {
        'POST /splits/ws/w/trafficTypes/user': [errorReply(500)],
        'GET /splits/ws/w': paged(wireFlag('f')),
      },
      ['POST /splits/ws/w/trafficTypes/user', 'GET /splits/ws/w'],
    ],
    [
      'of a flag is looked up by a patch that changes nothing where there is no list',
      CREATE_FLAG,
      {
        'POST /splits/ws/w/trafficTypes/user': ['reset'],
        'GET /environments/ws/w': [ok(ENVIRONMENTS)],
        'PATCH /splits/ws/w/f': [ok(wireFlag('f'))],
      },
      [
        'POST /splits/ws/w/trafficTypes/user',
        'GET /splits/ws/w',
        'GET /environments/ws/w',
        'PATCH /splits/ws/w/f',
      ],
    ],
    [
      'of an activation is read off the list of keys',
      ACTIVATE,
      { 'POST /segments/env-staging/s': ['reset'], 'GET /segments/env-staging/s/keys': [ok(keys)] },
      ['POST /segments/env-staging/s', 'GET /segments/env-staging/s/keys'],
    ],
  ])('%s', async (_, create, script, lines) => {
    const { writer, server } = await httpFixture(byLine(script));

    const made = await create(writer);
    expect(made).toEqual(create === CREATE_DEFINITION ? { created: wireDefinition('f') } : {});
    expect(server.seen.map((request) => lineOf(request).split('?')[0])).toEqual(lines);
    const patch = server.seen.find(({ method }) => method === 'PATCH');
    if (patch) expect(patch.body).toBe('[{"op":"replace","path":"/description","value":""}]');
  });

  it('of a definition is ours when the service spells in another way what we sent', async () => {
    const [on, off] = [{ name: 'on', keys: ['b', 'a'], configurations: 'null' }, { name: 'off' }];
    const staff = { type: 'IN_SEGMENT', string: 'staff' };
    const body: WireContent = { ...BODY, treatments: [on, off], rules: [ruleOn(staff)] };
    const live = wireDefinition('f', {
      treatments: [{ name: 'on', description: '', keys: ['a', 'b'] }, off],
      rules: [ruleOn({ ...staff, negate: false, strings: null })],
      defaultRule: [...BODY.defaultRule, { treatment: 'on', size: 0 }],
    });
    const { writer } = await httpFixture(
      byLine({ [`POST ${DEFINITION_LINE}`]: ['reset'], [`GET ${DEFINITION_LINE}`]: [ok(live)] }),
    );

    const create = sends({ action: 'create-definition', ...DEFINITION_OF_F, body });
    expect(await create(writer)).toEqual({ created: live });
  });

  it('of a definition is not taken for ours when somebody else made another one', async () => {
    const other = wireDefinition('f', { defaultRule: [{ treatment: 'on', size: 100 }] });
    const { writer } = await httpFixture(
      byLine({
        [`POST ${DEFINITION_LINE}`]: ['reset', errorReply(409, 'exists')],
        [`GET ${DEFINITION_LINE}`]: [ok(other)],
      }),
    );

    await expect(CREATE_DEFINITION(writer)).rejects.toMatchObject({ status: 409 });
  });
});

describe('a patch whose answer was lost', () => {
  const untagged = wireFlag('f');
  const tagged = { ...untagged, tags: [{ name: 'web' }] };
  const TAG = [{ op: 'replace' as const, path: '/tags', value: tagged.tags }];
  const TAGGED = { before: { tags: [] }, after: { tags: ['web'] } };
  const full = wireDefinition('f');
  const half = { ...full, trafficAllocation: 40 };
  const HALVE = [{ op: 'replace' as const, path: '/trafficAllocation', value: 40 }];
  const PATCHES: Readonly<Record<'flag' | 'definition', readonly [string, Write]>> = {
    flag: ['/splits/ws/w/f', patchFlag(TAG, TAGGED)],
    definition: [DEFINITION_LINE, patchDefinition(HALVE)],
  };

  async function patchOver(what: keyof typeof PATCHES, found: Reply, ...replies: Reply[]) {
    const [path, patch] = PATCHES[what];
    const script = { [`PATCH ${path}`]: replies, [`GET ${path}`]: [found] };
    const fixture = await httpFixture(byLine(script));
    return { ...fixture, path, result: patch(fixture.writer) };
  }

  it.each<['flag' | 'definition', string, object, Reply[]]>([
    ['flag', 'counts as made where it is what it should be', tagged, ['reset']],
    [
      'flag',
      'is sent again where its fields are what they were',
      { ...untagged, description: 'theirs' },
      [errorReply(500), ok(tagged)],
    ],
    ['definition', 'counts as made where it is what it should be', half, ['reset']],
    ['definition', 'is sent again where it is what it was', full, [errorReply(500), ok(half)]],
  ])('of a %s %s', async (what, _, found, replies) => {
    const { result, server, path } = await patchOver(what, ok(found), ...replies);

    expect(await result).toEqual({});
    const again = replies.slice(1).map(() => `PATCH ${path}`);
    expect(server.lines()).toEqual([`PATCH ${path}`, `GET ${path}`, ...again]);
  });

  it.each([
    ['flag', { ...untagged, tags: [{ name: 'ops' }] }],
    ['definition', { ...full, trafficAllocation: 7 }],
  ] as const)('of a %s is left alone where somebody else has changed it', async (what, theirs) => {
    const { result, server, path } = await patchOver(what, ok(theirs), 'reset');

    const why = 'flag "f" is neither what it was nor what it should be';
    await expect(result).rejects.toThrow(why);
    expect(server.lines()).toEqual([`PATCH ${path}`, `GET ${path}`]);
  });

  it('of a flag is looked up by a patch of nothing where the service does not show flags', async () => {
    const replies: Reply[] = ['reset', 'reset', ok(untagged), ok(tagged)];
    const { result, server } = await patchOver('flag', errorReply(404), ...replies);

    await result;
    const bodies = server.seen.filter(({ method }) => method === 'PATCH').map(({ body }) => body);
    expect(bodies).toEqual([JSON.stringify(TAG), '[]', '[]', JSON.stringify(TAG)]);
  });

  it('of a flag is sent again where it is gone, so that the service says so', async () => {
    const { result } = await patchOver('flag', errorReply(404), 'reset', errorReply(404));

    await expect(result).rejects.toMatchObject({ code: 'FLAG_GONE' });
  });
});

describe('a kill', () => {
  it.each<[string, Reply]>([
    ['nothing', { status: 200 }],
    ['true', TRUE],
    ['plain text', { status: 200, body: 'OK', headers: { 'content-type': 'text/plain' } }],
    ['another flag', { status: 200, body: wireDefinition('g') }],
  ])('shows no definition when it answers %s', async (_, reply) => {
    const { writer } = await httpFixture(() => reply);

    expect(await KILL_FLAG(writer)).toEqual({});
  });

  it('is repeated until it is done; a restore is not', async () => {
    const script = byLine({ [`PATCH ${DEFINITION_LINE}`]: ['reset', DEFINITION] });
    const kill = await httpFixture(script);
    const restore = await httpFixture(script);

    expect(await KILL_FLAG(kill.writer)).toEqual({ killed: wireDefinition('f') });
    const restoring = restore.writer.restore('f', PLACE);
    await expect(restoring).rejects.toMatchObject({ code: 'UNREACHABLE' });
    expect(restore.server.seen.map(({ body }) => body)).toEqual([
      '[{"op":"replace","path":"/killed","value":false}]',
    ]);
  });
});

it('a deletion is done when the second try finds nothing, and not believed when the answer is false', async () => {
  const { writer } = await httpFixture(
    byLine({ 'DELETE /splits/ws/w/f': ['reset', errorReply(404), ok('false')] }),
  );

  await expect(DELETE_FLAG(writer)).resolves.toEqual({});
  await expect(DELETE_FLAG(writer)).rejects.toMatchObject({ code: 'UNREADABLE' });
});

describe('to archive', () => {
  const LINE = 'POST /splits/ws/w/f/archive';

  it('is done when the second try finds nothing, and when the flag was gone before', async () => {
    const lost = await httpFixture(byLine({ [LINE]: ['reset', errorReply(404)] }));
    await expect(ARCHIVE(lost.writer)).resolves.toEqual({});
    const gone = await httpFixture(() => errorReply(404));
    await expect(ARCHIVE(gone.writer)).resolves.toEqual({});
  });

  it.each([
    ['GET', 404],
    ['PATCH', 404],
    ['GET', 405],
    ['GET', 501],
  ])('fails where %s shows the flag, and archiving is answered %i', async (method, status) => {
    const replies = {
      [LINE]: ['reset', errorReply(status)] as const,
      [`${method} /splits/ws/w/f`]: [ok(wireFlag('f'))],
    };
    const { writer, server } = await httpFixture(byLine(replies));

    await expect(ARCHIVE(writer)).rejects.toMatchObject({
      code: 'NOT_ON_SERVICE',
    });
    expect(server.seen.map(lineOf)).not.toContain('DELETE /splits/ws/w/f');
  });
});

describe('a deactivation', () => {
  const keys = { keys: [], openChangeRequestId: null, count: 0, offset: 0, limit: 1 };

  it.each([404, 405])(
    'is left out, now and later, where %i comes for an active segment',
    async (status) => {
      const { writer, server } = await httpFixture(
        byLine({
          'DELETE /segments/env-staging/s': [errorReply(status)],
          'GET /segments/env-staging/s/keys': [ok(keys)],
        }),
      );

      await deactivation('s')(writer);
      const asked = server.seen.length;
      await deactivation('t')(writer);
      expect(server.seen).toHaveLength(asked);
    },
  );

  it('is done where 404 comes for a segment that is not active', async () => {
    const { writer, server } = await httpFixture(() => errorReply(404));

    await deactivation('s')(writer);
    await deactivation('t')(writer);

    // The endpoint is not taken for missing: it is asked again.
    expect(server.seen.map(({ method }) => method)).toEqual(['DELETE', 'GET', 'DELETE', 'GET']);
  });
});

describe('written identities', () => {
  const answering = async (body: object): Promise<AdminWriter> =>
    (await httpFixture(() => ok(body))).writer;

  it('are sent again when no answer came: twice is once', async () => {
    const { writer, server } = await httpFixture(inOrder('reset', ALL_WRITTEN));

    const written = ['ana', 'bob', 'cy'];
    expect(await WRITE_IDENTITIES(writer)).toEqual({ identities: { written, failed: [] } });
    expect(server.seen).toHaveLength(2);
  });

  const refused = (key: string, message: unknown = expect.any(String), status: unknown = null) => ({
    ...{ key, status, message },
  });
  const WITHOUT_ANA = [SENT[1], SENT[2]];

  it.each<[string, object, readonly string[], readonly object[]]>([
    [
      'an entry of `failed` is the failure of its key and of no other',
      {
        objects: [],
        failed: [
          { object: SENT[1], status: 400, message: 'no\u001b[2J\nvalues' },
          { key: 'cy', message: 7 },
        ],
      },
      ['ana'],
      [refused('bob', 'no [2J values', 400), refused('cy', '')],
    ],
    [
      'a key by itself is an entry of `failed`',
      { objects: [], failed: ['ana', { object: 'bob' }] },
      ['cy'],
      [refused('ana'), refused('bob')],
    ],
    [
      'only what is answered is written where an entry of `failed` names none of the keys',
      { objects: [SENT[0]], failed: [{ status: 400, message: 'no' }] },
      ['ana'],
      [refused('bob'), refused('cy')],
    ],
    ...[{ plan: 'pro', seats: '26' }, { plan: 'pro' }, { plan: 'pro', seats: ['25'] }].map(
      (values): [string, object, readonly string[], readonly object[]] => [
        `other values are not believed: ${JSON.stringify(values)}`,
        { objects: [{ key: 'ana', values }, ...WITHOUT_ANA], failed: [] },
        ['bob', 'cy'],
        [refused('ana', expect.stringContaining('"seats"'))],
      ],
    ),
    ...[{ plan: 'pro', seats: '25', older: 'x' }, { plan: 'pro', seats: 25 }, undefined].map(
      (values): [string, object, readonly string[], readonly object[]] => [
        `more attributes, numbers, or no values are believed: ${JSON.stringify(values)}`,
        { objects: [{ key: 'ana', values }], failed: [] },
        ['ana', 'bob', 'cy'],
        [],
      ],
    ),
  ])('%s', async (_, body, taken, failed) => {
    const identities = { written: taken, failed };
    expect(await WRITE_IDENTITIES(await answering(body))).toEqual({ identities });
  });

  it.each([
    ['no list of failures', { objects: SENT }],
    ['a list at the root', []],
  ])('are not believed to be done when the answer has %s', async (_, body) => {
    await expect(WRITE_IDENTITIES(await answering(body))).rejects.toMatchObject({
      code: 'UNREADABLE',
    });
  });
});
