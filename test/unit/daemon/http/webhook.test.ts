import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SourceView } from '../../../../src/daemon/view.js';
import { aSource, DaemonInMemory, NOW } from '../../../support/daemon-view.js';
import { startTestOperations, type TestOperations } from '../../../support/operations.js';

const SECRET = 'a secret that the forge knows';
const STANDARD_SECRET = `whsec_${Buffer.from('of thirty-two bytes, more or less').toString('base64')}`;
const ZEROES = '0'.repeat(40);

const PUSH = {
  ref: 'refs/heads/main',
  after: '3f9c2ab41d7e5f60718293a4b5c6d7e8f9012345',
  deleted: false,
  repository: {
    clone_url: 'https://git.example.com/shop/flags.git',
    ssh_url: 'git@git.example.com:shop/flags.git',
  },
};

type Headers = Record<string, string>;
type Row = [situation: string, body: string, headers: Headers];

const JSON_TYPE = { 'content-type': 'application/json' };
const text = (payload: unknown): string => JSON.stringify(payload);

async function post({ url }: TestOperations, body: string, headers: Headers) {
  const response = await fetch(`${url}/webhook`, { method: 'POST', body, headers });
  const answer = (await response.json()) as { result?: string; sources?: string[]; error?: string };
  return { status: response.status, ...answer };
}

const start = async (daemon: DaemonInMemory): Promise<TestOperations> =>
  startTestOperations(daemon, { secrets: [STANDARD_SECRET, SECRET] });

/** Delivers to a daemon over these sources, as often as there are headers. */
async function deliver(body: string, headers: readonly Headers[], ...sources: SourceView[]) {
  const daemon = new DaemonInMemory(...(sources.length === 0 ? [aSource()] : sources));
  await using operations = await start(daemon);
  const answers = [];
  for (const each of headers) answers.push(await post(operations, body, each));
  expect(operations.logged()).not.toContain(SECRET);
  return { answers, asked: daemon.asked };
}

const hmac = (body: string, secret: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

const github = (body: string, secret = SECRET, more: Headers = {}): Headers => ({
  ...JSON_TYPE,
  'x-github-event': 'push',
  'x-github-delivery': crypto.randomUUID(),
  'x-hub-signature-256': hmac(body, secret),
  ...more,
});

const bitbucket = (body: string, event: string, secret = SECRET): Headers => ({
  ...JSON_TYPE,
  'x-event-key': event,
  'x-hub-signature': hmac(body, secret),
});

const gitlab = (token = SECRET, more: Headers = {}): Headers => ({
  ...JSON_TYPE,
  'x-gitlab-event': 'Push Hook',
  'x-gitlab-token': token,
  ...more,
});

const azure = (password = SECRET): Headers => ({
  ...JSON_TYPE,
  authorization: `Basic ${btoa(`flagkeel:${password}`)}`,
});

function standard(
  body: string,
  { id = 'msg_1', at = NOW, secret = STANDARD_SECRET, others = '' } = {},
): Headers {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
  const timestamp = String(Math.floor(at / 1_000));
  const signed = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    ...JSON_TYPE,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `${others}v1,${signed}`,
  };
}

const CLOUD = {
  push: {
    changes: [
      { old: { type: 'branch', name: 'topic' }, new: null },
      { old: { type: 'branch', name: 'main' }, new: { type: 'branch', name: 'main' } },
    ],
  },
  repository: { links: { html: { href: 'https://bitbucket.org/shop/flags' } } },
};
const DATA_CENTER = {
  changes: [{ ref: { id: 'refs/heads/main', displayId: 'main' }, toHash: PUSH.after }],
  repository: { slug: 'flags', project: { key: 'SHOP' } },
};
const azurePush = (newObjectId: string) => ({
  eventType: 'git.push',
  resource: {
    refUpdates: [{ name: 'refs/heads/main', newObjectId }],
    repository: { remoteUrl: 'https://dev.azure.com/acme/shop/_git/flags' },
  },
});
const AZURE = azurePush(PUSH.after);

