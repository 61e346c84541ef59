import type { ConfigSpec } from '../../generated/config.schema.d.js';
import type { ConditionSpec, RuleSpec } from '../../generated/flag.schema.d.js';
import { ownMember } from '../../model/collections.js';
import type { Diagnostic, SpecFault, SpecPath } from '../../model/diagnostic.js';
import type { Matcher } from '../../model/flag/flag.js';
import {
  matchersOf,
  NO_CONDITIONS,
  type NamedConditions,
} from '../../model/matcher/from-condition.js';
import type { SpecFile } from '../parse/parse-file.js';
import { didYouMean } from '../parse/suggest.js';

/** Limit for names that use names in turn. */
const MOST_LEVELS = 10;
/** Beyond any real rule. A few lines of names that each use others twice would make thousands of conditions. */
const MOST_CONDITIONS = 100;

export interface ConditionsReading {
  /** Includes wrong conditions, as far as they are readable: using one is not a second mistake. */
  readonly conditions: NamedConditions;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads the named conditions, in the order of the file. @param spec of a file that fits its schema. */
export function readConditions(file: SpecFile, spec: ConfigSpec): ConditionsReading {
  const reader = new ConditionsReader(file, spec.conditions ?? {});
  for (const name of file.keys('conditions')) reader.read(name, []);
  return reader;
}

/** Reads each name once, after the names that it uses. */
class ConditionsReader implements ConditionsReading {
  /** Has every name from the beginning, because conditions may use names from further down. */
  readonly conditions: Map<string, readonly Matcher[]>;
  readonly diagnostics: Diagnostic[] = [];
  readonly #done = new Set<string>();
  readonly #file: SpecFile;
  readonly #specs: NonNullable<ConfigSpec['conditions']>;

  constructor(file: SpecFile, specs: NonNullable<ConfigSpec['conditions']>) {
    this.#file = file;
    this.#specs = specs;
    this.conditions = new Map(file.keys('conditions').map((name) => [name, NOTHING]));
  }

  /** @param above names that use this one, from the outermost inwards. */
  read(name: string, above: readonly string[]): void {
    const written = ownMember(this.#specs, name);
    if (written === undefined || this.#done.has(name)) return;
    const matchers: Matcher[] = [];
    for (const { condition, path } of placed(written)) {
      const place = ['conditions', name, ...path];
      matchers.push(...this.#matchersOf(condition, place, [...above, name]));
    }
    const isShort = matchers.length <= MOST_CONDITIONS;
    if (!isShort) {
      const message = `"${name}" stands for more than ${MOST_CONDITIONS} conditions`;
      this.#tell('condition-shape', ['conditions', name], message);
    }
    this.#done.add(name);
    this.conditions.set(name, isShort ? matchers : NOTHING);
  }

  #matchersOf(
    condition: ConditionSpec,
    place: SpecPath,
    above: readonly string[],
  ): readonly Matcher[] {
    const { use } = condition;
    if (use !== undefined && !this.#isReached(use, place, above)) return [];
    const checked = matchersOf(condition, this.conditions);
    if (checked.ok) return checked.value;
    for (const fault of checked.faults) this.#tellFault(fault, place);
    return [];
  }

  /** Reads the conditions behind a name; false, with a problem, for a cycle or too many levels. */
  #isReached(use: string, place: SpecPath, above: readonly string[]): boolean {
    const start = above.indexOf(use);
    const message =
      start === -1
        ? `more than ${MOST_LEVELS} names use each other`
        : `conditions use each other: ${[...above.slice(start), use].join(' → ')}`;
    if (start !== -1 || above.length >= MOST_LEVELS) {
      this.#tell('condition-cycle', [...place, 'use'], message);
      return false;
    }
    this.read(use, above);
    return true;
  }

  #tell(code: 'condition-cycle' | 'condition-shape', path: SpecPath, message: string): void {
    this.diagnostics.push(this.#file.diagnostic(code, { path }, message));
  }

  #tellFault({ code, path, at, message, unknown }: SpecFault, place: SpecPath): void {
    const hint = unknown === undefined ? '' : didYouMean(unknown.name, unknown.candidates);
    const where = { path: [...place, ...path], at };
    this.diagnostics.push(this.#file.diagnostic(code, where, `${message}${hint}`));
  }
}

const NOTHING: readonly Matcher[] = [];

/** Conditions as written, each with the members that lead to it. */
export function placed(
  written: RuleSpec['if'],
): { readonly condition: ConditionSpec; readonly path: SpecPath }[] {
  if (!Array.isArray(written)) return [{ condition: written, path: [] }];
  return written.map((condition, at) => ({ condition, path: [at] }));
}

/**
 * The members that lead from a rule to the condition of each of its matchers, or to the name in it if it uses one.
 *
 * @param named those that the rule was made with.
 */
export function matcherPaths(
  { if: written }: RuleSpec,
  named: NamedConditions = NO_CONDITIONS,
): SpecPath[] {
  return placed(written).flatMap(({ condition: { use }, path }): SpecPath[] => {
    if (use === undefined) return [['if', ...path]];
    return (named.get(use) ?? NOTHING).map(() => ['if', ...path, 'use']);
  });
}
