import { createHash } from 'node:crypto';
import { isSpecPath, type SpecTree, type TreeEntry } from '../../src/model/spec-tree.js';

/** A tree of files given by path. */
export function treeOf(
  files: Readonly<Record<string, string | Buffer>>,
  links: readonly string[] = [],
): SpecTree {
  const contents = new Map(
    Object.entries(files).map(([path, content]) => [path, Buffer.from(content)]),
  );
  const entries: TreeEntry[] = [
    ...[...contents].map(([path, content]) => ({
      path,
      type: 'file' as const,
      sizeBytes: content.length,
      blobId: createHash('sha1').update(content).digest('hex'),
    })),
    ...links.map((path) => ({ path, type: 'symlink' as const, sizeBytes: 9 })),
  ];
  return {
    list: () =>
      entries
        .filter(({ path }) => isSpecPath(path))
        .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)),
    read: async (path) => {
      const content = contents.get(path);
      return content === undefined
        ? Promise.reject(new Error(`no such file: ${path}`))
        : Promise.resolve(content);
    },
  };
}
