import type { Diagnostic } from '../../model/diagnostic.js';
import { FILE_KINDS, SPEC_FOLDERS, type FileKind } from '../../model/ref.js';
import {
  CONFIG_PATH,
  fileKindOf,
  folderKindOf,
  isHidden,
  isSpecFolder,
  type SpecTree,
  type TreeEntry,
} from '../../model/spec-tree.js';
import { parseFile, type SpecFile } from './parse-file.js';
import { fileDiagnostic } from './source-text.js';
import { SpecCache } from '../cache.js';

/** Limits for input, so that no repository exhausts the memory: a first run over fifty thousand flags takes 2 GiB. */
const MAX_FILES = 60_000;
const MAX_YAML_BYTES = 2 * 1024 * 1024;
const MAX_KEY_FILE_BYTES = 8 * 1024 * 1024;
const FILES_AT_ONCE = 32;

export interface LoadedFiles {
  /** Files of each kind, in the code-unit order of their paths. */
  readonly files: Readonly<Record<FileKind, readonly SpecFile[]>>;
  readonly diagnostics: readonly Diagnostic[];
  /** Every path of the tree, of any kind. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
}

export async function loadFiles(
  tree: SpecTree,
  memory: SpecCache = new SpecCache(),
): Promise<LoadedFiles> {
  const entries = tree.list();
  const diagnostics = entries.flatMap(pathDiagnostics);
  const wanted = entries.flatMap((entry) => {
    const kind = fileKindOf(entry.path);
    const isRead = kind && entry.type === 'file' && entry.sizeBytes <= maxBytes(kind);
    return isRead ? [{ entry, kind, file: memory.fileOf(entry) }] : [];
  });
  if (wanted.length > MAX_FILES) {
    const message = `${wanted.length} files; at most ${MAX_FILES} are read`;
    diagnostics.push(fileDiagnostic(CONFIG_PATH, 'too-many-files', message));
    wanted.length = 0;
  }
  const unknown = wanted.filter(({ file }) => file === undefined);
  // In batches: thousands of files opened at once would run out of descriptors.
  for (let at = 0; at < unknown.length; at += FILES_AT_ONCE) {
    await Promise.all(
      unknown.slice(at, at + FILES_AT_ONCE).map(async (each) => {
        const { entry, kind } = each;
        each.file = parseFile(entry.path, kind, await tree.read(entry.path));
        memory.add(entry, each.file);
      }),
    );
  }
  const lists = FILE_KINDS.map((kind): [FileKind, SpecFile[]] => [kind, []]);
  const files = Object.fromEntries(lists) as Record<FileKind, SpecFile[]>;
  for (const { kind, file } of wanted) {
    if (file === undefined) continue;
    files[kind].push(file);
    diagnostics.push(...file.diagnostics());
  }
  memory.endReading(Object.values(files).flat());
  return { files, diagnostics, entries: new Map(entries.map((entry) => [entry.path, entry])) };
}

function maxBytes(kind: FileKind): number {
  return kind === 'keys' || kind === 'identities-csv' ? MAX_KEY_FILE_BYTES : MAX_YAML_BYTES;
}

const WORDS_OF = {
  file: 'a file',
  symlink: 'a symbolic link',
  submodule: 'a submodule',
  special: 'a special file (a pipe, a socket, a device, or one whose name is not UTF-8)',
} as const;

/** Without a report, a path that flagkeel cannot read would look like a removal. */
export function pathDiagnostics({ path, type, sizeBytes }: TreeEntry): Diagnostic[] {
  if (isSpecFolder(path)) {
    const message = `${WORDS_OF[type]} stands where a folder of specs belongs, and is not read; put the folder itself here`;
    return [fileDiagnostic(path, 'not-a-folder', message)];
  }
  if (type !== 'file') {
    const message = `${WORDS_OF[type]} is not followed; put the file itself here`;
    return [fileDiagnostic(path, 'not-a-file', message)];
  }
  if (isHidden(path)) return [];
  const isYaml = path.endsWith('.yaml');
  if (!isYaml && /\.ya?ml$/i.test(path)) {
    return [fileDiagnostic(path, 'file-extension', 'the name of a spec ends in .yaml')];
  }
  const kind = fileKindOf(path);
  if (isYaml && kind === undefined && folderKindOf(path) === 'kills') {
    return [fileDiagnostic(path, 'misplaced-file', SPEC_FOLDERS.kills.advice)];
  }
  if (kind === undefined || sizeBytes <= maxBytes(kind)) return [];
  const message = `the file has ${sizeBytes} bytes, more than ${maxBytes(kind)}`;
  return [fileDiagnostic(path, 'file-too-large', message)];
}

/** A file that looks like a spec but lies where flagkeel does not read it. */
export interface StrayFile {
  readonly path: string;
  readonly advice: string;
}

/** @param beside candidate files outside of the folders of specs. */
export function straysOf(
  tree: SpecTree,
  beside: readonly { readonly path: string; readonly text: string }[],
): StrayFile[] {
  const inside = tree.list().flatMap(({ path, type }): StrayFile[] => {
    if (type !== 'file' || isHidden(path) || fileKindOf(path) !== undefined) return [];
    if (path.endsWith('.keys')) return [{ path, advice: 'key files lie in segments/' }];
    if (path.endsWith('.csv')) return [{ path, advice: 'lists of identities lie in identities/' }];
    const isTest = folderKindOf(path) === 'spec-test' && path.endsWith('.yaml');
    return isTest ? [{ path, advice: 'the name of a spec test ends in .test.yaml' }] : [];
  });
  const outside = beside.flatMap(({ path, text }) => {
    if (path.endsWith('.keys')) return [{ path, advice: 'key files lie in segments/' }];
    const meant = Object.values(SPEC_FOLDERS).find(({ marks }) =>
      marks.every((mark) => mark.test(text)),
    );
    return meant ? [{ path, advice: meant.advice }] : [];
  });
  return [...inside, ...outside];
}
