import type { Bucket, Definition, Matcher, Rule, Treatment } from '../../model/flag/flag.js';
import { canonicalDefinition } from '../../model/flag/wire.js';
import type { Json } from '../../model/json.js';
import { FLAG_NAME, RESERVED_TREATMENT_NAMES } from '../../model/ref.js';
import type { ForeignNode } from '../../specs/parse/yaml-file.js';
import { cannotImport, Conversion, foreignYaml, jsonOrText, type ConvertSource } from './source.js';

/**
 * Converts the file of Harness Feature Flags' Git Experience. A flag that is off there serves its off variation to all
 * targets and keeps its rules, which equals a kill here. A target group becomes a segment, of unknown members.
 */
export const convertHarnessFf: ConvertSource = (file, options) => {
  const root = foreignYaml(file);
  const entries = at(root, 'featureFlags.flags')?.items;
  if (!entries) throw cannotImport('SPECS_INVALID', file.path, 'it has no list featureFlags.flags');
  const conversion = new Conversion(file, options);
  const flags = entries.map((entry) => at(entry, 'flag') ?? entry);
  const known = new Map(flags.map((flag) => [text(flag, 'identifier'), flag]));
  const reader = new FlagReader(conversion, known);
  for (const flag of flags) reader.read(flag);
  return conversion.result(text(root, 'featureFlags.projectIdentifier') || undefined);
};

function at(node: ForeignNode | undefined, path: string): ForeignNode | undefined {
  return path.split('.').reduce((inner, name) => inner?.members?.get(name), node);
}

function text(node: ForeignNode | undefined, ...paths: readonly string[]): string {
  return paths.map((path) => at(node, path)?.text ?? '').find((each) => each !== '') ?? '';
}

function items(node: ForeignNode | undefined, path: string): readonly ForeignNode[] {
  return at(node, path)?.items ?? [];
}

/** Members that are converted or have no meaning. All others are reported. */
const KNOWN = {
  flag: 'name identifier description spec tags environments permanent prerequisites',
  variation: 'identifier name value description',
  environment: 'identifier default state rules targetRules',
  rule: 'priority serve clauses ruleId',
  clause: 'attribute op values negate id',
  targetRule: 'targets variation',
  prerequisite: 'identifier feature variations',
} as const;

class FlagReader {
  readonly #conversion: Conversion;
  readonly #depart: Conversion['depart'];
  readonly #known: ReadonlyMap<string, ForeignNode>;
  /** Variation → treatment, of the flag that is read. */
  #treatments: ReadonlyMap<string, Treatment> = new Map();

  constructor(conversion: Conversion, known: ReadonlyMap<string, ForeignNode>) {
    this.#conversion = conversion;
    this.#depart = conversion.depart;
    this.#known = known;
  }

