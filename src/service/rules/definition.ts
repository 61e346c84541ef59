import type {
  WireBucket,
  WireContent,
  WireDefinition,
  WireMatcher,
  WireRule,
  WireTreatment,
} from '../../admin-api/wire.js';
import { badRequest } from '../http/problem.js';
import {
  CONTRACT_DEFINITION_SCHEMA,
  DEFINITION_BODY,
  DEFINITION_SCHEMA,
  MAX_MATCHERS,
  MAX_RULES,
  PATCHED_DEFINITION_SCHEMA,
} from './definition-schema.js';
import { applyPatch, type PatchOperation } from './json-patch.js';
import { measuresOf } from './json.js';
import { checkTreatmentName } from './members.js';
import { checkShape, checkUntouched, compileSchema } from './shape.js';

/** Complete and tidied, as the store keeps it. */
export interface DefinitionContent {
  readonly killed: boolean;
  readonly body: DefinitionBody;
}

/** Stored as one JSON text. `flagSets` and `impressionsDisabled` come from public documentation; they are sent back. */
export interface DefinitionBody extends Omit<WireContent, 'killed'> {
  readonly flagSets?: readonly unknown[];
  readonly impressionsDisabled?: boolean;
}

/** A reference of a definition to another object. */
export interface Use {
  readonly kind: 'segment' | 'flag';
  readonly name: string;
}

/** Before it is tidied. A treatment may have further members, which are kept. */
type GivenDefinition = Pick<WireContent, 'treatments' | 'defaultTreatment' | 'defaultRule'> &
  Partial<Omit<DefinitionBody, 'rules'> & Pick<WireContent, 'killed'>> & {
    readonly rules?: WireRule[] | null;
  };

const hasShape = compileSchema(DEFINITION_BODY);
const hasPatchedShape = compileSchema(PATCHED_DEFINITION_SCHEMA);
const isInContract = compileSchema(CONTRACT_DEFINITION_SCHEMA);

/** Ignores members that only the service sets. @throws Problem (400) */
export function definitionFrom(given: unknown): DefinitionContent {
  checkSize(given, null);
  checkShape(hasShape, given, 'Definition');
  return contentOf(given as GivenDefinition);
}

/**
 * Lists that the body leaves out become empty. `killed`, `trafficAllocation` and `baselineTreatment` keep their
 * values: a client that does not know them must not end a kill or widen a rollout. A baseline treatment that no longer
 * exists is dropped. @throws Problem (400)
 */
export function definitionReplaced(before: WireDefinition, given: object): DefinitionContent {
  const { killed, trafficAllocation, baselineTreatment } = before;
  const { treatments = [] } = given as Partial<GivenDefinition>;
  const hasBaseline = treatments.some(({ name }) => name === baselineTreatment);
  return definitionFrom({
    killed,
    trafficAllocation,
    ...(hasBaseline && { baselineTreatment }),
    ...given,
  });
}

function contentOf(definition: GivenDefinition): DefinitionContent {
  const body: DefinitionBody = {
    treatments: definition.treatments.map(tidyTreatment),
    defaultTreatment: definition.defaultTreatment,
    baselineTreatment: definition.baselineTreatment ?? definition.defaultTreatment,
    trafficAllocation: definition.trafficAllocation ?? 100,
    rules: (definition.rules ?? []).map(tidyRule),
    defaultRule: definition.defaultRule.map(tidyBucket),
    ...(definition.flagSets && definition.flagSets.length > 0 && { flagSets: definition.flagSets }),
    ...(definition.impressionsDisabled && { impressionsDisabled: true }),
  };
  checkDefinition(body);
  return { killed: definition.killed ?? false, body };
}

/** The largest definition, by `measuresOf`. Each change of a larger one would hold up all other requests. */
const MAX_SIZE = 1024 * 1024;

