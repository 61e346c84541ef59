import type { SpecTestSpec } from '../generated/spec-test.schema.d.js';
import { byCodeUnits } from '../model/json.js';
import type { Location } from '../model/diagnostic.js';
import type { SpecParts } from './read-specs.js';
import { locationOf, referencesOf } from './resolve/references.js';
import { validOf } from './resolve/spec-set.js';

/** One place of the specs that names a flag or a segment, beside its own spec. */
export interface Usage {
  readonly location: Location;
  /** What names it, for people: `rule 2 of flag/pay in production`. */
  readonly by: string;
}

/**
 * The places that name an object: rules of flags, entries of the break-glass lists, spec tests. By file and line.
 *
 * @param parts of specs of which nothing is wrong: what cannot be read may name anything.
 */
export function usagesOf(
  { kind, name }: { readonly kind: 'flag' | 'segment'; readonly name: string },
  parts: SpecParts,
): Usage[] {
  const inRules = parts.flags.flatMap((flag) =>
    referencesOf(flag)
      .filter((each) => each.kind === kind && each.name === name)
      .map((each): Usage => {
        const by = `rule ${each.rule + 1} of flag/${flag.name} in ${each.environment}`;
        return { location: locationOf(each), by };
      }),
  );
  const inKills = parts.kills
    .filter(({ flag }) => kind === 'flag' && flag === name)
    .map(({ location, environment }): Usage => ({ location, by: `kill in ${environment}` }));
  return [...inRules, ...inKills, ...inTests({ kind, name }, parts)].sort(
    ({ location: a }, { location: b }) =>
      byCodeUnits(a.file, b.file) || a.line - b.line || a.column - b.column,
  );
}

function inTests(
  { kind, name }: { readonly kind: 'flag' | 'segment'; readonly name: string },
  { specs }: SpecParts,
): Usage[] {
  const files = validOf<SpecTestSpec>(specs.loaded.files.get('spec-test') ?? []);
  if (kind === 'flag') {
    return files
      .filter(({ spec }) => spec.tests === name)
      .map(({ file }) => ({ location: file.location(['tests']), by: 'spec test' }));
  }
  return files.flatMap(({ file, spec }) =>
    spec.cases.flatMap(({ segments = [] }, at): Usage[] => {
      const position = segments.indexOf(name);
      if (position === -1) return [];
      const location = file.location(['cases', at, 'segments', position]);
      return [{ location, by: `case of the spec test of flag/${spec.tests}` }];
    }),
  );
}
