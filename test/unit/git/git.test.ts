import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Clone } from '../../../src/git/clone.js';
import { complaintOf, exitCodeOf, isGitMissing, openGit, runGit } from '../../../src/git/git.js';
import { makeRepository } from '../../support/git.js';

/** A repository with a program in it that leaves a file behind when somebody runs it. */
function hostileRepository(): ReturnType<typeof makeRepository> & {
  program: string;
  ran: () => boolean;
} {
  const repository = makeRepository();
  const proof = join(repository.directory, 'proof');
  const program = join(repository.directory, 'hooks', 'reference-transaction');
  repository.write({ 'hooks/reference-transaction': `#!/bin/sh\ntouch '${proof}'\nexit 1\n` });
  chmodSync(program, 0o755);
  repository.commit('one', { 'flags/a.yaml': 'a' });
  return Object.assign(repository, { program, ran: () => existsSync(proof) });
}

afterEach(() => {
  vi.unstubAllEnvs();
});

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}

describe('a git command', () => {
  it('complains in the lines of git, without the empty one before its advice', async () => {
    const remote = { url: '/nowhere', settings: () => ({}), variables: () => ({}) };
    const { directory } = makeRepository();
    const clone = new Clone({ directory: join(directory, 'c'), remote, branch: 'main', path: '' });

    await expect(clone.fetch()).rejects.toThrow(/read from remote repository\.$/);
  });

  it('takes no served repository away from its owner to read it', () => {
    const stderr = `fatal: detected dubious ownership in repository at '/srv/our flags.git'
To add an exception for this directory, call:

\tgit config --global --add safe.directory '/srv/our flags.git'
fatal: Could not read from remote repository.

Please make sure you have the correct access rights
`;

    const complaint = complaintOf(stderr);

    expect(complaint).toContain("(git config --global --add safe.directory '/srv/our flags.git')");
    expect(complaint).not.toContain('chown');
  });

  it('names the lock that a killed git left on a ref, and how to take it away', async () => {
    const repository = makeRepository();
    repository.commit('one', { 'flags/a.yaml': 'a' });
    repository.write({ '.git/refs/flagkeel/test.lock': '' });
    const command = { args: ['update-ref', 'refs/flagkeel/test', 'HEAD'], purpose: 'move a ref' };
    const moved = async (): Promise<string> =>
      runGit(openGit(repository.directory), { ...command, writes: true });

    const text = String(await failureOf(moved()));
    const [, remedy = ''] = /\(if no other git runs: (.*)\)$/.exec(text) ?? [];
    spawnSync('sh', ['-c', remedy]);

    expect(text).toContain('cannot move a ref: cannot lock ref (if no other git runs: rm ');
    await expect(moved()).resolves.toBe('');
  });

  it('runs no hook of the repository when it moves a ref', async () => {
    const repository = hostileRepository();
    repository.git('config', 'core.hooksPath', join(repository.directory, 'hooks'));

    await runGit(openGit(repository.directory), {
      args: ['update-ref', 'refs/flagkeel/test', 'HEAD'],
      purpose: 'move a ref',
      writes: true,
    });

    expect(repository.ran()).toBe(false);
    expect(() => repository.git('update-ref', 'refs/flagkeel/other', 'HEAD')).toThrow();
    expect(repository.ran()).toBe(true);
  });

  it('runs no watcher of files that the repository names when it lists the index', async () => {
    const repository = hostileRepository();
    repository.git('config', 'core.fsmonitor', repository.program);

    await runGit(openGit(repository.directory), { args: ['ls-files', '-t'], purpose: 'list' });

    expect(repository.ran()).toBe(false);
    repository.git('ls-files', '-m');
    expect(repository.ran()).toBe(true);
  });

  it.each(['ssh://localhost/x', 'ext::sh -c true', 'http://localhost:9/x'])(
    'starts no program to fetch from %s what a partial clone lacks',
    async (url) => {
      const repository = hostileRepository();
      const settings = {
        'core.repositoryFormatVersion': '1',
        'extensions.partialClone': 'origin',
        'remote.origin.promisor': 'true',
        'remote.origin.url': url,
        'core.sshCommand': repository.program,
        'core.askPass': repository.program,
        'core.gitProxy': repository.program,
        'credential.helper': repository.program,
      };
      for (const [name, value] of Object.entries(settings)) repository.git('config', name, value);

      const lacking = runGit(openGit(repository.directory), {
        args: ['cat-file', 'blob', '1'.repeat(40)],
        purpose: 'read a blob',
      });

      expect(exitCodeOf(await failureOf(lacking))).toBe(128);
      expect(repository.ran()).toBe(false);
    },
  );

  it.each([[{}], [{ writes: true }]] as const)(
    'fails as a missing program where there is no git, with %j',
    async (options) => {
      const repository = makeRepository();
      vi.stubEnv('PATH', join(repository.directory, 'nothing'));

      const failure = await failureOf(
        runGit(openGit(repository.directory), { args: ['version'], purpose: 'ask', ...options }),
      );

      expect(isGitMissing(failure)).toBe(true);
      expect(String(failure)).toBe('FlagkeelError: cannot ask: spawn git ENOENT');
    },
  );

  it('fails, and does not end the program, where no file can be opened any more', () => {
    const { directory } = makeRepository();
    const script = new URL('../../support/git-without-files.ts', import.meta.url).pathname;
    const program = ['--import', 'tsx', script, directory];
    const limited = ['-c', 'ulimit -n 200; exec "$0" "$@"', process.execPath, ...program];

    const { status, stdout } = spawnSync('sh', limited, { encoding: 'utf8', timeout: 60_000 });

    const failed = 'FlagkeelError: cannot start git: too many open files';
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${failed}\n${failed}\n` });
  }, 60_000);

  it('is read to its end, even if the output comes long after the program has ended', async () => {
    const repository = makeRepository();
    repository.write({ 'bin/git': '#!/bin/sh\necho first\n(sleep 0.5; echo last) &\n' });
    chmodSync(join(repository.directory, 'bin/git'), 0o755);
    vi.stubEnv('PATH', `${join(repository.directory, 'bin')}:${process.env['PATH'] ?? ''}`);

    const git = openGit(repository.directory);
    expect(await runGit(git, { args: ['ls-tree'], purpose: 'list' })).toBe('first\nlast\n');
  });

  it('reads its input, and may end with a code that says no', async () => {
    const repository = makeRepository();
    repository.write({ '.gitignore': 'ignored\n' });
    const ignored = async (...paths: readonly string[]): Promise<string> =>
      runGit(openGit(repository.directory), {
        args: ['check-ignore', '-z', '--stdin'],
        purpose: 'ask',
        input: paths.map((path) => `${path}\0`).join(''),
        allowedExitCodes: [0, 1],
      });

    expect(await ignored('ignored', 'other')).toBe('ignored\0');
    expect(await ignored('other')).toBe('');
  });

  it('is ended by its signal', async () => {
    const repository = makeRepository();
    const ending = new AbortController();
    const waiting = runGit(openGit(repository.directory), {
      args: ['-c', 'alias.wait=!sleep 600', 'wait'],
      purpose: 'wait',
      writes: true,
      signal: ending.signal,
    });
    ending.abort();
    expect(await failureOf(waiting)).toMatchObject({
      code: 'INTERRUPTED',
      message: 'cannot wait: interrupted',
    });
  });
});
