import {
  DEFINITION_FIELDS,
  FLAG_FIELDS,
  FLAG_FIELDS_IN_FILE,
  type Definition,
  type FlagField,
  type FlagFields,
  type Treatment,
} from '../model/flag/flag.js';
import { grouped, ownMember } from '../model/collections.js';
import { canonicalJson, sameJson } from '../model/json.js';
import { mostProtectedFirst } from '../model/desired.js';
import {
  Flow,
  mapping,
  writtenBuckets,
  writtenFlagField,
  writtenRules,
  writtenTexts,
  writtenTreatments,
  yamlText,
  type Member,
  type Written,
} from '../specs/edit/yaml-text.js';

/** Parts that environments share; an environment names only its deviations. */
type Shared = Pick<Required<Definition>, 'treatments' | 'defaultTreatment' | 'baselineTreatment'>;

/** The schema requires treatments, but a flag without a definition has none yet. */
const PROPOSED: Shared = {
  treatments: [
    { name: 'on', description: '' },
    { name: 'off', description: '' },
  ],
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
    ['treatments', treatmentsInFile(shared.treatments)],
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

function writtenDefinition(
  definition: Required<Definition>,
  shared: Shared,
  unmanaged: Written | undefined,
): Written {
  const { treatments, defaultTreatment, baselineTreatment, rules, targets } = definition;
  const names = treatments.map(({ name }) => name);
  const isOwn = (field: keyof Shared): boolean => !sameJson(definition[field], shared[field]);
  const targeted = names.flatMap((name): Member[] => {
    const keys = ownMember(targets, name) ?? [];
    return keys.length === 0 ? [] : [[name, writtenTexts(keys)]];
  });
  return mapping(
    ['treatments', isOwn('treatments') ? treatmentsInFile(treatments) : undefined],
    ['defaultTreatment', isOwn('defaultTreatment') ? defaultTreatment : undefined],
    ['baselineTreatment', isOwn('baselineTreatment') ? baselineTreatment : undefined],
    ['killed', definition.killed ? true : undefined],
    [
      'trafficAllocation',
      definition.trafficAllocation === 100 ? undefined : definition.trafficAllocation,
    ],
    ['targets', targeted.length === 0 ? undefined : mapping(...targeted)],
    ['rules', rules.length === 0 ? undefined : writtenRules(rules, names)],
    ['defaultRule', writtenBuckets(definition.defaultRule, names)],
    ['unmanaged', unmanaged],
  );
}

function treatmentsInFile(treatments: readonly Treatment[]): Written {
  return writtenTreatments(
    treatments.map(({ description, ...others }) => ({
      ...others,
      ...(description !== undefined && description !== '' && { description }),
    })),
  );
}

const MOST_INLINE_KEYS = 50;

/** The files of one segment: path → text. @param taken paths in use; the paths of key files are added to it. */
export function segmentFiles(segment: SegmentToWrite, taken: Set<string>): Map<string, string> {
  const files = new Map<string, string>();
  const environments = [...segment.environments].map(([environment, keys], position): Member => {
    if (keys === null) return [environment, new Flow(mapping(['mode', 'external']))];
    if (keys.length <= MOST_INLINE_KEYS) return [environment, inlineKeys(keys)];
    const word = FILE_WORD.test(environment) ? environment : `environment-${position + 1}`;
    const path = freePath(`segments/${segment.name}.${word}`, taken);
    const listed = keys.filter(fitsKeyFile);
    const inline = keys.filter((key) => !fitsKeyFile(key));
    files.set(path, listed.map((key) => `${key}\n`).join(''));
    const rest: Member = ['keys', inline.length === 0 ? undefined : writtenTexts(inline)];
    return [environment, mapping(rest, ['keysFile', path.slice('segments/'.length)])];
  });
  const file = mapping(
    ['segment', segment.name],
    ['description', segment.description === '' ? undefined : segment.description],
    ['trafficType', segment.trafficType],
    ['environments', environments.length === 0 ? undefined : mapping(...environments)],
  );
  return files.set(`segments/${segment.name}.yaml`, yamlText(file));
}

function inlineKeys(keys: readonly string[]): Flow | ReadonlyMap<string, Flow | readonly string[]> {
  const written = writtenTexts(keys) as Flow | readonly string[];
  const block = new Map([['keys', written]]);
  return written instanceof Flow ? new Flow(block) : block;
}

/** Whether a line of a key file keeps the key unchanged. */
export function fitsKeyFile(key: string): boolean {
  return key !== '' && key === key.trim() && !key.startsWith('#') && !/[\n\uFEFF]/.test(key);
}

/** The name of an environment that can be a part of a file name. */
const FILE_WORD = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/;

function freePath(stem: string, taken: Set<string>): string {
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? `${stem}.keys` : `${stem}-${number}.keys`;
    if (taken.has(path)) continue;
    taken.add(path);
    return path;
  }
}

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

export interface SegmentToWrite {
  readonly name: string;
  readonly trafficType: string;
  readonly description: string;
  /** Environment, by its name in the config → sorted keys, in config order; null if the service alone holds them. */
  readonly environments: ReadonlyMap<string, readonly string[] | null>;
}

export interface EnvironmentToWrite {
  readonly name: string;
  readonly production: boolean;
}

export function shownNames(environments: readonly EnvironmentToWrite[]): string[] {
  return mostProtectedFirst(
    environments.map(({ name, production }) => ({ name, protected: production })),
  );
}

export interface RepositoryToWrite {
  readonly workspace: string;
  readonly environments: readonly EnvironmentToWrite[];
  /** Sorted by name. */
  readonly flags: readonly FlagToWrite[];
  readonly segments: readonly SegmentToWrite[];
}
