import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openCheckout } from '../../../src/git/checkout.js';
import { openStateHome } from '../../../src/state/open.js';
import type { StateHome } from '../../../src/state/store.js';
import type { State, StateEntry } from '../../../src/model/state.js';
import { makeDirectory, makeRepository, TestRepository } from '../../support/git.js';

const HEAD = 'a'.repeat(40);

function flag(name: string, trafficAllocation = 100): StateEntry {
  const base = { spec: { trafficAllocation }, commit: HEAD };
  return { kind: 'flag', name, id: `id of ${name}`, environments: { 'env-1': base } };
}

/** Keys that are no words of their own among the members of an object. */
const IDENTITIES: StateEntry = {
  kind: 'identities',
  name: 'user',
  environments: {
    'env-1': {
      commit: null,
      spec: {
        groups: [
          { attributes: [], keys: { '10': 'ab', '9': 'cd' } },
          { attributes: ['plan'], keys: Object.fromEntries([['__proto__', 'ef']]) },
        ],
      },
    },
  },
};

function stateOf(...entries: StateEntry[]): State {
  return new Map(entries.map((entry) => [`${entry.kind}/${entry.name}`, entry]));
}

async function homeOf(directory: string, stateDir?: string): Promise<StateHome | null> {
  const checkout = await openCheckout(directory);
  onTestFinished(async () => checkout.close());
  return openStateHome({
    checkout,
    workspaceId: 'ws',
    origin: 'http://localhost',
    directory: '',
    ...(stateDir === undefined ? {} : { stateDir }),
  });
}

async function certainHomeOf(directory: string, stateDir?: string): Promise<StateHome> {
  const home = await homeOf(directory, stateDir);
  if (home === null) throw new Error('no home');
  return home;
}

