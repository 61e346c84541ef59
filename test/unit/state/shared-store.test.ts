import { execFileSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openCheckout } from '../../../src/git/checkout.js';
import { openStateHome } from '../../../src/state/open.js';
import type { StateStore } from '../../../src/state/store.js';
import type { RampRecord, State, StateEntry } from '../../../src/model/state.js';
import { makeDirectory, makeRepository, TestRepository } from '../../support/git.js';

const HEAD = 'a'.repeat(40);

function flag(name: string, trafficAllocation: number, commit: string = HEAD): StateEntry {
  return { kind: 'flag', name, environments: { e: { spec: { trafficAllocation }, commit } } };
}

function stateOf(...entries: StateEntry[]): State {
  return new Map(entries.map((entry) => [`${entry.kind}/${entry.name}`, entry]));
}

/** A bare origin with two commits, one older than the other. */
function makeOrigin(): { url: string; older: string; newer: string } {
  const source = makeRepository();
  const older = source.commit('older');
  const newer = source.commit('newer');
  const url = join(makeDirectory(), 'origin.git');
  execFileSync('git', ['clone', '--quiet', '--bare', source.directory, url]);
  return { url, older, newer };
}

function makeClone(url: string): string {
  const directory = join(makeDirectory(), 'clone');
  execFileSync('git', ['clone', '--quiet', url, directory]);
  return directory;
}

async function homeIn(directory: string): Promise<StateStore> {
  const checkout = await openCheckout(directory);
  onTestFinished(async () => checkout.close());
  const place = { checkout, workspaceId: 'ws', origin: 'http://localhost', directory: '' };
  const home = await openStateHome(place, 'always');
  if (!home) throw new Error('no home');
  return home;
}

/** An origin, and the homes of two machines that share it. */
async function twoMachines() {
  const origin = makeOrigin();
  const next = async (): Promise<StateStore> => homeIn(makeClone(origin.url));
  return { ...origin, one: await next(), other: await next(), next };
}

const said = (message: string): { head: string; message: string } => ({ head: HEAD, message });

describe('a state that is shared through origin', { timeout: 30_000 }, () => {
  it('is there for the next machine', async () => {
    const { url } = makeOrigin();
    const one = await homeIn(makeClone(url));
    await one.read();
    await one.write(stateOf(flag('a', 1)), said('Apply'));

    const reading = await (await homeIn(makeClone(url))).read();

    expect(reading.state).toEqual(stateOf(flag('a', 1)));
    expect(reading.head).toBe(HEAD);
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

  it('remembers an older HEAD that a run went back to on purpose, as a local state does', async () => {
    const { url, older, newer } = makeOrigin();
    const home = await homeIn(makeClone(url));
    await home.read();
    await home.write(stateOf(flag('a', 1)), { head: newer, message: 'Apply' });
    await home.write(stateOf(flag('a', 2)), { head: older, message: 'Go back' });

    expect((await (await homeIn(makeClone(url))).read()).head).toBe(older);
  });

  it('keeps what was written while origin could not be reached', async () => {
    const { url } = makeOrigin();
    const clone = makeClone(url);
    const one = await homeIn(clone);
    await one.read();
    await one.write(stateOf(flag('a', 1)), said('Apply'));
    const mine = new TestRepository(clone);
    execFileSync('mv', [url, `${url}.away`]);
    await expect(one.write(stateOf(flag('a', 2)), said('Apply'))).rejects.toMatchObject({
      code: 'GIT',
    });
    execFileSync('mv', [`${url}.away`, url]);
    const other = await homeIn(makeClone(url));
    await other.read();
    await other.write(stateOf(flag('a', 1), flag('b', 1)), said('Theirs'));

    const again = await homeIn(clone);

    expect((await again.read()).state).toEqual(stateOf(flag('a', 2), flag('b', 1)));
    expect(mine.git('for-each-ref', 'refs/heads').split('\n')).toHaveLength(1);
  });

  it('is known with the lock where nobody else wrote, and nothing is fetched', async () => {
    const { url } = makeOrigin();
    const home = await homeIn(makeClone(url));
    await home.read();
    await home.write(stateOf(flag('a', 1)), said('Apply'));
    await home.lock(0);
    execFileSync('mv', [url, `${url}.away`]);

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
    const one = await homeIn(makeClone(url));
    const other = await homeIn(makeClone(url));
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
    const home = await homeIn(makeClone(url));

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

  it('lets the later term of a lease take the lock of an earlier one, and nobody else', async () => {
    const { url } = makeOrigin();
    const [dead, later, stranger] = await Promise.all(
      [1, 2, 3].map(async () => homeIn(makeClone(url))),
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
    const one = await homeIn(clone);
    const stranger = await homeIn(makeClone(url));
    const release = await one.lock(0);
    renameSync(url, `${url}.away`);
    await expect(release()).rejects.toMatchObject({ code: 'GIT' });
    renameSync(`${url}.away`, url);

    await expect(stranger.lock(0)).rejects.toMatchObject({ code: 'IN_USE' });
    const again = await (await homeIn(clone)).lock(0);
    await expect(stranger.lock(0)).rejects.toMatchObject({ code: 'IN_USE' });
    await again();
    expect(await stranger.lockHolder()).toBeNull();
  });

  it('is free again when its lock has expired', async () => {
    const { url } = makeOrigin();
    const clone = makeClone(url);
    const home = await homeIn(clone);
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

  it.each([['ext::sh -c true'], ['http://example.com/x.git'], ['--upload-pack=true']])(
    'goes to no such place: %s',
    async (url) => {
      const repository = makeRepository();
      repository.git('config', 'remote.origin.url', url);

      await expect(homeIn(repository.directory)).rejects.toMatchObject({ code: 'GIT' });
    },
  );

  it('runs no program that the config of the checkout names', async () => {
    const { url } = makeOrigin();
    const clone = makeClone(url);
    const proof = join(clone, 'proof');
    for (const key of ['remote.origin.uploadpack', 'remote.origin.receivepack']) {
      new TestRepository(clone).git('config', key, `touch '${proof}';`);
    }
    const home = await homeIn(clone);

    await home.read();
    await home.write(stateOf(flag('a', 1)), said('Apply'));

    expect(new TestRepository(clone).git('status', '--porcelain')).toBe('');
  });
});
