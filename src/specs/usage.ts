import type { ConfigSpec } from '../generated/config.schema.d.js';
import type { ConditionSpec } from '../generated/flag.schema.d.js';
import type { SpecTestSpec } from '../generated/spec-test.schema.d.js';
import { byCodeUnits } from '../model/json.js';
import type { Location, SpecPath } from '../model/diagnostic.js';
import type { SpecFile } from './parse/parse-file.js';
import type { SpecParts } from './read-specs.js';
import { placed } from './resolve/conditions.js';
import { locationOf, namedIn, referencesOf } from './resolve/references.js';
import { validOf, type SpecOf } from './resolve/spec-set.js';

export interface Usage {
  readonly location: Location;
  /** The place for people: `rule 2 of flag/pay in production`. */
  readonly by: string;
}

export interface Named {
  readonly kind: 'flag' | 'segment' | 'condition';
  readonly name: string;
}

/** By file and line. A rule that uses a named condition counts as naming its objects. @param parts without errors. */
export function usagesOf({ kind, name }: Named, parts: SpecParts): Usage[] {
  const inRules = parts.flags.flatMap((flag) =>
    referencesOf(flag)
      .filter((each) => each.kind === kind && each.name === name)
      .map((each): Usage => {
        const by = `rule ${each.rule + 1} of flag/${flag.name} in ${each.environment}`;
        return { location: locationOf(each), by };
      }),
  );
  return [...inRules, ...USES_OUTSIDE_RULES[kind](name, parts)].sort(
    ({ location: a }, { location: b }) =>
      byCodeUnits(a.file, b.file) || a.line - b.line || a.column - b.column,
  );
}

/** The places outside of rules that can name an object of a kind. */
const USES_OUTSIDE_RULES: Readonly<
  Record<Named['kind'], (name: string, parts: SpecParts) => Usage[]>
> = {
  flag: (name, parts) => [
    ...inNamedConditions({ kind: 'flag', name }, parts),
    ...parts.kills
      .filter(({ flag }) => flag === name)
      .map(({ location, environment }) => ({ location, by: `kill in ${environment}` })),
    ...specTests(parts)
      .filter(({ spec }) => spec.tests === name)
      .map(({ file }) => ({ location: file.location(['tests']), by: 'spec test' })),
  ],
  segment: (name, parts) => [
    ...inNamedConditions({ kind: 'segment', name }, parts),
    ...inTestCases(name, parts),
  ],
  condition: (name, { specs }) =>
    conditionUses(specs).flatMap(({ condition: { use = '' }, ...each }) => {
      if (use === name) return [placeOf(each, ['use'])];
      const isThrough = conditionsBehind(use, specs).has(name);
      const by = `${each.by}, through condition ${use}`;
      return isThrough ? [placeOf({ ...each, by }, ['use'])] : [];
    }),
};

function inNamedConditions({ kind, name }: Named, { specs }: SpecParts): Usage[] {
  return namedConditions(specs).flatMap(({ condition, ...place }) => {
    const named = namedIn(condition);
    return named?.kind === kind && named.name === name ? [placeOf(place, named.members.name)] : [];
  });
}

interface WrittenCondition {
  readonly condition: ConditionSpec;
  readonly file: SpecFile;
  readonly path: SpecPath;
  /** The part of the specs that contains it, for people. */
  readonly by: string;
  /** The name that this condition is, or belongs to; unset in rules. */
  readonly defines?: string;
}

function namedConditions({ loaded }: SpecParts['specs']): WrittenCondition[] {
  return validOf<ConfigSpec>(loaded.files.get('config') ?? []).flatMap(({ file, spec }) =>
    Object.entries(spec.conditions ?? {}).flatMap(([name, written]) =>
      placed(written).map(({ condition, path }) => {
        const by = `condition ${name}`;
        return { condition, defines: name, file, path: ['conditions', name, ...path], by };
      }),
    ),
  );
}

/** The conditions of all rules, even those that no environment inherits. */
function ruleConditions({ flags, overlays }: SpecParts['specs']): WrittenCondition[] {
  const ofFlags = [...flags.values()].flatMap(({ file, spec }) =>
    Object.entries(spec.environments ?? {}).map(([environment, { rules }]) => {
      return { file, flag: spec.flag, environment, rules, path: ['environments', environment] };
    }),
  );
  const ofOverlays = overlays.map(({ file, spec }) => ({ file, ...spec, path: [] }));
  return [...ofFlags, ...ofOverlays].flatMap(({ file, flag, environment, rules = [], path: at }) =>
    rules.flatMap((rule, position) =>
      placed(rule.if).map(({ condition, path }) => {
        const by = `rule ${position + 1} of flag/${flag} in ${environment === '*' ? 'every environment' : environment}`;
        return { condition, file, path: [...at, 'rules', position, 'if', ...path], by };
      }),
    ),
  );
}

function conditionUses(specs: SpecParts['specs']): WrittenCondition[] {
  return [...namedConditions(specs), ...ruleConditions(specs)].filter(
    ({ condition }) => condition.use !== undefined,
  );
}

/** Names of the conditions that a named condition uses, itself or through others; not its own. */
export function conditionsBehind(name: string, specs: SpecParts['specs']): ReadonlySet<string> {
  const named = namedConditions(specs);
  const found = new Set<string>();
  const open = [name];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { condition, defines } of named) {
      if (defines !== next || condition.use === undefined || found.has(condition.use)) continue;
      found.add(condition.use);
      open.push(condition.use);
    }
  }
  return found;
}

export function usedConditions(specs: SpecParts['specs']): ReadonlySet<string> {
  return new Set(conditionUses(specs).flatMap(({ condition }) => condition.use ?? []));
}

function placeOf({ file, path, by }: Omit<WrittenCondition, 'condition'>, to: SpecPath): Usage {
  return { location: file.location([...path, ...to]), by };
}

function specTests({ specs }: SpecParts): SpecOf<SpecTestSpec>[] {
  return validOf<SpecTestSpec>(specs.loaded.files.get('spec-test') ?? []);
}

function inTestCases(name: string, parts: SpecParts): Usage[] {
  return specTests(parts).flatMap(({ file, spec }) =>
    spec.cases.flatMap(({ segments = [] }, at): Usage[] => {
      const position = segments.indexOf(name);
      if (position === -1) return [];
      const location = file.location(['cases', at, 'segments', position]);
      return [{ location, by: `case of the spec test of flag/${spec.tests}` }];
    }),
  );
}
