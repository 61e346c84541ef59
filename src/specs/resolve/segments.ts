import { posix } from 'node:path';
import { MAX_KEYS_PER_SEGMENT } from '../../admin-api/wire.js';
import type { ActivationSpec, SegmentSpec } from '../../generated/segment.schema.d.js';
import { keyList, type KeyList } from '../../model/segment-keys.js';
import { SEGMENT_NAME } from '../../model/ref.js';
import type { DesiredActivation, DesiredSegment } from '../../model/desired.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import { hasControlCharacter } from '../parse/key-lists.js';
import { kindOf } from '../parse/load-files.js';
import type { SpecFile } from '../parse/parse-file.js';
import { sortedMap } from '../../model/collections.js';
import {
  environmentDiagnostics,
  fileNameOf,
  trafficTypeOf,
  type SpecOf,
  type SpecSet,
} from './spec-set.js';
import { didYouMean } from '../parse/suggest.js';

/** Every segment with its keys. Use them only if the diagnostics have no error. */
export function resolveSegments(specs: SpecSet): {
  segments: ReadonlyMap<string, DesiredSegment>;
  diagnostics: Diagnostic[];
} {
  const diagnostics: Diagnostic[] = [];
  const keyFiles = new Map((specs.loaded.files.get('keys') ?? []).map((file) => [file.path, file]));
  const used = new Set<string>();
  const segments = [...specs.segments.values()].map((each) => {
    const { file, spec } = each;
    const paths = Object.values(spec.environments ?? {}).flatMap(({ keysFile }) =>
      keysFile === undefined ? [] : [keyFilePath(file, keysFile)],
    );
    const from = [specs.settings, ...paths.map((path) => keyFiles.get(path)?.parsed)];
    const isWhole = !from.includes(undefined);
    const make = () => resolveSegment(specs, each, keyFiles);
    // For a missing key file the diagnostic suggests other key files, so the result depends on more than these files
    // and is not cached.
    const resolved = isWhole ? specs.memory.segments.get(file, from, make) : make();
    for (const { keysFile } of resolved.segment.environments.values()) {
      if (keysFile !== undefined) used.add(keysFile);
    }
    diagnostics.push(...resolved.diagnostics);
    return resolved.segment;
  });
  diagnostics.push(...unusedDiagnostics(specs, keyFiles, used));
  return { segments: sortedMap(segments.map((each) => [each.name, each])), diagnostics };
}

function resolveSegment(
  specs: SpecSet,
  { file, spec }: SpecOf<SegmentSpec>,
  keyFiles: ReadonlyMap<string, SpecFile>,
): { segment: DesiredSegment; diagnostics: Diagnostic[] } {
  const { segment: name, description = '', trafficType: written } = spec;
  const said = { file, written, member: 'segment' };
  const { trafficType, diagnostics: missing } = trafficTypeOf(specs, said);
  const diagnostics = [...missing, ...nameDiagnostics({ file, spec })];
  const environments = Object.entries(spec.environments ?? {}).map(([environment, activation]) => {
    const path = ['environments', environment];
    diagnostics.push(...environmentDiagnostics(specs, { file, path, at: 'key' }, environment));
    const one = new ActivationReader(specs, { file, path, keyFiles });
    const desired = one.read(activation);
    diagnostics.push(...one.diagnostics);
    return [environment, desired] as const;
  });
  const segment: DesiredSegment = {
    name,
    location: file.location(['segment']),
    trafficType,
    description,
    ...(spec.protect === true && { protect: true }),
    environments: sortedMap(environments),
  };
  return { segment, diagnostics };
}

/** Path of the key file from the root of the tree. A segment names it relative to its own folder. */
function keyFilePath({ path }: SpecFile, written: string): string {
  return posix.normalize(posix.join(posix.dirname(path), written));
}

function nameDiagnostics({ file, spec: { segment } }: SpecOf<SegmentSpec>): Diagnostic[] {
  const place = { path: ['segment'] };
  if (!SEGMENT_NAME.test(segment)) {
    const message = `segment "${segment}": a name has letters, digits, '-', '_' and '.' only`;
    return [file.diagnostic('segment-name', place, message)];
  }
  if (fileNameOf(file.path) === segment) return [];
  const message = `the file is named "${fileNameOf(file.path)}.yaml", the segment "${segment}"`;
  return [file.diagnostic('file-name', place, message)];
}

class ActivationReader {
  readonly diagnostics: Diagnostic[] = [];
  readonly #specs: SpecSet;
  readonly #file: SpecFile;
  readonly #path: readonly string[];
  readonly #keyFiles: ReadonlyMap<string, SpecFile>;

