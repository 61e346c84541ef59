import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { GetOnly } from '../../../../src/admin-api/http/admin-client.js';
import type { WriteRequest } from '../../../../src/admin-api/http/request.js';
import { pathOf } from '../../../../src/admin-api/http/transport.js';
import { FlagkeelError, RejectedError } from '../../../../src/errors.js';
import { errorReply, inOrder, type Reply } from '../../../support/http.js';
import { closeAfterEach, httpFixture, scripted } from '../../../support/http-fixture.js';

const KEY = 'fka_canary-5d1f0c';
closeAfterEach();

const fixture: typeof httpFixture = async (script, options) =>
  httpFixture(script, { key: () => KEY, version: '1.2.3', ...options });

const READ = { route: 'workspaces', what: 'read workspaces' };
const PATCH: WriteRequest = {
  kind: 'patch',
  method: 'PATCH',
  route: 'splits/ws/:workspace/:flag',
  at: { workspace: 'w', flag: 'f' },
  body: [],
  what: 'patch flag "f"',
};
const CREATE: WriteRequest = { ...PATCH, kind: 'create', method: 'POST', what: 'create flag "f"' };
const DELETE: WriteRequest = {
  kind: 'delete',
  method: 'DELETE',
  route: 'splits/ws/:workspace/:flag',
  at: { workspace: 'w', flag: 'f' },
  what: 'delete flag "f"',
};
const listsDeep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const DEEP = listsDeep(100_000);
const OK: Reply = { status: 200, body: { fine: true } };

