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
   * @throws FlaghoistError the file cannot be read.
   */
  read(path: string): Promise<Buffer>;
}

export interface TreeEntry {
  readonly path: string;
  /** Only `file` is ever read; the others are reported. */
  readonly type: 'file' | 'symlink' | 'submodule';
  readonly sizeBytes: number;
  /** Git's name of the content: equal ids are equal bytes. Absent where the file lies on disk. */
  readonly blobId?: string;
  /** Of a file on disk: what its file system says of it; as long as that is the same, so is the content. */
  readonly stamp?: string;
}

const SPEC_FOLDERS = ['flags/', 'segments/', 'identities/', 'kills/', 'tests/'];

/** Whether flaghoist reads this path of a config directory at all. */
export function isSpecPath(path: string): boolean {
  return path === 'flaghoist.yaml' || SPEC_FOLDERS.some((folder) => path.startsWith(folder));
}
