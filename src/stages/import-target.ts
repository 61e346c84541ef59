import { lstat, mkdir, mkdtemp, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { FlaghoistError, messageOf } from '../errors.js';
import { openCheckout } from '../git/checkout.js';
import { localChanges } from '../git/local-changes.js';

/** What an import writes; kills, identities and tests of a directory stay as they are. */
const PARTS = ['flags', 'segments', 'flaghoist.yaml'] as const;

/**
 * Refuses a directory that holds specs already, before the service is asked anything.
 *
 * @throws FlaghoistError `OUTPUT`: there are specs and `overwrite` was not given, or git does not have them yet.
 */
export async function checkTarget(directory: string, overwrite: boolean): Promise<void> {
  const present = await presentParts(directory);
  const [first] = present;
  if (first === undefined) return;
  if (!overwrite) {
    throw cannotWrite(directory, `it has ${first} already (replace it with --overwrite)`);
  }
  const checkout = await openCheckout(directory);
  try {
    const changed = (await localChanges(checkout)).filter(isReplaced);
    if (changed.length === 0) return;
    const names = changed.slice(0, 3).join(', ');
    throw cannotWrite(
      directory,
      `--overwrite would replace what git does not have: ${names} (commit it, or take it away)`,
    );
  } finally {
    await checkout.close();
  }
}

function isReplaced(path: string): boolean {
  return PARTS.some((part) => path === part || path.startsWith(`${part}/`));
}

/**
 * Writes the files beside what is there and moves them into place when all of them are written: a directory has the
 * import whole, or what it had before.
 *
 * @param files path → text; only below `flags/` and `segments/`, and flaghoist.yaml.
 * @throws FlaghoistError `OUTPUT`.
 */
export async function writeTarget(
  directory: string,
  files: ReadonlyMap<string, string>,
): Promise<void> {
  let workshop: string | undefined;
  try {
    const target = await createdDirectory(directory);
    // Beside its target, so that a move is a move and not a copy.
    workshop = await mkdtemp(join(target, '.flaghoist-import-'));
    const fresh = join(workshop, 'new');
    for (const [path, text] of files) await writeNew(join(fresh, path), text);
    await exchange(target, fresh, join(workshop, 'old'));
  } catch (error) {
    if (error instanceof FlaghoistError) throw error;
    throw cannotWrite(directory, messageOf(error), error);
  } finally {
    if (workshop !== undefined) await rm(workshop, { recursive: true, force: true });
  }
}

async function createdDirectory(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  return realpath(directory);
}

async function writeNew(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const why = `two objects would share the file "${basename(path)}": this file system does not tell upper from lower case`;
    throw new Error(why, { cause: error });
  }
}

/** The config comes last: without it a directory is no config repository. A move that fails is taken back. */
async function exchange(target: string, fresh: string, old: string): Promise<void> {
  const undo: (() => Promise<void>)[] = [];
  const move = async (from: string, to: string): Promise<void> => {
    await rename(from, to);
    undo.unshift(async () => rename(to, from));
  };
  await mkdir(old);
  const present = await presentParts(target);
  const written = await presentParts(fresh);
  try {
    for (const part of [...present].reverse()) await move(join(target, part), join(old, part));
    for (const part of written) await move(join(fresh, part), join(target, part));
  } catch (error) {
    for (const back of undo) await back();
    throw error;
  }
}

/** An empty folder counts for nothing. */
async function presentParts(directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const part of PARTS) {
    if (await holdsAnything(join(directory, part))) found.push(part);
  }
  return found;
}

async function holdsAnything(path: string): Promise<boolean> {
  try {
    return !(await lstat(path)).isDirectory() || (await readdir(path)).length > 0;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A folder that is a file is found out, in words, when it is to be created.
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}

function cannotWrite(directory: string, why: string, cause?: unknown): FlaghoistError {
  const message = `cannot import into "${resolve(directory)}": ${why}`;
  return new FlaghoistError('OUTPUT', message, { cause });
}
