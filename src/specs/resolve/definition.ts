import type { EnvironmentSpec, Treatments, TreatmentSpec } from '../../generated/flag.schema.d.js';
import {
  bucketsOf,
  definitionOf,
  rulesOf,
  targetsOf,
  treatmentsOf,
  type SpecifiedDefinition,
} from '../../model/flag/from-spec.js';
import {
  FLAG_NAME,
  RESERVED_TREATMENT_NAMES,
  TREATMENT_COUNT,
  TREATMENT_NAME,
} from '../../model/ref.js';
import {
  invalid,
  unknownTreatment,
  valid,
  type Checked,
  type Diagnostic,
  type Location,
} from '../../model/diagnostic.js';
import { Memory, present } from '../../model/collections.js';
import type { DesiredDefinition } from '../../model/desired.js';
import type { SpecFile } from '../parse/parse-file.js';
import type { Bucket, DefinitionField, Rule } from '../../model/flag/flag.js';
import { rampKey, type DesiredRamp } from '../../model/flag/ramp.js';
import type { NamedConditions } from '../../model/matcher/condition.js';
import { BoundedMap } from '../../platform/bounded-map.js';
import { identityOf, indistinctRamps, rampOf, type WrittenRamp } from './ramps.js';

/** The block of an environment, an overlay, the block `"*"`, or the flag itself. */
export interface BlockSource {
  readonly file: SpecFile;
  readonly path: readonly string[];
  readonly block: EnvironmentSpec;
}

/** The value of a field, and the block that sets it. */
interface WrittenField<T> extends Omit<BlockSource, 'block'> {
  readonly value: T;
}

type WrittenRules = NonNullable<EnvironmentSpec['rules']>;

/** A definition, as far as its blocks could be resolved. */
export interface ResolvedDefinition {
  /** Undefined if it has errors. */
  readonly definition: DesiredDefinition | undefined;
  /** Names in bucket order. */
  readonly treatments: readonly string[];
  /** As written, to locate references, with the conditions that they use by name; undefined if they use none. */
  readonly rules:
    (WrittenField<WrittenRules> & { readonly named: NamedConditions | undefined }) | undefined;
  readonly ramps: readonly WrittenRamp[];
  readonly diagnostics: readonly Diagnostic[];
}

// Definitions share their empty lists, to save memory.
export const NO_DIAGNOSTICS: readonly Diagnostic[] = [];
const NO_RAMPS: readonly WrittenRamp[] = [];

/**
 * Resolves a definition from its blocks. Takes each field as a whole from the first block that has it.
 * @param sources the nearest first. @param named null if flagkeel.yaml is unreadable, so that the names are unknown.
 */
