import type { Diagnostic } from '../../model/diagnostic.js';
import { isSpecFolder, topOf, type SpecTree, type TreeEntry } from '../../model/spec-tree.js';
import { parseFile, type FileKind, type SpecFile } from './parse-file.js';
import { fileDiagnostic } from './source-text.js';
import { SpecCache } from '../cache.js';

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

export async function loadFiles(
  tree: SpecTree,
  memory: SpecCache = new SpecCache(),
): Promise<LoadedFiles> {
  const entries = tree.list();
  const diagnostics = entries.flatMap(pathDiagnostics);
  const wanted = entries.flatMap((entry) => {
    const kind = kindOf(entry.path);
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
  const files = new Map<FileKind, SpecFile[]>();
  for (const { kind, file } of wanted) {
    if (file === undefined) continue;
    const ofKind = files.get(kind) ?? [];
    files.set(kind, ofKind);
    ofKind.push(file);
    diagnostics.push(...file.diagnostics());
  }
  memory.endReading([...files.values()].flat());
  return { files, diagnostics, entries: new Map(entries.map((entry) => [entry.path, entry])) };
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

function maxBytes(kind: FileKind): number {
  return kind === 'keys' || kind === 'identities-csv' ? MAX_KEY_FILE_BYTES : MAX_YAML_BYTES;
}

const WORDS_OF = {
  file: 'a file',
  symlink: 'a symbolic link',
  submodule: 'a submodule',
  special: 'a special file (a pipe, a socket or a device)',
} as const;

/** Without a report, a path that flagkeel cannot read would look like a removal. */
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

/** A file that looks like a spec but lies where flagkeel does not read it. */
export interface StrayFile {
  readonly path: string;
  readonly advice: string;
}

/** How `straysOf` recognises specs: a member that begins a line, a second one if that is common, and their folder. */
const MARKS = [
  [/^flag:/m, /^(?:treatments|environment):/m, 'flags lie in flags/'],
  [/^segment:/m, /^/, 'segments lie in segments/'],
  [/^kills:/m, /^/, 'kills stand in kills/<environment>.yaml'],
  [/^identities:/m, /^/, 'identities lie in identities/'],
  [/^tests:/m, /^cases:/m, 'spec tests lie in tests/ and end in .test.yaml'],
] as const;

/** @param beside candidate files outside of the folders of specs. */
export function straysOf(
  tree: SpecTree,
  beside: readonly { readonly path: string; readonly text: string }[],
): StrayFile[] {
  const inside = tree.list().flatMap(({ path, type }): StrayFile[] => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (type !== 'file' || name.startsWith('.') || kindOf(path) !== undefined) return [];
    if (name.endsWith('.keys')) return [{ path, advice: 'key files lie in segments/' }];
    if (name.endsWith('.csv')) return [{ path, advice: 'lists of identities lie in identities/' }];
    const isTest = path.startsWith('tests/') && name.endsWith('.yaml');
    return isTest ? [{ path, advice: 'the name of a spec test ends in .test.yaml' }] : [];
  });
  const outside = beside.flatMap(({ path, text }) => {
    if (path.endsWith('.keys')) return [{ path, advice: 'key files lie in segments/' }];
    const mark = MARKS.find(([first, second]) => first.test(text) && second.test(text));
    return mark ? [{ path, advice: mark[2] }] : [];
  });
  return [...inside, ...outside];
}
