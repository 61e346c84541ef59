import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { StateEntry } from '../../../src/model/state.js';
import { stateAccess } from '../../../src/state/open.js';
import type { StateHome } from '../../../src/state/store.js';
import { StateCache } from '../../../src/state/tree.js';
import { checkoutOf, makeDirectory, makeRepository, TestRepository } from '../../support/git.js';
import { findHome, flag, HEAD, homeOf, said, stateOf } from '../../support/state-homes.js';

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

/** A repository whose state ref holds these files, as somebody pushed them. */
async function pushed(
  files: Readonly<Record<string, string>>,
  message = 'state',
): Promise<{ readonly home: StateHome; readonly repository: TestRepository }> {
  const repository = makeRepository();
  const home = await homeOf(repository.directory);
  repository.commit(message, files);
  repository.git('update-ref', home.ref, 'HEAD');
  return { home, repository };
}

describe('state', () => {
  it('remembers in the repository what was written, as one commit per write', async () => {
    const repository = makeRepository();
    const home = await homeOf(repository.directory);
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
      leftKilled: {},
      judged: {},
      environments: {},
    });
    await home.write(state, said('Apply 3 changes'));
    await home.write(state, said('Nothing'));
    await home.write(stateOf(flag('.')), said('Prune'));
    const first = await (await homeOf(repository.directory)).read();

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

  it('reads back what it wrote, in linked working trees too', async () => {
    const repository = makeRepository();
    repository.commit('one');
    const linked = join(makeDirectory(), 'linked');
    repository.git('worktree', 'add', '-q', linked, '-b', 'other');
    const fields = { '/trafficAllocation': 'b'.repeat(40), '/targets/on': null };
    const base = { commit: HEAD, spec: { trafficAllocation: 10 }, fields };
    const parted: StateEntry = { kind: 'flag', name: 'x', environments: { e: base } };
    const state = stateOf(flag('a b'), flag('__proto__', 3), flag('ünï'), parted, IDENTITIES);

    await (await homeOf(linked)).write(state, { head: null, message: 'x' });

    const reading = await (await homeOf(repository.directory)).read();
    expect([reading.state, reading.head]).toEqual([state, null]);
  });

  it('reads what earlier versions wrote: one commit for all fields of a base, and marks of removals', async () => {
    const removed = { since: '2026-03-01T00:00:00.000Z', commit: HEAD };
    const base = { commit: HEAD, spec: { trafficAllocation: 10, defaultTreatment: 'off' } };
    const entry = { kind: 'flag', name: 'x', environments: { e: base } };
    const marked = { kind: 'flag', name: 'y', environments: { e: { ...base, removed } } };
    const { home } = await pushed({
      'objects/flag/x.json': JSON.stringify({ formatVersion: 1, ...entry }),
      'objects/flag/y.json': JSON.stringify({ formatVersion: 2, ...marked }),
    });

    const { state } = await home.read();

    expect(state.get('flag/x')).toEqual(entry);
    expect(state.get('flag/y')?.environments['e']?.spec).toEqual(base.spec);
  });

  it('is written in a repository whose objects have names of SHA-256', async () => {
    const directory = makeDirectory();
    new TestRepository(directory).git('init', '-q', '--object-format=sha256');
    const home = await homeOf(directory);
    await home.read();

    await home.write(stateOf(flag('x')), said('Apply one'));
    await home.write(stateOf(flag('y')), said('Apply two'));

    const next = await (await homeOf(directory)).read();
    expect(next.state).toEqual(stateOf(flag('y')));
  });

  it('refuses writes, until the next reading, when another run moved the ref, and keeps what that one wrote', async () => {
    const repository = makeRepository();
    const one = await homeOf(repository.directory);
    const other = await homeOf(repository.directory);
    await one.read();
    await other.read();
    await other.write(stateOf(flag('theirs')), said('theirs'));
    const write = async (): Promise<void> => one.write(stateOf(flag('mine')), said('mine'));

    await expect(write()).rejects.toMatchObject({ code: 'IN_USE' });
    await expect(write()).rejects.toMatchObject({ code: 'IN_USE' });

    expect((await one.read()).state).toEqual(stateOf(flag('theirs')));
    await write();
    expect((await other.read()).state).toEqual(stateOf(flag('mine')));
  });

  it('keeps a record of writes though the state stays the same, and a run goes on from it', async () => {
    const repository = makeRepository();
    const run = await homeOf(repository.directory);
    await run.write(stateOf(flag('x')), said('Apply one'));
    await run.read();
    const other = await homeOf(repository.directory);
    const { state, head } = await other.read();

    await other.write(state, { head, message: 'Kill by hand', isRecord: true });
    await run.write(stateOf(flag('x', 10)), said('Apply two'));

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
    const { home } = await pushed({ 'objects/flag/x.json': content });

    await expect(home.read()).rejects.toMatchObject({
      code: 'STATE_UNREADABLE',
      message: expect.stringMatching(
        /objects\/flag\/x\.json.*\(flagkeel state rebuild\)/,
      ) as string,
    });
  });

  it.each([
    ['its commit', ''],
    ['the tree of it', '^{tree}'],
    ['a folder', ':objects/flag'],
    ['a file', ':objects/flag/x.json'],
  ])(
    'does not take a damaged state for none, and a rebuild replaces it: %s is missing',
    async (_, part) => {
      const repository = makeRepository();
      const home = await homeOf(repository.directory);
      await home.write(stateOf(flag('x')), said('Apply one'));
      const missing = repository.git('rev-parse', `${home.ref}${part}`);
      const objects = join(repository.directory, '.git', 'objects');
      rmSync(join(objects, missing.slice(0, 2), missing.slice(2)));

      const next = await homeOf(repository.directory);
      await expect(next.read()).rejects.toMatchObject({
        code: 'STATE_UNREADABLE',
        message: expect.stringContaining('(flagkeel state rebuild)') as string,
      });
      await next.write(stateOf(flag('y')), { ...said('Rebuild'), afresh: true });
      const rebuilt = await (await homeOf(repository.directory)).read();
      expect(rebuilt.state).toEqual(stateOf(flag('y')));
    },
  );

  it('does not take a ref for an empty state that names a commit of specs, and a rebuild replaces it', async () => {
    const repository = makeRepository();
    const specs = repository.commit('Specs', { 'flags/x.yaml': 'flag: x' });
    const home = await homeOf(repository.directory);
    repository.git('update-ref', home.ref, specs);

    await expect(home.read()).rejects.toMatchObject({
      code: 'STATE_UNREADABLE',
      message: `cannot read the state: "${home.ref}" names commit ${specs}, which is no state (flagkeel state rebuild)`,
    });
    await home.write(stateOf(flag('x')), { ...said('Rebuild'), afresh: true });
    expect((await (await homeOf(repository.directory)).read()).state).toEqual(stateOf(flag('x')));
  });

  it('does not take a ref for none whose file is cut off or overwritten, and names the way out', async () => {
    const repository = makeRepository();
    const home = await homeOf(repository.directory);
    await home.write(stateOf(flag('x')), said('Apply one'));
    for (const content of ['', 'garbage']) {
      writeFileSync(join(repository.directory, '.git', home.ref), content);
      await expect((await homeOf(repository.directory)).read()).rejects.toMatchObject({
        code: 'STATE_UNREADABLE',
        message: expect.stringContaining(
          '(remove that file, then flagkeel state rebuild)',
        ) as string,
      });
    }
  });

  it('leaves no crash report of git behind where a write fails half-way, as on a full disk', async () => {
    const repository = makeRepository();
    const home = await homeOf(repository.directory);
    await home.write(stateOf(flag('pay')), said('Apply 1 change'));
    const gitDir = join(repository.directory, '.git');
    const before = readdirSync(gitDir);
    const tree = repository.git('rev-parse', `${home.ref}^{tree}`);
    repository.remove(`.git/objects/${tree.slice(0, 2)}/${tree.slice(2)}`);

    const written = home.write(stateOf(flag('cart')), said('Apply 1 change'));

    await expect(written).rejects.toThrow(/^cannot write the state: fatal: [^;\n]*$/);
    expect(readdirSync(gitDir)).toEqual(before);
  });

  it('refuses a newer format by name, of a file or of the log, and does not advise to forget it', async () => {
    for (const path of ['run.json', 'objects/flag/x.json']) {
      const { home } = await pushed({
        [path]: '{"formatVersion": 3, "kind": "flag", "name": "x"}',
      });
      await expect(home.read()).rejects.toMatchObject({
        code: 'STATE_UNREADABLE',
        message: `cannot read the state: "${path}" has format 3, and this version reads up to 2 (a newer flagkeel wrote it: use that one, or go back as docs/upgrading.md says)`,
      });
    }
    const { home } = await pushed({ 'run.json': '{}' }, 'Apply\n\nFORMAT 2\nupdate flag/x');
    await expect(home.history(null)).rejects.toMatchObject({
      code: 'STATE_UNREADABLE',
      message: expect.stringMatching(/has format 2, and this version reads up to 1/) as string,
    });
  });

  it('lives in the directory for states, which is made with the first write, and nowhere without one or git', async () => {
    const specs = makeDirectory();
    expect(await findHome(specs)).toBeNull();
    const stateDir = join(makeDirectory(), 'deep/state.git');
    const home = await homeOf(specs, { stateDir });

    expect((await home.read()).commit).toBeNull();
    expect(existsSync(stateDir)).toBe(false);
    await home.write(stateOf(flag('a')), { head: null, message: 'x' });

    expect((await (await homeOf(specs, { stateDir })).read()).state).toEqual(stateOf(flag('a')));
    expect(new TestRepository(stateDir).git('rev-parse', '--is-bare-repository')).toBe('true');
  });
});