const BODY = text(PUSH);
const FORM = new URLSearchParams({ payload: BODY }).toString();
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
const [CLOUD_BODY, DATA_CENTER_BODY, AZURE_BODY] = [text(CLOUD), text(DATA_CENTER), text(AZURE)];
const ofDataCenter = bitbucket(DATA_CENTER_BODY, 'repo:refs_changed');

describe('a webhook', () => {
  it.each<[string, string, Headers, string?]>([
    ['GitHub', BODY, github(BODY)],
    ['GitHub, as a form', FORM, github(FORM, SECRET, FORM_TYPE)],
    ['GitLab with a signing token', BODY, { ...standard(BODY), 'x-gitlab-event': 'Push Hook' }],
    ['GitLab with a secret token', BODY, gitlab(SECRET, { 'idempotency-key': 'one' })],
    ['a script', BODY, standard(BODY)],
    ['a script with a secret of plain text', BODY, standard(BODY, { secret: SECRET })],
    ['one with an older signature beside it', BODY, standard(BODY, { others: 'v1,b2xk ' })],
    ['Bitbucket', CLOUD_BODY, bitbucket(CLOUD_BODY, 'repo:push'), 'git@bitbucket.org:shop/flags'],
    [
      'Bitbucket Data Center',
      ...([DATA_CENTER_BODY, ofDataCenter, 'https://git.example.com/scm/shop/flags.git'] as const),
    ],
    [
      'Bitbucket Data Center over ssh',
      ...([DATA_CENTER_BODY, ofDataCenter, 'ssh://git@git.example.com:7999/shop/flags'] as const),
    ],
    ['Azure DevOps', AZURE_BODY, azure(), 'https://acme@dev.azure.com/acme/shop/_git/flags'],
    ['Azure DevOps over ssh', AZURE_BODY, azure(), 'git@ssh.dev.azure.com:v3/acme/shop/flags'],
  ])('of %s triggers one run of its repository, and of no other', async (...row) => {
    const [, body, headers, url = 'https://git.example.com/shop/flags.git'] = row;
    const other = aSource({ name: 'other', location: url.replace('flags', 'others') });

    // The id of a delivery is not signed, so another one makes no other delivery.
    const again = { ...headers, 'x-github-delivery': 'another' };
    const found = await deliver(body, [headers, again], aSource({ location: url }), other);

    expect(found.answers).toMatchObject([
      { status: 202, result: 'accepted', sources: ['shop-flags'] },
      { result: 'repeated' },
    ]);
    expect(found.asked).toEqual(['trigger shop-flags webhook']);
  });

  it.each<Row>([
    ...[
      ['a tag of Bitbucket', { push: { changes: [{ new: { type: 'tag', name: 'main' } }] } }],
      ['the end of a branch of Bitbucket', { push: { changes: [{ new: null }] } }],
      ['the end of a branch of Azure DevOps', azurePush(ZEROES)],
      ['lists of nothing', { changes: [null, 1, []], push: { changes: 'x' } }],
    ].map(([name, payload]): Row => [name as string, text(payload), azure()]),
    ...[
      ['a push to another branch', { ...PUSH, ref: 'refs/heads/topic' }],
      ['a tag of the same name', { ...PUSH, ref: 'refs/tags/main' }],
      ['the end of the branch', { ...PUSH, after: ZEROES }],
      ['the end of the branch, by its word', { ...PUSH, deleted: true }],
      ['another repository', { ...PUSH, repository: { clone_url: 'https://g.example/a/b' } }],
      ['nothing at all', null],
    ].map(([name, payload]): Row => {
      const body = text(payload);
      return [name as string, body, github(body)];
    }),
    ['no push', BODY, github(BODY, SECRET, { 'x-github-event': 'create' })],
  ])('about %s triggers nothing', async (_, body, headers) => {
    const { answers, asked } = await deliver(body, [headers]);

    expect([answers[0]?.status, answers[0]?.result, asked]).toEqual([200, 'ignored', []]);
  });

  const half = github(BODY, SECRET, { 'x-hub-signature-256': 'sha256=12' });
  it.each<[string, Headers]>([
    ['signed with another secret, as Bitbucket signs', bitbucket(BODY, 'repo:push', 'other')],
    ['with another password', azure('another')],
    ['with a right password beside a wrong signature', { ...azure(), 'x-hub-signature': 'sha1=1' }],
    ['without a signature', JSON_TYPE],
    ['signed with another secret', github(BODY, 'another')],
    ['signed for another body', github(text({ ...PUSH, after: ZEROES }))],
    ['with half a signature', half],
    ['with another token', gitlab('another')],
    ['with a wrong signature beside a token', { ...gitlab(), 'webhook-signature': 'v1,eA==' }],
    ['signed six minutes ago', standard(BODY, { at: NOW - 6 * 60_000 })],
    ['signed six minutes from now', standard(BODY, { at: NOW + 6 * 60_000 })],
    ['whose time was changed', { ...standard(BODY), 'webhook-timestamp': '1790000000' }],
    ['whose id was changed', { ...standard(BODY), 'webhook-id': 'msg_2' }],
  ])('%s is refused', async (_, headers) => {
    const { answers, asked } = await deliver(BODY, [headers]);

    const error = expect.stringMatching(/^cannot take the webhook: /) as string;
    expect([answers, asked]).toEqual([[{ status: 401, error }], []]);
  });

  const ours = PUSH.repository.ssh_url;
  it.each<[string, string, string?]>([
    ['a megabyte of slashes', `https://git.example.com/${'/'.repeat(1_000_000)}a`, ours],
    ['a megabyte of slashes over ssh', `git@git.example.com:${'/'.repeat(1_000_000)}a`, ours],
    ['a megabyte of users and ports', `${'a@b:'.repeat(250_000)}\n`, ours],
    ['a megabyte of users', 'a@'.repeat(500_000), ours],
    ['an address in brackets', 'git@[::1]:shop/flags.git//'],
    ['a user with an @', 'me@corp@git.example.com:shop/flags'],
  ])('knows its repository by %s', async (_, clone_url, ssh_url) => {
    const body = text({ ...PUSH, repository: { clone_url, ssh_url } });
    const other = { location: 'https://git.example.com/shop/other' };

    const { asked } = await deliver(
      body,
      [github(body)],
      aSource(),
      aSource({ name: 'other', ...other }),
    );

    expect(asked).toEqual(['trigger shop-flags webhook']);
  });

  it('triggers every source that it is about, by whatever name the repository is cloned', async () => {
    const sources = [
      aSource({ name: 'over-ssh', location: 'git@mirror.internal:Shop/flags' }),
      aSource({ name: 'a-folder', location: 'https://git.example.com/shop/flags.git (config)' }),
      aSource({ name: 'a-directory', location: '/srv/flags', branch: null }),
      aSource({ name: 'another-branch', branch: 'release' }),
      aSource({ name: 'another-repository', location: 'https://git.example.com/bank/flags' }),
    ];
    const anywhere = text({ ...PUSH, repository: undefined });

    const named = await deliver(BODY, [github(BODY)], ...sources);
    const unnamed = await deliver(anywhere, [github(anywhere)], ...sources);

    const both = ['over-ssh', 'a-folder', 'a-directory'];
    expect(named.answers[0]?.sources).toEqual(both);
    expect(unnamed.answers[0]?.sources).toEqual([...both, 'another-repository']);
  });

  const long = text({ ...PUSH, padding: ' '.repeat(6_000_000) });
  it.each([
    ['six million bytes', long, 413],
    ['no JSON', '{"ref":', 400],
  ])('of %s is refused', async (_, body, expected) => {
    const { answers, asked } = await deliver(body, [github(body)]);

    expect([answers[0]?.status, asked]).toEqual([expected, []]);
  });

  it('is refused where no file of secrets was named, and signed with the secret of this moment', async () => {
    await using off = await startTestOperations(new DaemonInMemory(aSource()));
    await using operations = await start(new DaemonInMemory(aSource()));
    const { status, error } = await post(off, BODY, github(BODY));
    await operations.writeSecrets('secrets', 'rotated');

    expect([status, error]).toEqual([403, expect.stringContaining('--webhook-secret-file')]);
    expect((await post(operations, BODY, github(BODY))).status).toBe(401);
    expect((await post(operations, BODY, github(BODY, 'rotated'))).status).toBe(202);
  });
});
