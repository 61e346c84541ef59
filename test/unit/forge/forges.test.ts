import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect as openGithub } from '../../../src/forge/github.js';
import { connect as openGitlab } from '../../../src/forge/gitlab.js';
import { syncComment, type Forge, type ForgeOptions } from '../../../src/forge/forge.js';
import { startTestForge, type TestComment, type TestForge } from '../../support/forge.js';
import { portOf, startTunnelProxy } from '../../support/tunnel-proxy.js';

const PULL = 7;
const AT = { commit: 'a'.repeat(40) };
const LONG = '🙂'.repeat(400);

describe.each(['github', 'gitlab'] as const)('%s', (kind) => {
  let server: TestForge;
  let forge: Forge;
  let waits: number[];
  let openAt: (apiUrl: string) => Forge;

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
    openAt = (apiUrl) => open(optionsAt(apiUrl));
    forge = openAt(server.url);
  });

  afterEach(async () => server.close());

  it('cuts the description of a status to what is taken, and never through a character', async () => {
    await forge.setStatus(AT, { context: 'flagkeel', state: 'success', description: LONG });

    const [status] = server.statuses;
    expect(status?.description.length).toBeLessThanOrEqual(kind === 'github' ? 140 : 255);
    expect(status?.description).not.toMatch(/\p{Cs}/u);
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

  it('sets the same pending status twice without failing', async () => {
    const pending = { context: 'flagkeel', state: 'pending', description: 'planning' } as const;
    await forge.setStatus(AT, pending);

    await expect(forge.setStatus(AT, pending)).resolves.toBeUndefined();
  });

  it('says what the forge refused', async () => {
    await expect(forge.postComment(PULL, 'x'.repeat(1_000_001))).rejects.toMatchObject({
      code: 'FORGE',
      status: 422,
    });
    expect(waits).toEqual([]);
    server.forbidWrites();
    await expect(forge.postComment(PULL, 'x')).rejects.toMatchObject({ status: 403 });
  });

  it('compares the whole comment that stands there with the whole that would be written', async () => {
    const comment = { scope: '', body: 'on 10 → 25 %\n\nplan sha256:1\n' };
    expect(await syncComment(forge, PULL, comment)).toBe('posted');
    const [kept] = server.comments;
    if (!kept) throw new Error('nothing was posted');
    expect(kept.body).toMatch(/^<!-- flagkeel:plan [0-9a-f]{16} -->\n/);

    // A forge may keep line ends in its own way, and drop the last one.
    kept.body = kept.body.trimEnd().replaceAll('\n', '\r\n');
    expect(await syncComment(forge, PULL, comment)).toBe('unchanged');

    const moved = { ...comment, body: comment.body.replace('10', '24') };
    expect(await syncComment(forge, PULL, moved)).toBe('edited');
    expect(kept.body).toContain('on 24 → 25 %');
  });

  it('does not write a comment again where nothing but the time of its plan changed', async () => {
    const body = (time: string, text = 'on 10 → 25 %'): string =>
      `${text}\n\n<sub>plan x · made 2026-11-24 ${time} UTC · 1 unchanged</sub>\n`;
    await syncComment(forge, PULL, { scope: '', body: body('10:59') });

    expect(await syncComment(forge, PULL, { scope: '', body: body('11:00') })).toBe('unchanged');
    expect(await syncComment(forge, PULL, { scope: '', body: body('11:00', 'on 24 → 25 %') })).toBe(
      'edited',
    );
  });

  it('finds a comment by its first line alone', async () => {
    const { id } = await posted('<!-- flagkeel:plan a -->\n<!-- flagkeel:plan b -->\nhm');
    await posted('hm\n<!-- flagkeel:plan b -->');

    expect(await forge.findComment(PULL, '<!-- flagkeel:plan a -->')).toMatchObject({ id });
    expect(await forge.findComment(PULL, '<!-- flagkeel:plan b -->')).toBeNull();
    expect(await forge.findComment(PULL, '<!-- flagkeel:plan')).toBeNull();
  });

  async function posted(body: string): Promise<TestComment> {
    await forge.postComment(PULL, body);
    const comment = server.comments.at(-1);
    if (!comment) throw new Error('nothing was posted');
    return comment;
  }

  it('gives up on a forge that has too many requests for ever', async () => {
    server.limitNext(1_000);

    await expect(forge.findComment(PULL, 'x')).rejects.toMatchObject({ code: 'FORGE' });
    expect(waits).toHaveLength(3);
  });
});
