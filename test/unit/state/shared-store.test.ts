import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { GitCache } from '../../../src/git/cache.js';
import type { RampRecord } from '../../../src/model/state.js';
import type { StateHome, StateStore } from '../../../src/state/store.js';
import { CountedGit, isRemote } from '../../support/counted-git.js';
import { makeDirectory, makeRepository, TestRepository } from '../../support/git.js';
import {
  flag,
  HEAD,
  homeOf,
  makeClone,
  makeOrigin,
  said,
  stateOf,
} from '../../support/state-homes.js';

const sharedIn = async (directory: string): Promise<StateStore> =>
  homeOf(directory, { sharing: 'always' });

/** Origin goes away, and comes back. */
function away(url: string): () => void {
  renameSync(url, `${url}.away`);
  return () => {
    renameSync(`${url}.away`, url);
  };
}

/** An origin, and the homes of two machines that share it. */
async function twoMachines() {
  const origin = makeOrigin();
  const next = async (): Promise<StateStore> => sharedIn(makeClone(origin.url));
  return { ...origin, one: await next(), other: await next(), next };
}

describe('a state that is shared through origin', { timeout: 30_000 }, () => {
  it('is there for the next machine, also where a run went back to an older HEAD', async () => {
    const { url, older, newer } = makeOrigin();
    const one = await sharedIn(makeClone(url));
    await one.read();
    await one.write(stateOf(flag('a', 1)), { head: newer, message: 'Apply' });
    await one.write(stateOf(flag('a', 2)), { head: older, message: 'Go back' });

    const { state, head } = await (await sharedIn(makeClone(url))).read();

    expect([state, head]).toEqual([stateOf(flag('a', 2)), older]);
  });

  it('keeps the ramps of both where a race is lost, and forgets what one of them let go', async () => {
    const { one, other, next } = await twoMachines();
    const at = (day: number): RampRecord => ({
      since: `2026-03-0${String(day)}T10:00:00.000Z`,
      ...{ commit: HEAD, from: 0, reached: 10, ladder: 'steps' },
    });
    await one.read();
    await one.write(stateOf(), { ...said('Both'), timing: { a: at(1), b: at(1), c: at(1) } });
    await one.read();
    await other.read();
    await other.write(stateOf(), { ...said('Theirs'), timing: { a: at(1), c: at(2), d: at(2) } });

    await one.write(stateOf(), { ...said('Ours'), timing: { a: at(3), b: at(1), c: at(1) } });
    await one.write(stateOf(flag('a', 1)), said('Without a word of them'));

    const { timing } = await (await next()).read();
    expect(timing).toEqual({ a: at(3), c: at(2), d: at(2) });
  });

  it('merges a lost race: what only one run touched is its own, for both the newer base', async () => {
    const { url, older, newer, one, other, next } = await twoMachines();
    await one.read();
    await one.write(stateOf(flag('a', 1), flag('b', 1), flag('c', 1), flag('d', 1)), said('Both'));
    await one.read();
    const before = await other.read();
    expect(before.state.size).toBe(4);
    await other.write(
      stateOf(flag('a', 2), flag('b', 1), flag('c', 2, newer), flag('d', 2, older)),
      said('Theirs'),
    );

    await one.write(
      stateOf(flag('a', 1), flag('b', 3), flag('c', 3, older), flag('d', 3, newer)),
      said('Ours'),
    );
    await one.write(
      stateOf(flag('a', 1), flag('b', 4), flag('c', 3, older), flag('d', 3, newer)),
      said('Ours again'),
    );

    const { state } = await (await next()).read();
    expect(state).toEqual(
      stateOf(flag('a', 2), flag('b', 4), flag('c', 2, newer), flag('d', 3, newer)),
    );
    const subjects = new TestRepository(url).git('log', '--format=%s', one.ref);
    expect(subjects.split('\n')).toEqual(['Ours again', 'Ours', 'Theirs', 'Both']);
  });

  it('merges a lost race: what either run left out of sync is so, and keeps what a write says nothing of', async () => {
    const { one, other } = await twoMachines();
    await one.read();
    await one.write(stateOf(flag('a', 1)), { ...said('Both'), outOfSync: new Set(['flag/c']) });
    expect([...((await other.read()).outOfSync ?? [])]).toEqual(['flag/c']);
    await one.write(stateOf(flag('a', 2)), { ...said('Ours'), outOfSync: new Set(['flag/a']) });

    await other.write(stateOf(flag('a', 1), flag('b', 1)), {
      ...said('Theirs'),
      outOfSync: new Set(['flag/b']),
    });
    expect([...((await one.read()).outOfSync ?? [])]).toEqual(['flag/a', 'flag/b']);
    await one.write(stateOf(flag('b', 1)), said('Nothing said'));

    expect([...((await other.read()).outOfSync ?? [])]).toEqual(['flag/a', 'flag/b']);
  });

  it('keeps what was written while origin could not be reached', async () => {
    const { url } = makeOrigin();
    const clone = makeClone(url);
    const one = await sharedIn(clone);
    await one.read();
    await one.write(stateOf(flag('a', 1)), said('Apply'));
    const mine = new TestRepository(clone);
    const comeBack = away(url);
    await expect(one.write(stateOf(flag('a', 2)), said('Apply'))).rejects.toMatchObject({
      code: 'GIT',
    });
    comeBack();
    const other = await sharedIn(makeClone(url));
    await other.read();
    await other.write(stateOf(flag('a', 1), flag('b', 1)), said('Theirs'));

    const again = await sharedIn(clone);

    expect((await again.read()).state).toEqual(stateOf(flag('a', 2), flag('b', 1)));
    expect(mine.git('for-each-ref', 'refs/heads').split('\n')).toHaveLength(1);
  });

  it('is known with the lock where nobody else wrote, and nothing is fetched', async () => {
    const { url } = makeOrigin();
    const home = await sharedIn(makeClone(url));
    await home.read();
    await home.write(stateOf(flag('a', 1)), said('Apply'));
    await home.lock(0);
    away(url);

    expect((await home.read()).state).toEqual(stateOf(flag('a', 1)));
    // What was seen with the lock counts once.
    await expect(home.read()).rejects.toMatchObject({ code: 'GIT' });
  });

  it('is fetched after the lock where somebody else wrote', async () => {
    const { one, other } = await twoMachines();
    await one.read();
    await one.write(stateOf(flag('a', 1)), said('Apply'));
    await other.read();
    await other.write(stateOf(flag('a', 1), flag('b', 1)), said('Theirs'));

    const release = await one.lock(0);

    expect((await one.read()).state).toEqual(stateOf(flag('a', 1), flag('b', 1)));
    await release();
  });

  it.each([
    { server: 'in one push', advertiseAtomic: 'true', isLocked: false },
    { server: 'one by one where origin cannot do both', advertiseAtomic: 'false', isLocked: true },
  ])('gives the lock back with the last write, $server', async ({ advertiseAtomic, isLocked }) => {
    const { url } = makeOrigin();
    new TestRepository(url).git('config', 'receive.advertiseAtomic', advertiseAtomic);
    const one = await sharedIn(makeClone(url));
    const other = await sharedIn(makeClone(url));
    const release = await one.lock(0);
    await one.read();

    await one.write(stateOf(flag('a', 1)), { ...said('Apply'), last: true });

    expect((await other.lockHolder()) !== null).toBe(isLocked);
    expect((await other.read()).state).toEqual(stateOf(flag('a', 1)));
    await release();
    expect(await other.lockHolder()).toBeNull();
  });

  it('keeps the lock with a write that is not the last, and with one that lost a race', async () => {
    const { one, other } = await twoMachines();
    const release = await one.lock(0);
    await one.read();
    await one.write(stateOf(flag('a', 1)), said('Begin'));
    expect(await other.lockHolder()).not.toBeNull();
    await other.read();
    await other.write(stateOf(flag('a', 1), flag('b', 1)), said('Theirs'));

    await one.write(stateOf(flag('a', 2)), { ...said('Apply'), last: true });

    expect((await other.read()).state).toEqual(stateOf(flag('a', 2), flag('b', 1)));
    await release();
    expect(await other.lockHolder()).toBeNull();
  });

  it('cannot be locked where origin refuses, and says that it does', async () => {
    const { url } = makeOrigin();
    const hook = join(url, 'hooks', 'pre-receive');
    writeFileSync(hook, '#!/bin/sh\necho "not on a Sunday" >&2\nexit 1\n', { mode: 0o755 });
    const home = await sharedIn(makeClone(url));

    await expect(home.lock(0)).rejects.toMatchObject({
      code: 'GIT',
      message: expect.stringContaining('not on a Sunday') as string,
    });
  });

  it('is locked for one machine at a time, until the lock is given back or broken', async () => {
    const { one, other } = await twoMachines();
    const release = await one.lock(0);

    await expect(other.lock(0)).rejects.toMatchObject({
      code: 'IN_USE',
      message: expect.stringMatching(/process \d+ since .* flagkeel state unlock/) as string,
    });
    await release();
    const second = await other.lock(0);
    await second();
    await one.lock(0);
    const holder = await other.lockHolder();
    expect(holder && (await other.breakLock(holder))).toBe(true);

    const third = await other.lock(0);
    await third();
    expect(await other.lockHolder()).toBeNull();
  });

  it('is read while another source of the daemon fetches it into the same repository', async () => {
    const { url } = makeOrigin();
    const clone = makeClone(url);
    await (await sharedIn(makeClone(url))).write(stateOf(flag('a')), said('Apply'));
    const [ref = ''] = new TestRepository(url)
      .git('for-each-ref', 'refs/flagkeel')
      .split(/\s/)
      .slice(2);
    const moving = join(clone, '.git', `${ref.replace('/flagkeel/', '/flagkeel-origin/')}.lock`);
    mkdirSync(dirname(moving), { recursive: true });
    writeFileSync(moving, '');
    // The other one is done when git is asked a second time.
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const programs = makeDirectory();
    const afterFetch = `case " $* " in *" fetch "*) rm -f '${moving}' ;; esac`;
    const script = `#!/bin/sh\n'${real}' "$@"\nend=$?\n${afterFetch}\nexit $end\n`;
    writeFileSync(join(programs, 'git'), script, { mode: 0o755 });
    vi.stubEnv('PATH', `${programs}:${process.env['PATH'] ?? ''}`);
    onTestFinished(() => void vi.unstubAllEnvs());

    const { state } = await (await sharedIn(clone)).read();

    expect(state).toEqual(stateOf(flag('a')));
  });

  it('is written, and its lock broken, where the answer of origin was lost', async () => {
    const { url, one, other } = await twoMachines();
    const lost = join(url, 'lost');
    // Ends the receiving end right after it moved the ref.
    const hook = `#!/bin/sh\n[ "$1" = committed ] && rm '${lost}' && kill -9 $PPID\nexit 0\n`;
    writeFileSync(join(url, 'hooks', 'reference-transaction'), hook, { mode: 0o755 });
    await one.lock(0);
    const holder = await other.lockHolder();

    writeFileSync(lost, '');
    expect(holder && (await other.breakLock(holder))).toBe(true);
    expect(await other.lockHolder()).toBeNull();
    writeFileSync(lost, '');
    await other.write(stateOf(flag('a')), said('Apply'));

    expect(existsSync(lost)).toBe(false);
    expect((await one.read()).state).toEqual(stateOf(flag('a')));
  });

  it('lets the later term of a lease take the lock of an earlier one, and nobody else', async () => {
    const { url } = makeOrigin();
    const [dead, later, stranger] = await Promise.all(
      [1, 2, 3].map(async () => sharedIn(makeClone(url))),
    );
    const lease = 'source-1';
    await dead?.lock(0, undefined, { lease, term: 4 });

    for (const other of [undefined, { lease, term: 3 }, { lease: 'source-2', term: 9 }]) {
      await expect(stranger?.lock(0, undefined, other)).rejects.toMatchObject({ code: 'IN_USE' });
    }
    await later?.lock(0, undefined, { lease, term: 5 });
    expect(await stranger?.lockHolder()).toMatchObject({ lease: { lease, term: 5 } });
  });

  it('is free for the next run of a process whose run before could not give the lock back', async () => {
    const { url } = makeOrigin();
    const clone = makeClone(url);
    const one = await sharedIn(clone);
    const stranger = await sharedIn(makeClone(url));
    const release = await one.lock(0);
    const comeBack = away(url);
    await expect(release()).rejects.toMatchObject({ code: 'GIT' });
    comeBack();

    await expect(stranger.lock(0)).rejects.toMatchObject({ code: 'IN_USE' });
    const again = await (await sharedIn(clone)).lock(0);
    await expect(stranger.lock(0)).rejects.toMatchObject({ code: 'IN_USE' });
    await again();
    expect(await stranger.lockHolder()).toBeNull();
  });

  it('is free at once for the next run at the place where a run was killed, and for no other', async () => {
    const { url } = makeOrigin();
    const clone = makeClone(url);
    const script = new URL('../../support/git-lock-holder.ts', import.meta.url).pathname;
    const killed = spawn(process.execPath, ['--import', 'tsx', script, clone, 'shared']);
    onTestFinished(() => void killed.kill('SIGKILL'));
    await once(killed.stdout, 'data');
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const stranger = await sharedIn(makeClone(url));
    await expect(stranger.lock(0)).rejects.toMatchObject({ code: 'IN_USE' });

    const release = await (await sharedIn(clone)).lock(0);

    await expect(stranger.lock(0)).rejects.toMatchObject({ code: 'IN_USE' });
    await release();
    expect(await stranger.lockHolder()).toBeNull();
  });

  it('is free again when its lock has expired', async () => {
    const { url } = makeOrigin();
    const clone = makeClone(url);
    const home = await sharedIn(clone);
    const lock = home.ref.replace('refs/flagkeel/', 'refs/flagkeel-lock/');
    const stale = new TestRepository(clone).git(
      'commit-tree',
      '-m',
      'somewhere process 1\nuntil 2026-01-01T00:00:00.000Z',
      'HEAD^{tree}',
    );
    new TestRepository(clone).git('push', '--quiet', 'origin', `${stale}:${lock}`);

    const release = await home.lock(0);

    expect((await home.lockHolder())?.commit).not.toBe(stale);
    await release();
  });

  it('goes to no place that could run a program, or is read by others on the way', async () => {
    const repository = makeRepository();
    for (const url of ['ext::sh -c true', 'http://example.com/x.git', '--upload-pack=true']) {
      repository.git('config', 'remote.origin.url', url);

      await expect(sharedIn(repository.directory)).rejects.toMatchObject({ code: 'GIT' });
    }
  });
});

