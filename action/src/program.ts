import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import type { Environment } from './inputs.js';

/** The part of package.json that says what is installed. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
}

export interface Installed extends AsyncDisposable {
  /** Of npm; only after 0 is there a program. */
  readonly code: number;
  /** Script of the program. */
  readonly main: string;
}

/** Runs one program at a time, and passes on to it that the job is cancelled. */
export class Programs {
  #child: ChildProcess | undefined;
  #signal: NodeJS.Signals | undefined;

  /**
   * The runner sends SIGINT, and SIGTERM some seconds later. Only the first is passed on: a second would end the
   * program before it has closed its statuses.
   */
  interrupt(signal: NodeJS.Signals): void {
    if (this.#signal !== undefined) return;
    this.#signal = signal;
    this.#child?.kill(signal);
  }

  /** Exit code, as a shell would give it: 128 and more where a signal ended the program, or kept it from starting. */
  async run(
    [program = '', ...args]: readonly string[],
    { stdio, ...options }: { cwd?: string; env: Environment; stdio: StdioOptions },
  ): Promise<number> {
    if (this.#signal !== undefined) return codeOf(this.#signal);
    const child = spawn(program, args, { ...options, stdio, shell: false });
    this.#child = child;
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        this.#child = undefined;
        resolve(code ?? (signal === null ? 1 : codeOf(signal)));
      });
    });
  }
}

function codeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

const INSTALL = [
  ...['npm', 'install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'],
  // No library of ours needs its scripts.
  '--ignore-scripts',
  '--',
];

/**
 * Installs the program into an empty directory of its own. The checkout is never asked: its `.npmrc` and its
 * `node_modules` may come from whoever opened the pull request.
 */
export async function install(
  { name, version, bin }: Manifest,
  { programs, environment }: { programs: Programs; environment: Environment },
): Promise<Installed> {
  const parent = environment['RUNNER_TEMP'] ?? tmpdir();
  const directory = await mkdtemp(join(parent, 'flagkeel-action-'));
  // Makes it npm's root: npm looks upwards otherwise.
  await writeFile(join(directory, 'package.json'), '{ "private": true }\n');
  const code = await programs.run([...INSTALL, `${name}@${version}`], {
    cwd: directory,
    env: environment,
    // Standard output belongs to the result.
    stdio: ['ignore', 2, 2],
  });
  return {
    code,
    main: join(directory, 'node_modules', name, bin[name] ?? ''),
    [Symbol.asyncDispose]: async () => rm(directory, { recursive: true, force: true }),
  };
}