describe('state', () => {
  it('remembers in the repository what was written, as one commit per write', async () => {
    const repository = makeRepository();
    const home = await certainHomeOf(repository.directory);
    const state = stateOf(flag('../../x y/ü'), flag('.'), {
      kind: 'segment',
      name: 'beta',
      workspace: { spec: { trafficType: 'user' }, commit: null },
      environments: {
        'env-1': { spec: { keys: { count: 2, sha256: 'b' } }, commit: HEAD, pending: 'delete' },
      },
    });

    expect(await home.read()).toEqual({
      state: new Map(),
      head: null,
      commit: null,
      outOfSync: null,
      timing: {},
      approvals: {},
      killsOf: null,
      flagIds: {},
    });
    await home.write(state, { head: HEAD, message: 'Apply 3 changes' });
    await home.write(state, { head: HEAD, message: 'Nothing' });
    await home.write(stateOf(flag('.')), { head: HEAD, message: 'Prune' });
    const first = await (await certainHomeOf(repository.directory)).read();

    expect(home.ref).toMatch(/^refs\/flagkeel\/ws\/[0-9a-f]{8}$/);
    expect(repository.git('log', '--format=%an %s', home.ref)).toBe(
      'flagkeel Prune\nflagkeel Apply 3 changes',
    );
    expect(repository.git('ls-tree', '-r', '--name-only', `${home.ref}~1`).split('\n')).toEqual([
      'objects/flag/%2E.%2F..%2Fx%20y%2F%C3%BC.json',
      'objects/flag/%2E.json',
      'objects/segment/beta.json',
      'run.json',
    ]);
    expect(first.state).toEqual(stateOf(flag('.')));
    expect(first.head).toBe(HEAD);
    expect(repository.git('for-each-ref', '--format=%(refname)')).toBe(home.ref);
  });

  it('reads back what it wrote', async () => {
    const repository = makeRepository();
    const state = stateOf(flag('a b'), flag('__proto__', 3), flag('ünï'), IDENTITIES);

    await (await certainHomeOf(repository.directory)).write(state, { head: null, message: 'x' });
    const reading = await (await certainHomeOf(repository.directory)).read();

    expect(reading.state).toEqual(state);
    expect(reading.head).toBeNull();
  });

  it('reads a ref of format 1: the commit of a base is that of all its fields', async () => {
    const repository = makeRepository();
    const home = await certainHomeOf(repository.directory);
    const base = { commit: HEAD, spec: { trafficAllocation: 10, defaultTreatment: 'off' } };
    const entry = { kind: 'flag', name: 'x', environments: { e: base } };
    const content = JSON.stringify({ formatVersion: 1, ...entry });
    repository.commit('state', { 'objects/flag/x.json': content });
    repository.git('update-ref', home.ref, 'HEAD');

    expect((await home.read()).state.get('flag/x')).toEqual(entry);
  });

  it('reads back the commits that fields have of their own', async () => {
    const repository = makeRepository();
    const fields = { '/trafficAllocation': 'b'.repeat(40), '/targets/on': null };
    const base = { commit: HEAD, spec: { trafficAllocation: 10 }, fields };
    const entry = { kind: 'flag' as const, name: 'x', environments: { e: base } };
    const home = await certainHomeOf(repository.directory);

    await home.write(new Map([['flag/x', entry]]), { head: HEAD, message: 'x' });
    const again = await certainHomeOf(repository.directory);

    expect((await again.read()).state.get('flag/x')).toEqual(entry);
  });

  it('refuses a write when another run moved the ref meanwhile, and keeps what that one wrote', async () => {
    const repository = makeRepository();
    const one = await certainHomeOf(repository.directory);
    const other = await certainHomeOf(repository.directory);
    await one.read();
    await other.read();
    await other.write(stateOf(flag('theirs')), { head: HEAD, message: 'theirs' });

    const late = one.write(stateOf(flag('mine')), { head: HEAD, message: 'mine' });

    await expect(late).rejects.toMatchObject({ code: 'IN_USE' });
    expect((await one.read()).state).toEqual(stateOf(flag('theirs')));
    await one.write(stateOf(flag('mine')), { head: HEAD, message: 'mine' });
    expect((await other.read()).state).toEqual(stateOf(flag('mine')));
  });

  it('loses nothing that another run wrote when a refused write is followed by another one without a reading', async () => {
    const repository = makeRepository();
    const one = await certainHomeOf(repository.directory);
    const other = await certainHomeOf(repository.directory);
    await one.read();
    await other.write(stateOf(flag('theirs')), { head: HEAD, message: 'theirs' });
    const write = async (): Promise<void> =>
      one.write(stateOf(flag('mine')), { head: HEAD, message: 'mine' });
    await expect(write()).rejects.toMatchObject({ code: 'IN_USE' });

    await expect(write()).rejects.toMatchObject({ code: 'IN_USE' });

    expect((await other.read()).state).toEqual(stateOf(flag('theirs')));
  });

  it('keeps a record of writes though the state stays the same, and a run goes on from it', async () => {
    const repository = makeRepository();
    const run = await certainHomeOf(repository.directory);
    await run.write(stateOf(flag('x')), { head: HEAD, message: 'Apply one' });
    await run.read();
    const other = await certainHomeOf(repository.directory);
    const { state, head } = await other.read();

    await other.write(state, { head, message: 'Kill by hand', isRecord: true });
    await run.write(stateOf(flag('x', 10)), { head: HEAD, message: 'Apply two' });

    expect(repository.git('log', '--format=%s', run.ref)).toBe(
      'Apply two\nKill by hand\nApply one',
    );
    expect((await other.read()).state).toEqual(stateOf(flag('x', 10)));
  });

  it.each([
    ['no JSON', '{'],
    ['no format', '{"formatVersion": "x", "kind": "flag", "name": "x", "environments": {}}'],
    [
      'commits of fields that are none',
      '{"formatVersion": 2, "kind": "flag", "name": "x", "environments": {"e": {"commit": null, "fields": {"/rules": 1}}}}',
    ],
    ['another object', '{"formatVersion": 1, "kind": "flag", "name": "y", "environments": {}}'],
    [
      'a spec of another shape',
      '{"formatVersion": 1, "kind": "flag", "name": "x", "environments": {"e": {"commit": null, "spec": {"rules": 1}}}}',
    ],
    ['too deep', `{"formatVersion": 1, "a": ${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ])('says which pushed file it cannot read, and the way out: %s', async (_, content) => {
    const repository = makeRepository();
    const home = await certainHomeOf(repository.directory);
    repository.commit('state', { 'objects/flag/x.json': content });
    repository.git('update-ref', home.ref, 'HEAD');

    await expect(home.read()).rejects.toMatchObject({
      code: 'STATE_UNREADABLE',
      message: expect.stringMatching(
        /objects\/flag\/x\.json.*\(flagkeel state rebuild\)/,
      ) as string,
    });
  });

  it.each(['run.json', 'objects/flag/x.json'])(
    'refuses a newer format by name, and does not advise to forget it: %s',
    async (path) => {
      const repository = makeRepository();
      const home = await certainHomeOf(repository.directory);
      repository.commit('state', { [path]: '{"formatVersion": 3, "kind": "flag", "name": "x"}' });
      repository.git('update-ref', home.ref, 'HEAD');

      await expect(home.read()).rejects.toMatchObject({
        code: 'STATE_UNREADABLE',
        message: `cannot read the state: "${path}" has format 3, and this version reads up to 2 (a newer flagkeel wrote it: use that one, or go back as docs/upgrading.md says)`,
      });
    },
  );

  it('refuses a log in a newer format by name', async () => {
    const repository = makeRepository();
    const home = await certainHomeOf(repository.directory);
    repository.commit('Apply\n\nFORMAT 2\nupdate flag/x', { 'run.json': '{}' });
    repository.git('update-ref', home.ref, 'HEAD');

    await expect(home.history(null)).rejects.toMatchObject({
      code: 'STATE_UNREADABLE',
      message: expect.stringMatching(/has format 2, and this version reads up to 1/) as string,
    });
  });

  it('reads a state in which an earlier version marked a removal', async () => {
    const repository = makeRepository();
    const home = await certainHomeOf(repository.directory);
    const removed = { since: '2026-03-01T00:00:00.000Z', commit: HEAD };
    const base = { commit: HEAD, spec: { trafficAllocation: 100 }, removed };
    const entry = { formatVersion: 2, kind: 'flag', name: 'x', environments: { 'env-1': base } };
    repository.commit('state', { 'objects/flag/x.json': JSON.stringify(entry) });
    repository.git('update-ref', home.ref, 'HEAD');

    const { state } = await home.read();

    expect(state.get('flag/x')?.environments['env-1']?.spec).toEqual({ trafficAllocation: 100 });
  });

  it('runs no hook', async () => {
    const repository = makeRepository();
    const proof = join(repository.directory, 'proof');
    const hook = join(repository.directory, '.git/hooks/reference-transaction');
    writeFileSync(hook, `#!/bin/sh\ntouch '${proof}'\n`);
    chmodSync(hook, 0o755);

    const home = await certainHomeOf(repository.directory);
    await home.write(stateOf(flag('a')), { head: null, message: 'x' });

    expect(existsSync(proof)).toBe(false);
  });

  it('lives in the directory for states, which is made with the first write', async () => {
    const specs = makeDirectory();
    const stateDir = join(makeDirectory(), 'deep/state.git');
    const home = await certainHomeOf(specs, stateDir);

    expect((await home.read()).commit).toBeNull();
    expect(existsSync(stateDir)).toBe(false);
    await home.write(stateOf(flag('a')), { head: null, message: 'x' });

    expect((await (await certainHomeOf(specs, stateDir)).read()).state).toEqual(stateOf(flag('a')));
    expect(new TestRepository(stateDir).git('rev-parse', '--is-bare-repository')).toBe('true');
  });

  it('is shared by linked working trees', async () => {
    const repository = makeRepository();
    repository.commit('one');
    const linked = join(makeDirectory(), 'linked');
    repository.git('worktree', 'add', '-q', linked, '-b', 'other');

    await (await certainHomeOf(linked)).write(stateOf(flag('a')), { head: null, message: 'x' });

    const reading = await (await certainHomeOf(repository.directory)).read();
    expect(reading.state).toEqual(stateOf(flag('a')));
  });

  it('has no home without git', async () => {
    expect(await homeOf(makeDirectory())).toBeNull();
  });
});

describe('lock', () => {
  it('is no file that somebody else put in its place, nor one behind a link', async () => {
    const repository = makeRepository();
    const home = await certainHomeOf(repository.directory);
    (await home.lock(0))();
    const gitDir = join(repository.directory, '.git');
    const [name = ''] = readdirSync(gitDir).filter((each) => each.startsWith('flagkeel'));
    expect(name).toMatch(/^flagkeel-.+\.lock$/);

    for (const plant of [
      () => {
        symlinkSync('/dev/null', join(gitDir, name));
      },
      () => {
        writeFileSync(join(gitDir, name), 'a database with a journal beside it');
      },
    ]) {
      rmSync(join(gitDir, name));
      plant();
      await expect(home.lock(0)).rejects.toThrow('is no lock of ours');
    }
  });

  it('is held by one run at a time, and waits as long as it is told', async () => {
    const repository = makeRepository();
    const one = await certainHomeOf(repository.directory);
    const other = await certainHomeOf(repository.directory);
    const release = await one.lock(0);

    await expect(other.lock(0)).rejects.toMatchObject({ code: 'IN_USE' });
    setTimeout(release, 200);
    const again = await other.lock(5_000);

    again();
    again();
  });

  it('is free again when its holder was killed', async () => {
    const repository = makeRepository();
    const script = new URL('../../support/git-lock-holder.ts', import.meta.url).pathname;
    const holder = spawn(process.execPath, ['--import', 'tsx', script, repository.directory]);
    onTestFinished(() => void holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');
    const home = await certainHomeOf(repository.directory);
    await expect(home.lock(0)).rejects.toMatchObject({ code: 'IN_USE' });

    holder.kill('SIGKILL');
    const release = await home.lock(5_000);

    release();
  }, 30_000);
});
