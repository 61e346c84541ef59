import { byCodeUnits } from '../model/json.js';
import { isSpecPath, type SpecTree } from '../model/spec-tree.js';

/**
 * Presents unwritten files as a tree of specs. They replace files of the same path in the tree `below`.
 *
 * @param files path → text.
 */
export function filesTree(files: ReadonlyMap<string, string>, below?: SpecTree): SpecTree {
  const contents = new Map([...files].map(([path, text]) => [path, Buffer.from(text)]));
  const entries = [...contents].map(([path, content]) => ({
    path,
    type: 'file' as const,
    sizeBytes: content.length,
  }));
  const others = below?.list().filter(({ path }) => !contents.has(path)) ?? [];
  const all = [...others, ...entries]
    .filter(({ path }) => isSpecPath(path))
    .toSorted((a, b) => byCodeUnits(a.path, b.path));
  return {
    list: () => all,
    read: async (path) => {
      const content = contents.get(path) ?? (await below?.read(path));
      if (content === undefined) throw new Error(`bug: "${path}" is no file of this tree`);
      return content;
    },
  };
}
