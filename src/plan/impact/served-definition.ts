import type { WireDefinition } from '../../api/wire.js';
import type { Definition, Matcher } from '../../kinds/flag.js';
import { definitionFromWire } from '../../kinds/flag-wire.js';
import { canonicalJson, type Json } from '../../kinds/json.js';
import { canonicalMatcher, dependencyOf, segmentOf } from '../../kinds/matcher.js';
import type { FieldChange } from '../../model/plan.js';
import { isTargetPath, treatmentOfTargetPath } from '../fields.js';
import { bucketServing, constantServing, type Serving } from './serving.js';

/** A definition and what of it no spec can say: segments that a treatment targets whole. */
export interface WholeDefinition {
  readonly fields: Required<Definition>;
  /** Treatment → names of segments. */
  readonly segments: Readonly<Record<string, readonly string[]>>;
}

/** `segment/NAME`, or `keys/` and the canonical matcher that lists them. */
export type ListId = string;

/** What a matcher asks of a key. */
export type Question = { readonly negated: boolean } & (
  | { readonly about: 'list'; readonly list: ListId }
  | { readonly about: 'flag'; readonly flag: string; readonly treatments: readonly string[] }
  /** Attributes and the like; equal ids have equal answers. */
  | { readonly about: 'unknown'; readonly id: string }
);

/** A definition laid out for asking whom it serves what. */
export interface ServedDefinition {
  readonly whole: WholeDefinition;
  /** Key → what it gets as an individual target. */
  readonly targets: ReadonlyMap<string, Serving>;
  /** In the order in which they are tried, after the killing and the individual targets. */
  readonly branches: readonly Branch[];
  readonly otherwise: Serving;
  /** Keys that matchers list one by one. */
  readonly listedKeys: ReadonlyMap<ListId, readonly string[]>;
}

export interface Branch {
  /** All must be answered with yes. */
  readonly questions: readonly Question[];
  readonly serving: Serving;
}

export function wholeFromWire(wire: WireDefinition): WholeDefinition {
  const segments = wire.treatments.map(({ name, segments: names }) => [name, names ?? []] as const);
  return { fields: definitionFromWire(wire), segments: Object.fromEntries(segments) };
}

/** The definition as the changes leave it. */
export function withChanges(
  { fields, segments }: WholeDefinition,
  changes: readonly FieldChange[],
): WholeDefinition {
  const plain = changes.filter(({ path }) => !isTargetPath(path));
  const written = Object.fromEntries(plain.map(({ path, after }) => [path.slice(1), after]));
  const changed = { ...fields, ...written };
  const targets = new Map(Object.entries(changed.targets));
  for (const { path, keys } of changes) {
    if (!keys || !isTargetPath(path)) continue;
    const treatment = treatmentOfTargetPath(path);
    const gone = new Set(keys.removed);
    const kept = (targets.get(treatment) ?? []).filter((key) => !gone.has(key));
    targets.set(treatment, [...kept, ...keys.added]);
  }
  // Targets go with their treatment.
  const names = changed.treatments.map(({ name }) => name);
  const left = names.map((name) => [name, targets.get(name) ?? []] as const);
  return { fields: { ...changed, targets: Object.fromEntries(left) }, segments };
}

/**
 * The order in which the service's evaluators look: killed, individual keys, segments that are targeted whole, then the
 * allocation, the rules, the default rule. Targets know nothing of the allocation.
 */
export function servedDefinition(whole: WholeDefinition): ServedDefinition {
  const { fields, segments } = whole;
  const { defaultTreatment, trafficAllocation, killed } = fields;
  const listedKeys = new Map<ListId, readonly string[]>();
  if (killed) {
    const everybody = constantServing(defaultTreatment);
    return { whole, targets: new Map(), branches: [], otherwise: everybody, listedKeys };
  }
  const bucketed = (buckets: (typeof fields)['defaultRule']): Serving =>
    bucketServing(buckets, { allocation: trafficAllocation, unallocated: defaultTreatment });
  const names = fields.treatments.map(({ name }) => name);
  const targeted = names.flatMap((name) =>
    (segments[name] ?? []).map((segment): Branch => {
      const question = { about: 'list', list: segmentList(segment), negated: false } as const;
      return { questions: [question], serving: constantServing(name) };
    }),
  );
  const rules = fields.rules.map(({ matchers, buckets }): Branch => {
    const questions = matchers.map((matcher) => questionOf(matcher, listedKeys));
    return { questions, serving: bucketed(buckets) };
  });
  return {
    whole,
    targets: targetServings(fields, names),
    branches: [...targeted, ...rules],
    otherwise: bucketed(fields.defaultRule),
    listedKeys,
  };
}

export function questionsOf(served: ServedDefinition | null | undefined): readonly Question[] {
  return served?.branches.flatMap(({ questions }) => questions) ?? [];
}

export function segmentList(segment: string): ListId {
  return `segment/${segment}`;
}

/** A key that two treatments target gets the first. */
function targetServings(
  { targets }: Required<Definition>,
  names: readonly string[],
): Map<string, Serving> {
  const servings = new Map<string, Serving>();
  for (const name of names) {
    const serving = constantServing(name);
    for (const key of targets[name] ?? []) {
      if (!servings.has(key)) servings.set(key, serving);
    }
  }
  return servings;
}

function questionOf(raw: Matcher, listedKeys: Map<ListId, readonly string[]>): Question {
  const { negate, ...matcher } = canonicalMatcher(raw);
  const negated = negate === true;
  const segment = segmentOf(matcher);
  if (segment !== undefined) return { about: 'list', list: segmentList(segment), negated };
  const dependency = dependencyOf(matcher);
  if (dependency) return { about: 'flag', ...dependency, negated };
  const id = canonicalJson(matcher);
  const keys = keysOf(matcher);
  if (!keys) return { about: 'unknown', id, negated };
  const list = `keys/${id}`;
  listedKeys.set(list, keys);
  return { about: 'list', list, negated };
}

/** Without an attribute the key itself is compared, so the matcher is a list of keys. */
function keysOf(matcher: Matcher): readonly string[] | undefined {
  const strings: Json | undefined = matcher['strings'];
  if (matcher.type !== 'IN_LIST_STRING' || matcher['attribute'] !== undefined) return undefined;
  if (!Array.isArray(strings)) return undefined;
  const keys = strings.filter((each): each is string => typeof each === 'string');
  return keys.length === strings.length ? keys : undefined;
}
