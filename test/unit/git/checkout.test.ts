import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openCheckout, resolveRevision } from '../../../src/git/checkout.js';
import { isAncestor } from '../../../src/git/lineage.js';
import { commitIn, readLog } from '../../../src/git/log.js';
import { commitTree, directoryTree } from '../../../src/git/trees.js';
import { localChanges } from '../../../src/git/spec-source.js';
import { CountedGit } from '../../support/counted-git.js';
import { checkoutOf, makeDirectory, makeRepository, TestRepository } from '../../support/git.js';

let repository: TestRepository;

beforeEach(() => {
  repository = makeRepository();
});

function withPath(path: string): void {
  vi.stubEnv('PATH', path);
  onTestFinished(() => void vi.unstubAllEnvs());
}

it('the log has each commit that shapes objects, and none of spec tests alone', async () => {
  const shaping = ['flagkeel.yaml', 'flags/a.yaml', 'segments/a.yaml', 'identities/a.csv'];
  const paths = [...shaping, 'kills/a.yaml', 'tests/a.test.yaml', 'README.md'];
  for (const path of paths) repository.commit(path, { [path]: path });

  const { repository: opened, head } = await checkoutOf(repository.directory);
  const log = opened && head !== null ? await readLog(opened, null, head) : [];

  expect(log.flatMap((each) => each.paths)).toEqual(['kills/a.yaml', ...shaping.toReversed()]);
});

