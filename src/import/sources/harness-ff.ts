import type { Bucket, Definition, Matcher, Rule, Treatment } from '../../model/flag/flag.js';
import { canonicalDefinition } from '../../model/flag/wire.js';
import type { Json } from '../../model/json.js';
import { FLAG_NAME, RESERVED_TREATMENT_NAMES } from '../../model/names.js';
import type { ForeignNode } from '../../specs/parse/foreign-yaml.js';
import {
  Conversion,
  foreignYaml,
  jsonOrText,
  notOfTool,
  type ConvertSource,
  type SourceFile,
} from './source.js';

/**
 * Converts the file of Harness Feature Flags' Git Experience: all flags of a project, with their environments.
 *
 * A flag that is off there serves its off variation to all targets and keeps its rules, which equals a kill here. A
 * target group becomes a segment; the file names such groups without their members.
 */
export const convertHarnessFf: ConvertSource = (file, { trafficType }) => {
  const root = foreignYaml(file);
  const all = root.members?.get('featureFlags')?.members;
  const flags = all?.get('flags')?.items;
  if (!all || !flags) throw notOfTool(file.path, 'it has no list featureFlags.flags');
  const conversion = new Conversion();
  const nodes = flags.map((entry) => entry.members?.get('flag') ?? entry);
  const known = new Map(nodes.map(({ members }) => [textIn(members, 'identifier'), members]));
  for (const flag of nodes) {
    if (flag.members)
      new FlagReader(file, conversion, { trafficType, known }).read(flag, flag.members);
    else conversion.depart(placeOf(file, flag), 'the entry is no flag');
  }
  return conversion.result(textIn(all, 'projectIdentifier') || undefined);
};

type Members = ReadonlyMap<string, ForeignNode>;

function placeOf({ path }: SourceFile, { line }: ForeignNode): string {
  return `${path}:${line}`;
}

function textIn(members: Members | undefined, name: string): string {
  return members?.get(name)?.text ?? '';
}

function itemsIn(members: Members | undefined, name: string): readonly ForeignNode[] {
  return members?.get(name)?.items ?? [];
}

/** Members that are converted or have no meaning. All others are reported. */
const KNOWN = {
  flag: 'name identifier description spec tags environments permanent prerequisites',
  spec: 'type default variations',
  variation: 'identifier name value description',
  environment: 'identifier default state rules targetRules',
  rule: 'priority serve clauses ruleId',
  clause: 'attribute op values negate id',
  targetRule: 'targets variation',
  prerequisite: 'identifier feature variations',
} as const;

class FlagReader {
  readonly #file: SourceFile;
  readonly #conversion: Conversion;
  readonly #trafficType: string;
  /** All flags of the file, by identifier. */
  readonly #known: ReadonlyMap<string, Members | undefined>;
  /** Variation → treatment. */
  #treatments: ReadonlyMap<string, Treatment> = new Map();

  constructor(
    file: SourceFile,
    conversion: Conversion,
    of: { readonly trafficType: string; readonly known: ReadonlyMap<string, Members | undefined> },
  ) {
    this.#file = file;
    this.#conversion = conversion;
    this.#trafficType = of.trafficType;
    this.#known = of.known;
  }

