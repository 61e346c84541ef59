import { describe, expect, it } from 'vitest';
import type { WireIdentity } from '../../../src/admin-api/wire.js';
import type { IdentitiesAnswer } from '../../../src/model/outcome.js';
import { closeAfterEach, httpFixture } from '../../support/http-fixture.js';
import { errorReply, inOrder, type Script, type SeenRequest } from '../../support/http.js';

closeAfterEach();

const WORDS = { title: 'Add seats', comment: 'abc1234 Ana: why?' };
const PLACE = { trafficTypeId: 'tt-1', trafficType: 'user', environmentId: 'e-1' };
const SENT: WireIdentity[] = [
  { key: 'ana', values: { plan: 'pro', seats: '25' } },
  { key: 'bob', values: {} },
  { key: 'cy', values: { plan: 'free' } },
];

async function written(
  script: Script,
): Promise<{ answer: IdentitiesAnswer; seen: readonly SeenRequest[] }> {
  const { writer, server } = await httpFixture(script);
  return { answer: await writer.writeIdentities(PLACE, SENT, WORDS), seen: server.seen };
}

async function answered(body: object): Promise<IdentitiesAnswer> {
  return (await written(() => ({ status: 200, body }))).answer;
}

const ALL = { objects: SENT, failed: [] };

describe('writing identities', () => {
  it('posts a bare list, with the words in the query', async () => {
    const { answer, seen } = await written(() => ({ status: 200, body: ALL }));

    const [request] = seen;
    const url = new URL(request?.url ?? '', 'http://x');
    expect(`${request?.method ?? ''} ${url.pathname}`).toBe(
      'POST /internal/api/v2/trafficTypes/tt-1/environments/e-1/identities',
    );
    expect(Object.fromEntries(url.searchParams)).toEqual(WORDS);
    expect(JSON.parse(request?.body ?? '')).toEqual(SENT);
    expect(answer).toEqual({ written: ['ana', 'bob', 'cy'], failed: [] });
  });

  it('is repeated when no answer came: twice is once', async () => {
    const { answer, seen } = await written(inOrder('reset', { status: 200, body: ALL }));

    expect([seen.length, answer.written]).toEqual([2, ['ana', 'bob', 'cy']]);
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
    expect(await answered(body)).toEqual({ written: taken, failed });
  });

  it.each([
    ['no list of failures', { objects: SENT }],
    ['a list at the root', []],
  ])('is not believed to be done when the answer has %s', async (_, body) => {
    await expect(answered(body)).rejects.toMatchObject({ code: 'UNREADABLE' });
  });

  it('is refused whole with the status of the service', async () => {
    await expect(written(() => errorReply(404, 'no such traffic type'))).rejects.toMatchObject({
      code: 'REJECTED',
      status: 404,
    });
  });

  it('never sends more than one request may carry', async () => {
    const { writer, server } = await httpFixture(() => ({ status: 200, body: ALL }));
    const many = Array.from({ length: 10_001 }, (_, index) => ({ key: `k-${index}`, values: {} }));

    await expect(writer.writeIdentities(PLACE, many, WORDS)).rejects.toThrow('bug: 10001');
    expect(server.seen).toHaveLength(0);
  });
});
