import type { ConditionSpec } from '../generated/flag.schema.d.js';
import { byCodeUnits } from '../model/json.js';
import type { Location, SpecPath } from '../model/diagnostic.js';
import type { SpecFile } from './parse/parse-file.js';
import type { SpecParts } from './read-specs.js';
import { placed } from './resolve/conditions.js';
import { locationOf, namedIn, referencesOf } from './resolve/references.js';
import { validOf } from './resolve/spec-set.js';

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
  return [...namings(parts)]
    .filter((each) => each.kind === kind && each.name === name)
    .map(({ location, by }) => ({ location, by }))
    .sort(
      ({ location: a }, { location: b }) =>
        byCodeUnits(a.file, b.file) || a.line - b.line || a.column - b.column,
    );
}

/** Every name of an object or a condition in the specs, except where that is declared. */
function* namings({ specs, flags, kills }: SpecParts): Generator<Named & Usage> {
  for (const flag of flags) {
    for (const each of referencesOf(flag)) {
      const by = `rule ${each.rule + 1} of flag/${flag.name} in ${each.environment}`;
      yield { kind: each.kind, name: each.name, location: locationOf(each), by };
    }
  }
  for (const { condition, file, path, by } of namedConditions(specs)) {
    const named = namedIn(condition);
    if (named === undefined) continue;
    const { kind, name, members } = named;
    yield { kind, name, location: file.location([...path, ...members.name]), by };
  }
  for (const { condition, file, path, by } of conditionUses(specs)) {
    const { use = '' } = condition;
    const location = file.location([...path, 'use']);
    yield { kind: 'condition', name: use, location, by };
    for (const name of conditionsBehind(use, specs)) {
      yield { kind: 'condition', name, location, by: `${by}, through condition ${use}` };
    }
  }
  for (const { flag, location, environment } of kills) {
    yield { kind: 'flag', name: flag, location, by: `kill in ${environment}` };
  }
  for (const { file, spec } of validOf(specs.loaded, 'spec-test')) {
    yield { kind: 'flag', name: spec.tests, location: file.location(['tests']), by: 'spec test' };
    for (const [at, { segments = [] }] of spec.cases.entries()) {
      for (const name of new Set(segments)) {
        const location = file.location(['cases', at, 'segments', segments.indexOf(name)]);
        yield {
          kind: 'segment',
          name,
          location,
          by: `case of the spec test of flag/${spec.tests}`,
        };
      }
    }
  }
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
  return validOf(loaded, 'config').flatMap(({ file, spec }) =>
    Object.entries(spec.conditions ?? {}).flatMap(([name, written]) =>
      placed(written).map(({ condition, path }) => {
        const by = `condition ${name}`;
        return { condition, defines: name, file, path: ['conditions', name, ...path], by };
      }),
    ),
  );
}

/** The conditions of all rules, even those that no environment inherits. */
function ruleConditions({ named, overlays }: SpecParts['specs']): WrittenCondition[] {
  const ofFlags = [...named.flag.values()].flatMap(({ file, spec }) =>
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
