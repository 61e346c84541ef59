import type {
  WireBucket,
  WireContent,
  WireDefinition,
  WireRule,
  WireTreatment,
  WirePatchOperation,
} from '../../admin-api/wire.js';
import {
  DEFINITION_FIELDS,
  type Bucket,
  type Definition,
  type DefinitionField,
  type Rule,
  type Treatment,
} from './flag.js';
import { ownMember } from '../collections.js';
import { canonicalJson, sameJson, sortedSet, type Json } from '../json.js';
import { canonicalMatcher } from '../matcher/canonical.js';
import fastJsonPatch, { type Operation } from 'fast-json-patch';

export function definitionFromWire(wire: WireContent): Required<Definition> {
  return {
    killed: wire.killed,
    treatments: wire.treatments.map(treatmentFromWire),
    targets: canonicalTargets(wire.treatments.map(({ name, keys }) => [name, keys ?? []])),
    defaultTreatment: wire.defaultTreatment,
    baselineTreatment: wire.baselineTreatment,
    trafficAllocation: wire.trafficAllocation,
    rules: wire.rules.map(ruleFromWire),
    defaultRule: canonicalBuckets(wire.defaultRule),
  };
}

/** The canonical form of a definition from specs; doing it twice changes nothing more. */
export function canonicalDefinition(definition: Definition): Definition {
  const { treatments, rules, defaultRule, targets } = definition;
  return {
    ...definition,
    ...(treatments && { treatments: treatments.map(canonicalTreatment) }),
    ...(targets && { targets: canonicalTargets(Object.entries(targets)) }),
    ...(rules && { rules: rules.map(canonicalRule) }),
    ...(defaultRule && { defaultRule: canonicalBuckets(defaultRule) }),
  };
}

function treatmentFromWire(wire: WireTreatment): Treatment {
  const configuration = configurationOf(wire.configurations);
  return {
    name: wire.name,
    description: wire.description ?? '',
    ...(configuration !== null && { configuration }),
  };
}

/** An empty configuration in a spec means that there is none, unlike an absent one, which leaves it to the service. */
function canonicalTreatment(treatment: Treatment): Treatment {
  return treatment.configuration === '' ? { ...treatment, configuration: null } : treatment;
}

/**
 * The service keeps configurations as JSON text; a text that is not JSON counts as a string. Services write null, an
 * empty text, or nothing for a missing one: all become null.
 */
function configurationOf(text = 'null'): Json {
  try {
    const value = JSON.parse(text) as Json;
    return value === '' ? null : value;
  } catch {
    return text === '' ? null : text;
  }
}

function canonicalTargets(
  entries: readonly (readonly [string, readonly string[]])[],
): Record<string, readonly string[]> {
  return Object.fromEntries(
    entries.filter(([, keys]) => keys.length > 0).map(([name, keys]) => [name, sortedSet(keys)]),
  );
}

function ruleFromWire({ condition: { matchers }, buckets }: WireRule): Rule {
  return canonicalRule({ matchers: matchers as Rule['matchers'], buckets });
}

function canonicalRule({ matchers, buckets }: Rule): Rule {
  return { matchers: matchers.map(canonicalMatcher), buckets: canonicalBuckets(buckets) };
}

/** Keeps the order, which decides which users move, and drops buckets of size 0. */
function canonicalBuckets(buckets: readonly (WireBucket | Bucket)[]): Bucket[] {
  return buckets
    .filter((bucket) => bucket.size !== 0)
    .map(({ treatment, size }) => ({ treatment, size }));
}

export function definitionBody(definition: Required<Definition>): WireContent {
  const { treatments, targets, rules, ...plain } = definition;
  return {
    ...plain,
    treatments: treatments.map((treatment) =>
      treatmentToWire(treatment, ownMember(targets, treatment.name)),
    ),
    rules: rules.map(ruleToWire),
    defaultRule: [...definition.defaultRule],
  };
}

function treatmentToWire(treatment: Treatment, keys: readonly string[] = []): WireTreatment {
  return {
    name: treatment.name,
    description: treatment.description ?? '',
    ...(treatment.configuration !== undefined && {
      configurations: JSON.stringify(treatment.configuration),
    }),
    ...(keys.length > 0 && { keys: [...keys] }),
  };
}

function ruleToWire(rule: Rule): WireRule {
  return {
    buckets: [...rule.buckets],
    condition: { combiner: 'AND', matchers: rule.matchers.map((matcher) => ({ ...matcher })) },
  };
}

/** Unmanaged fields, and fields that flagkeel does not know, stay as they are. */
export function withFields(live: WireDefinition, desired: Definition): WireDefinition {
  const { treatments, targets, rules, ...plain } = desired;
  return {
    ...live,
    ...(plain as Partial<WireDefinition>),
    treatments: mergedTreatments(live.treatments, treatments, targets),
    ...(rules && { rules: mergedRules(live.rules, rules) }),
  };
}