/** @param before a definition of an earlier version may be larger already; then it may stay so. */
function checkSize(given: unknown, before: WireDefinition | null): void {
  if (measuresOf(given, MAX_SIZE).size <= MAX_SIZE) return;
  const most = before === null ? MAX_SIZE : Math.max(MAX_SIZE, measuresOf(before).size);
  if (measuresOf(given, most).size <= most) return;
  const limit = `${MAX_SIZE} characters, where each value counts as 20 more`;
  throw badRequest(`A definition holds at most ${limit}`);
}

/** For patched definitions; a schema checks these limits of whole bodies. */
function checkRules(after: GivenDefinition, before: WireDefinition): void {
  const longest = ({ rules }: Pick<GivenDefinition, 'rules'>): number =>
    Math.max(0, ...(rules ?? []).map(({ condition }) => condition.matchers.length));
  if ((after.rules ?? []).length > Math.max(MAX_RULES, before.rules.length)) {
    throw badRequest(`A definition has at most ${MAX_RULES} rules`);
  }
  if (longest(after) > Math.max(MAX_MATCHERS, longest(before))) {
    throw badRequest(`A rule has at most ${MAX_MATCHERS} matchers`);
  }
}

/** Flag and environment in a body must be those of the path, if they are there. @throws Problem (400) */
export function checkBelongs(
  given: object,
  to: Pick<WireDefinition, 'id' | 'name' | 'environment' | 'trafficType'>,
): void {
  const { id, name, environment, trafficType } = given as Readonly<Record<string, unknown>>;
  checkNames('Definition', { id, name }, to);
  checkNames('environment', environment, to.environment);
  checkNames('trafficType', trafficType, to.trafficType);
}

/** @param said an id or a name alone, or an object that may have either. */
function checkNames(what: string, said: unknown, of: { id: string; name: string }): void {
  if (typeof said === 'string') {
    if (said === of.id || said === of.name) return;
    throw badRequest(`${what} ${said} is another than that of the path, ${of.name}`);
  }
  const { id, name } = (said ?? {}) as { readonly id?: unknown; readonly name?: unknown };
  for (const [given, own] of [[id ?? of.id, of.id] as const, [name ?? of.name, of.name] as const]) {
    if (given !== own)
      throw badRequest(`${what} ${JSON.stringify(given)} is another than that of the path, ${own}`);
  }
}

const FIXED = [
  'id',
  'name',
  'environment',
  'trafficType',
  'creationTime',
  'lastUpdateTime',
  'openChangeRequestId',
];

/** A misspelt member would be dropped, and the patch would seem to succeed. */
const KNOWN = [...FIXED, ...Object.keys(DEFINITION_SCHEMA.properties)];

/** A patch of the whole document may repeat the seeds that answers show; like those of a PUT, they are ignored. */
const KNOWN_OF_WHOLE = [...KNOWN, 'seed', 'trafficAllocationSeed'];

/** @param isStrict if a definition fits the contract, it must fit it after the patch too. @throws Problem (400) */
export function definitionPatched(
  before: WireDefinition,
  operations: readonly PatchOperation[],
  isStrict = false,
): DefinitionContent {
  const addsKeys = operations.some(({ path }) => NEW_KEY_PATH.test(path));
  const patched = applyPatch(addsKeys ? withKeyLists(before) : before, operations);
  checkSize(patched, before);
  checkShape(hasPatchedShape, patched, 'Definition');
  if (isStrict && isInContract(before)) checkShape(isInContract, patched, 'Definition');
  const after = patched as GivenDefinition;
  checkRules(after, before);
  checkUntouched(before, after, FIXED);
  const known = operations.some(({ path }) => path === '') ? KNOWN_OF_WHOLE : KNOWN;
  const unknown = Object.keys(after).find((name) => !known.includes(name));
  if (unknown !== undefined) throw badRequest(`Definition has no member ${unknown}`);
  return contentOf(addsKeys ? withoutEmptyLists(after, before) : after);
}

