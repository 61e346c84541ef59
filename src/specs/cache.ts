import type { TreeEntry } from '../model/spec-tree.js';
import type { SpecFile } from './parse/parse-file.js';

/** Limit for parsed files beyond those of the last reading: files of commits that runs compare with. */
const MORE_KEPT = 1_000;

/**
 * The parsed files that readings of one directory's commits share, so that a further reading costs only its changes:
 * results are remembered by the very files from which they were made. Contents are known by git's id of them. Files on
 * disk have no such id and are always read.
 */
export class SpecCache {
  readonly #files = new Map<string, SpecFile>();

  /** The file of a listing's entry, if it was parsed before. */
  fileOf({ path, blobId }: TreeEntry): SpecFile | undefined {
    return blobId === undefined ? undefined : this.#files.get(`${blobId} ${path}`);
  }

  add({ path, blobId }: TreeEntry, file: SpecFile): void {
    if (blobId !== undefined) this.#files.set(`${blobId} ${path}`, file);
  }

  /** Forgets, after a reading of these files, what only old readings used. */
  endReading(files: readonly SpecFile[]): void {
    if (this.#files.size <= files.length + MORE_KEPT) return;
    const used = new Set(files);
    for (const [id, file] of this.#files) if (!used.has(file)) this.#files.delete(id);
  }
}