export function resolveDefinition(
  sources: readonly BlockSource[],
  location: Location,
  named: NamedConditions | null,
): ResolvedDefinition {
  const nearest = <F extends keyof EnvironmentSpec>(field: F) => nearestField(sources, field);
  const diagnostics: Diagnostic[] = [];
  const { treatments, names } = treatmentsIn(orderedTreatments(nearest('treatments')));
  const take = <F extends keyof EnvironmentSpec, V>(
    field: F,
    check: (value: NonNullable<EnvironmentSpec[F]>) => Checked<V>,
    absent: V,
  ): V => {
    const one = nearest(field);
    if (one === undefined) return absent;
    const checked = check(one.value);
    if (checked.ok) return checked.value;
    diagnostics.push(...checked.faults.map((fault) => one.file.fault([...one.path, field], fault)));
    return absent;
  };
  const targets = take('targets', (each) => targetsOf(each, names), {});
  const rules = take('rules', (each) => rulesIn(named)(each, names), []);
  const defaultRule = take('defaultRule', (each) => bucketsIn(each, names), []);
  const known = (each: string): Checked<string> => knownTreatment(each, names);
  const defaultTreatment = take('defaultTreatment', known, '');
  const baselineTreatment = take('baselineTreatment', known, undefined);
  const written = nearest('rules');
  const unmanaged = nearest('unmanaged')?.value;
  const content = contentIn(
    {
      treatments,
      targets,
      defaultTreatment,
      ...present({ baselineTreatment, killed: nearest('killed')?.value }),
      trafficAllocation: nearest('trafficAllocation')?.value ?? 100,
      rules,
      defaultRule,
    },
    unmanaged ?? [],
    (written?.value ?? []).map(({ name }) => name),
  );
  const ramps = writtenRamps(sources, { rules, defaultRule, treatments: names, defaultTreatment });
  // With a wrong rule, it is unclear whether its ramp grows.
  const desiredRamps = diagnostics.length === 0 ? checkedRamps(ramps, diagnostics) : [];
  const extras = {
    ...present({ allow: nearest('allow')?.value, unmanaged }),
    ...(desiredRamps.length > 0 && { ramps: desiredRamps }),
  };
  // Spelled out: copies by spreading have spare capacity, which is a tenth of the memory of ten thousand flags.
  const { fields, creation, ruleNames } = content;
  const definition = Object.assign({ location, fields, creation, ruleNames }, extras);
  return {
    definition: diagnostics.length > 0 ? undefined : definition,
    treatments: names,
    rules: written && writtenRules(written, named),
    ramps: ramps.length === 0 ? NO_RAMPS : ramps,
    diagnostics: diagnostics.length === 0 ? NO_DIAGNOSTICS : diagnostics,
  };
}

/** The ramps that are right; adds what is wrong with the others to the diagnostics. */
function checkedRamps(ramps: readonly WrittenRamp[], diagnostics: Diagnostic[]): DesiredRamp[] {
  const right = ramps.flatMap((ramp) => rampOf(ramp, diagnostics) ?? []);
  if (diagnostics.length === 0) diagnostics.push(...indistinctRamps(ramps));
  return right;
}

const MOST_REMEMBERED = 512;
/** Limit in UTF-16 code units of JSON: larger values rarely repeat, and would outlive their flag in memory. */
const LONGEST_REMEMBERED = 2_048;

/**
 * The function with its last results by JSON of the arguments. Ten thousand flags mostly have the same few values, which
 * then cost no more time and share one result in memory.
 */
function remembered<A extends readonly unknown[], V>(make: (...from: A) => V): (...from: A) => V {
  const known = new BoundedMap<string, V>(MOST_REMEMBERED);
  return (...from) => {
    const key = JSON.stringify(from);
    const found = known.get(key);
    if (found !== undefined) return found;
    const value = make(...from);
    if (key.length <= LONGEST_REMEMBERED) known.set(key, value);
    return value;
  };
}

const treatmentsIn = remembered((written: readonly [string, TreatmentSpec][]) => {
  const treatments = treatmentsOf(written);
  return { treatments, names: treatments.map(({ name }) => name) };
});

const bucketsIn = remembered(bucketsOf);

const contentIn = remembered(
  (
    specified: SpecifiedDefinition,
    unmanaged: readonly DefinitionField[],
    ruleNames: DesiredDefinition['ruleNames'],
  ) => ({ ...definitionOf(specified, unmanaged), ruleNames }),
);

type RulesIn = (written: WrittenRules, names: readonly string[]) => Checked<Rule[]>;

const RULES_IN = new Memory<NamedConditions, RulesIn>();
const UNKNOWN: NamedConditions = new Map();

function rulesIn(named: NamedConditions | null): RulesIn {
  return RULES_IN.of(named ?? UNKNOWN, [], () =>
    remembered((written: WrittenRules, names: readonly string[]) => rulesOf(written, names, named)),
  );
}

function writtenRules(
  { file, path, value }: WrittenField<WrittenRules>,
  named: NamedConditions | null,
): ResolvedDefinition['rules'] {
  const isUsed = value.some(({ if: one }) => [one].flat().some(({ use }) => use !== undefined));
  // Spreading would reserve room for more parts: 140 bytes in each of thirty thousand definitions.
  const ofRules = path.concat('rules');
  return { file, path: ofRules, value, named: isUsed && named ? named : undefined };
}