async function errorOf(act: Promise<unknown>): Promise<FlagkeelError> {
  try {
    await act;
  } catch (error) {
    if (error instanceof FlagkeelError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

it('waits for its turn with many requests at once, and Node.js warns of no leak', async () => {
  const warnings: string[] = [];
  const listen = ({ name }: Error): void => {
    warnings.push(name);
  };
  process.on('warning', listen);
  const { client } = await fixture(() => ({ status: 200, body: [] }), {
    signal: new AbortController().signal,
  });

  const read = async (): Promise<unknown> => client.get({ route: 'workspaces', what: 'read' });
  await Promise.all(Array.from({ length: 30 }, read));
  // Warnings are told in a turn of their own.
  await new Promise((resolve) => setImmediate(resolve));

  process.off('warning', listen);
  expect(warnings).toEqual([]);
});

describe('a request', () => {
  it('carries the key, the version, and JSON only where it has a body', async () => {
    const { client, server } = await fixture(() => OK);

    await client.get({ ...READ, query: { wsId: 'a b&c', cut: '\ud83d' } });
    await client.write({ ...PATCH, body: [{ op: 'remove', path: '/x' }] });

    const [read, patch] = server.seen;
    expect(read?.url).toBe('/internal/api/v2/workspaces?wsId=a%20b%26c&cut=%EF%BF%BD');
    expect(read?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'user-agent': 'flagkeel/1.2.3',
    });
    expect(read?.headers).not.toHaveProperty('content-type');
    expect(patch?.headers['content-type']).toBe('application/json');
    expect(patch?.body).toBe('[{"op":"remove","path":"/x"}]');
    expect(client.counts()).toEqual({ GET: 1, POST: 0, PUT: 0, PATCH: 1, DELETE: 0 });
  });

  it('carries the key of the moment where the operator wants it, below the path of the URL', async () => {
    const keys = ['old', 'new'];
    const server = await scripted(() => OK);
    const { client } = await fixture(() => OK, {
      ...{ url: `${server.url}/team/a`, key: () => keys.shift() ?? '' },
      authHeader: 'x-api-key',
    });

    await client.get(READ);
    await client.get(READ);

    expect(server.seen.map(({ url, headers }) => [url, headers['x-api-key']])).toEqual([
      ['/team/a/internal/api/v2/workspaces', 'old'],
      ['/team/a/internal/api/v2/workspaces', 'new'],
    ]);
    expect(server.seen[0]?.headers).not.toHaveProperty('authorization');
    expect(client.origin).toBe(server.url);
  });

  it('counts each try by route and status, never by name, and without an answer', async () => {
    const counted: unknown[] = [];
    const { client } = await fixture(inOrder('reset', errorReply(503), OK), {
      traffic: {
        onRequest: ({ method, route, status }) => counted.push([method, route, status]),
        onTurn: () => counted.push('turn'),
        onRetry: () => counted.push('retry'),
      },
    });

    const at = { workspace: 'ws-1', flag: 'secret-plan' };
    await client.get({ route: 'splits/ws/:workspace/:flag', at, what: 'read a flag' });

    const tried = (status: number | null) => [
      'turn',
      ['GET', '/splits/ws/:workspace/:flag', status],
    ];
    expect(counted).toEqual([tried(null), 'retry', tried(503), 'retry', tried(200)].flat(1));
  });

  it('keeps names from becoming paths', () => {
    const at = { a: 'a/b', b: 'ü?#', c: '%2e' };
    expect(pathOf({ route: 'x/:a/:b/y/:c', at })).toBe('/x/a%2Fb/%C3%BC%3F%23/y/%252e');
    for (const a of ['', '.', '..', '\ud800'])
      expect(() => pathOf({ route: ':a', at: { a } })).toThrow('cannot');
  });
});

describe('a read', () => {
  it.each<[string, Reply]>([
    ['a broken connection', 'reset'],
    ['half an answer', 'truncate'],
    ['429', errorReply(429, 'slow down', { 'retry-after': '3' })],
    ['503 with a page', { status: 503, body: '<html>busy</html>' }],
    ['a challenge', { status: 202, body: '', headers: { 'x-amzn-waf-action': 'challenge' } }],
    ['500', errorReply(500)],
    ['502 with a page', { status: 502, body: '<html>bad gateway</html>' }],
    ['a page that says 200', { status: 200, body: '<html>hello</html>' }],
    ['an empty body', { status: 200, body: '' }],
    ['half a text', { status: 200, body: '{"objects": [' }],
  ])('comes through %s', async (_, fault) => {
    const { client, server } = await fixture(inOrder(fault, OK));

    expect(await client.get(READ)).toMatchObject({ status: 200, json: { fine: true } });
    expect(server.seen).toHaveLength(2);
  });

  it('is neither repeated nor told of once the client is closed', async () => {
    const waits: string[] = [];
    const { client, server } = await fixture(() => 'hang', {
      onWait: ({ why }) => waits.push(why),
    });
    const read = errorOf(client.get(READ));
    while (server.seen.length === 0) await new Promise(setImmediate);

    await client.close();

    expect((await read).message).toContain('cannot read workspaces');
    expect(server.seen).toHaveLength(1);
    expect(waits).toEqual([]);
  });

  it('comes through a server that hangs or drips', async () => {
    const { client, server } = await fixture(inOrder('hang', 'drip', OK), {
      headersTimeoutMs: 100,
      totalTimeoutMs: 250,
    });

    expect((await client.get(READ)).status).toBe(200);
    expect(server.seen).toHaveLength(3);
  });

  it('says that it waits when the service has no requests left to grant', async () => {
    const headers = { 'x-ratelimit-remaining-org': '0', 'x-ratelimit-reset-seconds-org': '8' };
    const waits: string[] = [];
    const { client, time } = await fixture(() => ({ status: 200, body: {}, headers }), {
      onWait: ({ waitMs, why, what }) => waits.push(`${waitMs} ms to ${what}: ${why}`),
    });

    await client.get(READ);
    await client.get(READ);

    expect(time.sleeps).toEqual([8_000]);
    expect(waits).toEqual([
      '8000 ms to send what is waiting (1): the service limits the number of requests',
    ]);
  });

  it('gives a dead network up after 30 s, says how often it tried, and tries once from then on', async () => {
    const { client, server } = await fixture(() => OK);
    await server.close();

    const error = await errorOf(client.get(READ));
    const tries = client.counts().GET;
    await errorOf(client.get(READ));

    expect(error.code).toBe('UNREACHABLE');
    expect(error.message).toBe(
      `cannot read workspaces from ${server.url}: no answer within 30 s, ${tries} tries (no connection (ECONNREFUSED))`,
    );
    expect(client.counts().GET - tries).toBe(1);
  });

  it.each<[string, Reply, string, string]>([
    ['a page, again and again', { status: 200, body: ' <!doctype html>' }, 'UNREADABLE', 'a page'],
    ['nothing, again and again', { status: 200 }, 'UNREADABLE', 'nothing'],
    ['500 again and again', errorReply(500), 'UNREACHABLE', '500 "no", 4 tries'],
    ['401', errorReply(401), 'UNAUTHORISED', 'FLAGKEEL_API_KEY_FILE'],
    ['403', errorReply(403), 'UNAUTHORISED', 'role of the key'],
    ['404', errorReply(404), 'UNREADABLE', '404'],
    ['a page for 404', { status: 404, body: '<html>' }, 'UNREADABLE', '404'],
    ['brackets without end', { status: 200, body: '['.repeat(100_000) }, 'UNREADABLE', 'too deep'],
    ['a list 65 lists deep', { status: 200, body: listsDeep(65) }, 'UNREADABLE', 'too deep'],
    ['a list 100,000 lists deep', { status: 200, body: DEEP }, 'UNREADABLE', 'too deep'],
    ['an error that is as deep', { status: 400, body: DEEP }, 'UNREADABLE', '400'],
    [
      'headers without end',
      { status: 200, headers: { 'x-more': 'x'.repeat(20_000) } },
      'UNREADABLE',
      'the headers of the answer are too large',
    ],
    [
      'an answer that may be a thousand times as large',
      { status: 200, body: 'x', headers: { 'content-encoding': 'gzip' } },
      'UNREACHABLE',
      'the answer is compressed, which was not asked for',
    ],
  ])('fails typed for %s', async (_, reply, code, text) => {
    const { client } = await fixture(() => reply);

    const error = await errorOf(client.get(READ));

    expect(error.code).toBe(code);
    expect(error.exitCode).toBe(6);
    expect(error.message).toContain(text);
  });

  it.each([301, 302, 307, 308])(
    'does not follow a %i, and says where it would have led',
    async (status) => {
      const other = await scripted(() => OK);
      const { client, server } = await fixture(() => ({
        status,
        headers: { location: `${other.url}/?key=x` },
      }));

      const error = await errorOf(client.get(READ));

      expect(error.code).toBe('UNREADABLE');
      expect(error.message).toContain(`a redirect to ${other.url}, and none is followed`);
      expect([server.seen.length, other.seen.length]).toEqual([1, 0]);
    },
  );

  it.each([
    ['announced at once', { 'content-length': '100000000' }, {}, '65,536 KiB'],
    [
      'without a length',
      { 'transfer-encoding': 'chunked' },
      { maxAnswerBytes: 1_024_000 },
      '1,000 KiB',
    ],
  ])('gives a giant answer up at its bound, once: %s', async (_, headers, options, bound) => {
    const body = 'x'.repeat(2_000_000);
    const { client, server } = await fixture(() => ({ status: 200, body, headers }), options);

    const error = await errorOf(client.get(READ));

    expect([error.code, server.seen.length]).toEqual(['UNREADABLE', 1]);
    expect(error.message).toContain(`the answer is too large (more than ${bound})`);
  });

  it('takes no absence from a page, only from the service itself', async () => {
    const accepts = (status: number, isOwn: boolean) => status === 404 && isOwn;
    const page = await fixture(() => ({ status: 404, body: 'Not Found' }));
    const own = await fixture(() => errorReply(404, 'could not be found'));

    expect((await errorOf(page.client.get({ ...READ, accepts }))).code).toBe('UNREADABLE');
    expect((await own.client.get({ ...READ, accepts })).status).toBe(404);
  });

  it('ends with the signal, waiting or under way', async () => {
    const control = new AbortController();
    const { client } = await fixture(() => 'hang', { signal: control.signal });
    setTimeout(() => {
      control.abort();
    }, 50);

    expect((await errorOf(client.get(READ))).code).toBe('INTERRUPTED');
    expect((await errorOf(client.get(READ))).code).toBe('INTERRUPTED');
  });
});

describe('a write', () => {
  it.each<[string, Reply, number]>([
    ['a broken connection', 'reset', 1],
    ['500', errorReply(500), 1],
    ['a page', { status: 200, body: '<html>' }, 1],
    ['a challenge', { status: 202 }, 1],
    ['429', errorReply(429), 2],
    ['503', errorReply(503), 2],
  ])('that patches is repeated only where %s changed nothing', async (_, fault, tries) => {
    const { client, server } = await fixture(inOrder(fault, OK));
    const writing = client.write(PATCH);

    if (tries === 1) await expect(writing).rejects.toThrow('it is unknown whether it was done');
    else await writing;
    expect(server.seen).toHaveLength(tries);
  });

  it('that creates is looked up after a broken connection, and says so when looking fails too', async () => {
    const { client, server } = await fixture(() => 'reset');
    const create = async (confirm: () => Promise<unknown>) => client.write({ ...CREATE, confirm });

    expect((await create(async () => Promise.resolve({ id: 'f' }))).json).toEqual({ id: 'f' });
    expect(server.lines()).toEqual(['POST /splits/ws/w/f']);
    await expect(create(async () => Promise.reject(new Error('dead')))).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining(
        'unknown whether it was done, and looking failed: dead',
      ) as string,
    });
  });

  it('that deletes takes 404 for done only after a try of unknown fate', async () => {
    const lost = await fixture(inOrder('reset', errorReply(404)));
    const first = await fixture(() => errorReply(404));

    expect((await lost.client.write(DELETE)).status).toBe(404);
    expect(await errorOf(first.client.write(DELETE))).toMatchObject({
      code: 'REJECTED',
      status: 404,
      transactionId: 'tx-1',
    });
  });

  it('that is refused keeps the status and words of the service, and is not unauthorised by 403', async () => {
    const refusal = errorReply(403, 'Approvals are required.\u001b[31m\n');
    const { client } = await fixture(inOrder(refusal, { status: 400 }));

    const error = await errorOf(client.write(PATCH));
    expect(await errorOf(client.write(PATCH))).toMatchObject({ code: 'REJECTED', status: 400 });

    expect(error).toBeInstanceOf(RejectedError);
    expect(error).toMatchObject({
      code: 'REJECTED',
      status: 403,
      serviceMessage: 'Approvals are required. [31m ',
    });
  });

  it('under way is finished when the run is interrupted', async () => {
    const control = new AbortController();
    const { client } = await fixture(
      () => {
        control.abort();
        return OK;
      },
      { signal: control.signal },
    );

    expect((await client.write(PATCH)).status).toBe(200);
  });
});

