import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let started: string | undefined;

/** What `git init` does, without a process for each. */
export function startRepository(directory: string): void {
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

/** One process of this one, and not two: each copies the tables of all of its memory, which takes longer than git does. */
const COMMIT =
  'git add --all; git -c core.abbrev=no commit --allow-empty --cleanup=verbatim -m "$1"';

/**
 * Commits all that lies there.
 *
 * @param run runs a script, whose first argument is the message, and returns what it printed.
 * @returns the new commit's id.
 */
export function commitWith(run: (script: string) => string): string {
  const said = run(COMMIT);
  const commit = /^\[(?:.* )?([0-9a-f]{40,64})\]/.exec(said)?.[1];
  if (commit === undefined) throw new Error(`git made no commit: ${said}`);
  return commit;
}
