import type { Location, Diagnostic } from '../../model/diagnostic.js';
import { parseIdentitiesCsv, parseKeyFile } from './key-lists.js';
import { schemaProblems } from './schema-problems.js';
import type { SchemaName } from './schemas.js';
import {
  apiKeyProblems,
  decodeUtf8,
  problemAt,
  SourceText,
  toDiagnostic,
  type Problem,
  type Span,
} from './source-text.js';
import { OFFSETS, placesIn, typedValue, type Place, type Spans } from './typed-value.js';
import { isRecord, memberOf, pointerOf, valueAt } from '../../model/json.js';
import { parseYaml } from './yaml-file.js';

export type FileKind = SchemaName | 'keys' | 'identities-csv';

/** One file by itself, independent of its path, of other files, and of the config. */
export interface ParsedFile {
  readonly source: SourceText;
  /** The value, even if it violates its schema; undefined without one. */
  readonly value: unknown;
  readonly valid: boolean;
  /** Name of the file's flag or segment, as written; undefined if it is missing or not a text. */
  readonly subject: string | undefined;
  /** Null for a list of keys or identities, which has no inner places. */
  readonly places: SourcePositions | null;
  readonly problems: readonly Problem[];
}

/** The beginning of every pointer of Git LFS. Read as a list of keys, its lines would become keys. */
const LFS_POINTER = 'version https://git-lfs.github.com/spec/';

/** Parses one file; never throws because of the content. */
export function parseFile(kind: FileKind, bytes: Uint8Array): ParsedFile {
  const text = decodeUtf8(bytes);
  if (text === undefined) {
    const message = 'the file is not UTF-8 text';
    return unreadable(new SourceText(''), [problemAt('invalid-utf8', { from: 0, to: 1 }, message)]);
  }
  const source = new SourceText(text);
  if (text.startsWith(LFS_POINTER)) {
    const message = 'the file is a pointer of Git LFS; only what git itself holds is read';
    const span = { from: 0, to: LFS_POINTER.length };
    return unreadable(source, [problemAt('lfs-pointer', span, message)]);
  }
  if (kind === 'keys') return listed(source, parseKeyFile(text));
  if (kind === 'identities-csv') {
    const { keys, problems } = parseIdentitiesCsv(text);
    return listed(source, { keys, problems: [...apiKeyProblems(text), ...problems] });
  }
  return parseSpec(kind, source);
}

/** Kinds of files about one object, with the member that names it. */
const SUBJECTS: Partial<Record<FileKind, string>> = {
  flag: 'flag',
  'flag-overlay': 'flag',
  segment: 'segment',
};

function parseSpec(kind: SchemaName, source: SourceText): ParsedFile {
  const leaks = apiKeyProblems(source.text);
  const yaml = parseYaml(source.text);
  if (!yaml.ok) return unreadable(source, [...leaks, yaml.problem]);
  const { document } = yaml;
  const { value, spans, problems } = typedValue(document, kind);
  // The remains of an alias or a duplicate key would only repeat as errors of the schema.
  const departures =
    problems.length > 0 ? [] : schemaProblems(kind, value, () => placesIn(document, kind));
  const places = { text: source.text, value, spans: problems.length > 0 ? null : spans };
  const name = memberOf(value, SUBJECTS[kind] ?? '');
  return {
    source,
    value,
    subject: typeof name === 'string' ? name : undefined,
    valid: problems.length + departures.length === 0,
    places: new SourcePositions(kind, places),
    problems: [...leaks, ...problems, ...departures],
  };
}

function listed(
  source: SourceText,
  { keys, problems }: { keys: unknown; problems: readonly Problem[] },
): ParsedFile {
  const valid = problems.length === 0;
  return { source, value: keys, subject: undefined, valid, places: null, problems };
}

function unreadable(source: SourceText, problems: readonly Problem[]): ParsedFile {
  return { source, value: undefined, subject: undefined, valid: false, places: null, problems };
}

/** A parsed file at its path: turns places into locations and mistakes into diagnostics. */
export class SpecFile {
  readonly path: string;
  readonly parsed: ParsedFile;

  constructor(path: string, parsed: ParsedFile) {
    this.path = path;
    this.parsed = parsed;
  }

  get valid(): boolean {
    return this.parsed.valid;
  }

  diagnostics(): Diagnostic[] {
    return this.parsed.problems.map((each) => toDiagnostic(this.path, this.parsed.source, each));
  }