/** Ramps of rules, and that of the default rule, which counts only in the block with the rule or in a nearer one. */
function writtenRamps(
  sources: readonly BlockSource[],
  {
    rules,
    defaultRule,
    ...of
  }: Pick<WrittenRamp, 'treatments' | 'defaultTreatment'> & {
    readonly rules: readonly Rule[];
    readonly defaultRule: readonly Bucket[];
  },
): WrittenRamp[] {
  const written = nearestField(sources, 'rules');
  const ofRules = (written?.value ?? []).flatMap(({ name, ramp }, rule): WrittenRamp[] => {
    if (written === undefined || ramp === undefined) return [];
    const { file, path } = written;
    const buckets = rules[rule]?.buckets ?? [];
    const known = identityOf(rules, rule, name);
    return [
      {
        ...of,
        file,
        path: [...path, 'rules', rule, 'ramp'],
        spec: ramp,
        rule,
        written: buckets,
        known,
      },
    ];
  });
  const whose = sources.findIndex(({ block }) => block.defaultRule !== undefined);
  const own = nearestField(sources.slice(0, whose + 1), 'ramp');
  if (own === undefined) return ofRules;
  const { file, path, value } = own;
  const known = { key: rampKey(undefined, null), matchers: [], nth: 0 };
  return [
    ...ofRules,
    { ...of, file, path: [...path, 'ramp'], spec: value, rule: null, written: defaultRule, known },
  ];
}

function nearestField<F extends keyof EnvironmentSpec>(
  sources: readonly BlockSource[],
  field: F,
): WrittenField<NonNullable<EnvironmentSpec[F]>> | undefined {
  for (const { file, path, block } of sources) {
    const value = block[field];
    if (value !== undefined) return { file, path, value };
  }
  return undefined;
}

/** Treatments in the order of the file, which is the bucket order. */
function orderedTreatments(field: WrittenField<Treatments> | undefined): [string, TreatmentSpec][] {
  if (field === undefined) return [];
  return field.file.keys(...field.path, 'treatments').flatMap((name) => {
    const spec = field.value[name];
    return spec === undefined ? [] : [[name, spec] as [string, TreatmentSpec]];
  });
}

function knownTreatment(name: string, names: readonly string[]): Checked<string> {
  if (names.includes(name)) return valid(name);
  return invalid(unknownTreatment(name, names, { path: [], at: 'value' }));
}

export function treatmentDiagnostics({ file, path, block }: BlockSource): Diagnostic[] {
  if (block.treatments === undefined) return [];
  const at = [...path, 'treatments'];
  const names = file.keys(...at);
  const diagnostics = names.flatMap((name) => treatmentNameDiagnostics(file, [...at, name], name));
  const { least, most } = TREATMENT_COUNT;
  if (names.length < least || names.length > most) {
    const message = `${names.length} treatments; a flag has ${least} to ${most}`;
    diagnostics.push(file.diagnostic('treatment-count', { path: at, at: 'key' }, message));
  }
  return diagnostics;
}

/** The contract has no rule, so what no source is certain that the service refuses is a warning only. */
function treatmentNameDiagnostics(
  file: SpecFile,
  path: readonly string[],
  name: string,
): Diagnostic[] {
  const place = { path, at: 'key' } as const;
  if (!TREATMENT_NAME.test(name) || name === 'control') {
    const form = "a name has letters, digits, '-', '_' and '.' only, and is not control";
    return [file.diagnostic('treatment-name', place, `treatment "${name}": ${form}`)];
  }
  const isReserved = RESERVED_TREATMENT_NAMES.has(name);
  if (!isReserved && FLAG_NAME.test(name)) return [];
  const why = isReserved ? 'is a reserved word' : 'has another form than the name of a flag';
  const message = `treatment "${name}" ${why}; the service may refuse it`;
  return [file.diagnostic('treatment-name-reserved', { ...place, severity: 'warning' }, message)];
}
