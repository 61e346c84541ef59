import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { commitWith, startRepository } from './started-repository.js';

/** Path → content; null removes the file. */
export type Files = Readonly<Record<string, string | null>>;

export interface TestRepository {
  readonly directory: string;
  /** Runs git, and returns its trimmed output. */
  git(...args: string[]): string;
  write(files: Files): void;
  /** Writes the files and commits everything. Each commit is a minute younger than the last. */
  commit(message: string, files?: Files): string;
}

let minutes = 0;

/** A directory that goes away with the test, symbolic links resolved. */
export function makeDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'flagkeel-')));
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

export function makeRepository(): TestRepository {
  const directory = makeDirectory();
  startRepository(directory);
  return testRepository(directory);
}

/** The same helpers over a repository that is there already. */
export function testRepository(directory: string): TestRepository {
  const git = (...args: string[]): string => runIn(directory, 'git', ...args);
  const write = (files: Files): void => {
    for (const [path, content] of Object.entries(files)) {
      const full = join(directory, path);
      if (content === null) {
        rmSync(full);
        continue;
      }
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
    }
  };
  return {
    directory,
    git,
    write,
    commit: (message, files = {}) => {
      write(files);
      minutes += 1;
      return commitWith((script) => runIn(directory, 'sh', '-e', '-c', script, 'sh', message));
    },
  };
}

/** @returns what the program printed, trimmed. */
function runIn(directory: string, program: string, ...args: string[]): string {
  return execFileSync(program, args, {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(),
  }).trim();
}

/** Nothing of the machine's own config, and a clock of its own. */
function environment(): Record<string, string> {
  const date = new Date(Date.UTC(2026, 0, 5, 9, minutes)).toISOString();
  return {
    PATH: process.env['PATH'] ?? '',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'Ana',
    GIT_AUTHOR_EMAIL: 'ana@example.com',
    // Another one than the author, as after a merge by a forge, so that no test takes one for the other.
    GIT_COMMITTER_NAME: 'Forge',
    GIT_COMMITTER_EMAIL: 'forge@example.com',
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  };
}

/**
 * Makes a commit of so many files in a bare repository, each an object that lies about by itself, as runs leave them.
 *
 * @returns its hash.
 */
export function commitLoose(directory: string, ref: string, files: number): string {
  const lines = Array.from({ length: files }, (_, index) => {
    const text = `${ref} ${index}`;
    return `M 100644 inline files/${index}\ndata ${text.length}\n${text}`;
  });
  const head = `commit ${ref}\ncommitter a <a@example.com> now\ndata 1\nx`;
  const input = `${[head, ...lines].join('\n')}\ndone\n`;
  const options = ['-c', 'fastimport.unpackLimit=100000'];
  const args = [...options, 'fast-import', '--quiet', '--done', '--date-format=now'];
  execFileSync('git', args, { cwd: directory, input });
  return execFileSync('git', ['rev-parse', ref], { cwd: directory, encoding: 'utf8' }).trim();
}