  /** The beginning of a value, or of its key if it is a member; the beginning of the file if there is none. */
  location(path: readonly (string | number)[]): Location {
    return this.parsed.source.location(this.path, this.parsed.places?.startOf(path) ?? 0);
  }

  /** @param place its severity is `error` by default. */
  diagnostic(
    code: Problem['code'],
    place: { path: readonly (string | number)[]; at?: 'key' | 'value'; severity?: 'warning' },
    message: string,
  ): Diagnostic {
    const span = this.#span(place.path, place.at ?? 'value');
    const severity = place.severity ?? 'error';
    return toDiagnostic(this.path, this.parsed.source, { severity, code, span, message });
  }

  keys(...path: readonly (string | number)[]): readonly string[] {
    return this.parsed.places?.keys(path) ?? [];
  }

  /** The span of a value or of its key; the beginning of the file if it cannot be found. */
  #span(path: readonly (string | number)[], at: 'key' | 'value'): Span {
    const place = this.parsed.places?.at(path);
    if (place === undefined) return { from: 0, to: 1 };
    return at === 'key' ? (place.key ?? place.value) : place.value;
  }
}

type Path = readonly (string | number)[];

/**
 * The positions of a file's values. Keeps only offsets, because lint and every reading use them in each of ten thousand
 * files. Parses the text again where offsets are insufficient: if the YAML itself is wrong, and inside mappings whose
 * keys look like numbers, which an object orders differently than the file.
 */
class SourcePositions {
  readonly #kind: SchemaName;
  readonly #text: string;
  readonly #value: unknown;
  /** See `typedValue`; null if they do not fit the value. */
  readonly #spans: Spans | null;
  #all: ReadonlyMap<string, Place> | undefined;

  constructor(
    kind: SchemaName,
    { text, value, spans }: { text: string; value: unknown; spans: Spans | null },
  ) {
    this.#kind = kind;
    this.#text = text;
    this.#value = value;
    this.#spans = spans;
  }

  at(path: Path): Place | undefined {
    const index = this.#spans === null ? undefined : indexOf(this.#value, path);
    if (index === undefined || this.#spans === null) return this.#parsed().get(pointerOf(path));
    return index === null ? undefined : placeIn(this.#spans, index);
  }

  /** The beginning of a value's key, or of the value itself if it is not a member. */
  startOf(path: Path): number | undefined {
    const place = this.at(path);
    return (place?.key ?? place?.value)?.from;
  }

  keys(path: Path): readonly string[] {
    const value = valueAt(this.#value, path);
    if (!isRecord(value)) return [];
    return orderedKeys(value) ?? this.#parsed().get(pointerOf(path))?.keys ?? [];
  }

  #parsed(): ReadonlyMap<string, Place> {
    this.#all ??= allPlaces(this.#kind, this.#text);
    return this.#all;
  }
}

function placeIn(spans: Spans, index: number): Place {
  const first = index * OFFSETS;
  const at = (place: number): number => spans[first + place] ?? 0;
  const value = { from: at(2), to: at(3) };
  return at(1) > 0 ? { key: { from: at(0), to: at(1) }, value } : { value };
}

/** Parses the text again; a text with broken YAML has no places. */
function allPlaces(kind: SchemaName, text: string): ReadonlyMap<string, Place> {
  const yaml = parseYaml(text);
  return yaml.ok ? placesIn(yaml.document, kind) : new Map();
}

/** Position among all values of a file; null if there is no such value, undefined if the file's order is unknown. */
function indexOf(root: unknown, path: Path): number | null | undefined {
  let index = 0;
  let value = root;
  for (const part of path) {
    if (isRecord(value) && orderedKeys(value) === undefined) return undefined;
    const before = countBefore(value, String(part));
    if (before === null) return null;
    index += 1 + before;
    value = memberOf(value, part);
  }
  return index;
}

/** The number of values before a member or an element, inside its container; null if it is missing. */
function countBefore(value: unknown, part: string): number | null {
  if (typeof value !== 'object' || value === null) return null;
  let sum = 0;
  for (const [name, member] of Object.entries(value)) {
    if (name === part) return sum;
    sum += countOf(member);
  }
  return null;
}

/** Itself included. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const each of Object.values(value)) count += countOf(each);
  return count;
}

/** Keys that JavaScript objects sort before all others. */
const LIKE_A_NUMBER = /^(?:0|[1-9]\d*)$/;

/** Keys in the order of the file; undefined if the object does not keep that order. */
function orderedKeys(mapping: object): string[] | undefined {
  const keys = Object.keys(mapping);
  return LIKE_A_NUMBER.test(keys[0] ?? '') ? undefined : keys;
}