/** For a patch that only changes `killed`: the contract shows no other way to kill and to restore. */
export function killAlone(operations: readonly PatchOperation[]): 'kill' | 'restore' | undefined {
  const isAlone = operations.every(
    ({ op, path, value }) =>
      (op === 'replace' || op === 'add') && path === '/killed' && typeof value === 'boolean',
  );
  const last = isAlone ? operations.at(-1) : undefined;
  return last && (last.value === true ? 'kill' : 'restore');
}

/** The contract's path for adding a key to a treatment: to the end of its list, or as the first one. */
const NEW_KEY_PATH = /^\/treatments\/\d+\/keys\/[-0]$/;

/** For patches that add a key, treatments without a list of keys get an empty one. */
function withKeyLists(before: WireDefinition): WireDefinition {
  return {
    ...before,
    treatments: before.treatments.map((treatment) => ({ keys: [], ...treatment })),
  };
}

function withoutEmptyLists(after: GivenDefinition, before: WireDefinition): GivenDefinition {
  const without = before.treatments.filter(({ keys }) => keys === undefined);
  const names = new Set(without.map(({ name }) => name));
  return {
    ...after,
    treatments: after.treatments.map(({ keys, ...treatment }) => ({
      ...treatment,
      ...(keys === undefined || (keys.length === 0 && names.has(treatment.name)) ? {} : { keys }),
    })),
  };
}

/** Unknown members that are null are left out, because clients fail on null there. An empty list of keys stays. */
function tidyTreatment(treatment: WireTreatment): WireTreatment {
  const { name, description = '', keys, segments, ...rest } = treatment;
  return {
    name,
    description,
    ...withoutNulls(rest),
    ...(keys ? { keys: [...new Set(keys)] } : {}),
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

/** A matcher without `negate: false` and nulls. Other fields stay, also those of a type that is not known here. */
function tidyMatcher({ type, negate, ...fields }: WireMatcher): WireMatcher {
  return { type, ...(negate ? { negate } : {}), ...withoutNulls(tidyDepends(type, fields)) };
}

function withoutNulls(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

/** Some clients send dependencies on a flag with one `treatment`; all clients read `treatments`. */
function tidyDepends(type: string, fields: Record<string, unknown>): Record<string, unknown> {
  if (type !== 'IN_SPLIT') return fields;
  const { treatment, ...depends } = fields['depends'] as Record<string, unknown>;
  if (treatment === undefined || depends['treatments'] !== undefined) return fields;
  return { ...fields, depends: { ...depends, treatments: [treatment] } };
}

/** What JSON Schema cannot express. */
function checkDefinition(body: DefinitionBody): void {
  const names = new Set<string>();
  for (const { name, configurations = '{}' } of body.treatments) {
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

/** JSON inside a text, which clients parse. */
function checkConfiguration(treatment: string, configurations: string): void {
  try {
    JSON.parse(configurations);
  } catch {
    throw badRequest(`The configurations of treatment ${treatment} are no JSON text`);
  }
}

/** Two lists with the same key contradict each other. */
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

/** Each once, sorted. Only matchers of the types `IN_SEGMENT` and `IN_SPLIT` refer to objects of this service. */
export function usesOf(body: DefinitionBody): Use[] {
  const segments = new Set(body.treatments.flatMap(({ segments: targeted = [] }) => targeted));
  const flags = new Set<string>();
  for (const matcher of body.rules.flatMap((rule) => rule.condition.matchers)) {
    if (matcher.type === 'IN_SEGMENT') segments.add(String(matcher['string']));
    if (matcher.type === 'IN_SPLIT') {
      flags.add((matcher['depends'] as { splitName: string }).splitName);
    }
  }
  return [
    ...[...segments].sort().map((name): Use => ({ kind: 'segment', name })),
    ...[...flags].sort().map((name): Use => ({ kind: 'flag', name })),
  ];
}
