import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { getSystemErrorName } from 'node:util';
import { simpleGit } from 'simple-git';
import { FlagkeelError, messageOf } from '../errors.js';
import { gitEnvironment, type GitPlace, type NetworkAccess } from './environment.js';

/** One repository, or a directory that is to become one: where git commands run. */
export interface Git extends GitPlace {
  readonly directory: string;
}

/** One git command that ends by itself. */
export interface GitCommand {
  /** Fixed words. Whatever came from outside stands behind `--end-of-options`. */
  readonly args: readonly string[];
  /** Completes `cannot …`, for the person who reads the error. */
  readonly purpose: string;
  /** What the command reads from its standard input; absent: nothing. */
  readonly input?: Buffer | string;
  /** Where the command may go, out of a repository of ours alone; absent: nowhere. */
  readonly network?: NetworkAccess;
  /** The command changes the repository, so that an interrupt from the terminal must not reach it. */
  readonly writes?: true;
  /** The command prints nothing even where it succeeds; its exit code is its answer. */
  readonly silent?: true;
  /** Exit codes that are no failure; absent: 0 alone. */
  readonly allowedExitCodes?: readonly number[];
  /** Ends the command, which fails then. */
  readonly signal?: AbortSignal | undefined;
  /** The command is ended after so long, and has failed; absent: what commands of its sort take at most. */
  readonly timeoutMs?: number;
}

/** Git ended with another code than 0, or was ended. */
class GitExit extends Error {
  /** -1 where a signal ended it. */
  readonly exitCode: number;
  /** What the command wrote all the same. */
  readonly stdout: string;

  constructor(exitCode: number, stderr: string, stdout = '') {
    super(firstLines(stderr) || `git ended with code ${String(exitCode)}`);
    this.name = 'GitExit';
    this.exitCode = exitCode;
    this.stdout = stdout;
  }
}

/** There is no git on this machine. */
class GitMissing extends Error {}

/** @param trusted the same directory unless said otherwise. */
export function openGit(
  directory: string,
  trusted: string | null = directory,
  place: NonNullable<Git['place']> = {},
): Git {
  return { directory, trusted, place };
}

/**
 * Runs one command and returns its standard output, as UTF-8 text.
 *
 * What only reads goes through simple-git. It starts its processes in our own process group, has no way to end what
 * they started, and waits 50 ms longer for one that prints nothing; so the rest goes through the one spawn of this file.
 * Both get the same environment.
 *
 * @throws FlagkeelError `GIT`, with a cause that `exitCodeOf` and `outputOf` read where git ran and ended with another
 *   code than is allowed.
 */
export async function runGit(git: Git, command: GitCommand): Promise<string> {
  const { input, network, writes, silent, allowedExitCodes, signal, timeoutMs } = command;
  const special = [input, network, writes, silent, allowedExitCodes, signal, timeoutMs];
  return special.every((option) => option === undefined)
    ? readThroughLibrary(git, command)
    : runInGroup(git, command);
}

/** No command that only reads is silent for so long unless it hangs. */
const SILENCE_MS = 60_000;

/**
 * The library refuses settings by their names, whatever their values, because some values run programs. These four are
 * what `gitEnvironment` overrules for commands without a network; without any one of them no command starts.
 */
const OVERRULED = {
  // `GIT_CONFIG_COUNT` is how every one of our settings reaches git, above those of the repository.
  allowUnsafeConfigEnvCount: true,
  // `GIT_CONFIG_GLOBAL` names no file, so that the settings of the user's home have no word.
  allowUnsafeConfigPaths: true,
  // `core.fsmonitor` is false: `git ls-files` would start the program that the repository names there.
  allowUnsafeFsMonitor: true,
  // `core.hooksPath` names no folder: a ref that moves would start the hooks of the repository.
  allowUnsafeHooksPath: true,
} as const;

