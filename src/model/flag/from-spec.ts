import type { RuleSpec, TreatmentSpec, Buckets } from '../../generated/flag.schema.d.js';
import { matchersOf, NO_CONDITIONS, type NamedConditions } from '../matcher/condition.js';
import type { Bucket, Definition, DefinitionField, Matcher, Rule, Treatment } from './flag.js';
import { present } from '../collections.js';
import { byCodeUnits, sortedSet, type Json } from '../json.js';
import {
  invalid,
  under,
  unknownTreatment,
  valid,
  type Checked,
  type SpecFault,
  type SpecPath,
} from '../diagnostic.js';

/** @param entries in the order of the file, which is the bucket order. */
export function treatmentsOf(entries: readonly (readonly [string, TreatmentSpec])[]): Treatment[] {
  return entries.map(([name, spec]) => {
    if (typeof spec === 'string') return { name, description: spec };
    const { description, configuration } = spec;
    return { name, ...present({ description, configuration: configuration as Json }) };
  });
}

/** In code-unit order of the treatments; drops treatments without keys. */
export function targetsOf(
  spec: Readonly<Record<string, readonly string[]>>,
  treatments: readonly string[],
): Checked<Record<string, readonly string[]>> {
  const faults: SpecFault[] = [];
  const treatmentOfKey = new Map<string, string>();
  const entries = Object.entries(spec).toSorted(([a], [b]) => byCodeUnits(a, b));
  for (const [treatment, keys] of entries) {
    if (!treatments.includes(treatment)) {
      faults.push(unknownTreatment(treatment, treatments, { path: [treatment], at: 'key' }));
    }
    for (const [position, key] of keys.entries()) {
      const other = treatmentOfKey.get(key);
      if (other !== undefined && other !== treatment) {
        const message = `key "${key}" is a target of "${other}" already`;
        faults.push({ code: 'target-twice', path: [treatment, position], at: 'value', message });
      }
      treatmentOfKey.set(key, treatment);
    }
  }
  if (faults.length > 0) return invalid(...faults);
  return valid(
    Object.fromEntries(
      entries
        .filter(([, keys]) => keys.length > 0)
        .map(([treatment, keys]) => [treatment, sortedSet(keys)]),
    ),
  );
}

/** @param named see `matchersOf`. */
export function rulesOf(
  spec: readonly RuleSpec[],
  treatments: readonly string[],
  named: NamedConditions | null = NO_CONDITIONS,
): Checked<Rule[]> {
  const rules: Rule[] = [];
  const faults: SpecFault[] = [];
  for (const [position, rule] of spec.entries()) {
    const matchers = allMatchers(rule.if, named);
    const buckets = bucketsOf(rule.serve, treatments);
    if (!matchers.ok) faults.push(...matchers.faults.map((each) => under(each, position, 'if')));
    if (!buckets.ok) faults.push(...buckets.faults.map((each) => under(each, position, 'serve')));
    if (matchers.ok && buckets.ok) rules.push({ matchers: matchers.value, buckets: buckets.value });
  }
  // A copy has no spare capacity, which would be most of the memory of a short list.
  return faults.length > 0 ? invalid(...faults) : valid([...rules]);
}

function allMatchers(spec: RuleSpec['if'], named: NamedConditions | null): Checked<Matcher[]> {
  const checked = [spec].flat().map((each) => matchersOf(each, named));
  const faults = checked.flatMap((each, position) => {
    if (each.ok) return [];
    return Array.isArray(spec) ? each.faults.map((fault) => under(fault, position)) : each.faults;
  });
  if (faults.length > 0) return invalid(...faults);
  return valid([...checked.flatMap((each) => (each.ok ? each.value : []))]);
}

type OptionalField = 'baselineTreatment' | 'killed';

/** Without a baseline, a creation sends the default treatment; without `killed`, git leaves kills to the service. */
export type SpecifiedDefinition = Required<Omit<Definition, OptionalField>> &
  Pick<Definition, OptionalField>;

