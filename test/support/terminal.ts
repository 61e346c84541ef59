import { runCli } from '../../src/cli/program.js';
import { FlagkeelError } from '../../src/errors.js';
import { capturedTerminal } from './captured-terminal.js';

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
  const { terminal, texts } = capturedTerminal(environment);
  try {
    const exitCode = await runCli(args, terminal);
    return { exitCode, ...texts };
  } catch (error) {
    if (!(error instanceof FlagkeelError)) throw error;
    return { exitCode: error.exitCode, ...texts, stderr: `${texts.stderr}${error.message}\n` };
  }
}
