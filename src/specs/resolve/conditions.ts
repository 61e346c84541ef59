import type { ConfigSpec } from '../../generated/config.schema.d.js';
import type { ConditionSpec, RuleSpec } from '../../generated/flag.schema.d.js';
import { ownMember } from '../../model/collections.js';
import type { Diagnostic, SpecPath } from '../../model/diagnostic.js';
import type { Matcher } from '../../model/flag/flag.js';
import { matchersOf, NO_CONDITIONS, type NamedConditions } from '../../model/matcher/condition.js';
import type { SpecFile } from '../parse/parse-file.js';

/** Limit for names that use names in turn. */
const MOST_LEVELS = 10;
/** Beyond any real rule. A few lines of names that each use others twice would make thousands of conditions. */
const MOST_CONDITIONS = 100;

const NOTHING: readonly Matcher[] = [];
/** Shared by thirty thousand references. */
const ITSELF: SpecPath = [];

/**
 * Reads the named conditions, in the order of the file, each after the names that it uses. A wrong condition counts as
 * far as it is readable: using one is not a second mistake. @param spec of a file that fits its schema.
 */
export function readConditions(
  file: SpecFile,
  spec: ConfigSpec,
): { readonly conditions: NamedConditions; readonly diagnostics: readonly Diagnostic[] } {
  const names = file.keys('conditions');
  // Has every name from the beginning, because conditions may use names from further down.
  const conditions = new Map<string, readonly Matcher[]>(names.map((name) => [name, NOTHING]));
  const diagnostics: Diagnostic[] = [];
  const done = new Set<string>();
  /** @param above names that use this one, from the outermost inwards. */
  const read = (name: string, above: readonly string[]): void => {
    const written = ownMember(spec.conditions, name);
    if (written === undefined || done.has(name)) return;
    const matchers = placed(written).flatMap(({ condition, path }) =>
      matchersIn(condition, ['conditions', name, ...path], [...above, name]),
    );
    done.add(name);
    conditions.set(name, matchers.length <= MOST_CONDITIONS ? matchers : NOTHING);
    if (matchers.length <= MOST_CONDITIONS) return;
    const message = `"${name}" stands for more than ${MOST_CONDITIONS} conditions`;
    diagnostics.push(file.diagnostic('condition-shape', { path: ['conditions', name] }, message));
  };
  const matchersIn = (
    condition: ConditionSpec,
    place: SpecPath,
    above: readonly string[],
  ): readonly Matcher[] => {
    const { use } = condition;
    const refusal = use === undefined ? undefined : refusalOf(use, above);
    if (refusal !== undefined) {
      const at = { path: [...place, 'use'] };
      diagnostics.push(file.diagnostic('condition-cycle', at, refusal));
      return [];
    }
    if (use !== undefined) read(use, above);
    const checked = matchersOf(condition, conditions);
    if (checked.ok) return checked.value;
    diagnostics.push(...checked.faults.map((fault) => file.fault(place, fault)));
    return [];
  };
  for (const name of names) read(name, []);
  return { conditions, diagnostics };
}

function refusalOf(use: string, above: readonly string[]): string | undefined {
  const start = above.indexOf(use);
  if (start !== -1) return `conditions use each other: ${[...above.slice(start), use].join(' → ')}`;
  return above.length < MOST_LEVELS ? undefined : `more than ${MOST_LEVELS} names use each other`;
}

/** Conditions as written, each with the members that lead to it. */
export function placed(
  written: RuleSpec['if'],
): { readonly condition: ConditionSpec; readonly path: SpecPath }[] {
  if (!Array.isArray(written)) return [{ condition: written, path: ITSELF }];
  return written.map((condition, at) => ({ condition, path: [at] }));
}

/** Paths from a rule to the condition of each matcher, or to the name in it. @param named those of the rule. */
export function matcherPaths(
  { if: written }: RuleSpec,
  named: NamedConditions = NO_CONDITIONS,
): SpecPath[] {
  return placed(written).flatMap(({ condition: { use }, path }): SpecPath[] => {
    if (use === undefined) return [['if', ...path]];
    return (named.get(use) ?? NOTHING).map(() => ['if', ...path, 'use']);
  });
}
