import { simpleGit, type SimpleGit } from 'simple-git';
import { FlaghoistError, messageOf } from '../errors.js';
import { gitEnvironment } from './environment.js';

/** No git command that is run here is silent for so long unless it hangs. */
const SILENCE_MS = 60_000;

/** Git, in one directory. Arguments are fixed words; whatever came from outside stands behind `--end-of-options`. */
export interface Git {
  readonly directory: string;
  /** The only directory that may belong to somebody else. */
  readonly trusted: string | null;
  /**
   * Standard output of one command.
   *
   * @param purpose completes `cannot …`, for the person who reads the error.
   * @throws FlaghoistError `GIT`, with a `GitExit` as its cause where git ran and ended with another code than 0.
   */
  run(args: readonly string[], purpose: string): Promise<string>;
}

/** Git ended with another code than 0. */
export class GitExit extends Error {
  readonly exitCode: number;
  /** What it wrote all the same. */
  readonly stdout: string;

  constructor(exitCode: number, stderr: string, stdout = '') {
    super(firstLines(stderr) || `git ended with code ${String(exitCode)}`);
    this.name = 'GitExit';
    this.exitCode = exitCode;
    this.stdout = stdout;
  }
}

/** @param trusted see `gitEnvironment`; the same directory unless said otherwise. */
export function openGit(directory: string, trusted: string | null = directory): Git {
  return {
    directory,
    trusted,
    run: async (args, purpose) => {
      const exits: GitExit[] = [];
      try {
        return await newProcess(directory, trusted, (exit) => exits.push(exit)).raw([...args]);
      } catch (error) {
        // The library wraps what it is given and keeps only the text.
        throw gitError(purpose, exits[0] ?? error);
      }
    },
  };
}

function newProcess(
  directory: string,
  trusted: string | null,
  onExit: (exit: GitExit) => void,
): SimpleGit {
  const environment = gitEnvironment(trusted);
  return simpleGit({
    baseDir: directory,
    trimmed: false,
    timeout: { block: SILENCE_MS },
    allowEnvironment: Object.keys(environment),
    // The names say what the values of `gitEnvironment` take away: each of these is set to nothing.
    unsafe: {
      allowUnsafeConfigEnvCount: true,
      allowUnsafeConfigPaths: true,
      allowUnsafeCredentialHelper: true,
      allowUnsafeDiffExternal: true,
      allowUnsafeFsMonitor: true,
      allowUnsafeHooksPath: true,
      allowUnsafePager: true,
      allowUnsafeSshCommand: true,
    },
    // By default an exit code without words on stderr counts as success.
    errors: (error, { exitCode, stdErr }) => {
      if (exitCode === 0) return error;
      const exit = new GitExit(exitCode, Buffer.concat(stdErr).toString('utf8'));
      onExit(exit);
      return exit;
    },
  }).env(environment);
}

/** Exit code of the git command that failed, or null where none ran to its end. */
export function exitCodeOf(error: unknown): number | null {
  return error instanceof FlaghoistError && error.cause instanceof GitExit
    ? error.cause.exitCode
    : null;
}

/** What the git command that failed wrote before it did. */
export function outputOf({ cause }: FlaghoistError): string {
  return cause instanceof GitExit ? cause.stdout : '';
}

export function gitError(purpose: string, cause: unknown): FlaghoistError {
  return new FlaghoistError('GIT', `cannot ${purpose}: ${messageOf(cause)}`, { cause });
}

function firstLines(stderr: string): string {
  return stderr.trim().split('\n').slice(0, 3).join('; ').slice(0, 500);
}