  constructor(
    specs: SpecSet,
    at: { file: SpecFile; path: readonly string[]; keyFiles: ReadonlyMap<string, SpecFile> },
  ) {
    this.#specs = specs;
    this.#file = at.file;
    this.#path = at.path;
    this.#keyFiles = at.keyFiles;
  }

  /** The activation, even with errors. Without `keys` and `keysFile` git does not manage its keys. */
  read({ mode = 'exact', keys, keysFile }: ActivationSpec): DesiredActivation {
    const location = this.#file.location(this.#path);
    if (mode === 'external' && (keys ?? keysFile) !== undefined) {
      const member = keys === undefined ? 'keysFile' : 'keys';
      const message = `an external segment has its keys from elsewhere: "mode: external" and keys exclude each other`;
      this.#add('external-keys', [member], { message, at: 'key' });
    }
    const path = keysFile === undefined ? undefined : this.#keyFilePath(keysFile);
    const listed =
      path === undefined ? [] : ((this.#keyFiles.get(path)?.parsed.value ?? []) as string[]);
    this.#checkKeys(keys ?? []);
    if (keys === undefined && keysFile === undefined) return { location, mode };
    const together = this.#keyList(keys ?? [], listed);
    this.#checkCount(together.digest.count, keys === undefined ? 'keysFile' : 'keys');
    return { location, mode, keys: together, ...(path !== undefined && { keysFile: path }) };
  }

  /** A key file by itself is sorted and hashed once, however many segments and readings use it. */
  #keyList(keys: readonly string[], listed: readonly string[]): KeyList {
    if (keys.length > 0) return keyList([...keys, ...listed]);
    return this.#specs.memory.keyLists.get(listed, [], () => keyList(listed));
  }

  /** Path of a readable key file; undefined, with a diagnostic, otherwise. */
  #keyFilePath(written: string): string | undefined {
    const path = keyFilePath(this.#file, written);
    const entry = this.#specs.loaded.entries.get(path);
    // A link anywhere on the path may lead out of the repository.
    const isLinked = [...parentsOf(path), path].some(
      (part) => (this.#specs.loaded.entries.get(part)?.type ?? 'file') !== 'file',
    );
    if (posix.isAbsolute(written) || path.startsWith('../') || written.includes('\\') || isLinked) {
      const message = `"${written}" leads out of the repository; a key file lies in segments/ and is no link`;
      this.#add('key-file-outside', ['keysFile'], { message });
      return undefined;
    }
    if (entry !== undefined && this.#keyFiles.has(path)) return path;
    // The file is too large to be read, which has its own diagnostic.
    if (entry !== undefined && kindOf(path) === 'keys') return path;
    const others = [...this.#keyFiles.keys()].map((each) =>
      posix.relative(posix.dirname(this.#file.path), each),
    );
    const message = `there is no key file "${written}" (a file in segments/ whose name ends in .keys)${didYouMean(written, others)}`;
    this.#add('key-file-missing', ['keysFile'], { message });
    return undefined;
  }

  /** Warns about duplicate keys, because a list of keys is a set. */
  #checkKeys(keys: readonly string[]): void {
    const seen = new Set<string>();
    for (const [position, key] of keys.entries()) {
      if (hasControlCharacter(key)) {
        const message = 'the key holds a control character';
        this.#add('invalid-key', ['keys', position], { message });
      } else if (seen.has(key)) {
        const message = `key "${key}" stands here twice`;
        this.#add('key-listed-twice', ['keys', position], { message, severity: 'warning' });
      }
      seen.add(key);
    }
  }

  #checkCount(count: number, member: string): void {
    if (count <= MAX_KEYS_PER_SEGMENT) return;
    const message = `${count} keys; a segment holds ${MAX_KEYS_PER_SEGMENT} in an environment at most`;
    this.#add('key-number', [member], { message, at: 'key' });
  }

  #add(
    code: Parameters<SpecFile['diagnostic']>[0],
    path: readonly (string | number)[],
    { message, ...place }: { message: string; at?: 'key'; severity?: 'warning' },
  ): void {
    const at = { path: [...this.#path, ...path], ...place };
    this.diagnostics.push(this.#file.diagnostic(code, at, message));
  }
}

function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'));
}

function unusedDiagnostics(
  specs: SpecSet,
  keyFiles: ReadonlyMap<string, SpecFile>,
  used: ReadonlySet<string>,
): Diagnostic[] {
  // An unreadable segment may be the one that uses it.
  if (specs.unjudged.segments.size > 0) return [];
  const place = { path: [], severity: 'warning' } as const;
  return [...keyFiles.values()]
    .filter(({ path }) => !used.has(path))
    .map((file) => file.diagnostic('unused-key-file', place, 'no segment names this key file'));
}
