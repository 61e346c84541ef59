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

/** What can be wrong inside a spec that its schema cannot say. */
export const FAULT_CODES = [
  'bucket-sum',
  'bucket-twice',
  'condition-shape',
  'invalid-date',
  'range-reversed',
  'target-twice',
  'unknown-condition',
  'unknown-treatment',
] as const;

export type FaultCode = (typeof FAULT_CODES)[number];

/** Members and positions from the value that was looked at to the one that is wrong. */
export type SpecPath = readonly (string | number)[];

/** One mistake, placed by path: where in which file that is, is known to whoever parsed the file. */
export interface SpecFault {
  readonly code: FaultCode;
  readonly path: SpecPath;
  /** Whether the member's key is wrong, or its value. */
  readonly at: 'key' | 'value';
  readonly message: string;
  /** Set where a name is not among those it could be. */
  readonly unknown?: { readonly name: string; readonly candidates: readonly string[] };
}

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: readonly SpecFault[] };

export function valid<T>(value: T): Checked<T> {
  return { ok: true, value };
}

export function invalid(...faults: readonly SpecFault[]): {
  readonly ok: false;
  readonly faults: readonly SpecFault[];
} {
  return { ok: false, faults };
}

/** The fault as seen from further out. */
export function under(fault: SpecFault, ...prefix: SpecPath): SpecFault {
  return { ...fault, path: [...prefix, ...fault.path] };
}

/** A name of a treatment that is not among those of the flag. */
export function unknownTreatment(
  name: string,
  candidates: readonly string[],
  place: Pick<SpecFault, 'path' | 'at'>,
): SpecFault {
  return {
    code: 'unknown-treatment',
    ...place,
    message: `the flag has no treatment "${name}"`,
    unknown: { name, candidates },
  };
}
