import { PassThrough } from 'node:stream';
import { runCli } from '../../../src/cli/program.js';
import type { Terminal } from '../../../src/cli/terminal.js';

/** The text of `flagkeel … --help --all`. */
export async function helpOf(...words: readonly string[]): Promise<string> {
  const stream = new PassThrough();
  const terminal = { stdout: stream, stderr: stream, environment: {} } as unknown as Terminal;
  await runCli([...words, '--help', '--all'], { ...terminal, signal: AbortSignal.timeout(5_000) });
  return String(stream.read());
}

/** Commands that `flagkeel --help --all` lists. */
export async function commandNames(): Promise<string[]> {
  const help = await helpOf();
  const list = help.slice(help.indexOf('Begin:'));
  return [...list.matchAll(/^ {2}([a-z-]+) /gm)].map((match) => match[1] ?? '');
}

/** Long options that the help of a command lists. */
export async function optionsOf(command: string): Promise<string[]> {
  const help = await helpOf(command);
  return [...help.matchAll(/^ +(?:-\w, )?(--[a-z-]+)/gm)].map((match) => match[1] ?? '');
}

/** Options of a command line that its command does not have: `['watch', '--listen=8090']`. */
export async function unknownOptions(words: readonly string[]): Promise<string[]> {
  const [command = '', ...rest] = words;
  const known = await optionsOf(command);
  const given = rest
    .filter((word) => word.startsWith('--'))
    .map((word) => word.split('=')[0] ?? '');
  return given.filter((option) => !known.includes(option));
}
