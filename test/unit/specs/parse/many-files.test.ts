import { expect, it } from 'vitest';
import type { SpecTree, TreeEntry } from '../../../../src/model/spec-tree.js';
import { loadFiles } from '../../../../src/specs/parse/load-files.js';

/** So many key files of one key; no two are the same content to git. */
function treeOfLists(count: number): SpecTree {
  const entries = Array.from({ length: count }, (_, at): TreeEntry => {
    return { path: `segments/s${at}.keys`, type: 'file', sizeBytes: 2 };
  });
  return { list: () => entries, read: async () => Promise.resolve(Buffer.from('a\n')) };
}

it('as many files as a repository of fifty thousand flags has are read', async () => {
  const { files, diagnostics } = await loadFiles(treeOfLists(60_000));

  expect(files.keys).toHaveLength(60_000);
  expect(diagnostics).toEqual([]);
});

it('of more files than that none is read, and it is said how many may be', async () => {
  const read = async (): Promise<Buffer> => Promise.reject(new Error('read'));

  const { files, diagnostics } = await loadFiles({ ...treeOfLists(60_001), read });

  expect(Object.values(files).flat()).toEqual([]);
  expect(diagnostics).toMatchObject([
    { code: 'too-many-files', message: '60001 files; at most 60000 are read' },
  ]);
});
