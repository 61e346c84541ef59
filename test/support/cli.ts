import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type * as Program from '../../src/cli/program.js';
import type * as Errors from '../../src/errors.js';
import type * as ErrorText from '../../src/report/text/error.js';
import { capturedTerminal } from './captured-terminal.js';

const BUILT = new URL('../../dist/', import.meta.url);
export const MAIN = fileURLToPath(new URL('main.js', BUILT));

/** What the program reads of its environment beside git's variables: with these alone no process of its own is needed. */
const OWN_VARIABLES = /^(?:FLAGKEEL_|CI$|GITHUB_|GITLAB_|NO_COLOR$|FORCE_COLOR$|COLUMNS$)/;

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd?: string | undefined;
  /** On top of a bare environment: nothing of the developer's own settings comes through. */
  readonly env?: Readonly<Record<string, string>>;
  /** Sends SIGTERM once this has happened. */
  readonly terminateAfter?: () => Promise<void>;
}

/**
 * Runs the built program to its end. A process of its own is started only where the test needs one, or where
 * `FLAGKEEL_TEST_PROCESSES=1` asks for it: to load the program again for each run was most of the time of these tests.
 */
export async function flagkeel(
  args: readonly string[],
  options: CliOptions = {},
): Promise<CliResult> {
  return needsProcess(options)
    ? start([process.execPath, MAIN, ...args], '', options).ended
    : runHere(args, options.env ?? {});
}

function needsProcess({ cwd, env = {}, terminateAfter }: CliOptions): boolean {
  return (
    process.env['FLAGKEEL_TEST_PROCESSES'] === '1' ||
    cwd !== undefined ||
    terminateAfter !== undefined ||
    !Object.keys(env).every((name) => OWN_VARIABLES.test(name))
  );
}

/** What `dist/main.js` does, in the process of the test and on streams that are no terminal. */
async function runHere(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<CliResult> {
  const load = async <Module>(path: string): Promise<Module> =>
    (await import(new URL(path, BUILT).href)) as Module;
  const [{ runCli }, { EXIT, FlagkeelError }, { errorText }] = await Promise.all([
    load<typeof Program>('cli/program.js'),
    load<typeof Errors>('errors.js'),
    load<typeof ErrorText>('report/text/error.js'),
  ]);
  const { terminal, texts } = capturedTerminal(environment);
  const code = await runCli(args, terminal).catch((error: unknown) => {
    texts.stderr += errorText(error);
    return error instanceof FlagkeelError ? error.exitCode : EXIT.failed;
  });
  return { code, ...texts };
}

/** A run that goes on while the test does something else. */
export interface RunningCli {
  readonly child: ChildProcess;
  readonly ended: Promise<CliResult>;
  /** Resolves once standard error holds the text; rejects where the program ends without it. */
  says(text: string): Promise<void>;
}

/** Starts the built program. */
export function startFlagkeel(args: readonly string[], options: CliOptions = {}): RunningCli {
  return start([process.execPath, MAIN, ...args], '', options);
}

/** The same on a terminal, where `input` is typed; all that it prints is in `stdout`. */
export async function flagkeelOnTerminal(
  args: readonly string[],
  input: string,
  options: CliOptions = {},
): Promise<CliResult> {
  const words = [process.execPath, MAIN, ...args].map(
    (word) => `'${word.replaceAll("'", `'\\''`)}'`,
  );
  return start(['script', '-qec', words.join(' '), '/dev/null'], input, options).ended;
}

/** Starts a program with nothing of the developer's environment but PATH. */
export function start(
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
  return { child, ended, says };
}
