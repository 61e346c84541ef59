import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { rmSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { simpleGit } from 'simple-git';
import { FlagkeelError, messageOf } from '../errors.js';
import { shellWord } from '../platform/shell.js';
import { gitEnvironment, type GitPlace, type NetworkAccess } from './environment.js';

/** The repository in which git commands run, or a directory that is to become one. */
export interface Git extends GitPlace {
  readonly directory: string;
}

export interface GitCommand {
  /** Fixed words; all input from outside comes after `--end-of-options`. */
  readonly args: readonly string[];
  /** Completes `cannot …`, for the person who reads the error. */
  readonly purpose: string;
  readonly input?: Buffer | string;
  /** For commands in a repository of ours only. */
  readonly network?: NetworkAccess;
  /** Set if the command changes the repository: an interrupt from the terminal must not reach it. */
  readonly writes?: true;
  /** Exit codes that are no failure. Default: 0. */
  readonly allowedExitCodes?: readonly number[];
  /** Ends a command that writes or uses the network. */
  readonly signal?: AbortSignal | undefined;
  /** Of such a command. Default: by its kind. */
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
 * The standard output of one command. Those that only read go through simple-git. A command that writes or uses the
 * network needs a process group of its own, which simple-git cannot give: an interrupt from the terminal must not cut a
 * write of the state in half, and helpers that hang must end with their command.
 *
 * @throws FlagkeelError `GIT`; `exitCodeOf` and `outputOf` read its cause if git ended with a code that is not allowed.
 *   `INTERRUPTED` if the signal ended it.
 */
export async function runGit(git: Git, command: GitCommand): Promise<string> {
  const { writes = false, network } = command;
  return writes || network !== undefined
    ? runInGroup(git, command)
    : readThroughLibrary(git, command);
}

/** Keeps refs and tags that nobody asked for out, and leaves no trace but the named refs. */
export const FETCH: readonly string[] = [
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
];

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
      // By default, the library takes what was read 50 ms after the end of git for all of the output.
      completion: { onClose: true, onExit: false },
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

export const MISSING_HERE =
  'what it needs is missing in this clone (clone without --filter, or run git fetch --refetch --no-filter; git fsck finds damage)';

/** The start of a complaint of git that fits into one line of ours, with the way out where git names none that helps. */
export function complaintOf(stderr: string): string {
  const root = /dubious ownership in repository at '(.+)'/.exec(stderr)?.[1];
  // Commands with a network obey settings of the user; the server needs its files as they are.
  if (root !== undefined && stderr.includes('remote repository')) {
    return `it belongs to another user (git config --global --add safe.directory ${shellWord(root)})`;
  }
  // Other commands ignore those settings, which are git's own advice.
  if (root !== undefined) {
    return `the config directory and the repository around it belong to different users (sudo chown -R "$(id -un)" ${shellWord(root)})`;
  }
  // Of a partial clone: git would fetch it, which commands without a network may not.
  if (stderr.includes('from promisor remote')) return MISSING_HERE;
  const lock = /Unable to create '(.+\.lock)': File exists/.exec(stderr)?.[1];
  if (lock !== undefined) return `cannot lock ref (if no other git runs: rm ${shellWord(lock)})`;
  const complaint = stderr.trim().split('\n').slice(0, 3).filter(Boolean).join('; ').slice(0, 500);
  return /certificate problem|certificate verification failed/.test(complaint)
    ? `${complaint} (if an authority of your own signed it: export GIT_SSL_CAINFO=/path/to/its-certificate.pem)`
    : complaint;
}

const TIMEOUT_MS = 60_000;

/** Long, because a first clone may be large; a silent server is given up much earlier. */
const REMOTE_TIMEOUT_MS = 600_000;

/** Starts a command in a process group of its own. @throws FlagkeelError `GIT` */
export function spawnGit(
  git: Git,
  args: readonly string[],
  network: NetworkAccess = 'local',
): ChildProcessWithoutNullStreams {
  const child = spawn('git', args, {
    cwd: git.directory,
    env: gitEnvironment(git, network),
    stdio: 'pipe',
    detached: true,
  });
  // Where no file can be opened any more, Node gives a process without streams, whatever its types say.
  if ((child as { stdout?: unknown }).stdout === undefined) {
    child.once('error', () => undefined);
    throw gitError('start git', new Error('too many open files'));
  }
  return child;
}

async function runInGroup(git: Git, command: GitCommand): Promise<string> {
  const { args, purpose, input = '', network = 'local', signal } = command;
  const { allowedExitCodes = [0], timeoutMs } = command;
  const interrupted = (): FlagkeelError =>
    new FlagkeelError('INTERRUPTED', `cannot ${purpose}: interrupted`);
  if (signal?.aborted) throw interrupted();
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
      const complaint = withoutReport(git, child, Buffer.concat(stderr).toString('utf8'));
      const exit = new GitExit(code ?? -1, complaint, output);
      reject(signal?.aborted ? interrupted() : gitError(purpose, exit));
    });
    child.stdin.end(input);
  });
}

/** Where `git fast-import` fails, it puts a report into the git directory, which nothing ever deletes. */
function withoutReport(
  { directory }: Git,
  { pid }: ChildProcessWithoutNullStreams,
  stderr: string,
): string {
  const report = new RegExp(
    `^fast-import: dumping .* to (.*fast_import_crash_${String(pid)})\\n`,
    'm',
  );
  const [line, path] = report.exec(stderr) ?? [];
  if (line === undefined || path === undefined) return stderr;
  try {
    rmSync(resolvePath(directory, path));
    return stderr.replace(line, '');
  } catch {
    return stderr;
  }
}

/** A helper that hangs on the network would keep the output open. */
function endGroup({ pid }: ChildProcessWithoutNullStreams): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}
