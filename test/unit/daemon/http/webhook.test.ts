import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
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

async function post({ url }: TestOperations, body: string, headers: Headers) {
  const response = await fetch(`${url}/webhook`, { method: 'POST', body, headers });
  const answer = (await response.json()) as { result?: string; sources?: string[]; error?: string };
  return { status: response.status, ...answer };
}

function github(body: string, secret = SECRET, more: Headers = {}): Headers {
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': crypto.randomUUID(),
    'x-hub-signature-256': `sha256=${signature}`,
    ...more,
  };
}

function standard(
  body: string,
  { id = 'msg_1', at = NOW, secret = STANDARD_SECRET, others = '' } = {},
): Headers {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
  const timestamp = String(Math.floor(at / 1_000));
  const signed = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `${others}v1,${signed}`,
  };
}

const gitlab = (token = SECRET, more: Headers = {}): Headers => ({
  'content-type': 'application/json',
  'x-gitlab-event': 'Push Hook',
  'x-gitlab-token': token,
  ...more,
});

const COMMIT = PUSH.after;

const BITBUCKET_CLOUD = {
  push: {
    changes: [
      { old: { type: 'branch', name: 'topic' }, new: null },
      { old: { type: 'branch', name: 'main' }, new: { type: 'branch', name: 'main' } },
    ],
  },
  repository: {
    full_name: 'shop/flags',
    links: { html: { href: 'https://bitbucket.org/shop/flags' } },
  },
};

const BITBUCKET_DATA_CENTER = {
  changes: [{ ref: { id: 'refs/heads/main', displayId: 'main' }, toHash: COMMIT, type: 'UPDATE' }],
  repository: { slug: 'flags', project: { key: 'SHOP' } },
};

const AZURE = {
  id: '03c164c2-8912-4d5e-8009-3707d5f83734',
  eventType: 'git.push',
  resource: {
    refUpdates: [{ name: 'refs/heads/main', newObjectId: COMMIT }],
    repository: { remoteUrl: 'https://dev.azure.com/acme/shop/_git/flags' },
  },
};

function bitbucket(body: string, event: string, secret = SECRET): Headers {
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return {
    'content-type': 'application/json',
    'x-event-key': event,
    'x-hub-signature': `sha256=${signature}`,
  };
}

function azureEnd(): object {
  const gone = { name: 'refs/heads/main', newObjectId: ZEROES };
  return { ...AZURE, resource: { ...AZURE.resource, refUpdates: [gone] } };
}

const azure = (password = SECRET): Headers => ({
  'content-type': 'application/json',
  authorization: `Basic ${btoa(`flagkeel:${password}`)}`,
});

async function start(daemon: DaemonInMemory): Promise<TestOperations> {
  return startTestOperations(daemon, { secrets: [STANDARD_SECRET, SECRET] });
}

const text = (payload: object): string => JSON.stringify(payload);