it('states of other workspaces are those that hold something, but for try-outs on other services', async () => {
  const { directory } = makeRepository();
  const [real, empty, local] = ['https://a.example', 'https://b.example', 'http://localhost'];
  for (const origin of [real, local]) {
    await (await homeOf(directory, { origin })).write(stateOf(flag('a')), said('Apply'));
  }
  await (await homeOf(directory, { origin: empty })).write(stateOf(), said('Apply'));
  const checkout = await checkoutOf(directory);
  const othersOf = async (id: string, origin: string) => {
    const place = { checkout, directory, origin: () => origin, sharing: () => 'never' as const };
    const at = { workspace: { id, name: id }, environments: [] };
    return stateAccess(place).appliedToOthers(at);
  };

  const found = { workspaceId: 'ws', objects: 1 };
  expect(await othersOf('other', real)).toEqual([{ ...found, origin: real }]);
  expect(await othersOf('other', local)).toEqual([{ ...found, origin: local }]);
  expect(await othersOf('ws', real)).toEqual([]);
});

describe('the cache of the state', () => {
  it('knows the state that it wrote as one who reads it finds it', async () => {
    const { directory } = makeRepository();
    const cache = new StateCache();
    const home = await homeOf(directory, { cache });
    const odd = { ...flag('odd name'), more: 'than an entry has', id: undefined };
    for (const name of ['gone', 'b']) {
      await home.write(stateOf(odd as unknown as StateEntry, flag(name)), said('Apply'));
    }

    const known = await (await homeOf(directory, { cache })).read();

    expect(known).toStrictEqual(await (await homeOf(directory)).read());
    expect([...known.state.keys()].toSorted()).toEqual(['flag/b', 'flag/odd name']);
  });

  it('gives the same entries of the state as long as their files are the same', async () => {
    const { directory } = makeRepository();
    const cache = new StateCache();
    await (await homeOf(directory, { cache })).write(stateOf(flag('a'), flag('b')), said('One'));
    const before = (await (await homeOf(directory, { cache })).read()).state;

    await (await homeOf(directory)).write(stateOf(flag('a', 2), flag('b')), said('Two'));

    const { state } = await (await homeOf(directory, { cache })).read();
    expect(state).toEqual(stateOf(flag('a', 2), flag('b')));
    expect(state.get('flag/b')).toBe(before.get('flag/b'));
  });
});

describe('lock', () => {
  it('is no file that somebody else put in its place, nor one behind a link', async () => {
    const repository = makeRepository();
    const home = await homeOf(repository.directory);
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
    const one = await homeOf(repository.directory);
    const other = await homeOf(repository.directory);
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
    const home = await homeOf(repository.directory);
    await expect(home.lock(0)).rejects.toMatchObject({ code: 'IN_USE' });

    holder.kill('SIGKILL');
    const release = await home.lock(5_000);

    release();
  }, 30_000);
});
