import type { Repository } from './checkout.js';

/** A commit that touched files of the config directory. */
export interface LoggedCommit {
  readonly id: string;
  readonly parents: readonly string[];
  /** Relative to the config directory. Of a merge: those that it has otherwise than every parent. */
  readonly paths: readonly string[];
}

/** Longer histories are read from the newest end only. */
const MAX_COMMITS = 2_000;

const FOLDERS = ['flaghoist.yaml', 'flags', 'segments', 'identities', 'kills'];

/** A commit among the paths, hash and parents. No path starts so: each starts with the prefix or with one of `FOLDERS`. */
const COMMIT = /^\u0001([0-9a-f]{40,64}) ([0-9a-f ]*)$/;

/**
 * Commits that touched files which shape objects, reachable from `to` and not from `from`, children before their parents.
 *
 * @param from null: from the beginning.
 */
export async function readLog(
  { git, prefix }: Repository,
  from: string | null,
  to: string,
): Promise<LoggedCommit[]> {
  const output = await git.run(
    [
      '--literal-pathspecs',
      'log',
      '-z',
      '--topo-order',
      '--format=tformat:%x01%H %P',
      '--name-only',
      '--diff-merges=combined',
      '--no-renames',
      '--no-textconv',
      '--no-ext-diff',
      '--no-color',
      '--no-show-signature',
      `--max-count=${String(MAX_COMMITS)}`,
      '--end-of-options',
      to,
      ...(from === null ? [] : [`^${from}`]),
      '--',
      ...FOLDERS.map((folder) => prefix + folder),
    ],
    `read the history of ${to}`,
  );
  return parseLog(output, prefix).filter(({ paths }) => paths.length > 0);
}

function parseLog(output: string, prefix: string): LoggedCommit[] {
  const commits: { id: string; parents: string[]; paths: string[] }[] = [];
  for (const token of output.split('\0')) {
    const [, id, parents] = COMMIT.exec(token) ?? [];
    if (id !== undefined) {
      commits.push({
        id,
        parents: (parents ?? '').split(' ').filter((parent) => parent !== ''),
        paths: [],
      });
      continue;
    }
    const path = token.replace(/^\n/, '');
    if (path.startsWith(prefix) && path !== '')
      commits.at(-1)?.paths.push(path.slice(prefix.length));
  }
  return commits;
}
