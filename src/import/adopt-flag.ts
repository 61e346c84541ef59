import {
  DEFINITION_FIELDS,
  type Definition,
  type Rule,
  type Treatment,
} from '../model/flag/flag.js';
import { FLAG_FIELDS, type FlagFields } from '../model/flag/fields.js';
import { steppedRules, type DesiredDefinition } from '../model/desired.js';
import { sameJson } from '../model/json.js';
import type { FieldChange } from '../model/plan.js';
import { treatmentOfTargetPath } from '../plan/fields.js';
import { hasMember, type Edit, type EditedRule } from '../specs/edit/edit-file.js';
import {
  mapping,
  writtenBuckets,
  writtenConditions,
  writtenFlagField,
  writtenRule,
  writtenTexts,
  writtenTreatment,
  writtenTreatments,
  type Member,
  type Written,
} from '../specs/edit/yaml-text.js';

export function flagEdits(fields: readonly FieldChange[], live: FlagFields): Edit[] {
  const changed = new Set(fields.map(({ path }) => path));
  return FLAG_FIELDS.flatMap((field): Edit[] => {
    if (!changed.has(`/${field}`)) return [];
    return [{ kind: 'set', path: [field], value: writtenFlagField(field, live[field]) }];
  });
}

interface BlockToEdit {
  readonly live: Required<Definition>;
  readonly spec: DesiredDefinition;
  readonly text: string;
  /** Path of the environment's block; empty in an overlay. */
  readonly at: readonly string[];
}

/** Edits of an environment's block alone: others share what it inherits from `"*"` or the flag, and have not changed. */
export function definitionEdits(fields: readonly FieldChange[], block: BlockToEdit): Edit[] {
  const changed = new Set(fields.map(({ path }) => path));
  const targets = fields.filter(({ path }) => path.startsWith('/targets/'));
  return [
    ...(changed.has('/treatments') ? treatmentEdits(block) : []),
    ...plainEdits(block, changed),
    ...targetEdits(targets, block),
    ...(changed.has('/rules') ? [rulesEdit(block)] : []),
    ...(changed.has('/defaultRule')
      ? [set(block, 'defaultRule', writtenBuckets(block.live.defaultRule, namesIn(block, changed)))]
      : []),
    ...(changed.has('/defaultRule') && steppedRules(block.spec).has(null)
      ? [{ kind: 'unset', path: [...block.at, 'ramp'] } as const]
      : []),
  ];
}

function set({ at }: BlockToEdit, member: string, value: Written): Edit {
  return { kind: 'set', path: [...at, member], value };
}

function plainEdits(block: BlockToEdit, changed: ReadonlySet<string>): Edit[] {
  return DEFINITION_FIELDS.flatMap((name) => {
    const value = block.live[name];
    return changed.has(`/${name}`) && typeof value !== 'object' ? [set(block, name, value)] : [];
  });
}

/** Names in the file's future order, on which sizes by treatment depend. */
function namesIn({ live, spec }: BlockToEdit, changed: ReadonlySet<string>): string[] {
  const side = changed.has('/treatments') ? live : spec.creation;
  return side.treatments.map(({ name }) => name);
}

/** Edits each treatment by itself if the file has the same ones, to keep the comments beside them. */
function treatmentEdits(block: BlockToEdit): Edit[] {
  const { live, spec, text, at } = block;
  const before = spec.creation.treatments;
  const after = live.treatments.map((treatment) =>
    saidOf(
      treatment,
      before.find(({ name }) => name === treatment.name),
    ),
  );
  const isSameList =
    sameJson(namesOf(before), namesOf(after)) && hasMember(text, [...at, 'treatments']);
  if (!isSameList) return [set(block, 'treatments', writtenTreatments(after))];
  return after.flatMap((treatment, position): Edit[] => {
    if (sameJson(treatment, before[position])) return [];
    const path = [...at, 'treatments', treatment.name];
    return [{ kind: 'set', path, value: writtenTreatment(treatment) }];
  });
}

/** Without what the file does not say of the treatment, and so leaves to people. */
function saidOf(live: Treatment, spec: Treatment | undefined): Treatment {
  const { name, description = '', configuration } = live;
  const says = (member: 'description' | 'configuration'): boolean =>
    spec === undefined || spec[member] !== undefined;
  return {
    name,
    ...(says('description') && (spec !== undefined || description !== '') && { description }),
    ...(says('configuration') && configuration !== undefined && { configuration }),
  };
}

function namesOf(treatments: readonly Treatment[]): string[] {
  return treatments.map(({ name }) => name);
}

function targetEdits(fields: readonly FieldChange[], block: BlockToEdit): Edit[] {
  if (fields.length === 0) return [];
  const { live, text, at } = block;
  if (!hasMember(text, [...at, 'targets'])) {
    const all = Object.entries(live.targets).map(([name, keys]): Member => [
      name,
      writtenTexts(keys),
    ]);
    return [set(block, 'targets', mapping(...all))];
  }
  return fields.flatMap(({ path, keys }): Edit[] => {
    if (!keys) return [];
    const name = treatmentOfTargetPath(path);
    const remove = new Set(keys.added);
    return [{ kind: 'texts', path: [...at, 'targets', name], add: keys.removed, remove }];
  });
}

/** Keeps place, name and comments of a rule that is equal, or differs in one of its two halves. */
function rulesEdit({ live, spec, text, at }: BlockToEdit): Edit {
  const path = [...at, 'rules'];
  const stepped = steppedRules(spec);
  const old = spec.creation.rules;
  const names = namesOf(live.treatments);
  const isOwn = hasMember(text, path);
  const taken = new Set<number>();
  const take = (fits: (rule: Rule, position: number) => boolean): number | undefined => {
    const found = old.findIndex((rule, position) => !taken.has(position) && fits(rule, position));
    if (found === -1) return undefined;
    taken.add(found);
    return found;
  };
  const same = live.rules.map((rule) => take((each) => sameJson(each, rule)));
  const rules = live.rules.map((rule, position): EditedRule => {
    const from =
      same[position] ??
      take((each) => sameJson(each.matchers, rule.matchers)) ??
      take((each, at) => at === position && sameJson(each.buckets, rule.buckets));
    const name = from === undefined ? undefined : spec.ruleNames[from];
    const unnamed = writtenRule(rule, names) as Map<string, Written>;
    const value = name === undefined ? unnamed : new Map([['name', name], ...unnamed]);
    if (from === undefined || !isOwn) return { value };
    if (same[position] !== undefined) return { value, from };
    const isServe = sameJson(old[from]?.matchers, rule.matchers);
    const replace = isServe
      ? {
          member: 'serve' as const,
          value: writtenBuckets(rule.buckets, names),
          dropsSteps: stepped.has(from),
        }
      : { member: 'if' as const, value: writtenConditions(rule.matchers) };
    return { value, from, replace };
  });
  return { kind: 'rules', path, rules };
}