export function definitionOf(
  specified: SpecifiedDefinition,
  unmanaged: readonly DefinitionField[],
): { fields: Definition; creation: Required<Definition> } {
  const creation = { baselineTreatment: specified.defaultTreatment, killed: false, ...specified };
  if (unmanaged.length === 0) return { fields: specified, creation };
  const managed = Object.entries(specified).filter(
    ([field]) => !unmanaged.includes(field as DefinitionField),
  );
  return { fields: Object.fromEntries(managed), creation };
}

interface WrittenBucket {
  readonly treatment: string;
  readonly size: number | 'rest';
  /** Empty for the shorthand, whose treatment is the value itself. */
  readonly path: SpecPath;
}

/** In the order of `treatments`, or as written where the spec is a list; computes `rest`, drops buckets of size 0. */
export function bucketsOf(spec: Buckets, treatments: readonly string[]): Checked<Bucket[]> {
  const written = writtenBuckets(spec);
  const unknown = written
    .filter(({ treatment }) => !treatments.includes(treatment))
    .map(({ treatment, path }) =>
      unknownTreatment(treatment, treatments, { path, at: path.length === 0 ? 'value' : 'key' }),
    );
  const faults = [...unknown, ...twiceFaults(written), ...sumFaults(written)];
  if (faults.length > 0) return invalid(...faults);
  const rest = 100 - fixedSum(written);
  const served = written.filter(({ size }) => (size === 'rest' ? rest : size) > 0);
  const ordered = Array.isArray(spec)
    ? served
    : served.toSorted((a, b) => treatments.indexOf(a.treatment) - treatments.indexOf(b.treatment));
  return valid(
    ordered.map(({ treatment, size }) => ({ treatment, size: size === 'rest' ? rest : size })),
  );
}

/** `rest` may be one of them. */
export function emptyBuckets(spec: Buckets): { treatment: string; path: SpecPath }[] {
  const written = writtenBuckets(spec);
  const rest = 100 - fixedSum(written);
  return written.filter(({ size }) => (size === 'rest' ? rest : size) === 0);
}

function writtenBuckets(spec: Buckets): WrittenBucket[] {
  if (typeof spec === 'string') return [{ treatment: spec, size: 100, path: [] }];
  const inMap = (map: Record<string, WrittenBucket['size']>, ...at: SpecPath): WrittenBucket[] =>
    Object.entries(map).map(([treatment, size]) => ({ treatment, size, path: [...at, treatment] }));
  return Array.isArray(spec) ? spec.flatMap((map, i) => inMap(map, i)) : inMap(spec);
}

function twiceFaults(written: readonly WrittenBucket[]): SpecFault[] {
  return written
    .filter(({ treatment }, i) => written.findIndex((each) => each.treatment === treatment) < i)
    .map(({ treatment, path }) => ({
      code: 'bucket-twice',
      path,
      at: 'key',
      message: `"${treatment}" has a bucket already`,
    }));
}

function sumFaults(written: readonly WrittenBucket[]): SpecFault[] {
  const rests = written.filter(({ size }) => size === 'rest');
  const sum = fixedSum(written);
  const [, second] = rests;
  if (second !== undefined) {
    const message = 'only one bucket can be "rest"';
    return [{ code: 'bucket-sum', path: second.path, at: 'value', message }];
  }
  if (rests.length === 1 ? sum <= 100 : sum === 100) return [];
  const message =
    rests.length === 1
      ? `the sizes sum to ${sum} before "rest"; they cannot be more than 100`
      : `the sizes sum to ${sum}, not to 100 (one of them may be "rest")`;
  return [{ code: 'bucket-sum', path: [], at: 'value', message }];
}

function fixedSum(written: readonly WrittenBucket[]): number {
  return written.reduce((sum, { size }) => sum + (size === 'rest' ? 0 : size), 0);
}
