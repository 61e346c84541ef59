import type { Diagnostic, Location } from '../model/diagnostic.js';
import type { DiagnosticCode } from './codes.js';

/** Offsets in UTF-16 code units; `to` is behind the last one. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** One mistake in one file, whatever path that file has. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly code: DiagnosticCode;
  readonly span: Span;
  readonly message: string;
  /** JSON Pointer of the value that is wrong, where there is one. */
  readonly pointer?: string;
}

const MAX_EXCERPT = 200;
/** Our own API keys. Neither an excerpt nor a message ever shows one. */
const API_KEY = /\bfha_[A-Za-z0-9_-]{16,}/g;

/** The text of a file with its lines. */
export class SourceText {
  readonly text: string;
  readonly #lineStarts: readonly number[];

  constructor(text: string) {
    this.text = text;
    const starts = [0];
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
      starts.push(at + 1);
    }
    this.#lineStarts = starts;
  }

  location(file: string, offset: number): Location {
    const line = this.#lineIndex(offset);
    return { file, line: line + 1, column: offset - (this.#lineStarts[line] ?? 0) + 1 };
  }

  /** The line of the span's start, without control characters, and the part of it that the span covers. */
  excerpt({ from, to }: Span): NonNullable<Diagnostic['excerpt']> | undefined {
    const line = this.#lineIndex(from);
    const start = this.#lineStarts[line] ?? 0;
    const end = (this.#lineStarts[line + 1] ?? this.text.length + 1) - 1;
    const raw = this.text.slice(start, end).replace(/\r$/, '');
    if (raw.trim() === '' || from - start >= MAX_EXCERPT) return undefined;
    // Masked before it is cut: half a key would not be known for one.
    const text = masked(raw)
      .slice(0, MAX_EXCERPT)
      .replace(/\p{Cc}/gu, ' ');
    const last = Math.max(from + 1, Math.min(to, end));
    return { text, from: from - start, to: Math.min(last - start, text.length + 1) };
  }

  #lineIndex(offset: number): number {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** API keys made unreadable, at equal length so that positions hold; also one that is glued to a word. */
function masked(text: string): string {
  return text.replace(/fha_[A-Za-z0-9_-]{16,}/g, (key) => `fha_${'*'.repeat(key.length - 4)}`);
}

export function toDiagnostic(file: string, source: SourceText, problem: Problem): Diagnostic {
  const excerpt = source.excerpt(problem.span);
  return {
    severity: problem.severity,
    code: problem.code,
    location: source.location(file, problem.span.from),
    message: masked(problem.message),
    ...(excerpt !== undefined && { excerpt }),
  };
}

/** A diagnostic about a file as a whole. */
export function fileDiagnostic(file: string, code: DiagnosticCode, message: string): Diagnostic {
  return { severity: 'error', code, location: { file, line: 1, column: 1 }, message };
}

/** Every API key of ours that stands in the text. */
export function apiKeyProblems(text: string): Problem[] {
  return [...text.matchAll(API_KEY)].map(({ index, 0: key }) => ({
    severity: 'error',
    code: 'api-key-in-file',
    span: { from: index, to: index + key.length },
    message:
      'an Admin API key (fha_…) stands in the file; revoke it, and give the key by FLAGHOIST_API_KEY',
  }));
}

/** Text of UTF-8 bytes without byte order mark; undefined where they are no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
