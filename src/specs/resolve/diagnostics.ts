import type { Diagnostic, SpecFault, SpecPath } from '../../model/diagnostic.js';
import type { SpecFile } from '../parse/parse-file.js';
import { didYouMean } from '../parse/suggest.js';

/** A diagnostic for a fault, which only knows its place inside a value. @param path leads to the value. */
export function faultDiagnostic(
  { file, path }: { readonly file: SpecFile; readonly path: SpecPath },
  { code, path: inside, at, message, unknown }: SpecFault,
): Diagnostic {
  const hint = unknown === undefined ? '' : didYouMean(unknown.name, unknown.candidates);
  return file.diagnostic(code, { path: [...path, ...inside], at }, `${message}${hint}`);
}

const UNKNOWN = {
  check: 'unknown-check',
  environment: 'unknown-environment',
  window: 'unknown-window',
} as const;

/** A diagnostic for each name that flagkeel.yaml does not have. */
export function unknownNames(
  file: SpecFile,
  {
    noun,
    names,
    known,
  }: {
    readonly noun: keyof typeof UNKNOWN;
    readonly names: readonly string[];
    readonly known: readonly string[];
  },
  placeOf: (position: number) => { readonly path: SpecPath; readonly at?: 'key' | 'value' },
): Diagnostic[] {
  return names.flatMap((name, position) => {
    if (known.includes(name)) return [];
    const message = `flagkeel.yaml has no ${noun} "${name}"${didYouMean(name, known)}`;
    return [file.diagnostic(UNKNOWN[noun], placeOf(position), message)];
  });
}
