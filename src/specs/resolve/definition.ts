import type {
  Buckets,
  EnvironmentSpec,
  Treatments,
  TreatmentSpec,
} from '../../generated/flag.schema.d.js';
import {
  bucketsOf,
  definitionOf,
  rulesOf,
  targetsOf,
  treatmentsOf,
} from '../../model/flag/from-spec.js';
import { RESERVED_TREATMENT_NAMES, TREATMENT_COUNT, TREATMENT_NAME } from '../../model/ref.js';
import {
  invalid,
  unknownTreatment,
  valid,
  type Checked,
  type Diagnostic,
  type Location,
} from '../../model/diagnostic.js';
import { present } from '../../model/collections.js';
import type { DesiredDefinition } from '../../model/desired.js';
import type { SpecFile } from '../parse/parse-file.js';
import type { Bucket, Rule, Treatment } from '../../model/flag/flag.js';
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

/** The value of a field, and the place that sets it. */
interface Said<T> extends Omit<BlockSource, 'block'> {
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
    (Said<WrittenRules> & { readonly named: NamedConditions | undefined }) | undefined;
  readonly ramps: readonly WrittenRamp[];
  readonly diagnostics: readonly Diagnostic[];
}

// Definitions share their empty lists, to save memory.
export const NO_DIAGNOSTICS: readonly Diagnostic[] = [];
const NO_RAMPS: readonly WrittenRamp[] = [];

/**
 * Resolves a definition from its blocks. Takes each field as a whole from the first block that has it.
 *
 * @param sources the nearest first.
 * @param named null if flagkeel.yaml is unreadable, so that the names are unknown.
 */
export function resolveDefinition(
  sources: readonly BlockSource[],
  location: Location,
  named: NamedConditions | null,
): ResolvedDefinition {
  const said = <F extends keyof EnvironmentSpec>(field: F) => hear(sources, field);
  const diagnostics: Diagnostic[] = [];
  const { treatments, names } = treatmentsIn(orderedTreatments(said('treatments')));
  const take = <F extends keyof EnvironmentSpec, V>(
    field: F,
    check: (value: NonNullable<EnvironmentSpec[F]>) => Checked<V>,
    absent: V,
  ): V => {
    const one = said(field);
    if (one === undefined) return absent;
    const checked = check(one.value);
    if (checked.ok) return checked.value;
    diagnostics.push(...checked.faults.map((fault) => one.file.fault(one.path, fault)));
    return absent;
  };
  const targets = take('targets', (each) => targetsOf(each, names), {});
  const rules = take('rules', (each) => rulesIn(each, names, named), []);
  const defaultRule = take('defaultRule', (each) => bucketsIn(each, names), []);
  const known = (each: string): Checked<string> => knownTreatment(each, names);
  const defaultTreatment = take('defaultTreatment', known, '');
  const baselineTreatment = take('baselineTreatment', known, undefined);
  const written = said('rules');
  const unmanaged = said('unmanaged')?.value;
  const allow = said('allow')?.value;
  const definition = definitionOf(
    {
      treatments,
      targets,
      defaultTreatment,
      ...present({ baselineTreatment, killed: said('killed')?.value }),
      trafficAllocation: said('trafficAllocation')?.value ?? 100,
      rules,
      defaultRule,
    },
    unmanaged ?? [],
  );
  const ramps = writtenRamps(sources, { rules, defaultRule, treatments: names, defaultTreatment });
  // With a wrong rule, it is unclear whether its ramp grows.
  const desiredRamps = diagnostics.length === 0 ? checkedRamps(ramps, diagnostics) : [];
  const ruleNames = (written?.value ?? []).map(({ name }) => name);
  return {
    definition:
      diagnostics.length > 0
        ? undefined
        : {
            ...{ location, ...definition, ruleNames },
            ...present({ allow, unmanaged }),
            ...(desiredRamps.length > 0 && { ramps: desiredRamps }),
          },
    treatments: names,
    rules: written && { ...written, named: usedConditions(written.value, named) },
    ramps: ramps.length === 0 ? NO_RAMPS : ramps,
    diagnostics: diagnostics.length === 0 ? NO_DIAGNOSTICS : diagnostics,
  };
}

/** The ramps that are right; adds what is wrong with the others to the diagnostics. */
function checkedRamps(ramps: readonly WrittenRamp[], diagnostics: Diagnostic[]): DesiredRamp[] {
  const right: DesiredRamp[] = [];
  for (const ramp of ramps) {
    const made = rampOf(ramp);
    if ('ramp' in made) right.push(made.ramp);
    else diagnostics.push(...made.diagnostics);
  }
  if (diagnostics.length === 0) diagnostics.push(...indistinctRamps(ramps));
  return right;
}

