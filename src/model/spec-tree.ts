/**
 * The files of one config directory, either as a commit has them or as they lie on disk.
 *
 * Paths are relative to the config directory, with forward slashes, never `..`.
 */
export interface SpecTree {
  /** Sorted by path. Holds what `isSpecPath` admits and nothing else. */
  list(): readonly TreeEntry[];
  /**
   * Whole content of one listed file.
   *
   * @throws FlagkeelError the file cannot be read.
   */
  read(path: string): Promise<Buffer>;
}

export interface TreeEntry {
  readonly path: string;
  /** Only `file` is ever read; the others are reported. */
  readonly type: EntryType;
  readonly sizeBytes: number;
  /** Git's name of the content: equal ids are equal bytes. Absent where the file lies on disk. */
  readonly blobId?: string;
  /**
   * For a file on disk: what the file system says of it. As long as that is the same, the content
   * is taken to be the same.
   */
  readonly stamp?: string;
}

/**
 * `submodule` is any repository inside another, registered there or not; `special` is a pipe, a socket or a device,
 * which only a disk can have.
 */
export type EntryType = 'file' | 'symlink' | 'submodule' | 'special';

const SPEC_FOLDERS: readonly string[] = ['flags', 'segments', 'identities', 'kills', 'tests'];

/**
 * Whether flagkeel looks at this path of a config directory at all. The names of the folders themselves count: a link,
 * a submodule or a file of that name stands where specs are expected, and a tree that left it out would show no specs.
 */
export function isSpecPath(path: string): boolean {
  return path === 'flagkeel.yaml' || SPEC_FOLDERS.includes(topOf(path));
}

/** Whether the path is that of a folder of specs itself, where nothing but a folder belongs. */
export function isSpecFolder(path: string): boolean {
  return SPEC_FOLDERS.includes(path);
}

/** The first name of a path: the folder of specs that a file lies in, or the path itself. */
export function topOf(path: string): string {
  const slash = path.indexOf('/');
  return slash === -1 ? path : path.slice(0, slash);
}
