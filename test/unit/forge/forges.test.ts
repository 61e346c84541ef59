import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect as openGithub } from '../../../src/forge/github.js';
import { connect as openGitlab } from '../../../src/forge/gitlab.js';
import { syncComment, type Forge, type ForgeOptions } from '../../../src/forge/forge.js';
import { assembled, Markup } from '../../../src/report/markdown/markup.js';
import { startTestForge, type TestForge } from '../../support/forge.js';
import { portOf, startTunnelProxy } from '../../support/tunnel-proxy.js';

const PULL = 7;
const AT = { commit: 'a'.repeat(40) };
const LONG = '🙂'.repeat(400);

const spent = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1800' };
type Limit = TestForge['limit'];
type Kind = 'github' | 'gitlab';
const LIMITS: Readonly<Record<Kind, [situation: string, how: Limit, waitMs: number][]>> = {
  github: [
    ['the words alone speak of a limit', { status: 403, headers: {} }, 60_000],
    ['an answer names seconds', { status: 403, headers: { 'retry-after': '7' } }, 7_000],
  ],
  gitlab: [
    ['an answer names no time', { status: 429, headers: {} }, 15_000],
    ['an answer names seconds', { status: 429, headers: { 'retry-after': '50' } }, 50_000],
  ],
};
const TOO_LONG: Readonly<Record<Kind, [situation: string, how: Limit][]>> = {
  github: [
    ['the hour is spent', { status: 403, headers: spent }],
    ['an answer names half an hour', { status: 429, headers: { 'retry-after': '1800' } }],
  ],
  gitlab: [['an answer names half an hour', { status: 429, headers: { 'retry-after': '1800' } }]],
};

