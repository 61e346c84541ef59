import { lstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { FlagkeelError } from '../errors.js';
import { isSpecPath } from '../model/spec-tree.js';
import type { Checkout, Repository } from './checkout.js';
import { contentOf } from './trees.js';
import { gitError, openGit, runGit } from './git.js';

export interface FoundLine {
  /** Relative to the directory that was searched, with forward slashes. */
  readonly file: string;
  readonly line: number;
  /** Untrusted text. */
  readonly text: string;
}

/**
 * The lines below a directory, by file, that hold a name as a whole word; letters, digits, `_`, `-` and `.` continue a
 * name. Skips ignored and binary files, and includes untracked ones.
 *
 * @throws FlagkeelError `GIT`: the directory is missing, or in no repository.
 */
export async function linesWithName(directory: string, name: string): Promise<FoundLine[]> {
  const isThere = await stat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isThere) {
    throw new FlagkeelError('GIT', `cannot search "${directory}": there is no such directory`);
  }
  const form = ['-z', '-n', '-I', '-F', '--untracked', '--no-color'];
  const found = await runGit(openGit(directory), {
    args: ['-c', 'grep.column=false', 'grep', ...form, '-e', name, '--', '.'],
    purpose: `search "${directory}"`,
    allowedExitCodes: [0, 1],
  });
  const literal = name.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  // A full stop may end a sentence: it belongs to a name only if a word character follows.
  const whole = new RegExp(`(?<![\\w-]\\.?)${literal}(?![\\w-]|\\.\\w)`);
  return found.split('\n').flatMap((entry) => {
    const [file, line, text] = entry.split('\0');
    if (file === undefined || line === undefined || text === undefined) return [];
    return whole.test(text) ? [{ file, line: Number(line), text }] : [];
  });
}

export interface CodeNames {
  readonly found: ReadonlySet<string>;
  /** Paths that could not be searched. If there is one, `found` is empty. */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
}

/** A path with more files is refused: it holds more than code. */
const MOST_FILES = 50_000;
/** Larger files are data, and are skipped. */
const MAX_CODE_BYTES = 8 * 1024 * 1024;
/** Bytes in which git searches for a NUL, the sign of a binary file. */
const HEAD_BYTES = 8_000;

/**
 * Which of many names `linesWithName` would find, with a single pass over all files on disk. Skips specs, links, binary
 * files, files over 8 MiB, and those that git ignores.
 *
 * @param paths of folders and files, from the top of the repository, with forward slashes.
 * @throws FlagkeelError `GIT`: a file cannot be read.
 */
export async function namesInCode(
  { repository }: Pick<Checkout, 'repository'>,
  paths: readonly string[],
  names: ReadonlySet<string>,
): Promise<CodeNames | null> {
  if (repository === null) return null;
  const files = await filesBelow(repository, paths.map(normal).filter(isInside));
  const refused = paths.flatMap((path) => {
    const why = whyRefused(normal(path), files);
    return why === undefined ? [] : [{ path, why }];
  });
  const found = new Set<string>();
  for (const file of refused.length === 0 ? files : []) {
    if (found.size === names.size) break;
    // Lets other tasks run between two files.
    await setImmediate();
    for (const word of wordsIn(join(repository.root, file))) if (names.has(word)) found.add(word);
  }
  return { found, refused };
}

function normal(path: string): string {
  return posix.normalize(path).replace(/\/$/, '');
}

function isInside(path: string): boolean {
  return !path.startsWith('/') && path !== '..' && !path.startsWith('../');
}

function whyRefused(path: string, files: ReadonlySet<string>): string | undefined {
  if (!isInside(path)) return 'lies outside of the repository';
  const below = path === '.' ? '' : `${path}/`;
  let count = files.has(path) ? 1 : 0;
  for (const file of files) if (file.startsWith(below)) count += 1;
  if (count === 0) return 'holds no file of the repository';
  return count > MOST_FILES ? `holds more than ${MOST_FILES} files` : undefined;
}

async function filesBelow(
  { git, prefix }: Repository,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listing = await runGit(git, {
    args: ['--literal-pathspecs', ...list, '--', ...paths],
    purpose: 'list the files of code',
  });
  const isSpec = (file: string): boolean =>
    file.startsWith(prefix) && isSpecPath(file.slice(prefix.length));
  return new Set(listing.split('\0').filter((file) => file !== '' && !isSpec(file)));
}

/** A whole name, by the rule of `linesWithName`. */
const WORD = /[\w-]+(?:\.\w[\w-]*)*/g;

function wordsIn(file: string): readonly string[] {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.size > MAX_CODE_BYTES) return [];
  try {
    const bytes = contentOf(file);
    // Names are ASCII in every encoding of a file.
    return bytes.subarray(0, HEAD_BYTES).includes(0)
      ? []
      : (bytes.toString('latin1').match(WORD) ?? []);
  } catch (error) {
    throw gitError(`read "${file}"`, error);
  }
}
