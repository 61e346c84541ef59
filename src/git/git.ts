import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { getSystemErrorName } from 'node:util';
import { simpleGit } from 'simple-git';
import { FlagkeelError, messageOf } from '../errors.js';
import { gitEnvironment, type GitPlace, type NetworkAccess } from './environment.js';

/** The repository in which git commands run, or a directory that is to become one. */
export interface Git extends GitPlace {
  readonly directory: string;
}

/** One git command that ends by itself. */
export interface GitCommand {
  /** Fixed words; all input from outside comes after `--end-of-options`. */
  readonly args: readonly string[];
  /** Completes `cannot …`, for the person who reads the error. */
  readonly purpose: string;
  readonly input?: Buffer | string;
  /** Network access, for commands in a repository of ours only. Default: none. Such a command may be given up. */
  readonly network?: NetworkAccess;
  /** Set if the command changes the repository: an interrupt from the terminal must not reach it. */
  readonly writes?: true;
  /** Exit codes that are no failure. Default: 0. */
  readonly allowedExitCodes?: readonly number[];
  /** Ends a command that writes or uses the network, which then fails. */
  readonly signal?: AbortSignal | undefined;
  /** Time after which such a command is ended and fails. Default: by kind of command. */
  readonly timeoutMs?: number;
}

class GitExit extends Error {
  /** -1 after a signal. */
  readonly exitCode: number;
  readonly stdout: string;

  constructor(exitCode: number, stderr: string, stdout = '') {
    super(complaintOf(stderr) || `git ended with code ${String(exitCode)}`);
    this.name = 'GitExit';
    this.exitCode = exitCode;
    this.stdout = stdout;
  }
}

class GitMissing extends Error {}

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
 * Commands that only read go through simple-git. A command that writes or uses the network needs a process group of its
 * own, which simple-git cannot give: an interrupt from the terminal must not cut a write of the state in half, and
 * helpers that hang must end with their command.
 *
 * @throws FlagkeelError `GIT`; `exitCodeOf` and `outputOf` read its cause if git ended with a code that is not allowed.
 */
export async function runGit(git: Git, command: GitCommand): Promise<string> {
  const { writes = false, network } = command;
  return writes || network !== undefined
    ? runInGroup(git, command)
    : readThroughLibrary(git, command);
}

/** A command that only reads and is silent for this time hangs. */
const SILENCE_MS = 60_000;

/**
 * The library refuses settings by name, whatever their value, because some values run programs. `gitEnvironment` sets
 * these four to safe values for commands without a network. Without any one of these permissions no command starts.
 */
const OVERRULED = {
  // `GIT_CONFIG_COUNT` passes all our settings to git, above those of the repository.
  allowUnsafeConfigEnvCount: true,
  // `GIT_CONFIG_GLOBAL` names no file, so that the settings in the user's home are ignored.
  allowUnsafeConfigPaths: true,
  // `core.fsmonitor` is false: `git ls-files` would start the program that the repository names there.
  allowUnsafeFsMonitor: true,
  // `core.hooksPath` names no folder: a ref that moves would start the hooks of the repository.
  allowUnsafeHooksPath: true,
} as const;

async function readThroughLibrary(
  git: Git,
  { args, purpose, input, allowedExitCodes = [0] }: GitCommand,
): Promise<string> {
  const environment = gitEnvironment(git);
  const failures: Error[] = [];
  try {
    const library = simpleGit({
      baseDir: git.directory,
      trimmed: false,
      timeout: { block: SILENCE_MS },
      allowEnvironment: Object.keys(environment),
      unsafe: OVERRULED,
      ...(input !== undefined && { input: () => input }),
      // By default, the library takes an exit code without text on stderr for success.
      errors: (error, { exitCode, stdErr }) => {
        if (allowedExitCodes.includes(exitCode)) return error;
        const failure = failureOf(exitCode, Buffer.concat(stdErr).toString('utf8'));
        failures.push(failure);
        return failure;
      },
    });
    return await library.env(environment).raw([...args]);
  } catch (error) {
    // The library wraps our error and keeps only its text.
    throw gitError(purpose, failures[0] ?? error);
  }
}

/** For a process that cannot start, Node reports a negative exit code: the number of the system's error. */
function failureOf(exitCode: number, stderr: string): Error {
  // The library reports -1 if it saw no end of the process.
  if (exitCode >= -1) return new GitExit(exitCode, stderr);
  const name = getSystemErrorName(exitCode);
  return startFailure(name, `spawn git ${name}`);
}

function startFailure(name: string | undefined, message: string): Error {
  return name === 'ENOENT' ? new GitMissing(message) : new Error(message);
}

export function isGitMissing(error: unknown): boolean {
  return error instanceof FlagkeelError && error.cause instanceof GitMissing;
}

/** Exit code of the git command that failed; null if none ran to its end. */
export function exitCodeOf(error: unknown): number | null {
  return error instanceof FlagkeelError && error.cause instanceof GitExit
    ? error.cause.exitCode
    : null;
}

/** Output of the git command before it failed; empty if it went through the library. */
export function outputOf({ cause }: FlagkeelError): string {
  return cause instanceof GitExit ? cause.stdout : '';
}

/** @param purpose completes `cannot …`. */
export function gitError(purpose: string, cause: unknown): FlagkeelError {
  return new FlagkeelError('GIT', `cannot ${purpose}: ${messageOf(cause)}`, { cause });
}

/** The start of a complaint of git that fits into one line of ours, with the way out where git names none that helps. */
function complaintOf(stderr: string): string {
  const root = /dubious ownership in repository at '(.+)'/.exec(stderr)?.[1];
  // Git's own advice is a setting of the user, and commands without a network ignore those.
  if (root !== undefined) {
    return `the config directory and the repository around it belong to different users (sudo chown -R "$(id -un)" ${quoted(root)})`;
  }
  const complaint = stderr.trim().split('\n').slice(0, 3).join('; ').slice(0, 500);
  return /certificate problem|certificate verification failed/.test(complaint)
    ? `${complaint} (if an authority of your own signed it: export GIT_SSL_CAINFO=/path/to/its-certificate.pem)`
    : complaint;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const TIMEOUT_MS = 60_000;

/** Long, because a first clone may be large; a silent server is given up much earlier. */
const REMOTE_TIMEOUT_MS = 600_000;

/**
 * Starts a git command in a process group of its own: an interrupt from the terminal goes to the whole group of the
 * run.
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

async function runInGroup(git: Git, command: GitCommand): Promise<string> {
  const { args, purpose, input = '', network = 'local', signal } = command;
  const { allowedExitCodes = [0], timeoutMs } = command;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawnGit(git, args, network);
    const end = (): void => {
      endGroup(child);
    };
    signal?.addEventListener('abort', end, { once: true });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const usualMs = network !== 'local' ? REMOTE_TIMEOUT_MS : TIMEOUT_MS;
    const timer = setTimeout(end, timeoutMs ?? usualMs);
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    // A command that gives up early closes its input; its exit code shows why.
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

/** Ends the command and its children: a helper that hangs on the network would keep the output open. */
function endGroup({ pid }: ChildProcessWithoutNullStreams): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}
