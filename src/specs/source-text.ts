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

/** Lines of a longer text are found once and kept; those of a shorter one are counted in no time. */
const LONG_TEXT = 16 * 1024;

/** The text of a file with its lines. */
export class SourceText {
  readonly text: string;
  #lineStarts: readonly number[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  location(file: string, offset: number): Location {
    const starts = this.#starts();
    const line = lineIndex(starts, offset);
    return { file, line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  }

  /** The line of the span's start, without control characters, and the part of it that the span covers. */
  excerpt({ from, to }: Span): NonNullable<Diagnostic['excerpt']> | undefined {
    const starts = this.#starts();
    const line = lineIndex(starts, from);
    const start = starts[line] ?? 0;
    const end = (starts[line + 1] ?? this.text.length + 1) - 1;
    const raw = this.text.slice(start, end).replace(/\r$/, '');
    if (raw.trim() === '' || from - start >= MAX_EXCERPT) return undefined;
    // Masked before it is cut: half a key would not be known for one.
    const text = masked(raw)
      .slice(0, MAX_EXCERPT)
      .replace(/\p{Cc}/gu, ' ');
    const last = Math.max(from + 1, Math.min(to, end));
    return { text, from: from - start, to: Math.min(last - start, text.length + 1) };
  }

  #starts(): readonly number[] {
    if (this.#lineStarts !== undefined) return this.#lineStarts;
    const starts = lineStarts(this.text);
    // Tables of ten thousand files would weigh as much as their texts.
    if (this.text.length > LONG_TEXT) this.#lineStarts = starts;
    return starts;
  }
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

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Text of UTF-8 bytes without byte order mark; undefined where they are no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}
