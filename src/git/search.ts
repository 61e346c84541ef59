import { exitCodeOf, openGit, runGit } from './git.js';

/** A line of a file that holds a name. */
export interface FoundLine {
  /** Relative to the directory that was searched, with forward slashes. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Untrusted text. */
  readonly text: string;
}

/**
 * The lines below a directory that hold a name by itself: not as a part of a longer one, where names go on with letters,
 * digits, `_`, `-` and `.`. Files that git ignores and binary ones are passed over; those not yet added are searched.
 *
 * @returns in the order of git, by file.
 * @throws FlaghoistError `GIT`: the directory is not there, or in no repository.
 */
export async function linesWithName(directory: string, name: string): Promise<FoundLine[]> {
  const found = await grepped(directory, name);
  return found.split('\n').flatMap((entry) => {
    const [file, line, text] = entry.split('\0');
    if (file === undefined || line === undefined || text === undefined) return [];
    return holdsName(text, name) ? [{ file, line: Number(line), text }] : [];
  });
}

async function grepped(directory: string, name: string): Promise<string> {
  const args = [
    '-c',
    'grep.column=false',
    'grep',
    '--untracked',
    '--no-color',
    '-z',
    '-n',
    '-I',
    '-F',
    '-e',
    name,
  ];
  try {
    return await runGit(openGit(directory), {
      args: [...args, '--', '.'],
      purpose: `search "${directory}"`,
      allowedExitCodes: [0, 1],
    });
  } catch (error) {
    if (exitCodeOf(error) === 1) return '';
    throw error;
  }
}

function holdsName(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const before = text.slice(0, at);
    const after = text.slice(at + name.length);
    // A full stop ends a sentence as well: it belongs to a name only where that goes on behind it.
    if (!/[\w-]\.?$/.test(before) && !/^(?:[\w-]|\.\w)/.test(after)) return true;
  }
  return false;
}
