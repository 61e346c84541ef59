import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Clone } from '../../../src/git/clone.js';
import { openBare } from '../../../src/git/own-repository.js';
import { makeDirectory, makeRepository } from '../../support/git.js';

/** A program before git. */
function withGit(folder: string, linesFor: (real: string) => readonly string[]): void {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const program = join(folder, 'git');
  writeFileSync(program, ['#!/bin/sh', ...linesFor(real), ''].join('\n'));
  chmodSync(program, 0o755);
  vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}

/** Its first fetch finds the ref locked, as by a fetch of another process. */
function withLockedRef(folder: string): void {
  withGit(folder, (real) => [
    `case " $* " in *" fetch "*) [ -e '${folder}/seen' ] || first=1 ;; esac`,
    `[ -n "$first" ] || exec '${real}' "$@"`,
    `lock="$GIT_DIR/refs/remotes/origin/main.lock"`,
    `mkdir -p "$GIT_DIR/refs/remotes/origin"; touch "$lock" '${folder}/seen'`,
    `'${real}' "$@"; code=$?`,
    `rm "$lock"; exit $code`,
  ]);
}

/** It creates one repository at a time. Git itself finds its config file locked, if it is unlucky. */
function withLockedConfig(folder: string): void {
  withGit(folder, (real) => [
    `case " $* " in *" init "*) ;; *) exec '${real}' "$@" ;; esac`,
    `mkdir '${folder}/lock' || { echo 'error: could not lock config file' >&2; exit 255; }`,
    `'${real}' "$@"; code=$?`,
    `sleep 0.2; rmdir '${folder}/lock'; exit $code`,
  ]);
}

it('a source is within reach though another process fetches into the same clone at once', async () => {
  const repository = makeRepository();
  const head = repository.commit('one', { 'flagkeel.yaml': '' });
  const folder = makeDirectory();
  const none = () => ({});
  const remote = { url: `file://${repository.directory}`, settings: none, variables: none };
  const directory = join(folder, 'clone.git');
  const clone = new Clone({ directory, remote, branch: 'main', path: '' });
  withLockedRef(makeDirectory());

  expect(await clone.fetch()).toMatchObject({ commit: head });
});

it('the sources of a daemon open the one repository of their states, all at its first start', async () => {
  withLockedConfig(makeDirectory());
  const directory = join(makeDirectory(), 'state');
  const open = async (): Promise<string> =>
    (await openBare(directory, 'state repository', async () => Promise.resolve('sha1'))).directory;

  const opened = await Promise.all(Array.from({ length: 8 }, open));

  expect(new Set(opened)).toEqual(new Set([directory]));
});

it('opens a repository that another process creates at the same moment', async () => {
  const folder = makeDirectory();
  withGit(folder, (real) => [
    `case " $* " in *" init "*) [ -e '${folder}/seen' ] || first=1 ;; esac`,
    `[ -n "$first" ] || exec '${real}' "$@"`,
    `touch '${folder}/seen'; echo 'error: could not lock config file: File exists' >&2; exit 128`,
  ]);
  const directory = join(folder, 'state');

  const { directory: opened } = await openBare(directory, 'state repository', async () =>
    Promise.resolve('sha1'),
  );

  expect(opened).toBe(directory);
});
