import { EXIT, type ExitCode } from '../errors.js';
import { prettyJson } from './terminal.js';

/** What a command found in one directory. */
export interface DirectoryResult {
  readonly directory: string;
  readonly exitCode: ExitCode;
  /** For people. */
  readonly text: string;
  /** What `--format json` prints. */
  readonly document: object;
}

/**
 * Runs a command over its directories, in the order of the command line, and prints what all of them came to.
 *
 * @param run a rejection ends the command: nothing is printed then, and later directories are left out.
 * @returns `combinedExitCode` of the directories.
 */
export async function forEachDirectory<T extends { readonly exitCode: ExitCode }>(
  directories: readonly string[],
  run: (directory: string, index: number) => Promise<T>,
  print: (results: readonly T[]) => Promise<void>,
): Promise<ExitCode> {
  const results: T[] = [];
  for (const directory of directories) {
    // One after the other: they may share a service, a credential and a state.
    results.push(await run(directory, results.length));
  }
  await print(results);
  return combinedExitCode(results.map(({ exitCode }) => exitCode));
}

/** One directory is a text without a heading, or an object: a script that names one need not unpack a list. */
export function combinedResult(
  results: readonly DirectoryResult[],
  format: string | undefined,
): string {
  const isOne = results.length === 1;
  if (format === 'json') {
    const documents = results.map(({ document }) => document);
    return prettyJson(isOne ? documents[0] : documents);
  }
  const texts = results.map(({ directory, text }) => (isOne ? text : `${directory}:\n${text}`));
  return texts.join('\n');
}

/** The order in which codes of several directories win; what is not in it never meets another. */
const STRONGEST_FIRST: readonly ExitCode[] = [
  EXIT.sigint,
  EXIT.sigterm,
  EXIT.usage,
  EXIT.failed,
  EXIT.unreadable,
  EXIT.refused,
  EXIT.notConverged,
  EXIT.guardRefused,
  EXIT.invalidSpecs,
  EXIT.held,
  EXIT.changes,
];

/** One code for several directories. */
export function combinedExitCode(codes: readonly ExitCode[]): ExitCode {
  return STRONGEST_FIRST.find((code) => codes.includes(code)) ?? EXIT.ok;
}