async function readThroughLibrary(git: Git, { args, purpose }: GitCommand): Promise<string> {
  const environment = gitEnvironment(git);
  const failures: Error[] = [];
  try {
    const library = simpleGit({
      baseDir: git.directory,
      trimmed: false,
      timeout: { block: SILENCE_MS },
      allowEnvironment: Object.keys(environment),
      unsafe: OVERRULED,
      // By default an exit code without words on stderr counts as success.
      errors: (error, { exitCode, stdErr }) => {
        if (exitCode === 0) return error;
        const failure = failureOf(exitCode, Buffer.concat(stdErr).toString('utf8'));
        failures.push(failure);
        return failure;
      },
    });
    return await library.env(environment).raw([...args]);
  } catch (error) {
    // The library wraps the error that it is given and keeps only the text.
    throw gitError(purpose, failures[0] ?? error);
  }
}

/** Node gives a process that it could not start a negative exit code: the number of the system's error. */
function failureOf(exitCode: number, stderr: string): Error {
  // The library says -1 where it saw no end of the process.
  if (exitCode >= -1) return new GitExit(exitCode, stderr);
  const name = getSystemErrorName(exitCode);
  return startFailure(name, `spawn git ${name}`);
}

function startFailure(name: string | undefined, message: string): Error {
  return name === 'ENOENT' ? new GitMissing(message) : new Error(message);
}

/** Whether the command failed because there is no git on this machine. */
export function isGitMissing(error: unknown): boolean {
  return error instanceof FlagkeelError && error.cause instanceof GitMissing;
}

/** Exit code of the git command that failed, or null where none ran to its end. */
export function exitCodeOf(error: unknown): number | null {
  return error instanceof FlagkeelError && error.cause instanceof GitExit
    ? error.cause.exitCode
    : null;
}

/** What the git command that failed wrote before it did; empty where it went through the library. */
export function outputOf({ cause }: FlagkeelError): string {
  return cause instanceof GitExit ? cause.stdout : '';
}

/** @param purpose completes `cannot …`. */
export function gitError(purpose: string, cause: unknown): FlagkeelError {
  return new FlagkeelError('GIT', `cannot ${purpose}: ${messageOf(cause)}`, { cause });
}

/** As much of what git complains of as fits into one line of ours. */
function firstLines(stderr: string): string {
  return stderr.trim().split('\n').slice(0, 3).join('; ').slice(0, 500);
}

const TIMEOUT_MS = 60_000;

/** A first clone may be large; a server that is silent is given up much earlier. */
const REMOTE_TIMEOUT_MS = 600_000;

/**
 * Starts a git command that is spoken to over its standard input, in the environment of `runGit`. It ends when its
 * standard input does, and is the caller's to end.
 *
 * It leads a process group of its own, because an interrupt from the terminal goes to the whole group of the run and
 * would tear a write of the state that is under way.
 */
export function spawnGit(
  git: Git,
  args: readonly string[],
  network: NetworkAccess = 'local',
): ChildProcessWithoutNullStreams {
  return spawn('git', args, {
    cwd: git.directory,
    env: gitEnvironment(git, network),
    stdio: 'pipe',
    detached: true,
  });
}

/** Runs the command in a process group of its own, and ends that group as a whole where it takes too long. */
async function runInGroup(git: Git, command: GitCommand): Promise<string> {
  const { args, purpose, input = '', network = 'local', signal } = command;
  const { allowedExitCodes = [0], timeoutMs } = command;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawnGit(git, args, network);
    const end = (): void => {
      killGroup(child);
    };
    signal?.addEventListener('abort', end, { once: true });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const usualMs = network !== 'local' ? REMOTE_TIMEOUT_MS : TIMEOUT_MS;
    const timer = setTimeout(end, timeoutMs ?? usualMs);
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    // A command that gave up early closes its input; its exit code says why.
    child.stdin.on('error', () => undefined);
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(gitError(purpose, startFailure(error.code, error.message)));
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      const output = Buffer.concat(stdout).toString('utf8');
      if (code !== null && allowedExitCodes.includes(code)) {
        resolve(output);
        return;
      }
      const complaint = Buffer.concat(stderr).toString('utf8');
      reject(gitError(purpose, new GitExit(code ?? -1, complaint, output)));
    });
    child.stdin.end(input);
  });
}

/** Ends the command with all that it started itself: a helper that hangs on the network would hold its output open. */
function killGroup({ pid }: ChildProcessWithoutNullStreams): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has ended meanwhile.
  }
}
