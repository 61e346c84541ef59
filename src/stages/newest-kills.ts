import { commitTree } from '../git/commit-tree.js';
import { byCodeUnits } from '../kinds/json.js';
import type { SpecTree } from '../model/tree.js';
import type { Source } from './source.js';

const FOLDER = 'kills/';

/**
 * An older commit with the break-glass lists of a newer one: who stays at a commit does not stay without kills, nor
 * takes any back.
 *
 * @param commit full hash of the newer one.
 */
export async function withKillsOf(source: Source, commit: string): Promise<Source> {
  try {
    const newest = await commitTree(source.checkout, commit);
    return { ...source, tree: withFolderOf(source.tree, newest) };
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}

function withFolderOf(old: SpecTree, newest: SpecTree): SpecTree {
  const isKill = (path: string): boolean => path.startsWith(FOLDER);
  const entries = [
    ...old.list().filter(({ path }) => !isKill(path)),
    ...newest.list().filter(({ path }) => isKill(path)),
  ].toSorted((a, b) => byCodeUnits(a.path, b.path));
  return {
    list: () => entries,
    read: async (path) => (isKill(path) ? newest : old).read(path),
  };
}
