/** The files of one config directory; paths are relative to it, with forward slashes. */
export interface SpecTree {
  /** Sorted by path. Contains only paths that `isSpecPath` accepts. */
  list(): readonly TreeEntry[];
  /** @throws FlagkeelError the file cannot be read. */
  read(path: string): Promise<Buffer>;
}

export interface TreeEntry {
  readonly path: string;
  /** Only files are read; other entries are reported. */
  readonly type: EntryType;
  readonly sizeBytes: number;
  /** Git's id of the content: equal ids mean equal bytes. Unset for a file on disk. */
  readonly blobId?: string;
  /** For a file on disk: its metadata. While it is unchanged, the content is assumed to be unchanged. */
  readonly stamp?: string;
}

/** `submodule`: any repository inside another, registered there or not; `special`: a pipe, a socket or a device. */
export type EntryType = 'file' | 'symlink' | 'submodule' | 'special';

const SPEC_FOLDERS: readonly string[] = ['flags', 'segments', 'identities', 'kills', 'tests'];

/** Includes the folders themselves: ignoring a link in the place of one would look as if all its specs were removed. */
export function isSpecPath(path: string): boolean {
  return path === 'flagkeel.yaml' || SPEC_FOLDERS.includes(topOf(path));
}

export function isSpecFolder(path: string): boolean {
  return SPEC_FOLDERS.includes(path);
}

/** The first name of a path: the folder of specs that a file lies in, or the path itself. */
export function topOf(path: string): string {
  const slash = path.indexOf('/');
  return slash === -1 ? path : path.slice(0, slash);
}
