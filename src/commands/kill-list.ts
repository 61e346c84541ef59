import { lstat, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withKillEntry, withoutKillEntry, type KillEntry } from '../specs/edit-kills.js';

interface ListChange {
  /** The config directory, symbolic links resolved. */
  readonly directory: string;
  /** As the config names it. */
  readonly environment: string;
  readonly flag: string;
  /** Null: the entry goes. */
  readonly entry: KillEntry | null;
}

/**
 * Writes the change of a break-glass list into the working tree.
 *
 * @returns the path of the file, relative to the directory; null where the file says so already.
 * @throws Error the file is no list, or lies outside the directory.
 */
export async function prepareList(change: ListChange): Promise<{ readonly path: string | null }> {
  const { directory, environment, flag, entry } = change;
  if (!/^[\w][\w .-]*$/.test(environment)) throw new Error(`"${environment}" is no file name`);
  const path = `kills/${environment}.yaml`;
  const file = join(directory, path);
  const before = await textOf(file, directory);
  if (before === undefined && entry === null) return { path: null };
  const after = entry ? withKillEntry(before, flag, entry) : withoutKillEntry(before ?? '', flag);
  if (after === undefined) throw new Error(`${path} is no list of kills`);
  if (after === before) return { path: null };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, after);
  return { path };
}

/** Undefined: there is no such file. A link could lead anywhere, and is not followed. */
async function textOf(file: string, directory: string): Promise<string | undefined> {
  for (const path of [dirname(file), file]) {
    const found = await lstat(path).catch(() => null);
    if (found === null) return undefined;
    if (found.isSymbolicLink()) throw new Error(`${path} is a symbolic link`);
  }
  if (dirname(dirname(await realpath(file))) !== directory)
    throw new Error(`${file} lies elsewhere`);
  return readFile(file, 'utf8');
}

/** What a person pastes into a shell to commit a file with a title and a text. */
export function commitCommands(
  directory: string,
  path: string,
  title: string,
  text: string,
): string[] {
  const git = `git -C ${shellWord(directory)}`;
  return [
    `${git} add -- ${shellWord(path)}`,
    `${git} commit -m ${shellWord(title)} -m ${shellWord(text)} -- ${shellWord(path)}`,
  ];
}

function shellWord(text: string): string {
  // Control characters would be obeyed by the terminal that they are shown in.
  const plain = text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
  return /^[\w./-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", `'\\''`)}'`;
}