describe('the key', () => {
  it('stands in no error, however the service throws it back', async () => {
    const echo: Reply = {
      status: 400,
      body: { code: 400, message: `bad ${KEY}`, details: KEY, transactionId: KEY },
    };
    const replies: Reply[] = [
      echo,
      { ...echo, status: 401, body: { code: 401, message: `no ${KEY}` } },
      { status: 302, headers: { location: `https://${KEY}.example.com/` } },
      { status: 200, body: `<html>${KEY}` },
      'reset',
    ];
    for (const reply of replies) {
      const { client } = await fixture(() => reply);
      for (const act of [async () => client.get(READ), async () => client.write(PATCH)]) {
        const error = await errorOf(act());
        const shown = inspect(error, { depth: 20, showHidden: true }) + (error.stack ?? '');
        expect(shown.toLowerCase()).not.toContain(KEY);
      }
    }
  });

  it('is refused by name when no header can carry it', async () => {
    const { client, server } = await fixture(() => OK, { key: () => 'secret\nx' });

    const error = await errorOf(client.get(READ));

    expect(error.code).toBe('NO_KEY');
    expect(inspect(error, { depth: 20 })).not.toContain('secret');
    expect(server.seen).toHaveLength(0);
  });
});

it('the half that reads has one verb, and no way from it to the others', async () => {
  const { client, server } = await fixture(() => OK);
  const reads: GetOnly = client.reads();

  expect(Reflect.ownKeys(reads)).toEqual(['origin', 'get']);
  expect(Object.getPrototypeOf(reads)).toBe(Object.prototype);
  expect(Object.isFrozen(reads)).toBe(true);

  const sly = { ...READ, method: 'DELETE', kind: 'delete', body: ['x'] };
  await reads.get(sly);
  expect(server.seen.map(({ method, body }) => [method, body])).toEqual([['GET', '']]);
});

