import type { Diagnostic } from '../model/diagnostic.js';
import type { SpecTree, TreeEntry } from '../model/tree.js';
import { parseFile, SpecFile, type FileKind } from './parse-file.js';
import { fileDiagnostic } from './source-text.js';
import type { SpecMemory } from './spec-memory.js';

export const CONFIG_PATH = 'flaghoist.yaml';

const MAX_FILES = 20_000;
const MAX_YAML_BYTES = 2 * 1024 * 1024;
const MAX_KEY_FILE_BYTES = 8 * 1024 * 1024;
const FILES_AT_ONCE = 32;

export interface LoadedFiles {
  /** By path, in code-unit order. */
  readonly files: ReadonlyMap<FileKind, readonly SpecFile[]>;
  readonly diagnostics: readonly Diagnostic[];
  /** Every path of the tree, whatever it is. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
}

/** Reads and parses every file that flaghoist knows what to do with. */
export async function loadFiles(tree: SpecTree, memory?: SpecMemory): Promise<LoadedFiles> {
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

/** The files that an earlier reading has not left in memory. */
async function readUnknown(
  tree: SpecTree,
  wanted: readonly Wanted[],
  memory: SpecMemory | undefined,
): Promise<ReadonlyMap<TreeEntry, SpecFile>> {
  const unknown = wanted.filter(({ entry }) => memory?.fileOf(entry) === undefined);
  const read = new Map<TreeEntry, SpecFile>();
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

/** One file of the tree, parsed or remembered. */
export async function loadFile(
  tree: SpecTree,
  entry: TreeEntry,
  kind: FileKind,
  memory?: SpecMemory,
): Promise<SpecFile> {
  const { path, blobId } = entry;
  if (memory === undefined || blobId === undefined) {
    return new SpecFile(path, parseFile(kind, await tree.read(path)));
  }
  const id = `${kind}:${blobId}`;
  const known = memory.parsed(id);
  const parsed = known ?? parseFile(kind, await tree.read(path));
  if (known === undefined) memory.remember(id, parsed);
  return memory.fileAt(entry, parsed);
}

/** What a path holds; undefined for files that are not ours to read. */
export function kindOf(path: string): FileKind | undefined {
  if (path === CONFIG_PATH) return 'config';
  const [folder = ''] = path.split('/');
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

export function isReadable({ type, sizeBytes }: TreeEntry, kind: FileKind): boolean {
  return type === 'file' && sizeBytes <= maxBytes(kind);
}

function maxBytes(kind: FileKind): number {
  return kind === 'keys' || kind === 'identities-csv' ? MAX_KEY_FILE_BYTES : MAX_YAML_BYTES;
}

/** What would be passed over in silence, and then be taken for a removal, is an error. */
function pathDiagnostics({ path, type, sizeBytes }: TreeEntry): Diagnostic[] {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (type !== 'file') {
    const what = type === 'symlink' ? 'a symbolic link' : 'a submodule';
    return [
      fileDiagnostic(path, 'not-a-file', `${what} is not followed; put the file itself here`),
    ];
  }
  if (name.startsWith('.')) return [];
  if (/\.(?:yml|YML|YAML)$/.test(name)) {
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
