import type { Diagnostic, Location } from '../../model/diagnostic.js';
import { apiKeysIn, maskedApiKeys } from '../../model/audit-note.js';
import { present } from '../../model/collections.js';
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

/** The text of a file, with positions as people count them. */
export class SourceText {
  readonly text: string;
  /** The last line that was asked for, where it starts and ends: places are mostly asked for one after the other. */
  #line = 1;
  #start = 0;
  #end: number;

  constructor(text: string) {
    this.text = text;
    this.#end = this.#endFrom(0);
  }

  location(file: string, offset: number): Location {
    while (offset < this.#start) {
      this.#end = this.#start - 1;
      this.#start = this.#end < 1 ? 0 : this.text.lastIndexOf('\n', this.#end - 1) + 1;
      this.#line -= 1;
    }
    while (offset > this.#end && this.#end < this.text.length) {
      this.#start = this.#end + 1;
      this.#end = this.#endFrom(this.#start);
      this.#line += 1;
    }
    return { file, line: this.#line, column: offset - this.#start + 1 };
  }

  #endFrom(start: number): number {
    const end = this.text.indexOf('\n', start);
    return end === -1 ? this.text.length : end;
  }

  /** A problem of the content as a diagnostic at the file's path, with API keys masked. */
  diagnostic(
    file: string,
    { severity, code, span, message }: Omit<Problem, 'pointer'>,
  ): Diagnostic {
    const location = this.location(file, span.from);
    const excerpt = this.#excerpt(span, location.column - 1);
    return { severity, code, location, message: maskedApiKeys(message), ...present({ excerpt }) };
  }

  /**
   * The line in which the span starts, without control characters, and the part of it that the span covers. Undefined
   * for a blank line, and for a span far into a long line.
   */
  #excerpt({ from, to }: Span, column: number): Diagnostic['excerpt'] {
    const start = from - column;
    const end = this.#endFrom(start);
    const raw = this.text.slice(start, end).replace(/\r$/, '');
    if (raw.trim() === '' || column >= MAX_EXCERPT) return undefined;
    // Masked before cutting, because half a key would not be recognised.
    const text = maskedApiKeys(raw)
      .slice(0, MAX_EXCERPT)
      .replace(/\p{Cc}/gu, ' ');
    const last = Math.max(from + 1, Math.min(to, end));
    return { text, from: column, to: Math.min(last - start, text.length + 1) };
  }
}

/** An error about a file as a whole, placed at its beginning. */
export function fileDiagnostic(file: string, code: DiagnosticCode, message: string): Diagnostic {
  return { severity: 'error', code, location: { file, line: 1, column: 1 }, message };
}

/** One error for each API key of the embedded service in the text. */
export function apiKeyProblems(text: string): Problem[] {
  const message =
    'an Admin API key (fka_…) stands in the file; revoke it, and give the key by FLAGKEEL_API_KEY';
  return apiKeysIn(text).map(({ key, at }) =>
    problemAt('api-key-in-file', { from: at, to: at + key.length }, message),
  );
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Text of UTF-8 bytes without byte order mark; undefined if they are none, or hold a null character as UTF-16 does. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return bytes.includes(0) ? undefined : UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}
