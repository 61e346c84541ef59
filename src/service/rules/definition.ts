import type {
  WireDefinition,
  WireBucket,
  WireMatcher,
  WireRule,
  WireTreatment,
} from '../../api/wire.js';
import { badRequest } from '../problem.js';
import { DEFINITION_SCHEMA } from './definition-schema.js';
import { applyPatch, type PatchOperation } from './json-patch.js';
import { checkTreatmentName } from './names.js';
import { checkShape, checkUntouched, compileSchema } from './shape.js';

/** What a client may set of a definition, complete and tidy: the form that is stored and sent. */
export interface DefinitionContent {
  readonly killed: boolean;
  readonly body: DefinitionBody;
}

export interface DefinitionBody {
  readonly treatments: readonly WireTreatment[];
  readonly defaultTreatment: string;
  readonly baselineTreatment: string;
  readonly trafficAllocation: number;
  readonly rules: readonly WireRule[];
  readonly defaultRule: readonly WireBucket[];
  readonly flagSets?: readonly unknown[];
  readonly impressionsDisabled?: boolean;
}

/** Sorted, unique names of what a definition needs to exist. */
export interface Uses {
  readonly segments: readonly string[];
  readonly flags: readonly string[];
}

interface GivenDefinition {
  readonly killed?: boolean | null;
  readonly treatments: readonly GivenTreatment[];
  readonly defaultTreatment: string;
  readonly baselineTreatment?: string | null;
  readonly trafficAllocation?: number | null;
  readonly rules?: readonly WireRule[] | null;
  readonly defaultRule: readonly WireBucket[];
  readonly flagSets?: readonly unknown[] | null;
  readonly impressionsDisabled?: boolean | null;
}

type GivenTreatment = Readonly<Record<string, unknown>> & {
  readonly name: string;
  readonly keys?: readonly string[] | null;
  readonly segments?: readonly string[] | null;
};

const hasShape = compileSchema(DEFINITION_SCHEMA);

/**
 * Reads a definition that a client sent, or that a patch made. Members that the service sets itself may stand in it
 * and are passed over.
 *
 * @throws Problem (400) it is no definition, or contradicts itself.
 */
export function definitionFrom(given: unknown): DefinitionContent {
  checkShape(hasShape, given, 'Definition');
  const definition = given as GivenDefinition;
  const body: DefinitionBody = {
    treatments: definition.treatments.map(tidyTreatment),
    defaultTreatment: definition.defaultTreatment,
    baselineTreatment: definition.baselineTreatment ?? definition.defaultTreatment,
    trafficAllocation: definition.trafficAllocation ?? 100,
    rules: (definition.rules ?? []).map(tidyRule),
    defaultRule: definition.defaultRule.map(tidyBucket),
    ...(definition.flagSets && definition.flagSets.length > 0
      ? { flagSets: definition.flagSets }
      : {}),
    ...(definition.impressionsDisabled ? { impressionsDisabled: true } : {}),
  };
  checkDefinition(body);
  return { killed: definition.killed ?? false, body };
}

const FIXED = ['id', 'name', 'environment', 'trafficType', 'creationTime', 'lastUpdateTime'];

/**
 * The definition as a patch makes it.
 *
 * @throws Problem (400) the patch cannot be run, touches what cannot be changed, or its result is no definition.
 */
export function definitionPatched(
  before: WireDefinition,
  operations: readonly PatchOperation[],
): DefinitionContent {
  const after = applyPatch(before, operations);
  checkShape(hasShape, after, 'Definition');
  checkUntouched(before, after as object, FIXED);
  const known = new Set([...FIXED, ...Object.keys(DEFINITION_SCHEMA.properties)]);
  const unknown = Object.keys(after as object).find((name) => !known.has(name));
  if (unknown !== undefined) throw badRequest(`Definition has no member ${unknown}`);
  return definitionFrom(after);
}

/** Empty and null members are left out: clients walk these lists and stumble over null. */
function tidyTreatment({
  name,
  description,
  keys,
  segments,
  ...rest
}: GivenTreatment): WireTreatment {
  return {
    name,
    description: typeof description === 'string' ? description : '',
    ...withoutNulls(rest),
    ...(keys && keys.length > 0 ? { keys: [...new Set(keys)] } : {}),
    ...(segments && segments.length > 0 ? { segments: [...new Set(segments)] } : {}),
  };
}

