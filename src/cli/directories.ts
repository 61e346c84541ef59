import { EXIT, type ExitCode } from '../errors.js';
import { prettyJson } from './terminal.js';
import { lstat, realpath } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { nearestWith } from '../git/checkout.js';
import { CONFIG_PATH } from '../model/spec-tree.js';

export interface DirectoryResult {
  readonly directory: string;
  readonly exitCode: ExitCode;
  readonly text: string;
  readonly document: () => object;
}

/** In the order of the command line. A rejection ends it, and nothing is printed. */
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
    const documents = results.map(({ document }) => document());
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

export function combinedExitCode(codes: readonly ExitCode[]): ExitCode {
  return STRONGEST_FIRST.find((code) => codes.includes(code)) ?? EXIT.ok;
}

export interface ConfigDirectory {
  /** As it was given where that is the config repository itself; absolute otherwise. */
  readonly directory: string;
  /** What was named, seen from `directory`, with forward slashes: a file or a folder; null for the directory itself. */
  readonly within: string | null;
  readonly isFile: boolean;
}

/**
 * Finds the config repository that a path of the command line means: the directory itself, or the nearest above that
 * has a `flagkeel.yaml`, in the same git repository and of the same owner: what lies above a folder by chance must not
 * be applied. Without one the path stays as it was given: reading it then says what is wrong.
 */
export async function configDirectoryOf(path: string): Promise<ConfigDirectory> {
  const asGiven = { directory: path, within: null, isFile: false };
  const real = await realpath(path).catch(() => null);
  if (real === null) return asGiven;
  const top = await nearestWith('.git', real);
  const directory = await nearestWith(CONFIG_PATH, real);
  if (top === null || directory === null || directory === real) return asGiven;
  const [given, owner] = await Promise.all([lstat(real), lstat(directory)]);
  const isBelow = directory === top || directory.startsWith(top.endsWith(sep) ? top : top + sep);
  if (!isBelow || given.uid !== owner.uid) return asGiven;
  const isFile = given.isFile();
  return { directory, within: relative(directory, real).split(sep).join('/'), isFile };
}

export function isNamed(file: string, { within }: Pick<ConfigDirectory, 'within'>): boolean {
  return within === null || file === within || file.startsWith(`${within}/`);
}
