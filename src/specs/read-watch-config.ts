import type { WatchSpec } from '../generated/watch.schema.d.ts';
import type { Diagnostic } from '../model/diagnostic.js';
import { parseFile, SpecFile } from './parse-file.js';

export type WatchConfigResult =
  | { readonly ok: true; readonly config: WatchSpec }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** The file of a daemon's sources. @param path for the places of what is wrong with it. */
export function readWatchConfig(path: string, bytes: Uint8Array): WatchConfigResult {
  const file = new SpecFile(path, parseFile('watch', bytes));
  if (!file.valid) return { ok: false, diagnostics: file.diagnostics() };
  const config = file.parsed.value as WatchSpec;
  const names = new Set<string>();
  const diagnostics = config.sources.flatMap(({ name, directory, repo }, index): Diagnostic[] => {
    const isTwice = names.has(name);
    names.add(name);
    if (isTwice) {
      const path = ['sources', index, 'name'];
      return [file.diagnostic('wrong-value', { path }, `there are two sources "${name}"`)];
    }
    if ((directory === undefined) !== (repo === undefined)) return [];
    const message = `source "${name}" must name either a directory or a repo`;
    return [file.diagnostic('missing-field', { path: ['sources', index] }, message)];
  });
  return diagnostics.length > 0 ? { ok: false, diagnostics } : { ok: true, config };
}