  read(flag: ForeignNode): void {
    const identifier = text(flag, 'identifier');
    const name = text(flag, 'name');
    if (identifier === '') {
      this.#depart(flag, 'the entry has no identifier and is left out');
      return;
    }
    if (this.#conversion.hasFlag(identifier)) {
      this.#depart(flag, `flag "${identifier}" stands above already; left out`);
      return;
    }
    this.#tellUnknown('flag', flag);
    const permanent = at(flag, 'permanent');
    if (permanent?.text === 'true') {
      this.#depart(permanent, '"permanent" is not carried over: see `kind`');
    }
    this.#treatments = this.#treatmentsOf(flag);
    const said = [name === identifier ? '' : name, text(flag, 'description')];
    const environments = this.#conversion.flag({
      name: identifier,
      fields: { description: said.filter((each) => each !== '').join(': '), tags: tagsOf(flag) },
    });
    for (const environment of items(flag, 'environments')) {
      const where = text(environment, 'identifier');
      if (where === '') this.#depart(environment, 'the environment has no identifier: left out');
      else if (environments.has(where)) {
        this.#depart(environment, `"${where}" stands above already; left out`);
      } else environments.set(where, this.#definitionOf(environment, where, flag));
    }
  }

  #tellUnknown(kind: keyof typeof KNOWN, { members }: ForeignNode): void {
    const known = KNOWN[kind].split(' ');
    for (const [name, node] of members ?? []) {
      if (!known.includes(name)) this.#depart(node, `"${name}" is not carried over`);
    }
  }

  #treatmentsOf(flag: ForeignNode): ReadonlyMap<string, Treatment> {
    const all = variationsOf(flag);
    const isText = text(flag, 'spec.type') === 'string';
    return new Map(
      items(flag, 'spec.variations').map((node) => {
        this.#tellUnknown('variation', node);
        const identifier = text(node, 'identifier');
        const name = this.#treatmentName(node, identifier, all);
        return [identifier, { name, ...meaningOf(node, isText) }];
      }),
    );
  }

  /** The service reserves `true` and `false`: they become `on` and `off`, unless a variation has that name already. */
  #treatmentName(node: ForeignNode, identifier: string, all: readonly string[]): string {
    const name = renamed(identifier, all);
    if (name !== identifier) {
      this.#depart(node, `variation "${identifier}" is the treatment "${name}"`);
    } else if (RESERVED_TREATMENT_NAMES.has(identifier)) {
      this.#depart(node, `treatment "${identifier}" is a reserved word there: rename it`);
    }
    return name;
  }

  #definitionOf(node: ForeignNode, name: string, flag: ForeignNode): Required<Definition> {
    this.#tellUnknown('environment', node);
    this.#conversion.addEnvironment(name);
    const variationOf = (which: string): string => {
      const own = text(node, `default.${which}`) || text(flag, `spec.default.${which}`);
      return this.#treatmentOf(node, own);
    };
    const off = variationOf('offVariation');
    const definition = {
      killed: text(node, 'state') === 'off',
      treatments: [...this.#treatments.values()],
      targets: this.#targetsOf(node),
      defaultTreatment: off,
      baselineTreatment: off,
      trafficAllocation: 100,
      rules: [...this.#prerequisiteRules(flag, node, off), ...this.#rulesOf(node, name)],
      defaultRule: [{ treatment: variationOf('onVariation'), size: 100 }],
    };
    if (definition.killed) {
      this.#depart(at(node, 'state') ?? node, 'the flag is off, which is `killed: true` here');
    }
    return canonicalDefinition(definition) as Required<Definition>;
  }

  #treatmentOf(node: ForeignNode, variation: string): string {
    const found = this.#treatments.get(variation);
    if (found) return found.name;
    this.#depart(node, `"${variation}" is no variation of the flag`);
    return [...this.#treatments.values()].at(-1)?.name ?? variation;
  }

  /** Each prerequisite becomes a first rule that serves the off variation to keys without a required variation. */
  #prerequisiteRules(flag: ForeignNode, environment: ForeignNode, off: string): Rule[] {
    const where = text(environment, 'identifier');
    return items(flag, 'prerequisites').flatMap((node): Rule[] => {
      this.#tellUnknown('prerequisite', node);
      const name = text(node, 'identifier', 'feature');
      const other = this.#known.get(name);
      const places = FLAG_NAME.test(name) ? items(other, 'environments') : [];
      if (!other || !places.some((each) => text(each, 'identifier') === where)) {
        const why = `there is no such flag in "${where}"`;
        this.#depart(node, `the prerequisite "${name}" is left out, ${why}: see its rules`);
        return [];
      }
      if (items(environment, 'targetRules').length > 0) {
        this.#depart(node, `targets in "${where}" do not wait for the prerequisite "${name}" here`);
      }
      const all = variationsOf(other);
      const treatments = textsIn(node, 'variations').map((each) => renamed(each, all));
      const matcher = { type: 'IN_SPLIT', depends: { splitName: name, treatments }, negate: true };
      return [{ matchers: [matcher], buckets: [{ treatment: off, size: 100 }] }];
    });
  }

  #targetsOf(environment: ForeignNode): Record<string, readonly string[]> {
    const targets = new Map<string, string[]>();
    const taken = new Set<string>();
    for (const rule of items(environment, 'targetRules')) {
      this.#tellUnknown('targetRule', rule);
      const treatment = this.#treatmentOf(rule, text(rule, 'variation'));
      const listed = targets.get(treatment) ?? [];
      for (const target of items(rule, 'targets')) {
        const key = target.text ?? text(target, 'identifier');
        if (key === '' || taken.has(key))
          this.#depart(target, `target "${key}" is named above, or not at all`);
        else listed.push(key);
        taken.add(key);
      }
      if (listed.length > 0) targets.set(treatment, listed);
    }
    return Object.fromEntries(targets);
  }

  /** Harness applies the rule with the lowest priority number first. */
  #rulesOf(node: ForeignNode, environment: string): Rule[] {
    const priority = (rule: ForeignNode): number => Number(text(rule, 'priority'));
    const rules = items(node, 'rules').toSorted((a, b) => priority(a) - priority(b));
    return rules.flatMap((rule) => {
      this.#tellUnknown('rule', rule);
      const buckets = this.#bucketsOf(rule);
      const choices = items(rule, 'clauses').map((each) => this.#matchersOf(each, environment));
      const count = choices.reduce((product, each) => product * (each?.length ?? 0), 1);
      if (count > MOST_RULES) this.#depart(rule, `it would be ${count} rules here`);
      const isWhole = choices.length > 0 && count > 0 && count <= MOST_RULES;
      if (buckets !== undefined && isWhole) {
        return combinations(choices).map((matchers) => ({ matchers, buckets }));
      }
      this.#depart(rule, 'the rule is left out');
      return [];
    });
  }

  #bucketsOf(rule: ForeignNode): Bucket[] | undefined {
    const variation = text(rule, 'serve.serveVariation', 'serve.variation');
    if (variation !== '') return [{ treatment: this.#treatmentOf(rule, variation), size: 100 }];
    const by = text(rule, 'serve.distribution.bucketBy');
    if (!['', 'identifier'].includes(by)) {
      this.#depart(rule, `shares go by the key here, not by "${by}"`);
    }
    const buckets = items(rule, 'serve.distribution.variations').map((each) => ({
      treatment: this.#treatmentOf(rule, text(each, 'variation')),
      size: Number(text(each, 'weight')),
    }));
    if (buckets.reduce((sum, { size }) => sum + size, 0) === 100) return buckets;
    this.#depart(rule, 'its weights do not sum to 100');
    return undefined;
  }

  /** Alternative matchers, one of which has to match; undefined if no matcher can express the clause. */
  #matchersOf(clause: ForeignNode, environment: string): Matcher[] | undefined {
    this.#tellUnknown('clause', clause);
    const values = textsIn(clause, 'values');
    if (values.length === 0) return undefined;
    const op = text(clause, 'op');
    const attribute = text(clause, 'attribute');
    // The identifier of a target is the key.
    const subject = ['', 'identifier'].includes(attribute) ? {} : { attribute };
    const negate = text(clause, 'negate') === 'true' ? { negate: true } : {};
    if (op === 'segmentMatch') {
      for (const group of values) this.#useGroup(clause, group, environment);
      // "In none of several" needs all conditions at once, not one of them.
      if (values.length > 1 && negate.negate) return undefined;
      return values.map((group) => ({ type: 'IN_SEGMENT', string: group, ...negate }));
    }
    const matcher = MATCHER_OF[op]?.(values);
    if (!matcher) {
      this.#depart(clause, `no condition says the operator "${op}"`);
      return undefined;
    }
    if (op === 'equal') this.#depart(clause, '"equal" tells upper from lower case here');
    return [{ ...matcher, ...subject, ...negate }];
  }

  #useGroup(clause: ForeignNode, name: string, environment: string): void {
    if (!this.#conversion.hasSegment(name)) {
      const what = `the file does not say who is in the target group "${name}": see its segment`;
      this.#depart(clause, what);
    }
    this.#conversion.segment({ name }).set(environment, null);
  }
}

