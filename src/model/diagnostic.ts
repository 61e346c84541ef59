/** A place in a file. Line and column count from 1; the column counts UTF-16 code units. */
export interface Location {
  /** Relative to the config directory, with forward slashes. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  /** Kebab-case, stable, documented in `docs/diagnostics.md`. */
  readonly code: string;
  readonly location: Location;
  /** States the problem, values in quotes, and ends with the remedy, for example `did you mean "beta-testers"?`. */
  readonly message: string;
  /** The line of the file, and the range in it that is wrong. Unset if there is no line to show. */
  readonly excerpt?: { readonly text: string; readonly from: number; readonly to: number };
}

/** Faults inside a spec that its schema cannot express. */
export const FAULT_CODES = [
  'bucket-sum',
  'bucket-twice',
  'condition-shape',
  'configuration-mismatch',
  'configuration-schema',
  'invalid-date',
  'range-reversed',
  'target-twice',
  'unknown-condition',
  'unknown-treatment',
] as const;

export type FaultCode = (typeof FAULT_CODES)[number];

/** Members and positions that lead from a value to the wrong one inside it. */
export type SpecPath = readonly (string | number)[];

/** One mistake, placed by its path in the value. The parser of the file turns that into a line and column. */
export interface SpecFault {
  readonly code: FaultCode;
  readonly path: SpecPath;
  /** Whether the member's key is wrong, or its value. */
  readonly at: 'key' | 'value';
  readonly message: string;
  /** Set where a name is unknown: the name, and the valid ones for a suggestion. */
  readonly unknown?: { readonly name: string; readonly candidates: readonly string[] };
}

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: readonly SpecFault[] };

export function valid<T>(value: T): Checked<T> {
  return { ok: true, value };
}

export function invalid(...faults: readonly SpecFault[]): Checked<never> {
  return { ok: false, faults };
}

/** Prepends the members that lead to the value in which the fault was found. */
export function under(fault: SpecFault, ...prefix: SpecPath): SpecFault {
  return { ...fault, path: [...prefix, ...fault.path] };
}

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
