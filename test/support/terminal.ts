import { PassThrough } from 'node:stream';
import { runCli } from '../../src/cli/program.js';
import type { Terminal } from '../../src/cli/terminal.js';
import { FlaghoistError } from '../../src/errors.js';

/** What came of a command. */
export interface CliRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process, on streams that are no terminal. An error that ends the command is its exit code. */
export async function cliRun(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CliRun> {
  const texts = { stdout: '', stderr: '' };
  const capture = (name: keyof typeof texts): NodeJS.WriteStream => {
    const stream = new PassThrough({ encoding: 'utf8' });
    stream.on('data', (text: string) => (texts[name] += text));
    return stream as unknown as NodeJS.WriteStream;
  };
  const terminal: Terminal = {
    stdin: new PassThrough() as unknown as NodeJS.ReadStream,
    stdout: capture('stdout'),
    stderr: capture('stderr'),
    environment,
    signal: new AbortController().signal,
  };
  try {
    const exitCode = await runCli(args, terminal);
    return { exitCode, ...texts };
  } catch (error) {
    if (!(error instanceof FlaghoistError)) throw error;
    return { exitCode: error.exitCode, ...texts, stderr: `${texts.stderr}${error.message}\n` };
  }
}
