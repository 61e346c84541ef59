import type { Diagnostic } from '../../model/diagnostic.js';
import { isSpecFolder, topOf, type SpecTree, type TreeEntry } from '../../model/spec-tree.js';
import { parseFile, SpecFile, type FileKind, type ParsedFile } from './parse-file.js';
import { fileDiagnostic } from './source-text.js';
import type { SpecCache } from '../cache.js';

export const CONFIG_PATH = 'flagkeel.yaml';

/** Limits for input, so that no repository exhausts the memory: a first run over fifty thousand flags takes 2 GiB. */
const MAX_FILES = 60_000;
const MAX_YAML_BYTES = 2 * 1024 * 1024;
const MAX_KEY_FILE_BYTES = 8 * 1024 * 1024;
const FILES_AT_ONCE = 32;

export interface LoadedFiles {
  /** Files of each kind, in the code-unit order of their paths. */
  readonly files: ReadonlyMap<FileKind, readonly SpecFile[]>;
  readonly diagnostics: readonly Diagnostic[];
  /** Every path of the tree, of any kind. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
}

/** Reads and parses every file that flagkeel knows, and reports those that it cannot read. */
export async function loadFiles(tree: SpecTree, memory?: SpecCache): Promise<LoadedFiles> {
  const entries = tree.list();
  const diagnostics = entries.flatMap(pathDiagnostics);
  const wanted = entries.flatMap((entry): Wanted[] => {
    const kind = kindOf(entry.path);
    return kind !== undefined && isReadable(entry, kind) ? [{ entry, kind }] : [];
  });
  if (wanted.length > MAX_FILES) {
    const message = `${wanted.length} files; at most ${MAX_FILES} are read`;
    diagnostics.push(fileDiagnostic(CONFIG_PATH, 'too-many-files', message));
    wanted.length = 0;
  }
  const read = await readUnknown(tree, wanted, memory);
  const files = new Map<FileKind, SpecFile[]>();
  for (const { entry, kind } of wanted) {
    const file = read.get(entry) ?? memory?.fileOf(entry);
    if (file === undefined) throw new Error(`bug: ${entry.path} was not read`);
    const ofKind = files.get(kind) ?? [];
    files.set(kind, ofKind);
    ofKind.push(file);
    diagnostics.push(...file.diagnostics());
  }
  memory?.endReading(wanted.length, () => [...files.values()].flat());
  return { files, diagnostics, entries: new Map(entries.map((entry) => [entry.path, entry])) };
}

interface Wanted {
  readonly entry: TreeEntry;
  readonly kind: FileKind;
}

async function readUnknown(
  tree: SpecTree,
  wanted: readonly Wanted[],
  memory: SpecCache | undefined,
): Promise<ReadonlyMap<TreeEntry, SpecFile>> {
  const read = new Map<TreeEntry, SpecFile>();
  const unknown = wanted.filter(({ entry, kind }) => {
    if (memory === undefined || memory.fileOf(entry) !== undefined) return memory === undefined;
    const parsed = memory.parsed(idOf(entry, kind));
    if (parsed !== undefined) read.set(entry, memory.fileAt(entry, parsed));
    return parsed === undefined;
  });
  for (let at = 0; at < unknown.length; at += FILES_AT_ONCE) {
    // In batches: thousands of files opened at once would run out of descriptors.
    await Promise.all(
      unknown.slice(at, at + FILES_AT_ONCE).map(async ({ entry, kind }) => {
        read.set(entry, await loadFile(tree, entry, kind, memory));
      }),
    );
  }
  return read;
}

/** Reads one file, or takes it from memory. Files on disk have no id of git and are always read. */
export async function loadFile(
  tree: SpecTree,
  entry: TreeEntry,
  kind: FileKind,
  memory?: SpecCache,
): Promise<SpecFile> {
  const known = memory?.parsed(idOf(entry, kind));
  return fileOf(entry, kind, known ?? parseFile(kind, await tree.read(entry.path)), memory);
}

/** The file of an entry; remembered if its content has an id. */
function fileOf(
  entry: TreeEntry,
  kind: FileKind,
  fresh: ParsedFile,
  memory: SpecCache | undefined,
): SpecFile {
  if (memory === undefined || entry.blobId === undefined) return new SpecFile(entry.path, fresh);
  const id = idOf(entry, kind);
  const known = memory.parsed(id);
  if (known === undefined) memory.remember(id, fresh);
  return memory.fileAt(entry, known ?? fresh);
}

/** For a file on disk, an id that is never remembered. */
function idOf({ blobId }: TreeEntry, kind: FileKind): string {
  return blobId === undefined ? '' : `${kind}:${blobId}`;
}

/** The kind of file at a path; undefined for files that flagkeel does not use. */
export function kindOf(path: string): FileKind | undefined {
  if (path === CONFIG_PATH) return 'config';
  if (isSpecFolder(path)) return undefined;
  const folder = topOf(path);
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.startsWith('.')) return undefined;
  if (folder === 'segments' && name.endsWith('.keys')) return 'keys';
  if (folder === 'identities' && name.endsWith('.csv')) return 'identities-csv';
  if (folder === 'tests') return name.endsWith('.test.yaml') ? 'spec-test' : undefined;
  if (!name.endsWith('.yaml')) return undefined;
  if (folder === 'flags') return name.includes('@') ? 'flag-overlay' : 'flag';
  if (folder === 'segments') return 'segment';
  if (folder === 'identities') return 'identities';
  return folder === 'kills' && path.split('/').length === 2 ? 'kills' : undefined;
}

/** False for links, submodules and files that are too large: they are never read. */
function isReadable({ type, sizeBytes }: TreeEntry, kind: FileKind): boolean {
  return type === 'file' && sizeBytes <= maxBytes(kind);
}

function maxBytes(kind: FileKind): number {
  return kind === 'keys' || kind === 'identities-csv' ? MAX_KEY_FILE_BYTES : MAX_YAML_BYTES;
}

const WORDS_OF = {
  file: 'a file',
  symlink: 'a symbolic link',
  submodule: 'a submodule',
  special: 'a special file (a pipe, a socket or a device)',
} as const;

/**
 * Reports a path that flagkeel cannot read although a spec belongs there. Without a report it would look like a
 * removal.
 */
export function pathDiagnostics({ path, type, sizeBytes }: TreeEntry): Diagnostic[] {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (isSpecFolder(path)) {
    const message = `${WORDS_OF[type]} stands where a folder of specs belongs, and is not read; put the folder itself here`;
    return [fileDiagnostic(path, 'not-a-folder', message)];
  }
  if (type !== 'file') {
    const message = `${WORDS_OF[type]} is not followed; put the file itself here`;
    return [fileDiagnostic(path, 'not-a-file', message)];
  }
  if (name.startsWith('.')) return [];
  if (/\.ya?ml$/i.test(name) && !name.endsWith('.yaml')) {
    return [fileDiagnostic(path, 'file-extension', 'the name of a spec ends in .yaml')];
  }
  if (path.startsWith('kills/') && name.endsWith('.yaml') && kindOf(path) === undefined) {
    return [fileDiagnostic(path, 'misplaced-file', 'kills stand in kills/<environment>.yaml')];
  }
  const kind = kindOf(path);
  if (kind === undefined || sizeBytes <= maxBytes(kind)) return [];
  const message = `the file has ${sizeBytes} bytes, more than ${maxBytes(kind)}`;
  return [fileDiagnostic(path, 'file-too-large', message)];
}
