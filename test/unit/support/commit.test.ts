import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeRepository } from '../../support/git.js';

it('leaves the repository as git itself would', () => {
  const repository = makeRepository();
  const at = (path: string): string => join(repository.directory, path);
  repository.commit('one', { 'flags/a.yaml': 'a', 'flags-b': 'b', 'flags.c': 'c', 'ü/ß/d': 'd' });
  symlinkSync('flags/a.yaml', at('link'));
  chmodSync(at('flags-b'), 0o755);
  mkdirSync(at('empty'));
  repository.commit('two\n\nbody', { 'flags/e.yaml': 'e', 'flags/a.yaml': null });
  repository.git('checkout', '--quiet', '--detach');
  repository.commit('three', { 'flags.c': 'other' });

  expect(repository.git('status', '--porcelain')).toBe('');
  expect(repository.git('fsck', '--full', '--strict')).toBe('');
  expect(repository.git('rev-parse', 'HEAD^')).toBe(repository.git('rev-parse', 'main'));
  const made = repository.git('rev-parse', 'HEAD^{tree}');
  repository.git('rm', '--cached', '--quiet', '-r', '.');
  repository.git('add', '--all');
  expect(repository.git('write-tree')).toBe(made);
  expect(repository.git('log', '-1', '-g', '--format=%an %ae, %cn %ce: %s, %gs')).toBe(
    'Ana ana@example.com, Forge forge@example.com: three, commit: three',
  );
});
