import { describe, expect, it } from 'vitest';
import { aSource, DaemonInMemory, minutesAgo } from '../../../support/daemon-view.js';
import { startTestOperations, type TestOperations } from '../../../support/operations.js';
import { COMMIT } from '../../../support/plan-builder.js';

const TOKEN = 'a-token-of-the-operator';

async function post(
  { url }: TestOperations,
  path: string,
  body?: unknown,
  headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` },
): Promise<{ status: number; answer: Record<string, unknown> }> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return {
    status: response.status,
    answer: (await response.json()) as Record<string, unknown>,
  };
}

const SHOP = aSource();
const BANK = aSource({ name: 'bank-flags' });

describe('what may be asked of the daemon', () => {
  it.each([
    ['/reconcile', undefined, 'trigger all request'],
    ['/reconcile', {}, 'trigger all request'],
    ['/reconcile', { source: 'bank-flags' }, 'trigger bank-flags request'],
    [
      '/suspend',
      { reason: ' INC-4711 ', for: '30m' },
      `suspend all until ${minutesAgo(-30)}: INC-4711`,
    ],
    [
      '/suspend',
      { source: 'shop-flags', reason: 'INC-4711', until: '2026-10-03T16:35:00+02:00' },
      `suspend shop-flags until ${minutesAgo(-30)}: INC-4711`,
    ],
    ['/resume', {}, 'resume all'],
    [
      '/pin',
      { source: 'shop-flags', commit: COMMIT, until: minutesAgo(-60) },
      `pin shop-flags to ${COMMIT} until ${minutesAgo(-60)}: no reason given`,
    ],
    ['/unpin', { source: 'shop-flags' }, 'unpin shop-flags'],
  ])('%s with %j', async (path, body, asked) => {
    const daemon = new DaemonInMemory(SHOP, BANK);
    await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

    const { status, answer } = await post(operations, path, body);

    expect([status, answer['accepted']]).toEqual([202, true]);
    expect(daemon.asked).toEqual([asked]);
    expect(operations.logged()).toContain('asked by request');
    expect(operations.logged()).not.toContain(TOKEN);
  });

  it('adopts what the newest plan has, and nothing that another run is about to find', async () => {
    const [newest] = SHOP.runs;
    const daemon = new DaemonInMemory(SHOP);
    await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

    const right = await post(operations, '/adopt', { run: newest?.id });
    const old = await post(operations, '/adopt', { run: 'run-0000' });
    const none = await post(operations, '/adopt', {});
    daemon.show({ ...SHOP, phase: 'debouncing' });
    const busy = await post(operations, '/adopt', { run: newest?.id });

    expect([right, old, none, busy].map(({ status }) => status)).toEqual([202, 409, 400, 409]);
    expect(daemon.asked).toEqual(['trigger shop-flags adopt']);
  });

  it('needs no name of a source where there is but one', async () => {
    const daemon = new DaemonInMemory(SHOP);
    await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

    await post(operations, '/pin', { commit: COMMIT, for: '1d', reason: 'INC-1' });

    expect(daemon.asked).toEqual([`pin shop-flags to ${COMMIT} until ${minutesAgo(-1440)}: INC-1`]);
  });

  it.each([
    ['/suspend', { for: '30m' }, 400, '"reason"'],
    ['/suspend', { reason: '', for: '30m' }, 400, '"reason"'],
    ['/suspend', { reason: 'x'.repeat(501), for: '30m' }, 400, '"reason"'],
    ['/suspend', { reason: 'INC-1' }, 400, '"for"'],
    ['/suspend', { reason: 'INC-1', for: '30m', until: minutesAgo(-60) }, 400, '"for"'],
    ['/suspend', { reason: 'INC-1', for: 'ever' }, 400, '"for"'],
    ['/suspend', { reason: 'INC-1', for: '31d' }, 400, '30 days'],
    ['/suspend', { reason: 'INC-1', until: minutesAgo(1) }, 400, 'future'],
    ['/suspend', { reason: 'INC-1', until: '2026-10-03T22:00:00' }, 400, '"until"'],
    ['/suspend', { reason: 'INC-1', for: '1h', when: 'now' }, 400, 'when'],
    ['/reconcile', ['shop-flags'], 400, 'object'],
    ['/reconcile', '{"source":', 400, 'JSON'],
    ['/reconcile', { source: 'other' }, 404, 'shop-flags, bank-flags'],
    ['/pin', { source: 'shop-flags', commit: 'main', for: '1h' }, 400, '"commit"'],
    ['/pin', { commit: COMMIT, for: '1h' }, 400, 'which source'],
    ['/reconcile', { source: 'x'.repeat(20_000) }, 413, 'large'],
  ])('does nothing for %s with a body that is no use: %j', async (path, body, expected, words) => {
    const daemon = new DaemonInMemory(SHOP, BANK);
    await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

    const { status, answer } = await post(operations, path, body);

    expect(status).toBe(expected);
    expect(answer['error']).toContain(words);
    expect(daemon.asked).toEqual([]);
  });
});

describe('who may ask', () => {
  it.each(['/reconcile', '/suspend', '/resume', '/pin', '/unpin', '/adopt'])(
    'nobody where no file of tokens was named: %s',
    async (path) => {
      const daemon = new DaemonInMemory(SHOP);
      await using operations = await startTestOperations(daemon);

      const { status, answer } = await post(operations, path, {});

      expect(status).toBe(403);
      expect(answer['error']).toContain('--token-file');
      expect(daemon.asked).toEqual([]);
    },
  );

  it.each([
    ['no token', {}],
    ['another token', { authorization: 'Bearer a-token-of-somebody' }],
    ['the beginning of it', { authorization: `Bearer ${TOKEN.slice(0, 5)}` }],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
  ])('nobody with %s', async (_, headers) => {
    const daemon = new DaemonInMemory(SHOP);
    await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });

    expect((await post(operations, '/reconcile', {}, headers)).status).toBe(401);
    expect(daemon.asked).toEqual([]);
  });

  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://elsewhere.example.com' },
    { origin: 'null' },
  ])('no page of another site, whatever it knows: %j', async (headers) => {
    const daemon = new DaemonInMemory(SHOP);
    await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });
    const withToken = { authorization: `Bearer ${TOKEN}`, ...headers };

    expect((await post(operations, '/reconcile', {}, withToken)).status).toBe(403);
    expect(daemon.asked).toEqual([]);
  });

  it('whoever has one of the tokens of this moment', async () => {
    const daemon = new DaemonInMemory(SHOP);
    await using operations = await startTestOperations(daemon, { tokens: [TOKEN, 'the-other'] });
    const status = async (token: string) =>
      (await post(operations, '/resume', {}, { authorization: `Bearer ${token}` })).status;

    const before = [await status(TOKEN), await status('the-other'), await status('new')];
    await operations.writeSecrets('tokens', 'new');

    expect(before).toEqual([202, 202, 401]);
    expect([await status(TOKEN), await status('new')]).toEqual([401, 202]);
  });

  it('whoever has the scope for it, and the log tells by what name', async () => {
    const daemon = new DaemonInMemory(SHOP);
    const tokens = ['t-ana ana operate', 't-bob bob read', 't-eve eve approve,read', 't-old'];
    await using operations = await startTestOperations(daemon, { tokens });
    const status = async (token: string) =>
      (await post(operations, '/reconcile', {}, { authorization: `Bearer ${token}` })).status;

    expect(await Promise.all(['t-ana', 't-bob', 't-eve', 't-old', 'ana'].map(status))).toEqual([
      202, 403, 403, 202, 401,
    ]);

    const by = operations.logged().match(/"by":"[^"]*"/g);
    expect(by?.sort()).toEqual(['"by":"ana"', '"by":"token 4"']);
    expect(operations.logged()).not.toMatch(/t-(ana|bob|eve|old)/);
  });

  it('of approvals: whoever may approve, and not whoever may ask for everything else', async () => {
    const daemon = new DaemonInMemory(SHOP);
    const tokens = ['t-ana ana operate', 't-eve eve approve'];
    await using operations = await startTestOperations(daemon, { tokens });
    const body = { hash: `sha256:${'0'.repeat(64)}`, by: 'eve' };
    const status = async (token: string) =>
      (await post(operations, '/approve', body, { authorization: `Bearer ${token}` })).status;

    // 409: nothing is held by that hash.
    expect([await status('t-ana'), await status('t-eve')]).toEqual([403, 409]);
  });

  it('nobody while a line of the file of tokens names a scope that there is not', async () => {
    const daemon = new DaemonInMemory(SHOP);
    const tokens = [TOKEN, 'secret ana operator'];
    await using operations = await startTestOperations(daemon, { tokens });

    const { status, answer } = await post(operations, '/reconcile', {});

    expect(status).toBe(503);
    expect(answer['error']).toContain('line 2');
    expect(answer['error']).not.toContain('secret');
  });

  it('nobody by a password, which a browser would send for any page', async () => {
    const daemon = new DaemonInMemory(SHOP);
    await using operations = await startTestOperations(daemon, { tokens: [TOKEN] });
    const authorization = `Basic ${Buffer.from(`ana:${TOKEN}`).toString('base64')}`;

    expect((await post(operations, '/reconcile', {}, { authorization })).status).toBe(401);
    expect(daemon.asked).toEqual([]);
  });

  it('nobody while the file of tokens cannot be read or is empty', async () => {
    const daemon = new DaemonInMemory(SHOP);
    await using operations = await startTestOperations(daemon, { tokens: [''] });
    await using gone = await startTestOperations(daemon, { tokenFile: '/nowhere/tokens' });

    const answers = [await post(operations, '/resume'), await post(gone, '/resume')];

    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    expect(daemon.asked).toEqual([]);
  });
});
