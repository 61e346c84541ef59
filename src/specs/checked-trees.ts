import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.js';
import { sha256 } from '../model/json.js';
import type { TreeEntry } from '../model/spec-tree.js';
import { writeKept } from './parse/kept-files.js';
import { programHash } from './program-hash.js';

/** Fewer files are checked faster than the code of the program is read. */
const MANY_FILES = 300;
/** Findings of more text than this, in UTF-16 code units, are not kept. */
const MOST_TEXT = 16 * 1024 * 1024;

/** What there is to say of a valid tree. */
export interface CheckedTree {
  readonly diagnostics: readonly Diagnostic[];
  readonly flags: number;
  readonly segments: number;
  readonly environments: number;
}

/**
 * Remembers in the git directory what was found in one tree. It goes by all that decides that: the names of files and of their
 * contents, the code of the program, its libraries and Node, and what the caller names. It may be deleted at any time. What is not as it was written counts as
 * not there, and what cannot be written is not kept.
 */
export class CheckedTrees {
  readonly #folder: string;
  readonly #name: string;

  /** @param about all that decides, besides files, program and Node. */
  constructor(gitDir: string, entries: readonly TreeEntry[], about: unknown) {
    this.#folder = join(gitDir, 'flagkeel', 'checked');
    const files = entries.map(({ path, type, blobId, sizeBytes }) => [
      path,
      type,
      blobId,
      sizeBytes,
    ]);
    this.#name = sha256(JSON.stringify([programHash(), process.versions, about, files]));
  }

  /** Null: nobody has checked the tree. */
  read(): CheckedTree | null {
    try {
      const text = readFileSync(join(this.#folder, this.#name), 'utf8');
      const end = text.indexOf('\n');
      const json = text.slice(end + 1);
      // Only what `keep` wrote has this hash before it.
      return sha256(json) === text.slice(0, end) ? (JSON.parse(json) as CheckedTree) : null;
    } catch {
      return null;
    }
  }

  async keep(tree: CheckedTree): Promise<void> {
    const json = JSON.stringify(tree);
    if (json.length > MOST_TEXT) return;
    await writeKept(this.#folder, this.#name, `${sha256(json)}\n${json}`);
  }
}

/** Null where nothing goes by names: without a repository, where files differ from their commit, and where few are to be checked. */
export function checkedTreesOf(
  repository: { readonly gitDir: string; readonly prefix: string } | null,
  entries: readonly TreeEntry[],
  about: unknown,
): CheckedTrees | null {
  if (repository === null || entries.length < MANY_FILES) return null;
  if (entries.some(({ blobId }) => blobId === undefined)) return null;
  return new CheckedTrees(repository.gitDir, entries, [repository.prefix, about]);
}