function tidyRule(rule: WireRule): WireRule {
  return {
    buckets: rule.buckets.map(tidyBucket),
    condition: { combiner: 'AND', matchers: rule.condition.matchers.map(tidyMatcher) },
  };
}

function tidyBucket({ treatment, size }: WireBucket): WireBucket {
  return { treatment, size };
}

function tidyMatcher({ type, negate, ...fields }: WireMatcher): WireMatcher {
  return { type, ...(negate ? { negate } : {}), ...withoutNulls(tidyDepends(type, fields)) };
}

/** Written with one `treatment` by some clients; read with `treatments` by all. */
function tidyDepends(type: string, fields: Record<string, unknown>): Record<string, unknown> {
  if (type !== 'IN_SPLIT') return fields;
  const { treatment, ...depends } = fields['depends'] as Record<string, unknown>;
  if (treatment === undefined || depends['treatments'] !== undefined) return fields;
  return { ...fields, depends: { ...depends, treatments: [treatment] } };
}

function withoutNulls(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

function checkDefinition(body: DefinitionBody): void {
  const names = new Set<string>();
  for (const { name, configurations } of body.treatments) {
    checkTreatmentName(name);
    if (names.has(name)) throw badRequest(`Treatment ${name} stands twice in treatments`);
    names.add(name);
    checkConfiguration(name, configurations);
  }
  checkTargets(body.treatments);
  checkTreatmentExists(names, body.defaultTreatment, 'defaultTreatment');
  checkTreatmentExists(names, body.baselineTreatment, 'baselineTreatment');
  checkBuckets(names, body.defaultRule, 'defaultRule');
  for (const [index, rule] of body.rules.entries()) {
    checkBuckets(names, rule.buckets, `rule ${index + 1}`);
  }
}

function checkConfiguration(treatment: string, configurations: string | undefined): void {
  if (configurations === undefined) return;
  try {
    JSON.parse(configurations);
  } catch {
    throw badRequest(`The configurations of treatment ${treatment} are no JSON text`);
  }
}

function checkTargets(treatments: readonly WireTreatment[]): void {
  const holders = new Map<string, string>();
  for (const { name, keys } of treatments) {
    for (const key of keys ?? []) {
      const holder = holders.get(key);
      if (holder !== undefined) {
        throw badRequest(`Key ${key} is targeted by the treatments ${holder} and ${name}`);
      }
      holders.set(key, name);
    }
  }
}

function checkTreatmentExists(names: ReadonlySet<string>, name: string, where: string): void {
  if (!names.has(name)) throw badRequest(`There is no treatment ${name}, which ${where} names`);
}

function checkBuckets(
  names: ReadonlySet<string>,
  buckets: readonly WireBucket[],
  where: string,
): void {
  const seen = new Set<string>();
  let sum = 0;
  for (const { treatment, size } of buckets) {
    checkTreatmentExists(names, treatment, where);
    if (seen.has(treatment)) throw badRequest(`Treatment ${treatment} stands twice in ${where}`);
    seen.add(treatment);
    sum += size;
  }
  if (sum !== 100) throw badRequest(`The bucket sizes of ${where} sum to ${sum}, not to 100`);
}

/** Names of what the definition refers to. Types that are not known refer to nothing. */
export function usesOf(body: DefinitionBody): Uses {
  const segments = new Set<string>();
  const flags = new Set<string>();
  for (const { segments: targeted } of body.treatments) {
    for (const name of targeted ?? []) segments.add(name);
  }
  for (const matcher of body.rules.flatMap((rule) => rule.condition.matchers)) {
    if (matcher.type === 'IN_SEGMENT') segments.add(String(matcher['string']));
    if (matcher.type === 'IN_SPLIT') {
      flags.add((matcher['depends'] as { splitName: string }).splitName);
    }
  }
  return { segments: [...segments].sort(), flags: [...flags].sort() };
}
