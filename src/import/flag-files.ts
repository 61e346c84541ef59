import { DEFINITION_FIELDS, type Definition, type DefinitionField } from '../model/flag/flag.js';
import type { Actual } from '../model/actual.js';
import { grouped, ownMember, sortedMap } from '../model/collections.js';
import {
  FLAG_FIELDS,
  FLAG_FIELDS_IN_FILE,
  flagFieldsFromWire,
  type FlagField,
  type FlagFields,
} from '../model/flag/fields.js';
import { definitionFromWire } from '../model/flag/wire.js';
import { canonicalJson, sameJson } from '../model/json.js';
import { liveTrafficType } from '../plan/objects/flag-base.js';
import {
  mapping,
  writtenBuckets,
  writtenFlagField,
  writtenRule,
  writtenTexts,
  writtenTreatments,
  yamlText,
  type Member,
  type Written,
} from '../specs/edit/yaml-text.js';

export interface FlagToWrite {
  readonly name: string;
  readonly trafficType: string;
  /** Fields to write; the service keeps the others. */
  readonly fields: FlagFields;
  /** Environment, by its name in the config → every field of the definition, in config order. */
  readonly environments: ReadonlyMap<string, Required<Definition>>;
  /** Fields of the flag and of its definitions that the file leaves to people. Default: none. */
  readonly unmanaged?: readonly string[];
}

/** @param words environments of the service, each with the config's word for it. */
export function liveFlags(
  actual: Actual,
  words: ReadonlyMap<string, string>,
  unmanaged: readonly string[] = [],
): FlagToWrite[] {
  return [...sortedMap(actual.flags)].map(([name, flag]) => {
    const definitions = [...words].flatMap(([environment, word]) => {
      const definition = flag.definitions.get(environment);
      return definition ? [[word, writableDefinition(definition)] as const] : [];
    });
    return {
      name,
      fields: flag.flag ? flagFieldsFromWire(flag.flag) : {},
      trafficType: liveTrafficType(flag) ?? '',
      environments: new Map(definitions),
      unmanaged,
    };
  });
}

/** Parts that environments share; an environment names only its deviations. */
type Shared = Pick<Required<Definition>, 'treatments' | 'defaultTreatment' | 'baselineTreatment'>;

/** The schema requires treatments, but a flag without a definition has none yet. */
const PROPOSED: Shared = {
  treatments: [{ name: 'on' }, { name: 'off' }],
  defaultTreatment: 'off',
  baselineTreatment: 'off',
};
const PROPOSED_COMMENT =
  'Not defined in any of these environments: the treatments are a proposal, and are not sent.';

export function flagFileText(flag: FlagToWrite): string {
  const definitions = [...flag.environments.values()];
  const shared = definitions.length === 0 ? PROPOSED : sharedParts(definitions);
  const written = new Map(FLAG_FIELDS_IN_FILE.map((field) => [field, fieldIn(flag, field)]));
  const { description, ...others } = Object.fromEntries(written);
  const environments = [...flag.environments].map(([name, definition]): Member => [
    name,
    writtenDefinition(definition, shared, unmanagedOf(flag, DEFINITION_FIELDS)),
  ]);
  const file = mapping(
    ['flag', flag.name],
    ['description', description],
    ['trafficType', flag.trafficType],
    ...Object.entries(others),
    ['unmanaged', unmanagedOf(flag, FLAG_FIELDS)],
    ['treatments', writtenTreatments(shared.treatments)],
    ['defaultTreatment', shared.defaultTreatment],
    ['baselineTreatment', definitions.length === 0 ? undefined : shared.baselineTreatment],
    ['environments', environments.length === 0 ? undefined : mapping(...environments)],
  );
  return yamlText(file, definitions.length === 0 ? PROPOSED_COMMENT : undefined);
}

function fieldIn({ fields }: FlagToWrite, field: FlagField): Written | undefined {
  const value = fields[field];
  return value === undefined || value.length === 0 ? undefined : writtenFlagField(field, value);
}

/** For each field, the value that most environments have; if tied, the first. */
function sharedParts(definitions: readonly Required<Definition>[]): Shared {
  return {
    treatments: commonest(definitions.map(({ treatments }) => treatments)),
    defaultTreatment: commonest(definitions.map((each) => each.defaultTreatment)),
    baselineTreatment: commonest(definitions.map((each) => each.baselineTreatment)),
  };
}

function commonest<T>(values: readonly T[]): T {
  const groups = [...grouped(values, canonicalJson).values()];
  const [best] = groups.toSorted((a, b) => b.length - a.length)[0] ?? [];
  if (best === undefined) throw new Error('bug: the commonest of nothing');
  return best;
}

function unmanagedOf(
  { unmanaged = [] }: FlagToWrite,
  fields: readonly string[],
): Written | undefined {
  const own = fields.filter((field) => unmanaged.includes(field));
  return own.length === 0 ? undefined : writtenTexts(own);
}

/** What a block means that does not have the field. */
const UNSAID: Definition = { killed: false, trafficAllocation: 100, targets: {}, rules: [] };

function writtenDefinition(
  definition: Required<Definition>,
  shared: Shared,
  unmanaged: Written | undefined,
): Written {
  const names = definition.treatments.map(({ name }) => name);
  const targets = names.map((name): Member => {
    const keys = ownMember(definition.targets, name);
    return [name, keys && writtenTexts(keys)];
  });
  const members: readonly (readonly [DefinitionField, Written])[] = [
    ['treatments', writtenTreatments(definition.treatments)],
    ['defaultTreatment', definition.defaultTreatment],
    ['baselineTreatment', definition.baselineTreatment],
    ['killed', definition.killed],
    ['trafficAllocation', definition.trafficAllocation],
    ['targets', mapping(...targets)],
    ['rules', definition.rules.map((rule) => writtenRule(rule, names))],
    ['defaultRule', writtenBuckets(definition.defaultRule, names)],
  ];
  const unsaid: Definition = { ...UNSAID, ...shared };
  const own = members.filter(([field]) => !sameJson(definition[field], unsaid[field]));
  return mapping(...own, ['unmanaged', unmanaged]);
}

/** A definition of the service as a file can say it: without descriptions that are empty. */
export function writableDefinition(
  wire: Parameters<typeof definitionFromWire>[0],
): Required<Definition> {
  const definition = definitionFromWire(wire);
  const treatments = definition.treatments.map(({ description, ...others }) => {
    return { ...others, ...(description && { description }) };
  });
  return { ...definition, treatments };
}
