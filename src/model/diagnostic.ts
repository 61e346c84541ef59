/** A place in a file. Line and column count from 1; the column counts UTF-16 code units. */
export interface Location {
  /** Relative to the config directory, with forward slashes. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One thing that is wrong with the specs, the config, or a file that they name. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  /** Kebab-case, stable, documented in `docs/diagnostics.md`. */
  readonly code: string;
  readonly location: Location;
  /** What is wrong, values in quotes; the way out last, for example `did you mean "beta-testers"?`. */
  readonly message: string;
  /** The line of the file, and where in it the problem lies. Absent where there is no line to show. */
  readonly excerpt?: { readonly text: string; readonly from: number; readonly to: number };
}
