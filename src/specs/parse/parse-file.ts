import type { Diagnostic, Location, SpecFault, SpecPath } from '../../model/diagnostic.js';
import { isRecord, memberOf, pointerOf, valueAt } from '../../model/json.js';
import type { FileKind, NamedKind } from '../../model/ref.js';
import { parseIdentitiesCsv, parseKeyFile } from './key-lists.js';
import { schemaProblems } from './schema-problems.js';
import type { SchemaName } from './schemas.js';
import { apiKeyProblems, decodeUtf8, problemAt, SourceText, type Problem } from './source-text.js';
import { didYouMean } from './suggest.js';
import { fileKeys, placeIn, typedValue, type Place, type Spans } from './typed-value.js';
import { parseYaml } from './yaml-file.js';

interface Content {
  readonly source: SourceText;
  readonly value?: unknown;
  /** Undefined for a list of keys or identities, which has no inner places. */
  readonly spans?: Spans;
  readonly problems: readonly Problem[];
}

const UNKNOWN = {
  check: 'unknown-check',
  environment: 'unknown-environment',
  window: 'unknown-window',
} as const;

export interface PlaceInFile {
  readonly path: SpecPath;
  /** Default: the value. */
  readonly at?: 'key' | 'value';
  /** Default: error. */
  readonly severity?: Diagnostic['severity'];
}

/** One file by itself, independent of other files and of the config. */
export class SpecFile {
  readonly path: string;
  readonly source: SourceText;
  /** The value, even if it violates its schema; undefined without one. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  readonly #spans: Spans | undefined;

  constructor(path: string, { source, value, spans, problems }: Content) {
    this.path = path;
    this.source = source;
    this.value = value;
    this.problems = problems;
    this.#spans = spans;
  }

  /** Whether its value fits the schema. An API key somewhere is an error, but leaves the value as it is. */
  get valid(): boolean {
    return this.problems.every(({ code }) => code === 'api-key-in-file');
  }

  diagnostics(): Diagnostic[] {
    return this.problems.map((each) => this.source.diagnostic(this.path, each));
  }

  /** The beginning of a value, or of its key if it is a member; the beginning of the file if there is none. */
  location(path: SpecPath): Location {
    const { key, value } = this.place(path) ?? {};
    return this.source.location(this.path, (key ?? value)?.from ?? 0);
  }

  diagnostic(
    code: Problem['code'],
    { path, at = 'value', severity = 'error' }: PlaceInFile,
    message: string,
  ): Diagnostic {
    const { key, value = { from: 0, to: 1 } } = this.place(path) ?? {};
    const span = at === 'key' ? (key ?? value) : value;
    return this.source.diagnostic(this.path, { severity, code, span, message });
  }

  /** @param path of the value that a fault knows its place in. */
  fault(path: SpecPath, { code, path: inside, at, message, unknown }: SpecFault): Diagnostic {
    const hint = unknown === undefined ? '' : didYouMean(unknown.name, unknown.candidates);
    return this.diagnostic(code, { path: [...path, ...inside], at }, `${message}${hint}`);
  }

  /** A diagnostic unless flagkeel.yaml has the name. */
  unknownName(
    noun: keyof typeof UNKNOWN,
    name: string,
    known: readonly string[],
    place: PlaceInFile,
  ): Diagnostic[] {
    if (known.includes(name)) return [];
    const message = `flagkeel.yaml has no ${noun} "${name}"${didYouMean(name, known)}`;
    return [this.diagnostic(UNKNOWN[noun], place, message)];
  }

  /** The keys of a mapping in the order of the file. */
  keys(...path: SpecPath): readonly string[] {
    const value = valueAt(this.value, path);
    return isRecord(value) ? fileKeys(value) : [];
  }

  place(path: SpecPath): Place | undefined {
    return this.#spans && placeIn(this.#spans, this.value, path);
  }

  /** Whether no problem has its place at or below a path. */
  isSound(...path: SpecPath): boolean {
    const pointer = `${pointerOf(path)}/`;
    return !this.problems.some((each) => `${each.pointer ?? ''}/`.startsWith(pointer));
  }

  /** Name of the flag or segment, as written; undefined if it is missing or not a text. */
  nameIn(member: NamedKind): string | undefined {
    const name = memberOf(this.value, member);
    return typeof name === 'string' ? name : undefined;
  }
}

/** The beginning of every pointer of Git LFS. Read as a list of keys, its lines would become keys. */
const LFS_POINTER = 'version https://git-lfs.github.com/spec/';

/** Parses one file; never throws because of the content. */
export function parseFile(path: string, kind: FileKind | SchemaName, bytes: Uint8Array): SpecFile {
  return new SpecFile(path, contentOf(kind, bytes));
}

function contentOf(kind: FileKind | SchemaName, bytes: Uint8Array): Content {
  const text = decodeUtf8(bytes);
  const source = new SourceText(text ?? '');
  if (text === undefined) {
    const message = 'the file is not UTF-8 text, or holds a null character';
    return { source, problems: [problemAt('invalid-utf8', { from: 0, to: 1 }, message)] };
  }
  if (text.startsWith(LFS_POINTER)) {
    const message = 'the file is a pointer of Git LFS; only what git itself holds is read';
    const span = { from: 0, to: LFS_POINTER.length };
    return { source, problems: [problemAt('lfs-pointer', span, message)] };
  }
  const leaks = apiKeyProblems(text);
  if (kind === 'keys' || kind === 'identities-csv') {
    const { keys, problems } = kind === 'keys' ? parseKeyFile(text) : parseIdentitiesCsv(text);
    return { source, value: keys, problems: [...leaks, ...problems] };
  }
  const yaml = parseYaml(text);
  if (!yaml.ok) return { source, problems: [...leaks, yaml.problem] };
  const { value, spans, problems } = typedValue(yaml.document, kind);
  // The remains of an alias or a duplicate key would only repeat as errors of the schema.
  const departures = problems.length > 0 ? [] : schemaProblems(kind, value, spans);
  return { source, value, spans, problems: [...leaks, ...problems, ...departures] };
}
