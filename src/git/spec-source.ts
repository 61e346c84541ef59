import { FlagkeelError } from '../errors.js';
import { openCheckout, resolveRevision, type Checkout } from './checkout.js';
import { commitTree } from './commit-tree.js';
import { directoryTree } from './directory-tree.js';
import type { GitCache } from './cache.js';
import { localChanges } from './local-changes.js';
import { byCodeUnits } from '../model/json.js';
import type { Revision } from '../model/outcome.js';
import type { SpecTree, TreeEntry } from '../model/spec-tree.js';

export interface Source extends AsyncDisposable {
  readonly tree: SpecTree;
  readonly checkout: Checkout;
  readonly revision: Revision;
  /** For people: information that is missing or ignored. */
  readonly warnings: readonly string[];
}

/**
 * Opens a config directory: the files of its commit or, if `workingTree` allows it and files differ from HEAD, those on
 * disk. Without git, the files on disk.
 *
 * @param at a revision to read as if it were HEAD.
 * @param sameAsHead whether to read files that equal HEAD from the commit, which costs nothing if those are cached.
 *
 * @throws FlagkeelError `SPECS_INVALID`: the directory is in a repository, but no commit has it yet.
 */
export async function openSource(
  directory: string,
  {
    workingTree,
    at,
    sameAsHead = false,
    memory,
  }: {
    workingTree: boolean;
    at?: string | undefined;
    sameAsHead?: boolean;
    memory?: GitCache;
  },
): Promise<Source> {
  const checkout = await openCheckout(directory, memory);
  if (at !== undefined) {
    const head = await resolveRevision(checkout, at);
    return fromCommit({ ...checkout, head }, head, []);
  }
  if (!checkout.repository)
    return fromDirectory(checkout, { commit: null, dirty: false }, [NO_HISTORY]);
  const changes = await localChanges(checkout, { hold: true });
  const { head } = checkout;
  if (head !== null && changes.length === 0) return fromCommit(checkout, head, []);
  if (workingTree) {
    const source = await fromDirectory(checkout, { commit: head, dirty: true }, [
      dirtyWarning(changes, head),
    ]);
    if (head === null) return source;
    const commit = await commitTree(checkout, head);
    return { ...source, tree: changedOn(commit, source.tree, { changes, sameAsHead }) };
  }
  if (head === null) {
    throw new FlagkeelError(
      'SPECS_INVALID',
      `cannot read specs in "${directory}": the repository has no commit yet (commit them, or use --allow-dirty)`,
    );
  }
  return fromCommit(checkout, head, [ignoredWarning(changes)]);
}

/** Opens one commit of a checkout, regardless of the files on disk. Disposing closes the checkout. */
export async function openCommit(checkout: Checkout, commit: string): Promise<Source> {
  try {
    return await fromCommit({ ...checkout, head: commit }, commit, []);
  } catch (error) {
    await checkout.close();
    throw error;
  }
}

const NO_HISTORY =
  'there is no git history here: titles and comments of writes are generic, and nothing is remembered between runs';

function dirtyWarning(changes: readonly string[], head: string | null): string {
  const from = head === null ? 'no commit' : `commit ${head.slice(0, 8)}`;
  return `reading the working tree: it differs from ${from} in ${filesText(changes)}`;
}

function ignoredWarning(changes: readonly string[]): string {
  return `local changes are not applied, only what is committed: ${filesText(changes)} (commit them, or use --allow-dirty)`;
}

function filesText(files: readonly string[]): string {
  const shown = files.slice(0, 3).join(', ');
  return files.length > 3 ? `${shown} and ${files.length - 3} more` : shown;
}

async function fromCommit(
  checkout: Checkout,
  head: string,
  warnings: readonly string[],
): Promise<Source> {
  const tree = await commitTree(checkout, head);
  return sourceOf(tree, checkout, { revision: { commit: head, dirty: false }, warnings });
}

function sourceOf(
  tree: SpecTree,
  checkout: Checkout,
  origin: Pick<Source, 'revision' | 'warnings'>,
): Source {
  return { tree, checkout, ...origin, [Symbol.asyncDispose]: async () => checkout.close() };
}

/**
 * The files on disk, and those unchanged ones of the commit that are missing on disk: a sparse checkout leaves files
 * out, and a submodule that was not fetched is an empty folder. Without them, they would look removed.
 */
function changedOn(
  commit: SpecTree,
  disk: SpecTree,
  { changes, sameAsHead }: { changes: readonly string[]; sameAsHead: boolean },
): SpecTree {
  const changed = new Set(changes);
  const onDisk = new Set(disk.list().map(({ path }) => path));
  const known = new Map(
    commit
      .list()
      .filter(({ path }) => !changed.has(path) && (sameAsHead || !onDisk.has(path)))
      .map((entry): [string, TreeEntry] => [entry.path, entry]),
  );
  const entries = [...disk.list().filter(({ path }) => !known.has(path)), ...known.values()];
  const sorted = entries.toSorted((a, b) => byCodeUnits(a.path, b.path));
  return {
    list: () => sorted,
    read: async (path) => (known.has(path) ? commit : disk).read(path),
  };
}

async function fromDirectory(
  checkout: Checkout,
  revision: Revision,
  warnings: readonly string[],
): Promise<Source> {
  const tree = await directoryTree(checkout.directory);
  return sourceOf(tree, checkout, { revision, warnings });
}
