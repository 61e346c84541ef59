import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd?: string;
  /** On top of a bare environment: nothing of the developer's own settings comes through. */
  readonly env?: Readonly<Record<string, string>>;
  /** Kills the program, as a crash would, once this has happened. */
  readonly killAfter?: () => Promise<void>;
  /** Sends SIGTERM once this has happened. */
  readonly terminateAfter?: () => Promise<void>;
}

/** Runs the built program to its end. */
export async function flaghoist(
  args: readonly string[],
  options: CliOptions = {},
): Promise<CliResult> {
  return start([process.execPath, MAIN, ...args], '', options).ended;
}

/** A run that goes on while the test does something else. */
export interface RunningCli {
  readonly ended: Promise<CliResult>;
  send(signal: NodeJS.Signals): void;
  /** Resolves once standard error holds the text; rejects where the program ends without it. */
  says(text: string): Promise<void>;
}

/** Starts the built program. */
export function startFlaghoist(args: readonly string[], options: CliOptions = {}): RunningCli {
  return start([process.execPath, MAIN, ...args], '', options);
}

/** The same on a terminal, where `input` is typed; all that it prints is in `stdout`. */
export async function flaghoistOnTerminal(
  args: readonly string[],
  input: string,
  options: CliOptions = {},
): Promise<CliResult> {
  const words = [process.execPath, MAIN, ...args].map(
    (word) => `'${word.replaceAll("'", `'\\''`)}'`,
  );
  return start(['script', '-qec', words.join(' '), '/dev/null'], input, options).ended;
}

function start(
  [program = '', ...args]: readonly string[],
  input: string,
  options: CliOptions,
): RunningCli {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', ...options.env },
    stdio: [input === '' ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(input);
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  void options.killAfter?.().then(() => child.kill('SIGKILL'));
  void options.terminateAfter?.().then(() => child.kill('SIGTERM'));
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ code, stdout, stderr });
    });
  });
  const says = async (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (stderr.includes(text)) resolve();
      };
      child.stderr?.on('data', look);
      child.once('close', () => {
        reject(new Error(`it ended without saying "${text}":\n${stderr}`));
      });
      look();
    });
  return { ended, says, send: (signal) => void child.kill(signal) };
}
