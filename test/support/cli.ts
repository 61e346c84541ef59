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
  return ended([process.execPath, MAIN, ...args], '', options);
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
  return ended(['script', '-qec', words.join(' '), '/dev/null'], input, options);
}

async function ended(
  [program = '', ...args]: readonly string[],
  input: string,
  options: CliOptions,
): Promise<CliResult> {
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
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ code, stdout, stderr });
    });
  });
}
