import type {
  WireDefinition,
  WireBucket,
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
import { sizeOf } from './json.js';
import { checkTreatmentName } from './names.js';
import { checkShape, checkUntouched, compileSchema } from './shape.js';

/** What a client may set of a definition, complete and tidy: the form that is stored and sent. */
export interface DefinitionContent {
  readonly killed: boolean;
  readonly body: DefinitionBody;
}

/**
 * The members that the store keeps as one JSON text. `flagSets` and `impressionsDisabled` are
 * members of public documentation that the contract does not show; they are kept and sent back.
 */
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

/** A definition that fits `DEFINITION_BODY`, before it is tidied. */
interface GivenDefinition {
  readonly killed?: boolean;
  readonly treatments: readonly GivenTreatment[];
  readonly defaultTreatment: string;
  readonly baselineTreatment?: string | null;
  readonly trafficAllocation?: number;
  readonly rules?: readonly WireRule[] | null;
  readonly defaultRule: readonly WireBucket[];
  readonly flagSets?: readonly unknown[];
  readonly impressionsDisabled?: boolean;
}

/** A treatment may hold further members, which are kept. */
type GivenTreatment = Readonly<Record<string, unknown>> & {
  readonly name: string;
  readonly keys?: readonly string[] | null;
  readonly segments?: readonly string[] | null;
};

const hasShape = compileSchema(DEFINITION_BODY);
const hasPatchedShape = compileSchema(PATCHED_DEFINITION_SCHEMA);
const isInContract = compileSchema(CONTRACT_DEFINITION_SCHEMA);

/**
 * Reads a definition that a client sent. Members that the service sets itself may stand in it and are passed over.
 *
 * @throws Problem (400) it is no definition, is too large, or contradicts itself.
 */
export function definitionFrom(given: unknown): DefinitionContent {
  checkSize(given, null);
  checkShape(hasShape, given, 'Definition');
  return contentOf(given as GivenDefinition);
}

/**
 * The definition that replaces another. Lists that the body does not name are empty afterwards. `killed`,
 * `trafficAllocation` and `baselineTreatment` keep their values where the body does not name them: a client that does
 * not know of them must not end a kill or widen a rollout. A baseline treatment that is gone cannot be kept.
 *
 * @throws Problem (400) as `definitionFrom`.
 */
export function definitionReplaced(before: WireDefinition, given: object): DefinitionContent {
  const { killed, trafficAllocation, baselineTreatment } = before;
  const { treatments } = given as Partial<GivenDefinition>;
  const hasBaseline = treatments?.some(({ name }) => name === baselineTreatment) === true;
  return definitionFrom({
    killed,
    trafficAllocation,
    ...(hasBaseline ? { baselineTreatment } : {}),
    ...given,
  });
}

/** The definition in the form that is stored. */
function contentOf(definition: GivenDefinition): DefinitionContent {
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

/** The largest definition, by `sizeOf`: what is larger would hold everybody up whenever it is changed. */
const MAX_SIZE = 1024 * 1024;

/** @param before may have been larger already, in an earlier version; then it may stay so. */
function checkSize(given: unknown, before: WireDefinition | null): void {
  if (sizeOf(given, MAX_SIZE) <= MAX_SIZE) return;
  const most = before === null ? MAX_SIZE : Math.max(MAX_SIZE, sizeOf(before));
  if (sizeOf(given, most) <= most) return;
  throw badRequest(
    `A definition holds at most ${MAX_SIZE} characters, where each value counts as 20 more`,
  );
}

/** Bodies are held to the same numbers by their schema. */
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

/** What a definition belongs to, by ids and names. */
export type Belonging = Pick<WireDefinition, 'id' | 'name' | 'environment' | 'trafficType'>;

/**
 * Holds what a body says of the flag and the environment that it belongs to against those that the
 * path named. Members that are absent or null say nothing.
 *
 * @param given fits `DEFINITION_BODY`.
 * @throws Problem (400) it is the definition of another flag, or of another environment.
 */
export function checkBelongs(given: unknown, to: Belonging): void {
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

/** What a patch of a definition cannot change: what it belongs to, its times, and what is asked for. */
const FIXED = [
  'id',
  'name',
  'environment',
  'trafficType',
  'creationTime',
  'lastUpdateTime',
  'openChangeRequestId',
];

/** Misspelt, one would otherwise be dropped and the patch look like a success. */
const KNOWN: ReadonlySet<string> = new Set([
  ...FIXED,
  ...Object.keys(DEFINITION_SCHEMA.properties),
]);

/**
 * The definition as a patch makes it. A patch may take away what is optional, such as `rules` or
 * the description of a treatment.
 *
 * @param isStrict whether a patch of a definition that is in the contract must leave it there.
 * @throws Problem (400) the patch cannot be run, touches what cannot be changed, or its result is no definition, or larger than one
 *   may be.
 */
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
  const unknown = Object.keys(after).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) throw badRequest(`Definition has no member ${unknown}`);
  return contentOf(addsKeys ? withoutEmptyLists(after, before) : after);
}

/**
 * What a patch makes of `killed` that does nothing else: the contract shows no other way to kill and to restore.
 * undefined: it does something else, or nothing.
 */
export function killAlone(operations: readonly PatchOperation[]): 'kill' | 'restore' | undefined {
  const isAlone = operations.every(
    ({ op, path, value }) =>
      (op === 'replace' || op === 'add') && path === '/killed' && typeof value === 'boolean',
  );
  const last = isAlone ? operations.at(-1) : undefined;
  return last && (last.value === true ? 'kill' : 'restore');
}

/** The contract's path to a key of a treatment: where it is added, and where a list begins. */
const NEW_KEY_PATH = /^\/treatments\/\d+\/keys\/[-0]$/;

/**
 * The contract adds a key to a treatment under `/treatments/N/keys/-`; where a patch does so, treatments without a list of
 * keys have an empty one for it.
 */
function withKeyLists(before: WireDefinition): WireDefinition {
  return {
    ...before,
    treatments: before.treatments.map((treatment) => ({ keys: [], ...treatment })),
  };
}

/** Those that got no key lose their list again. */
function withoutEmptyLists(after: GivenDefinition, before: WireDefinition): GivenDefinition {
  const without = before.treatments.filter(({ keys }) => keys === undefined);
  const names = new Set<unknown>(without.map(({ name }) => name));
  return {
    ...after,
    treatments: after.treatments.map(({ keys, ...treatment }) => ({
      ...treatment,
      ...(keys?.length === 0 && names.has(treatment.name) ? {} : { keys: keys ?? null }),
    })),
  };
}

/**
 * A treatment as it is stored. Null members are left out: clients walk these lists and stumble
 * over null. An empty list of keys stays, as it was sent.
 */
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
    ...(keys ? { keys: [...new Set(keys)] } : {}),
    ...(segments && segments.length > 0 ? { segments: [...new Set(segments)] } : {}),
  };
}