describe('a webhook', () => {
  it.each([
    ['of GitHub', github(text(PUSH))],
    ['of GitHub, as a form', null],
    ['of GitLab with a signing token', { ...standard(text(PUSH)), 'x-gitlab-event': 'Push Hook' }],
    ['of GitLab with a secret token', gitlab()],
    ['of a script', standard(text(PUSH))],
    ['of a script with a secret of plain text', standard(text(PUSH), { secret: SECRET })],
    [
      'with the signature of an older secret beside it',
      standard(text(PUSH), { others: 'v1,b2xk ' }),
    ],
  ])('%s triggers a run', async (_, headers) => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await start(daemon);
    const form = new URLSearchParams({ payload: text(PUSH) }).toString();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };

    const answer = await (headers === null
      ? post(operations, form, github(form, SECRET, type))
      : post(operations, text(PUSH), headers));

    expect(answer).toEqual({ status: 202, result: 'accepted', sources: ['shop-flags'] });
    expect(daemon.asked).toEqual(['trigger shop-flags webhook']);
  });

  it.each([
    ['Bitbucket', BITBUCKET_CLOUD, 'git@bitbucket.org:shop/flags.git', 'repo:push'],
    [
      'Bitbucket Data Center',
      BITBUCKET_DATA_CENTER,
      'https://git.example.com/scm/shop/flags.git',
      'repo:refs_changed',
    ],
    [
      'Bitbucket Data Center over ssh',
      BITBUCKET_DATA_CENTER,
      'ssh://git@git.example.com:7999/shop/flags.git',
      'repo:refs_changed',
    ],
    ['Azure DevOps', AZURE, 'https://acme@dev.azure.com/acme/shop/_git/flags', null],
    ['Azure DevOps over ssh', AZURE, 'git@ssh.dev.azure.com:v3/acme/shop/flags', null],
  ])('of %s triggers a run of its repository, and of no other', async (_, payload, url, event) => {
    const other = aSource({ name: 'other', location: url.replace('flags', 'others') });
    const daemon = new DaemonInMemory(aSource({ location: url }), other);
    await using operations = await start(daemon);
    const headers = event === null ? azure() : bitbucket(text(payload), event);

    const first = await post(operations, text(payload), headers);
    const second = await post(operations, text(payload), headers);

    expect(first).toEqual({ status: 202, result: 'accepted', sources: ['shop-flags'] });
    expect(second.result).toBe('repeated');
  });

  it.each([
    ['Bitbucket, of a tag', { push: { changes: [{ new: { type: 'tag', name: 'main' } }] } }],
    ['Bitbucket, of an end', { push: { changes: [{ new: null }] } }],
    ['Azure DevOps, of an end', azureEnd()],
    ['a sender of lists of nothing', { changes: [null, 1, []], push: { changes: 'x' } }],
  ])('from %s triggers nothing', async (_, payload) => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await start(daemon);

    expect(await post(operations, text(payload), azure())).toMatchObject({ result: 'ignored' });
    expect(daemon.asked).toEqual([]);
  });

  it.each<[string, Headers]>([
    ['signed with another secret, as Bitbucket signs', bitbucket(text(PUSH), 'repo:push', 'other')],
    ['with another password', azure('another')],
    ['with a right password beside a wrong signature', { ...azure(), 'x-hub-signature': 'sha1=1' }],
    ['without a signature', { 'content-type': 'application/json' }],
    ['signed with another secret', github(text(PUSH), 'another')],
    ['signed for another body', github(text({ ...PUSH, after: ZEROES }))],
    ['with half a signature', github(text(PUSH), SECRET, { 'x-hub-signature-256': 'sha256=12' })],
    ['with another token', gitlab('another')],
    [
      'with a wrong signature beside a right token',
      { ...gitlab(), 'webhook-signature': 'v1,eA==' },
    ],
    ['signed six minutes ago', standard(text(PUSH), { at: NOW - 6 * 60_000 })],
    ['signed six minutes from now', standard(text(PUSH), { at: NOW + 6 * 60_000 })],
    ['whose time was changed', { ...standard(text(PUSH)), 'webhook-timestamp': '1790000000' }],
    ['whose id was changed', { ...standard(text(PUSH)), 'webhook-id': 'msg_2' }],
  ])('%s is refused', async (_, headers) => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await start(daemon);

    const { status, error } = await post(operations, text(PUSH), headers);

    expect(status).toBe(401);
    expect(error).toMatch(/^cannot take the webhook: /);
    expect(daemon.asked).toEqual([]);
    expect(operations.logged()).not.toContain(SECRET);
  });

  it.each([
    ['GitHub under another delivery id', () => github(text(PUSH))],
    ['GitLab', () => gitlab(SECRET, { 'idempotency-key': 'one' })],
    ['a script', () => standard(text(PUSH))],
  ])('that comes again from %s counts once', async (_, headers) => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await start(daemon);

    const first = await post(operations, text(PUSH), headers());
    const second = await post(operations, text(PUSH), headers());

    expect([first.result, second.result]).toEqual(['accepted', 'repeated']);
    expect(daemon.asked).toHaveLength(1);
  });

  it.each([
    ['a push to another branch', { ...PUSH, ref: 'refs/heads/topic' }],
    ['a tag of the same name', { ...PUSH, ref: 'refs/tags/main' }],
    ['the end of the branch', { ...PUSH, after: ZEROES, deleted: true }],
    [
      'a push to another repository',
      { ...PUSH, repository: { clone_url: 'https://g.example/a/b' } },
    ],
    ['nothing at all', null],
  ])('about %s triggers nothing', async (_, payload) => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await start(daemon);
    const body = JSON.stringify(payload);

    const { status, result } = await post(operations, body, github(body));

    expect([status, result]).toEqual([200, 'ignored']);
    expect(daemon.asked).toEqual([]);
  });

  it('that is no push triggers nothing', async () => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await start(daemon);
    const headers = github(text(PUSH), SECRET, { 'x-github-event': 'create' });

    expect((await post(operations, text(PUSH), headers)).result).toBe('ignored');
    expect(daemon.asked).toEqual([]);
  });

  it.each([
    ['slashes', `https://git.example.com/${'/'.repeat(1_000_000)}a`],
    ['slashes over ssh', `git@git.example.com:${'/'.repeat(1_000_000)}a`],
    ['users and ports', `${'a@b:'.repeat(250_000)}\n`],
    ['users', 'a@'.repeat(500_000)],
  ])('with a megabyte of %s for a repository does not hold the daemon up', async (_, clone_url) => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await start(daemon);
    const body = text({ ...PUSH, repository: { clone_url, ssh_url: PUSH.repository.ssh_url } });

    expect((await post(operations, body, github(body))).result).toBe('accepted');
  });

  it.each(['git@[::1]:shop/flags.git//', 'me@corp@git.example.com:shop/flags'])(
    'knows the repository of %s',
    async (clone_url) => {
      const elsewhere = { location: 'https://git.example.com/shop/other' };
      const daemon = new DaemonInMemory(aSource(), aSource({ name: 'other', ...elsewhere }));
      await using operations = await start(daemon);
      const body = text({ ...PUSH, repository: { clone_url } });

      const { sources } = await post(operations, body, github(body));

      expect(sources).toHaveLength(1);
      expect(sources).not.toContain('other');
    },
  );

  it('triggers every source that it is about, by whatever name the repository is cloned', async () => {
    const daemon = new DaemonInMemory(
      aSource({ name: 'over-ssh', location: 'git@mirror.internal:Shop/flags' }),
      aSource({ name: 'a-directory', location: '/srv/flags', branch: null }),
      aSource({ name: 'another-branch', branch: 'release' }),
      aSource({ name: 'another-repository', location: 'https://git.example.com/bank/flags' }),
    );
    await using operations = await start(daemon);

    const { sources } = await post(operations, text(PUSH), github(text(PUSH)));

    expect(sources).toEqual(['over-ssh', 'a-directory']);
  });

  it('is refused where no file of secrets was named, and its body is not read', async () => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await startTestOperations(daemon);

    const { status, error } = await post(operations, text(PUSH), github(text(PUSH)));

    expect(status).toBe(403);
    expect(error).toContain('--webhook-secret-file');
  });

  it('of six million bytes is refused', async () => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await start(daemon);
    const body = text({ ...PUSH, padding: ' '.repeat(6_000_000) });

    expect((await post(operations, body, github(body))).status).toBe(413);
    expect(daemon.asked).toEqual([]);
  });

  it('with a signature over what is no JSON is refused', async () => {
    await using operations = await start(new DaemonInMemory(aSource()));

    expect((await post(operations, '{"ref":', github('{"ref":'))).status).toBe(400);
  });

  it('is signed with the secret of this moment', async () => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await start(daemon);

    await operations.writeSecrets('secrets', 'rotated');

    expect((await post(operations, text(PUSH), github(text(PUSH)))).status).toBe(401);
    expect((await post(operations, text(PUSH), github(text(PUSH), 'rotated'))).status).toBe(202);
  });
});