/** In the order of plans; without kills, which are reported separately. */
export function differingFields(live: WireDefinition, desired: Definition): DefinitionField[] {
  const actual = definitionFromWire(live);
  // Compared after merging, so that fields that stay as they are do not differ.
  const wanted = definitionFromWire(withFields(live, desired));
  return DEFINITION_FIELDS.filter(
    (field) => field !== 'killed' && !sameJson(wanted[field], actual[field]),
  );
}

function mergedTreatments(
  live: readonly WireTreatment[],
  desired: readonly Treatment[] | undefined,
  targets: Definition['targets'],
): WireTreatment[] {
  const liveByName = new Map(live.map((treatment) => [treatment.name, treatment]));
  const names = desired?.map(({ name }) => name) ?? live.map(({ name }) => name);
  const desiredByName = new Map(desired?.map((treatment) => [treatment.name, treatment]));
  return names.map((name) => {
    const held = liveByName.get(name);
    const wanted = desiredByName.get(name);
    const { keys: heldKeys, ...rest } = held ?? { name, description: '' };
    const keys = targets ? ownMember(targets, name) : heldKeys;
    return {
      ...rest,
      ...(wanted?.description !== undefined && { description: wanted.description }),
      ...(wanted?.configuration !== undefined && {
        configurations: configurationText(held?.configurations, wanted.configuration),
      }),
      ...(keys && keys.length > 0 && { keys: sameSet(keys, heldKeys) ? heldKeys : [...keys] }),
    };
  });
}

/** Keeps the live spelling if it means the same. */
function configurationText(held: string | undefined, wanted: Json): string {
  return held !== undefined && sameJson(configurationOf(held), wanted)
    ? held
    : JSON.stringify(wanted);
}

function sameSet(a: readonly string[], b: readonly string[] | undefined): boolean {
  return b !== undefined && sameJson(sortedSet(a), sortedSet(b));
}

/** Keeps a live rule that means the same as a whole, with the fields that flagkeel does not know. */
function mergedRules(live: readonly WireRule[], desired: readonly Rule[]): WireRule[] {
  const liveByMeaning = new Map(live.map((rule) => [canonicalJson(ruleFromWire(rule)), rule]));
  return desired.map((rule) => liveByMeaning.get(canonicalJson(rule)) ?? ruleToWire(rule));
}

/**
 * Operations that turn `live` into `target`, safe to land late: the list may have changed between the read and the
 * write, so no operation relies on a position in it. Any difference inside a field replaces that field, with one
 * exception: keys added to a treatment's individual targets are appended one by one, which is right for any state of
 * the list, but only while nothing else about the treatments differs.
 *
 * @returns in a stable order; empty where nothing differs.
 */
export function patchOperations(
  live: WireDefinition,
  target: WireDefinition,
): WirePatchOperation[] {
  const touched = new Set(
    fastJsonPatch.compare(live, target).map((operation) => operation.path.split('/')[1] ?? ''),
  );
  return [...touched].sort().flatMap((field): WirePatchOperation[] => {
    if (field === 'treatments') {
      const additions = keyAdditions(live.treatments, target.treatments);
      if (additions) return additions;
    }
    const value = (target as unknown as Record<string, unknown>)[field];
    return [{ op: field in live ? 'replace' : 'add', path: `/${field}`, value }];
  });
}

export function patched(
  live: WireDefinition,
  operations: readonly WirePatchOperation[],
): WireDefinition {
  const copy = fastJsonPatch.deepClone(live) as WireDefinition;
  return fastJsonPatch.applyPatch(copy, fastJsonPatch.deepClone(operations) as Operation[])
    .newDocument;
}

/** Undefined if added keys are not the only difference. */
function keyAdditions(
  live: readonly WireTreatment[],
  target: readonly WireTreatment[],
): WirePatchOperation[] | undefined {
  if (live.length !== target.length) return undefined;
  const operations: WirePatchOperation[] = [];
  for (const [index, wanted] of target.entries()) {
    const held = live[index];
    if (!held || !sameButKeys(held, wanted)) return undefined;
    const heldKeys = new Set(held.keys ?? []);
    const wantedKeys = wanted.keys ?? [];
    const kept = wantedKeys.filter((key) => heldKeys.has(key)).length;
    if (kept !== heldKeys.size) return undefined;
    const added = wantedKeys.filter((key) => !heldKeys.has(key));
    const path = `/treatments/${index}/keys`;
    const isFirst = added.length > 0 && held.keys === undefined;
    if (isFirst) operations.push({ op: 'add', path, value: added });
    else for (const key of added) operations.push({ op: 'add', path: `${path}/-`, value: key });
  }
  return operations;
}

function sameButKeys(a: WireTreatment, b: WireTreatment): boolean {
  return fastJsonPatch.compare({ ...a, keys: [] }, { ...b, keys: [] }).length === 0;
}
