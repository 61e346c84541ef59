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

    expect(seen).toHaveLength(2);
    expect(answer.written).toEqual(['ana', 'bob', 'cy']);
  });

  it('takes every entry of `failed` for the failure of its key and of no other', async () => {
    const failed = [
      { object: SENT[1], status: 400, message: 'no\u001b[2J\nvalues' },
      { key: 'cy', message: 7 },
    ];

    expect(await answered({ objects: [], failed })).toEqual({
      written: ['ana'],
      failed: [
        { key: 'bob', status: 400, message: 'no [2J values' },
        { key: 'cy', status: null, message: '' },
      ],
    });
  });

  it('takes a key by itself for an entry of `failed`', async () => {
    const { failed } = await answered({ objects: [], failed: ['ana', { object: 'bob' }] });

    expect(failed.map(({ key }) => key)).toEqual(['ana', 'bob']);
  });

  it('counts only what is answered as written where an entry of `failed` names none of the keys', async () => {
    const { written: taken, failed } = await answered({
      objects: [SENT[0]],
      failed: [{ status: 400, message: 'no' }],
    });

    expect(taken).toEqual(['ana']);
    expect(failed.map(({ key }) => key)).toEqual(['bob', 'cy']);
  });

  it.each([
    ['another value', { plan: 'pro', seats: '26' }],
    ['no value', { plan: 'pro' }],
    ['a list', { plan: 'pro', seats: ['25'] }],
  ])('does not believe an identity that is answered with %s', async (_, values) => {
    const { written: taken, failed } = await answered({
      objects: [{ key: 'ana', values }, SENT[1], SENT[2]],
      failed: [],
    });

    expect(taken).toEqual(['bob', 'cy']);
    expect(failed).toEqual([
      { key: 'ana', status: null, message: expect.stringContaining('"seats"') as string },
    ]);
  });

  it.each([
    ['further attributes', { plan: 'pro', seats: '25', older: 'x' }],
    ['a number', { plan: 'pro', seats: 25 }],
    ['no values at all', undefined],
  ])('believes an identity that is answered with %s', async (_, values) => {
    const { failed } = await answered({ objects: [{ key: 'ana', values }], failed: [] });

    expect(failed).toEqual([]);
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