const MOST_LATELY = 4_096;
/** Limit in UTF-16 code units of JSON: larger values rarely repeat, and would outlive their flag in memory. */
const LONGEST_LATELY = 2_048;

/** Ten thousand flags mostly have the same few values, which then cost no more time and share one result in memory. */
class Lately<V> {
  readonly #known = new BoundedMap<string, V>(MOST_LATELY);

  /** @param from JSON of everything that `make` depends on. */
  of(from: unknown, make: () => V): V {
    const key = JSON.stringify(from);
    if (key.length > LONGEST_LATELY) return make();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const value = make();
    this.#known.set(key, value);
    return value;
  }
}

interface NamedTreatments {
  readonly treatments: readonly Treatment[];
  readonly names: readonly string[];
}

const TREATMENTS = new Lately<NamedTreatments>();
const BUCKETS = new Lately<Checked<Bucket[]>>();
/** By the conditions that rules may use by name; unknown conditions have no cache. */
const RULES = new WeakMap<NamedConditions, Lately<Checked<Rule[]>>>();
const UNKNOWN: NamedConditions = new Map();

function treatmentsIn(written: readonly [string, TreatmentSpec][]): NamedTreatments {
  return TREATMENTS.of(written, () => {
    const treatments = treatmentsOf(written);
    return { treatments, names: treatments.map(({ name }) => name) };
  });
}

function bucketsIn(written: Buckets, names: readonly string[]): Checked<Bucket[]> {
  return BUCKETS.of([written, names], () => bucketsOf(written, names));
}

function rulesIn(
  written: WrittenRules,
  names: readonly string[],
  named: NamedConditions | null,
): Checked<Rule[]> {
  const known = RULES.get(named ?? UNKNOWN) ?? new Lately();
  RULES.set(named ?? UNKNOWN, known);
  return known.of([written, names], () => rulesOf(written, names, named));
}

function usedConditions(
  rules: WrittenRules,
  named: NamedConditions | null,
): NamedConditions | undefined {
  const isUsed = rules.some(({ if: one }) => [one].flat().some(({ use }) => use !== undefined));
  return isUsed && named ? named : undefined;
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
  const said = hear(sources, 'rules');
  const ofRules = (said?.value ?? []).flatMap(({ name, ramp }, rule): WrittenRamp[] => {
    if (said === undefined || ramp === undefined) return [];
    const { file, path } = said;
    const written = rules[rule]?.buckets ?? [];
    const known = identityOf(rules, rule, name);
    return [{ ...of, file, path: [...path, rule, 'ramp'], spec: ramp, rule, written, known }];
  });
  const whose = sources.findIndex(({ block }) => block.defaultRule !== undefined);
  const own = hear(sources.slice(0, whose + 1), 'ramp');
  if (own === undefined) return ofRules;
  const { file, path, value } = own;
  const known = { key: rampKey(undefined, null), matchers: [], nth: 0 };
  return [...ofRules, { ...of, file, path, spec: value, rule: null, written: defaultRule, known }];
}

function hear<F extends keyof EnvironmentSpec>(
  sources: readonly BlockSource[],
  field: F,
): Said<NonNullable<EnvironmentSpec[F]>> | undefined {
  for (const { file, path, block } of sources) {
    const value = block[field];
    if (value !== undefined) return { file, path: [...path, field], value };
  }
  return undefined;
}

/** Treatments in the order of the file, which is the bucket order. */
function orderedTreatments(said: Said<Treatments> | undefined): [string, TreatmentSpec][] {
  if (said === undefined) return [];
  return said.file.keys(...said.path).flatMap((name) => {
    const spec = said.value[name];
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

/** A warning only: no source is certain that the service refuses the name. */
function treatmentNameDiagnostics(
  file: SpecFile,
  path: readonly string[],
  name: string,
): Diagnostic[] {
  if (!TREATMENT_NAME.test(name)) {
    const message = `treatment "${name}": a name has letters, digits, '-', '_' and '.' only`;
    return [file.diagnostic('treatment-name', { path, at: 'key' }, message)];
  }
  if (!RESERVED_TREATMENT_NAMES.has(name) && /^[A-Za-z]/.test(name)) return [];
  const isReserved = RESERVED_TREATMENT_NAMES.has(name);
  const why = isReserved ? 'is a reserved word' : 'does not begin with a letter';
  const message = `treatment "${name}" ${why}; the service may refuse it`;
  const place = { path, at: 'key', severity: 'warning' } as const;
  return [file.diagnostic('treatment-name-reserved', place, message)];
}