describe('checkout', () => {
  it('reads a directory without git as it is, and a repository where git is not installed', async () => {
    const directory = makeDirectory();
    const plain = { repository: null, head: null, shallow: false };
    repository.commit('one');

    const checkout = await checkoutOf(directory);
    expect(checkout).toMatchObject({ directory, ...plain });
    expect(await localChanges(checkout)).toEqual([]);
    withPath(makeDirectory());
    expect(await checkoutOf(repository.directory)).toMatchObject(plain);
  });

  it.each([
    ['that is not there', () => join(makeDirectory(), 'absent')],
    ['that is a file', () => process.execPath],
  ])('has no specs to read in a directory %s', async (_, directory) => {
    await expect(openCheckout(directory())).rejects.toMatchObject({
      code: 'SPECS_INVALID',
      message: expect.stringContaining('flagkeel init writes one') as string,
    });
  });

  it('looks at its own files, wherever core.worktree of its config leads', async () => {
    repository.commit('one', { 'flags/a.yaml': 'a' });
    const elsewhere = makeDirectory();
    writeFileSync(join(elsewhere, '.gitignore'), '*\n');
    repository.git('config', 'core.worktree', elsewhere);
    repository.write({ 'flags/b.yaml': 'b' });

    expect(await localChanges(await checkoutOf(repository.directory))).toEqual(['flags/b.yaml']);
  });

  it.runIf(process.getuid?.() === 0)(
    'opens the repository of whoever owns the directory, and no other that lies above it',
    async () => {
      repository.commit('one', { 'config/flagkeel.yaml': 'a' });
      const config = join(repository.directory, 'config');
      execFileSync('chown', ['-R', '12345', repository.directory]);

      expect((await checkoutOf(config)).head).not.toBeNull();
      execFileSync('chown', ['-R', '0', config]);
      const root = realpathSync(repository.directory);
      await expect(openCheckout(config)).rejects.toMatchObject({
        code: 'GIT',
        message: expect.stringContaining(
          `belong to different users (sudo chown -R "$(id -un)" ${root})`,
        ) as string,
      });
    },
  );

  it('has no head before the first commit, and reads what a commit has, not what lies on disk', async () => {
    repository.write({ 'flagkeel.yaml': 'a' });
    const before = await checkoutOf(repository.directory);
    expect([before.head, await localChanges(before)]).toEqual([null, ['flagkeel.yaml']]);

    const head = repository.commit('one', { 'flags/a.yaml': 'committed' });
    repository.write({ 'flags/a.yaml': 'local' });
    const checkout = await checkoutOf(repository.directory);

    expect([checkout.head, await localChanges(checkout)]).toEqual([head, ['flags/a.yaml']]);
    const content = await (await commitTree(checkout, head)).read('flags/a.yaml');
    expect(content.toString()).toBe('committed');
  });

  it('refuses a damaged repository, and takes it neither for one without a commit nor for a large file', async () => {
    const head = repository.commit('one', { 'flags/a.yaml': 'committed' });
    const { directory } = repository;
    const objectOf = (id: string): string =>
      join(directory, '.git', 'objects', id.slice(0, 2), id.slice(2));

    rmSync(objectOf(repository.git('rev-parse', 'HEAD:flags/a.yaml')));
    const tree = await commitTree(await checkoutOf(directory), head);
    expect(tree.list()).toMatchObject([{ path: 'flags/a.yaml', sizeBytes: 0 }]);
    await expect(tree.read('flags/a.yaml')).rejects.toMatchObject({ code: 'GIT' });

    rmSync(objectOf(head));
    await expect(openCheckout(directory)).rejects.toThrow(`${head} is missing here (git fsck)`);
    writeFileSync(join(directory, '.git', 'refs', 'heads', 'main'), '');
    await expect(openCheckout(directory)).rejects.toThrow('cannot read HEAD');
  });

  it('sees a config in a folder of the repository as if it were the whole', async () => {
    const head = repository.commit('one', {
      'deploy/my flags/flags/ünï "x".yaml': 'x',
      'deploy/my flags/README.md': 'not read',
      'flags/outside.yaml': 'y',
    });

    const checkout = await checkoutOf(join(repository.directory, 'deploy/my flags'));
    const tree = await commitTree(checkout, head);

    expect(checkout.repository?.prefix).toBe('deploy/my flags/');
    expect(tree.list().map(({ path }) => path)).toEqual(['flags/ünï "x".yaml']);
    expect((await tree.read('flags/ünï "x".yaml')).toString()).toBe('x');
    expect(await localChanges(checkout)).toEqual([]);
  });

  it('refuses a file that has become a pipe or a link since it was listed, and waits for neither', async () => {
    const directory = makeDirectory();
    mkdirSync(join(directory, 'flags'));
    const [pipe, link] = ['pipe', 'link'].map((name) => join(directory, `flags/${name}.yaml`));
    for (const path of [pipe, link]) writeFileSync(path ?? '', 'x');
    const disk = await directoryTree(directory);
    for (const path of [pipe, link]) rmSync(path ?? '');
    execFileSync('mkfifo', [pipe ?? '']);
    symlinkSync('/etc/passwd', link ?? '');

    await expect(disk.read('flags/pipe.yaml')).rejects.toThrow('something else than a file');
    await expect(disk.read('flags/link.yaml')).rejects.toThrow('has become a symbolic link');
  });

  it('lists a file whose name is not UTF-8, which it cannot read, and goes on with the others', async () => {
    repository.write({ 'flags/a.yaml': 'a' });
    const name = Buffer.from('flags/\xfcber.yaml', 'latin1');
    writeFileSync(Buffer.concat([Buffer.from(`${repository.directory}/`), name]), 'b');
    repository.shell('git add --all && git commit -qm one');

    const tree = await directoryTree(repository.directory);

    const lost = 'flags/\uFFFDber.yaml';
    expect(tree.list()).toMatchObject([{ path: 'flags/a.yaml' }, { path: lost, type: 'special' }]);
    expect(await localChanges(await checkoutOf(repository.directory))).toEqual([lost]);
  });

  it('counts as local changes new, changed and lost files, but none that git ignores', async () => {
    repository.commit('one', {
      'flags/a.yaml': 'a',
      'flags/b.yaml': 'b',
      'flags/crlf.yaml': 'x\ny\n',
      'flags/ident.yaml': '# $Id$\nx\n',
      '.gitattributes': 'flags/ident.yaml ident\n',
      '.gitignore': 'flags/ignored.yaml\n',
    });
    repository.write({ 'flags/ident.yaml': null });
    repository.git('checkout', '--quiet', 'flags/ident.yaml');
    expect(readFileSync(join(repository.directory, 'flags/ident.yaml'), 'utf8')).toMatch(/Id: \w+/);
    repository.write({
      'flags/a.yaml': 'A',
      'flags/b.yaml': null,
      'flags/crlf.yaml': 'x\r\ny\r\n',
      'flags/ignored.yaml': 'i',
      'flags/new.yaml': 'n',
      '.flagkeel/service/db': 'd',
      'README.md': 'r',
    });

    const checkout = await checkoutOf(repository.directory);

    expect(await localChanges(checkout)).toEqual([
      'flags/a.yaml',
      'flags/b.yaml',
      'flags/new.yaml',
    ]);
  });

  it('runs no program that the repository names', async () => {
    const proof = join(repository.directory, 'proof');
    const script = join(repository.directory, 'evil.sh');
    repository.write({ 'evil.sh': `#!/bin/sh\ntouch '${proof}'\n` });
    chmodSync(script, 0o755);
    const head = repository.commit('one', {
      'flags/a.yaml': 'a',
      '.gitattributes': '* filter=evil diff=evil\n',
    });
    for (const key of [
      'core.fsmonitor',
      'filter.evil.clean',
      'filter.evil.smudge',
      'diff.evil.textconv',
      'diff.external',
      'core.pager',
      'gpg.program',
    ]) {
      repository.git('config', key, script);
    }
    repository.write({ 'flags/a.yaml': 'b' });

    const checkout = await checkoutOf(repository.directory);
    await (await commitTree(checkout, head)).read('flags/a.yaml');

    expect(await localChanges(checkout)).toEqual(['flags/a.yaml']);
    expect(existsSync(proof)).toBe(false);
  });

  it('knows which commit comes before which, and where a shallow clone cannot', async () => {
    const first = repository.commit('one');
    const second = repository.commit('two');
    const clone = join(makeDirectory(), 'clone');
    repository.git('clone', '-q', '--depth=1', `file://${repository.directory}`, clone);

    const full = await checkoutOf(repository.directory);
    const shallow = await checkoutOf(clone);

    expect(await isAncestor(full, first, second)).toBe(true);
    expect(await isAncestor(full, second, first)).toBe(false);
    expect(await isAncestor(full, 'f'.repeat(40), first)).toBe('unknown');
    expect(shallow.shallow).toBe(true);
    expect(await isAncestor(shallow, first, second)).toBe('unknown');
    expect(await resolveRevision(full, 'main')).toBe(second);
    // An option is a revision that does not exist, and so is what git would leave out.
    for (const none of ['--all', '^main']) {
      await expect(resolveRevision(full, none), none).rejects.toMatchObject({ code: 'GIT' });
    }
  });

  it('has the parents of a commit as the commit names them, whatever grafts beside it say', async () => {
    const first = repository.commit('one', { 'flags/a.yaml': 'a' });
    const second = repository.commit('two', { 'flags/b.yaml': 'b' });
    repository.write({ '.git/info/grafts': `${second}\n` });
    expect(repository.git('rev-list', 'HEAD')).toBe(second);

    const checkout = await checkoutOf(repository.directory);

    expect(await resolveRevision(checkout, 'HEAD^1')).toBe(first);
    const { repository: opened } = checkout;
    const log = opened && (await readLog(opened, null, second));
    expect(log?.map(({ id }) => id)).toEqual([second, first]);
  });

  it.each([
    ['1772359200 +0200', '2026-03-01T10:00:00.000Z'],
    ['99999999999999 +0000', '9999-12-31T23:59:59.000Z'],
  ])('says in UTC when a commit of %s was made', async (made, inUtc) => {
    repository.commit('one');
    const raw = `tree $(git rev-parse HEAD^{tree})\\nauthor a <a> ${made}\\ncommitter a <a> ${made}\\n\\ntwo\\n`;
    const head = repository.shell(
      `printf "${raw}" | git hash-object -t commit -w --stdin --literally`,
    );

    const commit = await commitIn(await checkoutOf(repository.directory), head);

    expect(commit).toEqual({ commit: head, committedAt: inUtc, subject: 'two' });
  });

  it('opens a linked working tree', async () => {
    const head = repository.commit('one', { 'flags/a.yaml': 'a' });
    const linked = join(makeDirectory(), 'linked');
    repository.git('worktree', 'add', '-q', linked, '-b', 'other');

    const checkout = await checkoutOf(linked);

    expect(checkout.head).toBe(head);
    expect(checkout.repository?.gitDir).toBe(join(repository.directory, '.git'));
    expect(await localChanges(checkout)).toEqual([]);
  });

  it('reads a thousand files through one process of git', async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `f${String(index)}`);
    const files = names.map((name): [string, string] => [`flags/${name}.yaml`, `flag: ${name}\n`]);
    const head = repository.commit('many', Object.fromEntries(files));
    const checkout = await checkoutOf(new TestRepository(repository.directory).directory);
    const git = new CountedGit(makeDirectory());
    withPath(git.path);

    const tree = await commitTree(checkout, head);
    const contents = await Promise.all(tree.list().map(async ({ path: file }) => tree.read(file)));

    expect(contents[0]?.toString()).toBe('flag: f0\n');
    expect(contents).toHaveLength(1_000);
    expect(git.take().filter((command) => command === 'cat-file')).toHaveLength(1);
  });
});