describe('a service that answers each write with 503', () => {
  async function failing() {
    let answer = errorReply(503);
    const { client, server, time } = await fixture(() => answer);
    const answers = (reply: typeof answer): void => {
      answer = reply;
    };
    for (let i = 0; i < 3; i += 1) await client.write(DELETE).catch(() => undefined);
    return { client, server, time, answers };
  }

  it('is sent no fourth one, but reads and kills', async () => {
    const { client, server, answers } = await failing();
    const sent = server.seen.length;

    expect(await errorOf(client.write(PATCH))).toMatchObject({
      code: 'UNREACHABLE',
      message: `cannot patch flag "f" on ${client.origin}: not sent, because the service was unavailable for the last 3 writes`,
      fateUnknown: false,
    });
    expect(server.seen).toHaveLength(sent);
    answers(OK);
    await client.get(READ);
    await client.write({ ...DELETE, lane: 'urgent' });
    expect(server.seen).toHaveLength(sent + 2);
  });

  it.each([
    ['made', OK],
    ['refused', errorReply(400)],
    ['failed', errorReply(500)],
  ])('is sent others again once it has %s a kill', async (_, reply) => {
    const { client, answers } = await failing();
    answers(reply);
    await client.write({ ...DELETE, lane: 'urgent' }).catch(() => undefined);
    answers(OK);

    expect(await client.write(PATCH)).toMatchObject({ status: 200 });
  });

  it('is sent the writes of a later run', async () => {
    const { client, time, answers } = await failing();
    answers(OK);
    await time.sleep(31_000);

    expect(await client.write(PATCH)).toMatchObject({ status: 200 });
  });
});

describe('a client that has to ask before it writes', () => {
  it('asks before each try of a write, and says whether it is urgent, and never before a read', async () => {
    const asked: [number, boolean][] = [];
    const { client, server } = await fixture(inOrder(OK, errorReply(503), OK, OK), {
      beforeWrite: async ({ isUrgent }) => {
        asked.push([server.seen.length, isUrgent]);
        return Promise.resolve();
      },
    });

    await client.get(READ);
    await client.write(DELETE);
    await client.write({ ...DELETE, lane: 'urgent' });

    expect(asked).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
  });

  it('sends nothing, and tries no more, once it may not', async () => {
    const { client, server } = await fixture(inOrder(errorReply(503), OK), {
      beforeWrite: async () => {
        if (server.seen.length === 0) return Promise.resolve();
        throw new FlagkeelError('INTERRUPTED', 'cannot write: taken over');
      },
    });

    await expect(client.write(DELETE)).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(server.seen).toHaveLength(1);
  });
});
