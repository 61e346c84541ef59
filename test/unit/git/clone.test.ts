import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Clone } from '../../../src/git/clone.js';
import { makeDirectory, makeRepository } from '../../support/git.js';

/** A `git` whose first fetch finds the ref locked, as by a fetch of another process. */
function withLockedRef(folder: string): void {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const program = join(folder, 'git');
  const lines = [
    `case " $* " in *" fetch "*) [ -e '${folder}/seen' ] || first=1 ;; esac`,
    `[ -n "$first" ] || exec '${real}' "$@"`,
    `lock="$GIT_DIR/refs/remotes/origin/main.lock"`,
    `mkdir -p "$GIT_DIR/refs/remotes/origin"; touch "$lock" '${folder}/seen'`,
    `'${real}' "$@"; code=$?`,
    `rm "$lock"; exit $code`,
  ];
  writeFileSync(program, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(program, 0o755);
  vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
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
