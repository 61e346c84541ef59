import type { Definition, FlagFields } from '../../kinds/flag.js';
import { canonicalJson } from '../../kinds/json.js';
import {
  writtenBuckets,
  writtenRules,
  writtenTexts,
  writtenTreatments,
} from './definition-values.js';
import { mapping, yamlText, type Member, type Written } from './yaml-text.js';

export interface FlagToWrite {
  readonly name: string;
  readonly trafficType: string;
  /** Absent fields are left as the service has them. */
  readonly fields: FlagFields;
  /** Environment, as the config names it → every field of the definition; in config order. */
  readonly environments: ReadonlyMap<string, Required<Definition>>;
}

/** What environments share, and name only where they depart from it. */
type Shared = Pick<Required<Definition>, 'treatments' | 'defaultTreatment' | 'baselineTreatment'>;

/** The schema wants treatments; a flag that is defined nowhere has none yet. */
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

/** The file of one flag. Empty texts, empty lists and defaults are left out. */
export function flagFileText(flag: FlagToWrite): string {
  const definitions = [...flag.environments.values()];
  const shared = definitions.length === 0 ? PROPOSED : sharedParts(definitions);
  const { description, tags, rolloutStatus } = flag.fields;
  const environments = [...flag.environments].map(([name, definition]): Member => [
    name,
    writtenDefinition(definition, shared),
  ]);
  const file = mapping(
    ['flag', flag.name],
    ['description', nonEmpty(description)],
    ['trafficType', flag.trafficType],
    ['rolloutStatus', nonEmpty(rolloutStatus)],
    ['tags', tags === undefined || tags.length === 0 ? undefined : writtenTexts(tags)],
    ['treatments', writtenTreatments(shared.treatments)],
    ['defaultTreatment', shared.defaultTreatment],
    ['baselineTreatment', definitions.length === 0 ? undefined : shared.baselineTreatment],
    ['environments', environments.length === 0 ? undefined : mapping(...environments)],
  );
  return yamlText(file, definitions.length === 0 ? PROPOSED_COMMENT : undefined);
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/** Of each field the value that most environments have; of equally many, the first. */
function sharedParts(definitions: readonly Required<Definition>[]): Shared {
  return {
    treatments: commonest(definitions.map(({ treatments }) => treatments)),
    defaultTreatment: commonest(definitions.map((each) => each.defaultTreatment)),
    baselineTreatment: commonest(definitions.map((each) => each.baselineTreatment)),
  };
}

function commonest<T>(values: readonly T[]): T {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const text = canonicalJson(value);
    groups.set(text, [...(groups.get(text) ?? []), value]);
  }
  const [best] = [...groups.values()].toSorted((a, b) => b.length - a.length)[0] ?? [];
  if (best === undefined) throw new Error('bug: the commonest of nothing');
  return best;
}

function writtenDefinition(definition: Required<Definition>, shared: Shared): Written {
  const { treatments, defaultTreatment, baselineTreatment, rules, targets } = definition;
  const names = treatments.map(({ name }) => name);
  const isOwn = (field: keyof Shared): boolean =>
    canonicalJson(definition[field]) !== canonicalJson(shared[field]);
  const targeted = names.flatMap((name): Member[] => {
    const keys = targets[name] ?? [];
    return keys.length === 0 ? [] : [[name, writtenTexts(keys)]];
  });
  return mapping(
    ['treatments', isOwn('treatments') ? writtenTreatments(treatments) : undefined],
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
  );
}
