import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { commitWith, startRepository } from './started-repository.js';

/** A real git repository of specs in a temporary directory. */
export class ConfigRepository implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'flagkeel-e2e-'));

  constructor() {
    startRepository(this.directory);
  }

  git(...args: readonly string[]): string {
    return this.#run('git', args);
  }

  /** Runs a script as somebody who works in the repository would. */
  shell(script: string): string {
    return this.#run('sh', ['-e', '-c', script]);
  }

  #run(program: string, args: readonly string[]): string {
    return execFileSync(program, args, {
      cwd: this.directory,
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        HOME: this.directory,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_AUTHOR_NAME: 'Ana Alvarez',
        GIT_AUTHOR_EMAIL: 'ana@example.com',
        // Another one than the author, as after a merge by a forge, so that no test takes one for the other.
        GIT_COMMITTER_NAME: 'Forge',
        GIT_COMMITTER_EMAIL: 'forge@example.com',
      },
    }).trim();
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.directory, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }

  remove(path: string): void {
    rmSync(join(this.directory, path), { recursive: true });
  }

  move(from: string, to: string): void {
    mkdirSync(dirname(join(this.directory, to)), { recursive: true });
    renameSync(join(this.directory, from), join(this.directory, to));
  }

  /** @returns the new commit's id. */
  commit(message: string): string {
    return commitWith((script) => this.#run('sh', ['-e', '-c', script, 'sh', message]));
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
