import type { Location } from '../model/diagnostic.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { DiagnosticCode } from './codes.js';
import { FilePlaces } from './file-places.js';
import { parseIdentitiesCsv } from './identities-csv.js';
import { parseKeyFile } from './key-file.js';
import { schemaProblems } from './schema-problems.js';
import type { SchemaName } from './schemas.js';
import {
  apiKeyProblems,
  decodeUtf8,
  SourceText,
  toDiagnostic,
  type Problem,
  type Span,
} from './source-text.js';
import { placesIn, typedValue } from './typed-value.js';
import { parseYaml } from './yaml-file.js';

export type FileKind = SchemaName | 'keys' | 'identities-csv';

/** One file by itself: nothing in here depends on its path, on other files, or on the config. */
export interface ParsedFile {
  readonly source: SourceText;
  /** The value, also where it departs from its schema; undefined where there is none. */
  readonly value: unknown;
  /** Whether the value is what its schema says. */
  readonly valid: boolean;
  /** Null: there are none, as in a list of keys. */
  readonly places: FilePlaces | null;
  readonly problems: readonly Problem[];
}

/** How each begins; taken for a list of keys, its lines would become keys. */
const LFS_POINTER = 'version https://git-lfs.github.com/spec/';

/** Parses one file; never throws on account of its content. */
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

function parseSpec(kind: SchemaName, source: SourceText): ParsedFile {
  const leaks = apiKeyProblems(source.text);
  const yaml = parseYaml(source.text);
  if (!yaml.ok) return unreadable(source, [...leaks, yaml.problem]);
  const { document } = yaml;
  const { value, marks, problems } = typedValue(document, kind);
  // What an alias or a doubled key left behind would only echo in the schema's errors.
  const departures =
    problems.length > 0 ? [] : schemaProblems(kind, value, () => placesIn(document, kind));
  return {
    source,
    value,
    valid: problems.length + departures.length === 0,
    places: new FilePlaces(kind, { text: source.text, value, marks }),
    problems: [...leaks, ...problems, ...departures],
  };
}

function listed(
  source: SourceText,
  { keys, problems }: { keys: unknown; problems: readonly Problem[] },
): ParsedFile {
  return { source, value: keys, valid: problems.length === 0, places: null, problems };
}

function unreadable(source: SourceText, problems: readonly Problem[]): ParsedFile {
  return { source, value: undefined, valid: false, places: null, problems };
}

function problemAt(code: DiagnosticCode, span: Span, message: string): Problem {
  return { severity: 'error', code, span, message };
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

  location(path: readonly (string | number)[]): Location {
    return this.parsed.source.location(this.path, this.parsed.places?.startOf(path) ?? 0);
  }

  diagnostic(
    code: DiagnosticCode,
    place: { path: readonly (string | number)[]; at?: 'key' | 'value'; severity?: 'warning' },
    message: string,
  ): Diagnostic {
    const span = this.#span(place.path, place.at ?? 'value');
    const severity = place.severity ?? 'error';
    return toDiagnostic(this.path, this.parsed.source, { severity, code, span, message });
  }

  /** Keys of a mapping in the order of the file; empty where there is no mapping. */
  keys(...path: readonly (string | number)[]): readonly string[] {
    return this.parsed.places?.keys(path) ?? [];
  }

  #span(path: readonly (string | number)[], at: 'key' | 'value'): Span {
    const place = this.parsed.places?.at(path);
    if (place === undefined) return { from: 0, to: 1 };
    return at === 'key' ? (place.key ?? place.value) : place.value;
  }
}
