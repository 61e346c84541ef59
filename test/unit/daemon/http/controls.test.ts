import { describe, expect, it } from 'vitest';
import type { SourceView } from '../../../../src/daemon/view.js';
import type { GuardName } from '../../../../src/model/plan.js';
import { aRun, aSource, DaemonInMemory, minutesAgo } from '../../../support/daemon-view.js';
import { startTestOperations } from '../../../support/operations.js';
import { aChange, aReport, aWithheld, COMMIT } from '../../../support/plan-builder.js';

const TOKEN = 'a-token-of-the-operator';
const HASH = `sha256:${'a'.repeat(64)}`;
const OTHER = `sha256:${'b'.repeat(64)}`;

const SHOP = aSource();
const BANK = aSource({ name: 'bank-flags' });
const [NEWEST = aRun(null)] = SHOP.runs;

/** Its newest run was refused by this guard, or waits for a window. */
function held(guard?: GuardName): SourceView {
  const changes = [aChange('flag/pay@production', 'update')];
  const withheld = [aWithheld('flag/shop@production', 'update', 'window-closed')];
  const guardFindings = guard && [{ guard, environment: 'production', found: 60, limit: 5 }];
  const report = guardFindings ? aReport({ changes }, { guardFindings }) : aReport({ withheld });
  return aSource({ runs: [aRun({ ...report, heldHash: HASH })] });
}

interface Asked {
  readonly status: number;
  readonly answer: Readonly<Record<string, unknown>>;
}

async function post(url: string, path: string, body: unknown, headers: object): Promise<Asked> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, answer: (await response.json()) as Asked['answer'] };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Asks a daemon over these sources; neither it nor its log may have more of it than the test says. */
async function ask(
  path: string,
  body: unknown,
  sources: readonly SourceView[] = [SHOP, BANK],
  {
    headers = bearer(TOKEN),
    ...options
  }: { headers?: object; tokenFile?: string } & {
    tokens?: readonly string[];
  } = {},
): Promise<Asked & { asked: readonly string[]; logged: string }> {
  const daemon = new DaemonInMemory(...sources);
  await using operations = await startTestOperations(daemon, { tokens: [TOKEN], ...options });
  const answer = await post(operations.url, path, body, headers);
  const logged = operations.logged();
  expect(logged).not.toContain(TOKEN);
  return { ...answer, asked: daemon.asked, logged };
}

describe('what may be asked of the daemon', () => {
  const until = minutesAgo(-30);
  it.each<[string, unknown, string, SourceView[]?]>([
    ['/reconcile', undefined, 'trigger all request'],
    ['/reconcile', {}, 'trigger all request'],
    ['/reconcile', { source: 'bank-flags' }, 'trigger bank-flags request'],
    ['/suspend', { reason: ' INC-4711 ', for: '30m' }, `suspend all until ${until}: INC-4711`],
    [
      '/suspend',
      { source: 'shop-flags', reason: 'INC-4711', until: '2026-10-03T16:35:00+02:00' },
      `suspend shop-flags until ${until}: INC-4711`,
    ],
    ['/resume', {}, 'resume all'],
    [
      '/pin',
      { source: 'shop-flags', commit: COMMIT, until },
      `pin shop-flags to ${COMMIT} until ${until}: no reason given`,
    ],
    // Where there is but one, its name is not needed.
    [
      '/pin',
      { commit: COMMIT, for: '1d', reason: 'INC-1' },
      `pin shop-flags to ${COMMIT} until ${minutesAgo(-1440)}: INC-1`,
      [SHOP],
    ],
    ['/unpin', { source: 'shop-flags' }, 'unpin shop-flags'],
    ['/adopt', { run: NEWEST.id }, 'trigger shop-flags adopt', [SHOP]],
    ...[held('maxShift'), held()].map((source): [string, unknown, string, SourceView[]] => [
      '/approve',
      { hash: HASH, by: ' ana ', reason: 'ok' },
      `approve shop-flags ${HASH} by ana until ${minutesAgo(-60)}: ok`,
      [source],
    ]),
  ])('%s with %j', async (path, body, expected, sources) => {
    const { status, answer, asked, logged } = await ask(path, body, sources);

    expect([status, answer['accepted'], asked]).toEqual([202, true, [expected]]);
    expect(logged).toContain('asked by request');
    if (path !== '/approve') return;
    const facts = { source: 'shop-flags', hash: HASH, by: 'ana', reason: 'ok' };
    expect(answer).toEqual({ accepted: true, ...facts, until: minutesAgo(-60) });
    expect(logged).toContain('"by":"ana"');
  });

  const byLines = ['\n', '\r\n', '\u0085', '\u2028', '\u0000', '\u001b[31m', '\u202e'];
  it.each<[string, unknown, number, string, SourceView[]?]>([
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
    ['/reconcile', { source: 'x'.repeat(20_000) }, 413, 'large'],
    ['/pin', { source: 'shop-flags', commit: 'main', for: '1h' }, 400, '"commit"'],
    ['/pin', { commit: COMMIT, for: '1h' }, 400, 'which source'],
    ['/adopt', {}, 400, '"run"', [SHOP]],
    ['/adopt', { run: 'run-0000' }, 409, 'the newest plan', [SHOP]],
    ['/adopt', { run: NEWEST.id }, 409, 'about to look', [{ ...SHOP, phase: 'debouncing' }]],
    [
      '/adopt',
      { run: NEWEST.id },
      409,
      'is suspended',
      [{ ...SHOP, suspended: { reason: 'INC-1', until: null } }],
    ],
    ['/approve', { hash: HASH, by: 'ana' }, 400, 'which source', [held(), BANK]],
    ['/approve', { hash: HASH }, 400, '"by"', [held()]],
    ['/approve', { hash: HASH, by: ' ' }, 400, '"by"', [held()]],
    ['/approve', { hash: HASH, by: 'x'.repeat(101) }, 400, '"by"', [held()]],
    ['/approve', { hash: HASH.slice(0, 20), by: 'ana' }, 400, '"hash"', [held()]],
    ['/approve', { by: 'ana' }, 400, '"hash"', [held()]],
    ['/approve', { hash: HASH, by: 'ana', reason: 'x'.repeat(501) }, 400, '"reason"', [held()]],
    ['/approve', { hash: HASH, by: 'ana', force: 'yes' }, 400, 'no field', [held()]],
    ...byLines.map((sign): [string, unknown, number, string, SourceView[]] => {
      const by = `ana${sign}approved by the board`;
      return ['/approve', { hash: HASH, by }, 400, '"by" must be one line', [held()]];
    }),
  ])('does nothing for %s with %j', async (path, body, expected, words, sources) => {
    const { status, answer, asked } = await ask(path, body, sources);

    expect([status, asked]).toEqual([expected, []]);
    expect(answer['error']).toContain(words);
  });

  it.each<[string, SourceView, string, string | null, string]>([
    ['another hash', held(), OTHER, HASH, `cannot approve ${OTHER}: what is held back is ${HASH}`],
    ['what is not held', SHOP, HASH, null, 'holds anything back'],
    ['an empty repository', held('emptyRepository'), HASH, null, 'reconcile --force'],
    ['another workspace', held('anotherWorkspace'), HASH, null, 'reconcile --force'],
  ])('approves not %s', async (_, source, hash, heldHash, words) => {
    const { status, answer, asked } = await ask('/approve', { hash, by: 'ana' }, [source]);

    expect([status, answer['heldHash'], asked]).toEqual([409, heldHash, []]);
    expect(answer['error']).toContain(words);
  });
});

