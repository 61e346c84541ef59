import type { Diagnostic, Location } from '../../model/diagnostic.js';
import { apiKeysIn, maskedApiKeys } from '../../model/audit-note.js';
import type { DiagnosticCode } from '../codes.js';

/** Offsets in UTF-16 code units; `to` is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** One mistake in a file, independent of the file's path. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly code: DiagnosticCode;
  readonly span: Span;
  readonly message: string;
  /** JSON Pointer of the wrong value, if there is one. */
  readonly pointer?: string;
}

export function problemAt(code: DiagnosticCode, span: Span, message: string): Problem {
  return { severity: 'error', code, span, message };
}

/** The longest excerpt of a line, in UTF-16 code units. */
const MAX_EXCERPT = 200;

/** In UTF-16 code units. Longer texts keep a table of their lines; counting those of shorter ones is quick. */
const LONG_TEXT = 16 * 1024;

/** The text of a file, with positions as people count them. */
export class SourceText {
  readonly text: string;
  #lineStarts: readonly number[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** Line and column count from 1, columns in UTF-16 code units. */
  location(file: string, offset: number): Location {
    const { line, start } = this.#lineAt(offset);
    return { file, line: line + 1, column: offset - start + 1 };
  }

  /**
   * The line in which the span starts, without control characters, and the part of it that the span covers. Undefined
   * for a blank line, and for a span far into a long line.
   */
  excerpt({ from, to }: Span): NonNullable<Diagnostic['excerpt']> | undefined {
    const { start } = this.#lineAt(from);
    const next = this.text.indexOf('\n', start);
    const end = next === -1 ? this.text.length : next;
    const raw = this.text.slice(start, end).replace(/\r$/, '');
    if (raw.trim() === '' || from - start >= MAX_EXCERPT) return undefined;
    // Masked before cutting, because half a key would not be recognised.
    const text = maskedApiKeys(raw)
      .slice(0, MAX_EXCERPT)
      .replace(/\p{Cc}/gu, ' ');
    const last = Math.max(from + 1, Math.min(to, end));
    return { text, from: from - start, to: Math.min(last - start, text.length + 1) };
  }

  /** The line of an offset, from 0, and the offset of its beginning. */
  #lineAt(offset: number): { readonly line: number; readonly start: number } {
    // Tables for ten thousand files would take as much memory as their texts.
    if (this.text.length <= LONG_TEXT) return countedLine(this.text, offset);
    this.#lineStarts ??= lineStarts(this.text);
    const line = lineIndex(this.#lineStarts, offset);
    return { line, start: this.#lineStarts[line] ?? 0 };
  }
}

function countedLine(text: string, offset: number): { line: number; start: number } {
  let [line, start] = [0, 0];
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', start)) {
    line += 1;
    start = at + 1;
  }
  return { line, start };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

function lineIndex(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A problem of a file's content as a diagnostic at the file's path, with API keys masked. */
export function toDiagnostic(file: string, source: SourceText, problem: Problem): Diagnostic {
  const excerpt = source.excerpt(problem.span);
  return {
    severity: problem.severity,
    code: problem.code,
    location: source.location(file, problem.span.from),
    message: maskedApiKeys(problem.message),
    ...(excerpt !== undefined && { excerpt }),
  };
}

/** An error about a file as a whole, placed at its beginning. */
export function fileDiagnostic(file: string, code: DiagnosticCode, message: string): Diagnostic {
  return { severity: 'error', code, location: { file, line: 1, column: 1 }, message };
}

/** One error for each API key of the embedded service in the text. */
export function apiKeyProblems(text: string): Problem[] {
  return apiKeysIn(text).map(({ key, at }) => ({
    severity: 'error',
    code: 'api-key-in-file',
    span: { from: at, to: at + key.length },
    message:
      'an Admin API key (fka_…) stands in the file; revoke it, and give the key by FLAGKEEL_API_KEY',
  }));
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Text of UTF-8 bytes without byte order mark; undefined if they are not valid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}