function textsIn(node: ForeignNode, path: string): string[] {
  return items(node, path).map((each) => each.text ?? '');
}

function variationsOf(flag: ForeignNode): string[] {
  return items(flag, 'spec.variations').map((each) => text(each, 'identifier'));
}

function renamed(identifier: string, all: readonly string[]): string {
  const other = { true: 'on', false: 'off' }[identifier];
  return other === undefined || all.includes(other) ? identifier : other;
}

function meaningOf(node: ForeignNode, isText: boolean): Omit<Treatment, 'name'> {
  const identifier = text(node, 'identifier');
  const value = text(node, 'value');
  const configuration = (isText ? value : jsonOrText(value)) as Json;
  const description = text(node, 'description', 'name');
  return {
    ...(!['', identifier].includes(description) && { description }),
    ...(value !== identifier && value !== '' && { configuration }),
  };
}

/** Matchers for the operators of a clause. All but `in` use only the first value. */
const MATCHER_OF: Readonly<Record<string, (values: readonly string[]) => Matcher>> = {
  in: (values) => ({ type: 'IN_LIST_STRING', strings: values }),
  equal: ([value = '']) => ({ type: 'IN_LIST_STRING', strings: [value] }),
  equal_sensitive: ([value = '']) => ({ type: 'IN_LIST_STRING', strings: [value] }),
  starts_with: ([value = '']) => ({ type: 'STARTS_WITH_STRING', strings: [value] }),
  ends_with: ([value = '']) => ({ type: 'ENDS_WITH_STRING', strings: [value] }),
  contains: ([value = '']) => ({ type: 'CONTAINS_STRING', strings: [value] }),
  match: ([value = '']) => ({ type: 'MATCHES_STRING', string: value }),
};

function tagsOf(flag: ForeignNode): string[] {
  const names = items(flag, 'tags').map((entry) =>
    text(at(entry, 'tag') ?? entry, 'name', 'identifier'),
  );
  return [...new Set(names.filter((name) => name !== ''))].sort();
}

/** Beyond these no person reads them, and no service takes them. */
const MOST_RULES = 250;

function combinations<T>(lists: readonly (readonly T[] | undefined)[]): T[][] {
  return lists.reduce<T[][]>(
    (before, list) => before.flatMap((some) => (list ?? []).map((each) => [...some, each])),
    [[]],
  );
}
