import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { gitEnvironment, type Reach } from './environment.js';
import { gitError, GitExit, type Git } from './git.js';

const TIMEOUT_MS = 60_000;

/** A first clone may be large; a server that is silent is given up much earlier. */
const REMOTE_TIMEOUT_MS = 600_000;

/**
 * Starts a git command that is spoken to over standard input: same environment as `Git.run`.
 *
 * It leads a process group of its own, because an interrupt from the terminal goes to the whole group of the run and
 * would tear a write of the state that is under way. It ends when its standard input does.
 */
export function spawnGit(
  git: Git,
  args: readonly string[],
  reach: Reach = 'local',
): ChildProcessWithoutNullStreams {
  return spawn('git', args, {
    cwd: git.directory,
    env: gitEnvironment(git.trusted, reach),
    stdio: 'pipe',
    detached: true,
  });
}

export interface StreamOptions {
  readonly allowedExitCodes?: readonly number[];
  readonly reach?: Reach;
  /** After so long it is ended, and has failed; by default after what such a command takes at most. */
  readonly timeoutMs?: number;
  /** Ends the command, which fails then. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs one command that reads `input`, and returns what it wrote.
 *
 * @throws FlaghoistError `GIT`
 */
export async function runWithInput(
  git: Git,
  args: readonly string[],
  input: Buffer | string,
  purpose: string,
  { allowedExitCodes = [0], reach = 'local', signal, timeoutMs }: StreamOptions = {},
): Promise<Buffer> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawnGit(git, args, reach);
    const end = (): void => {
      killGroup(child);
    };
    signal?.addEventListener('abort', end, { once: true });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const usualMs = typeof reach === 'object' ? REMOTE_TIMEOUT_MS : TIMEOUT_MS;
    const timer = setTimeout(end, timeoutMs ?? usualMs);
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    // A command that gave up early closes its input; its exit code says why.
    child.stdin.on('error', () => undefined);
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(gitError(purpose, error));
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (code !== null && allowedExitCodes.includes(code)) {
        resolve(Buffer.concat(stdout));
        return;
      }
      const [said, complaint] = [stdout, stderr].map((each) =>
        Buffer.concat(each).toString('utf8'),
      );
      const exit = new GitExit(code ?? -1, complaint ?? '', said);
      reject(gitError(purpose, exit));
    });
    child.stdin.end(input);
  });
}

/** With all that it started itself: a helper that hangs on the network would hold its output open. */
function killGroup({ pid }: ChildProcessWithoutNullStreams): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