/** One run that writes: lock, read, write, release. */
async function wrote(home: StateHome, ...names: readonly string[]): Promise<void> {
  const release = await home.lock(0);
  await home.read();
  await home.write(stateOf(...names.map((name) => flag(name))), said('Apply'));
  await release();
}

const autoIn = async (directory: string, memory?: GitCache): Promise<StateHome> =>
  homeOf(directory, { sharing: 'auto', ...(memory && { memory }) });

describe('a state that is shared where it can be', { timeout: 30_000 }, () => {
  it('stays on this machine where it may not be pushed, beside what others wrote, and says so', async () => {
    const { url } = makeOrigin();
    await wrote(await autoIn(makeClone(url)), 'a');
    const refusal = '#!/bin/sh\nexit 1\n';
    writeFileSync(join(url, 'hooks', 'pre-receive'), refusal, { mode: 0o755 });
    const clone = makeClone(url);
    const home = await autoIn(clone);
    await wrote(home, 'a', 'b');

    expect(home.notShared()).toMatchObject({ isRead: true });
    expect((await (await autoIn(clone)).read()).state).toEqual(stateOf(flag('a'), flag('b')));
    expect((await (await autoIn(makeClone(url))).read()).state).toEqual(stateOf(flag('a')));
  });

  it('goes on with what was fetched last where origin is out of reach, and says so', async () => {
    const { url } = makeOrigin();
    await wrote(await autoIn(makeClone(url)), 'a');
    const clone = makeClone(url);
    await (await autoIn(clone)).read();
    away(url);
    const home = await autoIn(clone);

    expect((await home.read()).state).toEqual(stateOf(flag('a')));
    expect(home.notShared()).toMatchObject({ isRead: false });
    await wrote(home, 'a', 'b');
    expect((await home.read()).state).toEqual(stateOf(flag('a'), flag('b')));
  });

  it('asks an origin that is out of reach once in a run', async () => {
    const { url } = makeOrigin();
    const clone = makeClone(url);
    away(url);
    const counted = new CountedGit(join(clone, '..', 'counted'));
    vi.stubEnv('PATH', counted.path);
    onTestFinished(() => void vi.unstubAllEnvs());
    const home = await autoIn(clone);

    await home.read();
    await wrote(home, 'a');

    expect(counted.take().filter(isRemote)).toEqual(['fetch']);
  });

  it('cannot be used where it has to be shared and origin is out of reach', async () => {
    const { url } = makeOrigin();
    const clone = makeClone(url);
    away(url);
    const home = await sharedIn(clone);

    await expect(home.read()).rejects.toMatchObject({ code: 'GIT' });
    await expect(home.lock(0)).rejects.toMatchObject({ code: 'GIT' });
  });

  it.each([
    ['of an embedded service', { origin: 'embedded:store' }],
    ['that is not to be shared', { sharing: 'never' }],
  ] as const)('stays on this machine: one %s', async (_, options) => {
    const { url } = makeOrigin();
    const home = await homeOf(makeClone(url), { sharing: 'auto', ...options });
    await wrote(home, 'a');

    expect(home.notShared()).toBeNull();
    expect(new TestRepository(url).git('for-each-ref', 'refs/flagkeel')).toBe('');
  });

  it("is this machine's own without an origin, and shared once one is added, also in one process", async () => {
    const repository = makeRepository();
    const { directory } = repository;
    const { url } = makeOrigin();
    const memory = new GitCache();
    const local = await autoIn(directory, memory);
    await wrote(local, 'a');
    expect(local.notShared()).toBeNull();

    repository.git('remote', 'add', 'origin', url);
    await wrote(await autoIn(directory, memory), 'a', 'b');

    const shared = await autoIn(makeClone(url));
    expect((await shared.read()).state).toEqual(stateOf(flag('a'), flag('b')));
    expect(shared.notShared()).toBeNull();
  });
});
