import type { KeyList } from '../model/segment-keys.js';
import type { Config, DesiredFlag, DesiredSegment } from '../model/desired.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { TreeEntry } from '../model/spec-tree.js';
import { SpecFile, type FileKind, type ParsedFile } from './parse/parse-file.js';
import type { Reference, ResolvedFlag } from './resolve/resolved-flag.js';

/** Limit for parsed files beyond those of the last reading: files of commits that runs compare with. */
const MORE_KEPT = 1_000;

/**
 * Results that readings of one directory's commits share, so that a further reading costs only its changes; never
 * alters the result of a reading. Contents are known by git's id of them, and results by the very files from which
 * they were made. Files on disk have no such id and are always read.
 */
export class SpecCache {
  readonly configs = new Memoized<
    SpecFile,
    { config: Config | undefined; diagnostics: readonly Diagnostic[] }
  >();
  readonly flags = new Memoized<
    SpecFile,
    { flag: ResolvedFlag; diagnostics: readonly Diagnostic[] }
  >();
  readonly desiredFlags = new Memoized<ResolvedFlag, DesiredFlag>();
  readonly configurations = new Memoized<SpecFile, readonly Diagnostic[]>();
  readonly references = new Memoized<ResolvedFlag, readonly Reference[]>();
  readonly segments = new Memoized<
    SpecFile,
    { segment: DesiredSegment; diagnostics: Diagnostic[] }
  >();
  /** Sorted and hashed lists of keys, by the parsed list. */
  readonly keyLists = new Memoized<readonly string[], KeyList>();
  readonly readings = new WeakMap<readonly TreeEntry[], unknown>();
  readonly #parsed = new Map<string, ParsedFile>();
  readonly #files = new Map<string, SpecFile>();
  readonly #fileOf = new WeakMap<TreeEntry, SpecFile>();

  /** The file of a listing's entry, if its content was parsed before. Listings of git share entries for equal files. */
  fileOf(entry: TreeEntry, kind: FileKind): SpecFile | undefined {
    const known = this.#fileOf.get(entry);
    if (known || entry.blobId === undefined) return known;
    const parsed = this.#parsed.get(`${kind}:${entry.blobId}`);
    return parsed && this.#fileAt(entry, parsed);
  }

  /** The file of an entry whose content was just parsed. */
  add(entry: TreeEntry, kind: FileKind, fresh: ParsedFile): SpecFile {
    if (entry.blobId === undefined) return new SpecFile(entry.path, fresh);
    const id = `${kind}:${entry.blobId}`;
    const parsed = this.#parsed.get(id) ?? fresh;
    this.#parsed.set(id, parsed);
    return this.#fileAt(entry, parsed);
  }

  /** Gives the same object for the same path and content, so that results made from it are found again. */
  #fileAt(entry: TreeEntry, parsed: ParsedFile): SpecFile {
    const found = this.#files.get(entry.path);
    const file = found?.parsed === parsed ? found : new SpecFile(entry.path, parsed);
    this.#files.set(entry.path, file);
    this.#fileOf.set(entry, file);
    return file;
  }

  /** Forgets, after a reading of these files, what only old readings used. */
  endReading(files: readonly SpecFile[]): void {
    const most = files.length + MORE_KEPT;
    if (this.#parsed.size <= most && this.#files.size <= most) return;
    const used = new Set(files);
    const contents = new Set(files.map(({ parsed }) => parsed));
    for (const [id, parsed] of this.#parsed) if (!contents.has(parsed)) this.#parsed.delete(id);
    for (const [path, file] of this.#files) if (!used.has(file)) this.#files.delete(path);
  }
}

class Memoized<K extends WeakKey, V> {
  readonly #known = new WeakMap<K, { readonly from: readonly unknown[]; readonly value: V }>();

  /** @param from all inputs of `make` besides `about`; compared member by member, as the same objects. */
  get(about: K, from: readonly unknown[], make: () => V): V {
    const known = this.#known.get(about);
    const isSame = known?.from.every((each, i) => each === from[i]) === true;
    if (known && isSame && known.from.length === from.length) return known.value;
    const value = make();
    this.#known.set(about, { from, value });
    return value;
  }
}
