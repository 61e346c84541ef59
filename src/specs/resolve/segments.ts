import { posix } from 'node:path';
import { MAX_KEYS_PER_SEGMENT } from '../../admin-api/wire.js';
import type { ActivationSpec, SegmentSpec } from '../../generated/segment.schema.d.js';
import { keyList, type KeyList } from '../../model/segment-keys.js';
import type { DesiredActivation, DesiredSegment } from '../../model/desired.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import { hasControlCharacter } from '../parse/key-lists.js';
import { fileKindOf } from '../../model/spec-tree.js';
import type { SpecFile } from '../parse/parse-file.js';
import { Memory, present, sortedMap } from '../../model/collections.js';
import {
  environmentDiagnostics,
  nameDiagnostics,
  trafficTypeOf,
  type SpecOf,
  type SpecSet,
} from './spec-set.js';
import { didYouMean } from '../parse/suggest.js';

interface ResolvedSegment {
  readonly segment: DesiredSegment;
  readonly diagnostics: readonly Diagnostic[];
}

const RESOLVED = new Memory<SegmentSpec, ResolvedSegment>();

/** Every segment with its keys. Use them only if the diagnostics have no error. */
export function resolveSegments(
  specs: SpecSet,
  found: Diagnostic[],
): ReadonlyMap<string, DesiredSegment> {
  const keyFiles = new Map(specs.loaded.files.keys.map((file) => [file.path, file]));
  const used = new Set<string>();
  const segments = [...specs.named.segment.values()].map((each) => {
    const { file, spec } = each;
    const paths = Object.values(spec.environments ?? {}).flatMap(({ keysFile }) =>
      keysFile === undefined ? [] : [keyFilePath(file, keysFile)],
    );
    const from = [specs.settings, ...paths.map((path) => keyFiles.get(path))];
    const make = () => resolveSegment(specs, each, keyFiles);
    // For a missing key file the diagnostic suggests other key files, so the result depends on more than these files.
    const resolved = from.includes(undefined) ? make() : RESOLVED.of(spec, from, make);
    for (const { keysFile } of resolved.segment.environments.values()) {
      if (keysFile !== undefined) used.add(keysFile);
    }
    found.push(...resolved.diagnostics);
    return resolved.segment;
  });
  found.push(...unusedDiagnostics(specs, keyFiles, used));
  return sortedMap(segments.map((each) => [each.name, each]));
}

function resolveSegment(
  specs: SpecSet,
  { file, spec }: SpecOf<SegmentSpec>,
  keyFiles: ReadonlyMap<string, SpecFile>,
): ResolvedSegment {
  const { segment: name, description = '', trafficType: written } = spec;
  const diagnostics: Diagnostic[] = [];
  const trafficType = trafficTypeOf(specs, { file, written, member: 'segment' }, diagnostics);
  diagnostics.push(...nameDiagnostics('segment', file, name));
  const environments = Object.entries(spec.environments ?? {}).map(([environment, activation]) => {
    const path = ['environments', environment];
    diagnostics.push(...environmentDiagnostics(specs, { file, path, at: 'key' }, environment));
    const place = { specs, file, path, keyFiles };
    return [environment, resolveActivation(activation, place, diagnostics)] as const;
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

/** The activation, even with errors. Without `keys` and `keysFile` git does not manage its keys. */
function resolveActivation(
  { mode = 'exact', keys, keysFile }: ActivationSpec,
  place: ActivationPlace,
  found: Diagnostic[],
): DesiredActivation {
  const { file, keyFiles } = place;
  const location = file.location(place.path);
  const member = keys === undefined ? 'keysFile' : 'keys';
  const atMember = { path: [...place.path, member], at: 'key' } as const;
  if (mode === 'external' && (keys ?? keysFile) !== undefined) {
    const message = `an external segment has its keys from elsewhere: "mode: external" and keys exclude each other`;
    found.push(file.diagnostic('external-keys', atMember, message));
  }
  const path = keysFile === undefined ? undefined : keyFileOf(keysFile, place, found);
  found.push(...keyDiagnostics(keys ?? [], place));
  if (keys === undefined && keysFile === undefined) return { location, mode };
  const parsed = path === undefined ? undefined : keyFiles.get(path)?.value;
  const listed = (parsed ?? NO_LIST) as readonly string[];
  // A key file by itself is sorted and hashed once, however many segments and readings use it.
  const together = keys?.length
    ? keyList([...keys, ...listed])
    : KEY_LISTS.of(listed, [], () => keyList(listed));
  if (together.digest.count > MAX_KEYS_PER_SEGMENT) {
    const message = `${together.digest.count} keys; a segment holds ${MAX_KEYS_PER_SEGMENT} in an environment at most`;
    found.push(file.diagnostic('key-number', atMember, message));
  }
  return { location, mode, keys: together, ...present({ keysFile: path }) };
}

const NO_LIST: readonly string[] = [];
const KEY_LISTS = new Memory<readonly string[], KeyList>();

interface ActivationPlace {
  readonly specs: SpecSet;
  readonly file: SpecFile;
  readonly path: readonly string[];
  readonly keyFiles: ReadonlyMap<string, SpecFile>;
}

/** The path of a readable key file; undefined, with a diagnostic, if there is none. */
function keyFileOf(
  written: string,
  { specs, file, path: place, keyFiles }: ActivationPlace,
  found: Diagnostic[],
): string | undefined {
  const path = keyFilePath(file, written);
  const { entries } = specs.loaded;
  const at = { path: [...place, 'keysFile'] };
  // A link anywhere on the path may lead out of the repository.
  const isLinked = [...parentsOf(path), path].some(
    (part) => (entries.get(part)?.type ?? 'file') !== 'file',
  );
  if (posix.isAbsolute(written) || path.startsWith('../') || written.includes('\\') || isLinked) {
    const message = `"${written}" leads out of the repository; a key file lies in segments/ and is no link`;
    found.push(file.diagnostic('key-file-outside', at, message));
    return undefined;
  }
  // A file that is too large to be read has its own diagnostic.
  if (entries.has(path) && (keyFiles.has(path) || fileKindOf(path) === 'keys')) return path;
  const others = [...keyFiles.keys()].map((each) => posix.relative(posix.dirname(file.path), each));
  const message = `there is no key file "${written}" (a file in segments/ whose name ends in .keys)${didYouMean(written, others)}`;
  found.push(file.diagnostic('key-file-missing', at, message));
  return undefined;
}

/** Only warns about duplicate keys, because a list of keys is a set. */
function keyDiagnostics(keys: readonly string[], place: ActivationPlace): Diagnostic[] {
  const { file } = place;
  const seen = new Set<string>();
  return [...keys.entries()].flatMap(([position, key]): Diagnostic[] => {
    const path = [...place.path, 'keys', position];
    const isTwice = seen.has(key);
    seen.add(key);
    if (hasControlCharacter(key)) {
      return [file.diagnostic('invalid-key', { path }, 'the key holds a control character')];
    }
    if (!isTwice) return [];
    const at = { path, severity: 'warning' } as const;
    return [file.diagnostic('key-listed-twice', at, `key "${key}" stands here twice`)];
  });
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
  if (specs.unjudged.segment.size > 0) return [];
  const place = { path: [], severity: 'warning' } as const;
  return [...keyFiles.values()]
    .filter(({ path }) => !used.has(path))
    .map((file) => file.diagnostic('unused-key-file', place, 'no segment names this key file'));
}