/** A rule as it is stored; members that are not the contract's are dropped. */
function tidyRule(rule: WireRule): WireRule {
  return {
    buckets: rule.buckets.map(tidyBucket),
    condition: { combiner: 'AND', matchers: rule.condition.matchers.map(tidyMatcher) },
  };
}

/** A bucket as it is stored. */
function tidyBucket({ treatment, size }: WireBucket): WireBucket {
  return { treatment, size };
}

/** A matcher as it is stored. Fields are kept as they came, also those of unknown types. */
function tidyMatcher({ type, negate, ...fields }: WireMatcher): WireMatcher {
  return { type, ...(negate ? { negate } : {}), ...withoutNulls(tidyDepends(type, fields)) };
}

/**
 * Dependencies on a flag are sent with one `treatment` by some clients, and read with `treatments`
 * by all.
 */
function tidyDepends(type: string, fields: Record<string, unknown>): Record<string, unknown> {
  if (type !== 'IN_SPLIT') return fields;
  const { treatment, ...depends } = fields['depends'] as Record<string, unknown>;
  if (treatment === undefined || depends['treatments'] !== undefined) return fields;
  return { ...fields, depends: { ...depends, treatments: [treatment] } };
}

/** The members that are not null. */
function withoutNulls(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

/**
 * Checks what no JSON Schema can say: that names agree with each other and sizes sum to 100.
 *
 * @throws Problem (400) with the first contradiction.
 */
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

/** The configuration of a treatment is JSON inside of a text, which clients parse. */
function checkConfiguration(treatment: string, configurations: string | undefined): void {
  if (configurations === undefined) return;
  try {
    JSON.parse(configurations);
  } catch {
    throw badRequest(`The configurations of treatment ${treatment} are no JSON text`);
  }
}

/**
 * A key has one treatment: two lists of individual targets with the same key contradict each other.
 */
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

/** @param where the member that names the treatment, for the message. */
function checkTreatmentExists(names: ReadonlySet<string>, name: string, where: string): void {
  if (!names.has(name)) throw badRequest(`There is no treatment ${name}, which ${where} names`);
}

/** Every treatment at most once, all of them known, and sizes that sum to 100. */
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

/**
 * Names of the segments and flags that the definition refers to, sorted. Among matchers only the
 * types `IN_SEGMENT` and `IN_SPLIT` are known to refer to what this service keeps.
 */
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
