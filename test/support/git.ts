import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { GitCache } from '../../src/git/cache.js';
import { openCheckout, type Checkout } from '../../src/git/checkout.js';

/** Path → content; null removes the file. */
export type Files = Readonly<Record<string, string | null>>;

/** The committer is another one than the author, as after a merge by a forge, so that no test takes one for the other. */
const PEOPLE = {
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@example.com',
  GIT_COMMITTER_NAME: 'Forge',
  GIT_COMMITTER_EMAIL: 'forge@example.com',
};

/** In one program: to start three took longer than what is tested. */
const COMMIT = `git add --all
git commit --quiet --allow-empty --cleanup=verbatim -m "$1"
git rev-parse HEAD`;

let minutes = 0;

/** A git repository, where nothing of the machine's own config counts. */
export class TestRepository {
  readonly directory: string;
  readonly #isTimed: boolean;

  /** @param isTimed whether each commit is a minute younger than the last, from a day in 2026 on, and not of now. */
  constructor(directory: string, isTimed = true) {
    this.directory = directory;
    this.#isTimed = isTimed;
  }

  /** Runs git, and returns its trimmed output. */
  git(...args: readonly string[]): string {
    return this.#run('git', args);
  }

  /** Runs a script as somebody who works in the repository would. */
  shell(script: string): string {
    return this.#run('sh', ['-e', '-c', script]);
  }

  write(files: Files): void {
    for (const [path, content] of Object.entries(files)) {
      const full = join(this.directory, path);
      if (content === null) {
        rmSync(full);
        continue;
      }
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
    }
  }

  remove(path: string): void {
    rmSync(join(this.directory, path), { recursive: true });
  }

  move(from: string, to: string): void {
    mkdirSync(dirname(join(this.directory, to)), { recursive: true });
    renameSync(join(this.directory, from), join(this.directory, to));
  }

  /**
   * Writes the files and commits everything.
   *
   * @returns the new commit's id.
   */
  commit(message: string, files: Files = {}): string {
    this.write(files);
    minutes += 1;
    return this.#run('sh', ['-ec', COMMIT, 'sh', message]);
  }

  #nowMs(): number {
    return this.#isTimed ? Date.UTC(2026, 0, 5, 9, minutes) : Date.now();
  }

  #run(program: string, args: readonly string[]): string {
    const date = new Date(this.#nowMs()).toISOString();
    return execFileSync(program, args, {
      cwd: this.directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'] ?? '',
        LC_ALL: 'C',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        ...PEOPLE,
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_DATE: date,
      },
    }).trim();
  }
}

/** A new repository whose commits are of now, outside of any single test. */
export class ConfigRepository extends TestRepository implements Disposable {
  constructor() {
    super(mkdtempSync(join(tmpdir(), 'flagkeel-e2e-')), false);
    startRepository(this.directory);
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A new repository that goes away with the test. */
export function makeRepository(): TestRepository {
  const directory = makeDirectory();
  startRepository(directory);
  return new TestRepository(directory);
}

/** A directory that goes away with the test, symbolic links resolved. */
export function makeDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'flagkeel-')));
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

/** Opened as a run opens it, until the test ends. */
export async function checkoutOf(directory: string, memory?: GitCache): Promise<Checkout> {
  const checkout = await openCheckout(directory, memory);
  onTestFinished(async () => checkout.close());
  return checkout;
}

let started: string | undefined;

/** What `git init` does, without a process for each. */
function startRepository(directory: string): void {
  started ??= makeStarted();
  cpSync(started, directory, { recursive: true });
}

function makeStarted(): string {
  const directory = mkdtempSync(join(tmpdir(), 'flagkeel-started-'));
  process.once('exit', () => {
    rmSync(directory, { recursive: true, force: true });
  });
  const git = (...args: readonly string[]): void => {
    execFileSync('git', args, { cwd: directory, env: { PATH: process.env['PATH'] } });
  };
  git('init', '--quiet', '--initial-branch=main', '--template=');
  // A collection in the background would race with the removal of the directory.
  git('config', 'gc.auto', '0');
  git('config', 'maintenance.auto', 'false');
  for (const folder of ['hooks', 'info']) mkdirSync(join(directory, '.git', folder));
  return directory;
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