describe('who may ask', () => {
  const password = { authorization: `Basic ${btoa(`ana:${TOKEN}`)}` };
  it.each<[string, object, number]>([
    ['no token', {}, 401],
    ['another token', bearer('a-token-of-somebody'), 401],
    ['the beginning of it', bearer(TOKEN.slice(0, 5)), 401],
    ['another scheme', { authorization: `Basic ${TOKEN}` }, 401],
    ['a password, which a browser would send for any page', password, 401],
    ...[
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://elsewhere.example.com' },
      { origin: 'null' },
    ].map((from): [string, object, number] => [
      `a page of another site: ${JSON.stringify(from)}`,
      { ...bearer(TOKEN), ...from },
      403,
    ]),
  ])('nobody with %s', async (_, headers, expected) => {
    const { status, asked } = await ask('/reconcile', {}, [SHOP], { headers });

    expect([status, asked]).toEqual([expected, []]);
  });

  it.each(['reconcile', 'suspend', 'resume', 'pin', 'unpin', 'adopt', 'approve'])(
    'nobody where no file of tokens was named: /%s',
    async (path) => {
      const daemon = new DaemonInMemory(SHOP);
      await using operations = await startTestOperations(daemon);

      const { status, answer } = await post(operations.url, `/${path}`, {}, bearer(TOKEN));

      expect([status, daemon.asked]).toEqual([403, []]);
      expect(answer['error']).toContain('--token-file');
    },
  );

  it.each<[string, { tokens?: string[]; tokenFile?: string }, string]>([
    ['is empty', { tokens: [''] }, 'empty'],
    ['cannot be read', { tokenFile: '/nowhere/tokens' }, 'unreadable'],
    ['names a scope that there is not', { tokens: [TOKEN, 'secret ana operator'] }, 'line 2'],
  ])('nobody while the file of tokens %s', async (_, options, words) => {
    const { status, answer, asked } = await ask('/resume', {}, [SHOP], options);

    expect([status, asked]).toEqual([503, []]);
    expect(answer['error']).toContain(words);
    expect(answer['error']).not.toContain('secret');
  });

  it('whoever has one of the tokens of this moment', async () => {
    const daemon = new DaemonInMemory(SHOP);
    await using operations = await startTestOperations(daemon, { tokens: [TOKEN, 'the-other'] });
    const status = async (token: string): Promise<number> =>
      (await post(operations.url, '/resume', {}, bearer(token))).status;

    const before = [await status(TOKEN), await status('the-other'), await status('new')];
    await operations.writeSecrets('tokens', 'new');

    expect(before).toEqual([202, 202, 401]);
    expect([await status(TOKEN), await status('new')]).toEqual([401, 202]);
  });

  it('whoever has the scope for it, and the log tells by what name', async () => {
    const daemon = new DaemonInMemory(SHOP);
    const tokens = ['t-ana ana operate', 't-bob bob read', 't-eve eve approve,read', 't-old'];
    await using operations = await startTestOperations(daemon, { tokens });
    const statuses = async (path: string, body: object): Promise<number[]> =>
      Promise.all(
        ['t-ana', 't-bob', 't-eve', 't-old', 'ana'].map(
          async (token) => (await post(operations.url, path, body, bearer(token))).status,
        ),
      );

    expect(await statuses('/reconcile', {})).toEqual([202, 403, 403, 202, 401]);
    // 409: nothing is held by that hash.
    const approval = { hash: HASH, by: 'eve' };
    expect(await statuses('/approve', approval)).toEqual([403, 403, 409, 409, 401]);

    const by = operations.logged().match(/"by":"[^"]*"/g);
    expect(new Set(by)).toEqual(new Set(['"by":"ana"', '"by":"token 4"', '"by":"eve"']));
    expect(operations.logged()).not.toMatch(/t-(ana|bob|eve|old)/);
  });
});