  read(node: ForeignNode, members: Members): void {
    const identifier = textIn(members, 'identifier');
    if (identifier === '') {
      this.#depart(node, 'the flag has no identifier and is left out');
      return;
    }
    this.#tellUnknown('flag', node);
    if (textIn(members, 'permanent') === 'true') {
      this.#depart(members.get('permanent') ?? node, '"permanent" is not carried over: see `kind`');
    }
    const spec = members.get('spec')?.members;
    this.#treatments = this.#treatmentsOf(spec);
    const name = textIn(members, 'name');
    const text = textIn(members, 'description');
    const description = [name === identifier ? '' : name, text].filter((each) => each !== '');
    const { environments } = this.#conversion.flag({
      name: identifier,
      trafficType: this.#trafficType,
      fields: { description: description.join(': '), tags: tagsOf(members) },
    });
    for (const environment of itemsIn(members, 'environments')) {
      const where = textIn(environment.members, 'identifier');
      if (where === '') this.#depart(environment, 'the environment has no identifier: left out');
      else environments.set(where, this.#definitionOf(environment, where, members));
    }
  }

  #depart(node: ForeignNode, what: string): void {
    this.#conversion.depart(placeOf(this.#file, node), what);
  }

  #tellUnknown(kind: keyof typeof KNOWN, { members }: ForeignNode): void {
    const known = KNOWN[kind].split(' ');
    for (const [name, node] of members ?? []) {
      if (!known.includes(name)) this.#depart(node, `"${name}" is not carried over`);
    }
  }

  #treatmentsOf(spec: Members | undefined): ReadonlyMap<string, Treatment> {
    const nodes = itemsIn(spec, 'variations');
    const identifiers = identifiersIn(spec);
    const isText = textIn(spec, 'type') === 'string';
    return new Map(
      nodes.map((node, at) => {
        this.#tellUnknown('variation', node);
        const identifier = identifiers[at] ?? '';
        const name = this.#treatmentName(node, identifier, identifiers);
        return [identifier, { name, ...meaningOf(node.members, isText) }];
      }),
    );
  }

  /** The service reserves `true` and `false`: they become `on` and `off`, unless a variation has that name already. */
  #treatmentName(node: ForeignNode, identifier: string, all: readonly string[]): string {
    const other = renamed(identifier, all);
    if (other === undefined) {
      if (RESERVED_TREATMENT_NAMES.has(identifier)) {
        this.#depart(node, `treatment "${identifier}" is a reserved word there: rename it`);
      }
      return identifier;
    }
    this.#depart(node, `variation "${identifier}" is the treatment "${other}"`);
    return other;
  }

  #definitionOf(node: ForeignNode, name: string, flag: Members): Required<Definition> {
    this.#tellUnknown('environment', node);
    this.#conversion.addEnvironment(name);
    const { members } = node;
    const spec = flag.get('spec')?.members;
    const own = members?.get('default')?.members;
    const general = spec?.get('default')?.members;
    const variationOf = (which: string): string =>
      this.#treatmentOf(node, textIn(own, which) || textIn(general, which));
    const off = variationOf('offVariation');
    const definition = {
      killed: textIn(members, 'state') === 'off',
      treatments: [...this.#treatments.values()],
      targets: this.#targetsOf(members),
      defaultTreatment: off,
      baselineTreatment: off,
      trafficAllocation: 100,
      rules: [...this.#prerequisiteRules(flag, node, off), ...this.#rulesOf(members, name)],
      defaultRule: [{ treatment: variationOf('onVariation'), size: 100 }],
    };
    if (definition.killed) {
      this.#depart(members?.get('state') ?? node, 'the flag is off, which is `killed: true` here');
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
  #prerequisiteRules(flag: Members, environment: ForeignNode, off: string): Rule[] {
    const where = textIn(environment.members, 'identifier');
    return itemsIn(flag, 'prerequisites').flatMap((node): Rule[] => {
      this.#tellUnknown('prerequisite', node);
      const name = textIn(node.members, 'identifier') || textIn(node.members, 'feature');
      const other = this.#known.get(name);
      const environments = FLAG_NAME.test(name) ? itemsIn(other, 'environments') : [];
      const isThere = environments.some(({ members }) => textIn(members, 'identifier') === where);
      if (!isThere) {
        const why = `there is no such flag in "${where}"`;
        this.#depart(node, `the prerequisite "${name}" is left out, ${why}: see its rules`);
        return [];
      }
      if (itemsIn(environment.members, 'targetRules').length > 0) {
        this.#depart(node, `targets in "${where}" do not wait for the prerequisite "${name}" here`);
      }
      const variations = itemsIn(node.members, 'variations').map(({ text = '' }) => text);
      const all = identifiersIn(other?.get('spec')?.members);
      const treatments = variations.map((each) => renamed(each, all) ?? each);
      const matcher = { type: 'IN_SPLIT', depends: { splitName: name, treatments }, negate: true };
      return [{ matchers: [matcher], buckets: [{ treatment: off, size: 100 }] }];
    });
  }

  #targetsOf(members: Members | undefined): Record<string, readonly string[]> {
    const targets = new Map<string, string[]>();
    const taken = new Set<string>();
    for (const rule of itemsIn(members, 'targetRules')) {
      this.#tellUnknown('targetRule', rule);
      const treatment = this.#treatmentOf(rule, textIn(rule.members, 'variation'));
      for (const target of itemsIn(rule.members, 'targets')) {
        const key = target.text ?? textIn(target.members, 'identifier');
        if (key === '' || taken.has(key))
          this.#depart(target, `target "${key}" is named above, or not at all`);
        else targets.set(treatment, [...(targets.get(treatment) ?? []), key]);
        taken.add(key);
      }
    }
    return Object.fromEntries(targets);
  }

  /** Harness applies the rule with the lowest priority number first. */
  #rulesOf(members: Members | undefined, environment: string): Rule[] {
    const nodes = itemsIn(members, 'rules');
    const priority = (node: ForeignNode): number => Number(textIn(node.members, 'priority'));
    return nodes
      .toSorted((a, b) => priority(a) - priority(b))
      .flatMap((node) => {
        this.#tellUnknown('rule', node);
        const buckets = this.#bucketsOf(node);
        const clauses = itemsIn(node.members, 'clauses');
        const choices = clauses.map((clause) => this.#matchersOf(clause, environment));
        const isWhole = choices.every((each) => each !== undefined) && choices.length > 0;
        if (buckets === undefined || !isWhole) {
          this.#depart(node, 'the rule is left out');
          return [];
        }
        return combinations(choices).map((matchers) => ({ matchers, buckets }));
      });
  }

  #bucketsOf(rule: ForeignNode): Bucket[] | undefined {
    const serve = rule.members?.get('serve')?.members;
    const variation = textIn(serve, 'serveVariation') || textIn(serve, 'variation');
    if (variation !== '') return [{ treatment: this.#treatmentOf(rule, variation), size: 100 }];
    const distribution = serve?.get('distribution')?.members;
    const by = textIn(distribution, 'bucketBy');
    if (!['', 'identifier'].includes(by)) {
      this.#depart(rule, `shares go by the key here, not by "${by}"`);
    }
    const buckets = itemsIn(distribution, 'variations').map(({ members }) => ({
      treatment: this.#treatmentOf(rule, textIn(members, 'variation')),
      size: Number(textIn(members, 'weight')),
    }));
    if (buckets.reduce((sum, { size }) => sum + size, 0) === 100) return buckets;
    this.#depart(rule, 'its weights do not sum to 100');
    return undefined;
  }

  /** Alternative matchers, one of which has to match; undefined if no matcher can express the clause. */
  #matchersOf(clause: ForeignNode, environment: string): Matcher[] | undefined {
    this.#tellUnknown('clause', clause);
    const { members } = clause;
    const values = itemsIn(members, 'values').map(({ text = '' }) => text);
    const op = textIn(members, 'op');
    const [first] = values;
    if (first === undefined) return undefined;
    const attribute = textIn(members, 'attribute');
    // The identifier of a target is the key.
    const subject = ['', 'identifier'].includes(attribute) ? {} : { attribute };
    const negate = textIn(members, 'negate') === 'true' ? { negate: true } : {};
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

  #useGroup(clause: ForeignNode, group: string, environment: string): void {
    if (!this.#conversion.hasSegment(group)) {
      const what = `the file does not say who is in the target group "${group}": see its segment`;
      this.#depart(clause, what);
    }
    const segment = { name: group, trafficType: this.#trafficType, description: '' };
    this.#conversion.segment(segment).environments.set(environment, null);
  }
}

function identifiersIn(spec: Members | undefined): string[] {
  return itemsIn(spec, 'variations').map(({ members }) => textIn(members, 'identifier'));
}

/** The treatment of a variation that needs another name, or undefined. @param all variations of the flag. */
function renamed(identifier: string, all: readonly string[]): string | undefined {
  const other = { true: 'on', false: 'off' }[identifier];
  return other === undefined || all.includes(other) ? undefined : other;
}

/** Description of a variation, and its value if that differs from its identifier. */
function meaningOf(members: Members | undefined, isText: boolean): Omit<Treatment, 'name'> {
  const identifier = textIn(members, 'identifier');
  const value = textIn(members, 'value');
  const configuration = (isText ? value : jsonOrText(value)) as Json;
  const description = textIn(members, 'description') || textIn(members, 'name');
  return {
    description: description === identifier ? '' : description,
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

function tagsOf(members: Members): string[] {
  const names = itemsIn(members, 'tags').map(({ members: entry }) => {
    const tag = entry?.get('tag')?.members ?? entry;
    return textIn(tag, 'name') || textIn(tag, 'identifier');
  });
  return [...new Set(names.filter((name) => name !== ''))].sort();
}

/** All ways to take one item of each list. */
function combinations<T>(lists: readonly (readonly T[] | undefined)[]): T[][] {
  return lists.reduce<T[][]>(
    (before, list) => before.flatMap((some) => (list ?? []).map((each) => [...some, each])),
    [[]],
  );
}