describe.each(['github', 'gitlab'] satisfies Kind[])('%s', (kind) => {
  let server: TestForge;
  let forge: Forge;
  let waits: number[];
  let openAt: (apiUrl: string, own?: Partial<ForgeOptions>) => Forge;

  beforeEach(async () => {
    server = await startTestForge(kind);
    waits = [];
    const optionsAt = (apiUrl: string): ForgeOptions => ({
      place: { kind, apiUrl, repository: kind === 'github' ? 'acme/flags' : '42' },
      token: server.token,
      timeoutMs: 20_000,
      wait: async (waitMs) => {
        waits.push(waitMs);
        return Promise.resolve();
      },
      now: () => 0,
    });
    const open = kind === 'github' ? openGithub : openGitlab;
    openAt = (apiUrl, own) => open({ ...optionsAt(apiUrl), ...own });
    forge = openAt(server.url);
  });

  afterEach(async () => server.close());

  it('sets the same pending status twice, and cuts a description to what is taken, never through a character', async () => {
    const pending = { context: 'flagkeel', state: 'pending', description: 'planning' } as const;
    for (let times = 0; times < 2; times += 1) await forge.setStatus(AT, pending);
    await forge.setStatus(AT, { context: 'flagkeel', state: 'success', description: LONG });

    const status = server.statuses.at(-1);
    expect(status?.description.length).toBeLessThanOrEqual(kind === 'github' ? 140 : 255);
    expect(status?.description).not.toMatch(/\p{Cs}/u);
  });

  it('sets a status again where another of the commit was being set, and leaves none open for that', async () => {
    server.busy = 2;
    await forge.setStatus(AT, { context: 'flagkeel', state: 'success', description: 'in sync' });

    expect(server.statuses).toMatchObject([{ context: 'flagkeel', state: 'success' }]);
    expect(waits).toEqual([1_000, 2_000]);
  });

  it('is reached through the proxy that the environment names', async () => {
    const proxy = await startTunnelProxy({ port: portOf(server.url) });
    vi.stubEnv('HTTP_PROXY', proxy.url);
    try {
      const away = openAt(server.url.replace('127.0.0.1', 'forge.test'));
      await away.setStatus(AT, { context: 'flagkeel', state: 'success', description: 'in sync' });
      await forge.setStatus(AT, { context: 'other', state: 'success', description: 'in sync' });
    } finally {
      vi.unstubAllEnvs();
      await proxy.close();
    }

    expect(server.statuses.map(({ context }) => context)).toEqual(['flagkeel', 'other']);
    expect(proxy.asked).toEqual([`forge.test:${portOf(server.url)}`]);
  });

  it('says what the forge refused', async () => {
    await expect(forge.postComment(PULL, 'x'.repeat(1_000_001))).rejects.toMatchObject({
      code: 'FORGE',
      status: 422,
    });
    expect(waits).toEqual([]);
    server.isReadOnly = true;
    await expect(forge.postComment(PULL, 'x')).rejects.toMatchObject({ status: 403 });
  });

  it('writes a comment again where its text changed, and not where the forge did so or only its time', async () => {
    const sync = async (text: string, time = '10:59') =>
      syncComment(forge, PULL, {
        ...{ scope: '', commit: '' },
        body: `${text}\n\n<sub>plan x · made 2026-11-24 ${time} UTC · 1 unchanged</sub>\n`,
      });
    expect(await sync('on 10 → 25 %')).toBe('posted');
    const [kept] = server.comments;
    if (!kept) throw new Error('nothing was posted');
    expect(kept.body).toMatch(/^<!-- flagkeel:plan [0-9a-f]{16} -->\n/);

    // A forge may keep line ends in its own way, and drop the last one.
    kept.body = kept.body.trimEnd().replaceAll('\n', '\r\n');
    expect(await sync('on 10 → 25 %')).toBe('unchanged');
    expect(await sync('on 10 → 25 %', '11:00')).toBe('unchanged');
    expect(await sync('on 24 → 25 %', '11:00')).toBe('edited');
    expect(kept.body).toContain('on 24 → 25 %');
  });

  it.each([2, 3])(
    'leaves one comment where %i reviews run at once, with the text of the last',
    async (count) => {
      const sync = async (text: string) =>
        syncComment(forge, PULL, { scope: '', commit: '', body: text });
      const texts = Array.from({ length: count }, (_, index) => `plan ${String(index)}`);
      // None of them sees what the others post.
      server.together = count;

      expect(new Set(await Promise.all(texts.map(sync)))).toEqual(new Set(['posted']));

      expect(server.comments).toHaveLength(1);
      expect(await sync('plan of a later one')).toBe('edited');
      expect(server.comments.map(({ body }) => body.split('\n').at(-1))).toEqual([
        'plan of a later one',
      ]);
    },
  );

  it('of a commit that is not the newest any more is posted where there is no comment, and replaces none', async () => {
    const follows = async () => Promise.resolve(false);
    const sync = async (body: string, isOutdated: boolean) =>
      syncComment(forge, PULL, { scope: '', body, commit: '', ...(isOutdated && { follows }) });
    const shown = () => server.comments.map(({ body }) => body.split('\n').at(-1));
    expect(await sync('plan of an older commit', true)).toBe('posted');
    expect(await sync('plan', false)).toBe('edited');
    expect(await sync('plan of an older commit', true)).toMatch(/^left alone/);
    expect(shown()).toEqual(['plan']);

    // Posted by the review of the newest commit after the other one has found none.
    server.comments.length = 0;
    server.together = 2;
    await Promise.all([sync('plan', false), sync('plan of an older commit', true)]);
    expect(await sync('plan', false)).not.toBe('posted');
    expect(shown()).toEqual(['plan']);
  });

  it('of a commit that is not the newest any more replaces one of a commit before it, because the newest may have no review', async () => {
    const [first, second, third] = ['1'.repeat(40), '2'.repeat(40), '3'.repeat(40)];
    const follows = async (older: string) => Promise.resolve(older === first);
    const sync = async (commit: string, isNewest = false) =>
      syncComment(forge, PULL, {
        ...{ scope: '', commit, body: `plan of ${commit}` },
        ...(!isNewest && { follows }),
      });
    expect(await sync(first)).toBe('posted');
    expect(await sync(second)).toBe('edited');
    expect(server.comments.map(({ body }) => body.split('\n').at(-1))).toEqual([
      `plan of ${second}`,
    ]);
    expect(await sync(third, true)).toBe('edited');
    expect(await sync(second)).toMatch(/^left alone/);
    expect(server.comments.map(({ body }) => body.split('\n').at(-1))).toEqual([
      `plan of ${third}`,
    ]);
  });

  it('takes away what two reviews at once have left of which one was killed', async () => {
    const sync = async (text: string) =>
      syncComment(forge, PULL, { scope: '', commit: '', body: text });
    await sync('plan 1');
    const [first] = server.comments;
    if (!first) throw new Error('nothing was posted');
    server.comments.push({
      ...first,
      id: first.id + 1,
      body: first.body.replace('plan 1', 'plan 2'),
    });

    expect(await sync('plan 1')).toBe('unchanged');
    expect(server.comments).toEqual([first]);
  });

  it('leaves a comment that was cut to fit as it is where only its time changed', async () => {
    const sync = async (time: string) => {
      const facts = Markup.own(`<sub>plan x · made 2026-11-24 ${time} UTC</sub>`);
      const blocks = [
        { rank: 'detail', markup: () => Markup.own('x'.repeat(2_000)) },
        { rank: 'head', markup: () => facts },
      ] as const;
      return syncComment(forge, PULL, { scope: '', commit: '', body: assembled(blocks, 1_000) });
    };

    expect(await sync('10:59')).toBe('posted');
    expect(server.comments[0]?.body).toMatch(/✂ Cut to fit/);
    expect(await sync('11:00')).toBe('unchanged');
  });

  it('finds its own comment by the first line alone, behind hundreds of others and those of strangers', async () => {
    const marked = (name: string): string => `<!-- flagkeel:plan ${name} -->`;
    for (let id = 1; id < 240; id += 1) {
      const stranger = id % 2 === 0 ? 'mallory' : 'greetings[bot]';
      server.comments.push({ id, author: stranger, body: `${marked('a')}\nhm` });
    }
    await forge.postComment(PULL, `${marked('a')}\n${marked('b')}\nhm`);
    const id = server.comments.at(-1)?.id;
    await forge.postComment(PULL, `hm\n${marked('b')}`);

    expect(await forge.findComments(PULL, marked('a'))).toMatchObject([{ id }]);
    expect(await forge.findComments(PULL, marked('b'))).toEqual([]);
    expect(await forge.findComments(PULL, '<!-- flagkeel:plan')).toEqual([]);
  });

  it('asks again where an answer breaks off, and never takes a part of the comments for all', async () => {
    const body = '<!-- flagkeel:plan a -->';
    await forge.postComment(PULL, body);
    const hash = `sha256:${'b'.repeat(64)}`;
    server.comments.push({ id: 2, author: 'alice', body: `/flagkeel approve ${hash}` });
    server.members.set('alice', kind === 'github' ? 'write' : 40);

    server.cut = 1;
    expect((await forge.approvals(PULL)).approvals).toMatchObject([{ hash, by: 'alice' }]);
    server.cut = 1;
    expect(await forge.findComments(PULL, body)).toMatchObject([{ body }]);
    server.cut = 1_000;
    await expect(forge.approvals(PULL)).rejects.toMatchObject({ code: 'FORGE', status: null });
  });

  it('opens the pull request of a branch that an interrupted run left without one, and none of one that had one', async () => {
    const change = { branch: 'flagkeel/remove-a', title: 'Remove a', body: 'It is unread.' };
    const proposal = { ...change, files: new Map([['flags/a.yaml', null]]) };
    server.refused = 'proposals';
    await expect(forge.propose(proposal)).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining(
        kind === 'github' ? '(the token needs to write pull requests)' : 'scope api',
      ) as string,
    });
    server.refused = null;

    expect(await forge.propose(proposal)).not.toBeNull();
    expect(await forge.propose(proposal)).toBeNull();
    expect(server.proposals).toMatchObject([
      { branch: 'flagkeel/remove-a', base: 'main', files: { 'flags/a.yaml': null } },
    ]);
  });

  it('posts a comment once, also where a gateway loses the answer', async () => {
    server.hidden = 1;
    await expect(forge.postComment(PULL, 'x')).rejects.toMatchObject({ status: 502 });
    expect(server.comments).toHaveLength(1);
  });

  it('shows the token to no other server that it is sent on to, asks once, and says how to name a renamed repository', async () => {
    const other = await startTestForge(kind);
    server.sentOn = new URL(other.url).origin;
    await expect(forge.findComments(PULL, 'x')).rejects.toMatchObject({
      ...{ code: 'FORGE', status: 307 },
      message: expect.stringMatching(/: status 307, .*new name: --repository,/) as string,
    });
    expect([other.requests, waits]).toEqual([[], []]);
    await other.close();
  });

  it('gives up a forge that says nothing', async () => {
    server.isSilent = true;
    const hasty = openAt(server.url, { timeoutMs: 50 });
    await expect(hasty.findComments(PULL, 'x')).rejects.toMatchObject({ status: null });
    expect(waits).toHaveLength(3);
  });

  it('waits where there were too many requests, and gives up where there always are', async () => {
    server.limited = 2;
    await expect(forge.findComments(PULL, 'x')).resolves.toEqual([]);
    expect(waits).toHaveLength(2);

    server.limited = 1_000;
    await expect(forge.findComments(PULL, 'x')).rejects.toMatchObject({ code: 'FORGE' });
    expect(waits).toHaveLength(5);
  });

  it.each(LIMITS[kind])('waits as long as asked where %s', async (_, how, waitMs) => {
    Object.assign(server, { limited: 1, limit: how });
    await forge.updateComment(PULL, 1, 'x').catch(() => undefined);
    expect(waits).toEqual([waitMs]);
  });

  it.each(TOO_LONG[kind])(
    'says when to run again where %s, and nothing of the token',
    async (_, how) => {
      Object.assign(server, { limited: 1_000, limit: how });
      const message = expect.stringMatching(
        /\(too many requests: run again in 30 min\)$/,
      ) as string;
      await expect(forge.findComments(PULL, 'x')).rejects.toMatchObject({ message });
      expect(waits).toEqual([]);
    },
  );
});
