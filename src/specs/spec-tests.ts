import type { SpecTestSpec } from '../generated/spec-test.schema.d.ts';
import type { Diagnostic } from '../model/diagnostic.js';
import type { SpecSet } from './spec-set.js';
import { environmentDiagnostics, validOf } from './spec-set.js';
import { didYouMean } from './suggest.js';

/** Whether the flag and the environments are there that spec tests name. */
export function specTestDiagnostics(specs: SpecSet): Diagnostic[] {
  return validOf<SpecTestSpec>(specs.loaded.files.get('spec-test') ?? []).flatMap(
    ({ file, spec }) => {
      const { tests: flag, cases } = spec;
      const diagnostics = cases.flatMap(({ environment }, i) => {
        const place = { file, path: ['cases', i, 'environment'], at: 'value' } as const;
        return environmentDiagnostics(specs, place, environment);
      });
      if (specs.flags.has(flag) || specs.unjudged.flags.has(flag)) return diagnostics;
      const message = `no flag "${flag}" is declared here${didYouMean(flag, specs.flags.keys())}`;
      return [file.diagnostic('unknown-flag', { path: ['tests'] }, message), ...diagnostics];
    },
  );
}
