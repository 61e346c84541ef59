import { byCodeUnits } from './json.js';
import { SPEC_FOLDERS, type FileKind, type FolderKind } from './ref.js';

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

/** `submodule`: any repository inside another, registered there or not; `special`: a pipe, a socket, a device. */
export type EntryType = 'file' | 'symlink' | 'submodule' | 'special';

/** The files of both trees: those of `above` that `isAbove` accepts, and those of `below` that it does not. */
export function overlaid(
  below: SpecTree,
  above: SpecTree,
  isAbove: (path: string) => boolean,
): SpecTree {
  const entries = [
    ...below.list().filter(({ path }) => !isAbove(path)),
    ...above.list().filter(({ path }) => isAbove(path)),
  ].toSorted((a, b) => byCodeUnits(a.path, b.path));
  return { list: () => entries, read: async (path) => (isAbove(path) ? above : below).read(path) };
}

export const CONFIG_PATH = 'flagkeel.yaml';

const FOLDERS: ReadonlyMap<string, FolderKind> = new Map(
  Object.entries(SPEC_FOLDERS).map(([kind, { folder }]) => [folder, kind as FolderKind]),
);

/** Where files lie that shape objects: a spec test shapes none. */
export const SHAPING_PATHS: readonly string[] = [CONFIG_PATH, ...FOLDERS.keys()].filter(
  (path) => path !== SPEC_FOLDERS['spec-test'].folder,
);

/** Includes the folders themselves: ignoring a link in the place of one would look as if all its specs were removed. */
export function isSpecPath(path: string): boolean {
  return path === CONFIG_PATH || folderKindOf(path) !== undefined;
}

export function isSpecFolder(path: string): boolean {
  return FOLDERS.has(path);
}

/** Whether a folder is probably a misspelt one of ours. */
export function isNearSpecFolder(name: string): boolean {
  return !isSpecFolder(name) && Object.values(SPEC_FOLDERS).some(({ nearly }) => nearly.test(name));
}

/** The kind of the specs among which a file lies. */
export function folderKindOf(path: string): FolderKind | undefined {
  const slash = path.indexOf('/');
  return FOLDERS.get(slash === -1 ? path : path.slice(0, slash));
}

/** The kind of a file; undefined for files that flagkeel does not use. */
export function fileKindOf(path: string): FileKind | undefined {
  if (path === CONFIG_PATH) return 'config';
  const kind = folderKindOf(path);
  if (kind === undefined || isHidden(path)) return undefined;
  const { folder, files } = SPEC_FOLDERS[kind];
  const inside = path.slice(folder.length + 1);
  const found = Object.entries(files).find(([, fits]) => fits.test(inside));
  return found?.[0] as FileKind | undefined;
}

export function isHidden(path: string): boolean {
  return path.startsWith('.', path.lastIndexOf('/') + 1);
}
