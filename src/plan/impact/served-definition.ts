import { keyOf } from '../../model/ref.js';
import { ownMember } from '../../model/collections.js';
import type { WireDefinition } from '../../admin-api/wire.js';
import type { Definition, Matcher, Treatment } from '../../model/flag/flag.js';
import { definitionFromWire } from '../../model/flag/wire.js';
import { canonicalJson, sha256, type Json } from '../../model/json.js';
import { canonicalMatcher, dependencyOf, segmentOf } from '../../model/matcher/canonical.js';
import type { FieldChange } from '../../model/plan.js';
import { isTargetPath, treatmentOfTargetPath } from '../fields.js';
import { isKnownType, meets, textsIn } from './attribute-match.js';
import {
  bucketServing,
  constantServing,
  placeOf,
  servedAt,
  type Seeds,
  type Served,
  type Serving,
} from './serving.js';

/** A definition with the parts that no spec can express: segments that a treatment targets whole. */
export interface WholeDefinition {
  readonly fields: Required<Definition>;
  readonly segments: Readonly<Record<string, readonly string[]>>;
}

/** `segment/NAME`, or `keys/` and the canonical matcher that lists the keys. */
export type ListId = string;

/** Equal ids have equal answers, apart from `negated`; that of a list is its `ListId`. */
export type Question = { readonly id: string; readonly negated: boolean } & (
  | { readonly about: 'list' }
  | { readonly about: 'flag'; readonly flag: string; readonly treatments: readonly string[] }
  /** Attributes and the like. */
  | { readonly about: 'unknown'; readonly matcher: Matcher }
);

export interface ServedDefinition {
  readonly whole: WholeDefinition;
  readonly targets: ReadonlyMap<string, Serving>;
  /** In the order of evaluation, after the kill and the individual targets. */
  readonly branches: readonly Branch[];
  readonly otherwise: Serving;
  /** Keys that matchers list one by one; for a killed definition, those that it has once restored. */
  readonly listedKeys: ReadonlyMap<ListId, readonly string[]>;
  /** The definition without its kill, if it is killed. */
  readonly restored?: ServedDefinition;
}

export interface Branch {
  readonly questions: readonly Question[];
  readonly serving: Serving;
}

export function wholeFromWire(wire: WireDefinition): WholeDefinition {
  const segments = wire.treatments.map(({ name, segments: names }) => [name, names ?? []] as const);
  return { fields: definitionFromWire(wire), segments: Object.fromEntries(segments) };
}

export function withChanges(
  { fields, segments }: WholeDefinition,
  changes: readonly FieldChange[],
): WholeDefinition {
  const plain = changes.filter(({ path }) => !isTargetPath(path));
  const written = Object.fromEntries(plain.map(({ path, after }) => [path.slice(1), after]));
  const changed: Required<Definition> = { ...fields, ...written };
  const targets = new Map(Object.entries(changed.targets));
  for (const { path, keys } of changes) {
    if (!keys) continue;
    const treatment = treatmentOfTargetPath(path);
    const gone = new Set(keys.removed);
    const kept = (targets.get(treatment) ?? []).filter((key) => !gone.has(key));
    targets.set(treatment, [...kept, ...keys.added]);
  }
  // A removed treatment loses its targets.
  const names = changed.treatments.map(({ name }) => name);
  const left = names.map((name) => [name, targets.get(name) ?? []] as const);
  const treatments = withLiveConfigurations(changed.treatments, fields.treatments);
  return { fields: { ...changed, treatments, targets: Object.fromEntries(left) }, segments };
}

/** Keeps a configuration that the spec does not set. */
function withLiveConfigurations(
  written: readonly Treatment[],
  live: readonly Treatment[],
): readonly Treatment[] {
  const held = new Map(live.map(({ name, configuration }) => [name, configuration]));
  return written.map((treatment) => {
    const configuration = held.get(treatment.name);
    const isSaid = treatment.configuration !== undefined || configuration === undefined;
    return isSaid ? treatment : { ...treatment, configuration };
  });
}

/**
 * The order of the service's evaluators: the kill, individual keys, segments that are targeted whole, the allocation,
 * the rules, the default rule. Targets ignore the allocation.
 */
export function servedDefinition(whole: WholeDefinition): ServedDefinition {
  const { fields, segments } = whole;
  const { defaultTreatment, trafficAllocation, killed } = fields;
  const servedBy = servedByName(fields.treatments);
  if (killed) {
    const everybody = constantServing(servedBy(defaultTreatment));
    const restored = servedDefinition({ ...whole, fields: { ...fields, killed: false } });
    const nothingElse = { targets: new Map(), branches: [], otherwise: everybody };
    return { whole, ...nothingElse, listedKeys: restored.listedKeys, restored };
  }
  const listedKeys = new Map<ListId, readonly string[]>();
  const bucketed = (buckets: (typeof fields)['defaultRule']): Serving =>
    bucketServing(buckets, servedBy, {
      allocation: trafficAllocation,
      unallocated: servedBy(defaultTreatment),
    });
  const names = fields.treatments.map(({ name }) => name);
  const targeted = names.flatMap((name) =>
    (ownMember(segments, name) ?? []).map((segment): Branch => {
      const question = { about: 'list', id: segmentList(segment), negated: false } as const;
      return { questions: [question], serving: constantServing(servedBy(name)) };
    }),
  );
  const rules = fields.rules.map(({ matchers, buckets }): Branch => {
    const questions = matchers.map((matcher) => questionOf(matcher, listedKeys));
    return { questions, serving: bucketed(buckets) };
  });
  return {
    whole,
    targets: targetServings(fields, names, servedBy),
    branches: [...targeted, ...rules],
    otherwise: bucketed(fields.defaultRule),
    listedKeys,
  };
}

export function questionsOf(served: ServedDefinition | null | undefined): readonly Question[] {
  return served?.branches.flatMap(({ questions }) => questions) ?? [];
}

/**
 * The point of a definition at which a key ends, or the first open question that decides it.
 *
 * @param answerTo ignores whether the question is negated.
 */
export function servingOf<Open extends object>(
  served: ServedDefinition,
  target: Serving | undefined,
  answerTo: (question: Question) => boolean | Open,
): Serving | Open {
  if (target) return target;
  for (const { questions, serving } of served.branches) {
    const answer = allMet(questions, answerTo);
    if (answer === true) return serving;
    if (answer !== false) return answer;
  }
  return served.otherwise;
}

/** One negative answer decides, even if others are open. */
export function allMet<Open extends object | symbol>(
  questions: readonly Question[],
  answerTo: (question: Question) => boolean | Open,
): boolean | Open {
  let open: Open | undefined;
  for (const question of questions) {
    const answer = answerTo(question);
    if (typeof answer !== 'boolean') open ??= answer;
    else if (answer === question.negated) return false;
  }
  return open ?? true;
}

export function segmentList(segment: string): ListId {
  return keyOf('segment', segment);
}

/** A treatment with its configuration, by name; always the same object for the same name. */
function servedByName(treatments: readonly Treatment[]): (name: string) => Served {
  const known = new Map<string, Served>();
  for (const { name, configuration } of treatments) {
    known.set(name, { treatment: name, configuration: configurationText(configuration) });
  }
  return (name) => {
    const served = known.get(name) ?? { treatment: name, configuration: '' };
    known.set(name, served);
    return served;
  };
}

/** Equal for equal configurations, and short however large they are. */
function configurationText(configuration: Json | undefined): string {
  if (configuration === undefined || configuration === null) return '';
  return sha256(canonicalJson(configuration));
}

/** A key that is a target of two treatments gets the first. */
function targetServings(
  { targets }: Required<Definition>,
  names: readonly string[],
  servedBy: (name: string) => Served,
): Map<string, Serving> {
  const servings = new Map<string, Serving>();
  for (const name of names) {
    const serving = constantServing(servedBy(name));
    for (const key of ownMember(targets, name) ?? []) {
      if (!servings.has(key)) servings.set(key, serving);
    }
  }
  return servings;
}

function questionOf(raw: Matcher, listedKeys: Map<ListId, readonly string[]>): Question {
  const { negate, ...matcher } = canonicalMatcher(raw);
  const negated = negate === true;
  const segment = segmentOf(matcher);
  if (segment !== undefined) return { about: 'list', id: segmentList(segment), negated };
  const dependency = dependencyOf(matcher);
  if (dependency) {
    const { flag, treatments } = dependency;
    return { about: 'flag', id: JSON.stringify([flag, treatments]), ...dependency, negated };
  }
  const id = canonicalJson(matcher);
  // A matcher without an attribute compares the key itself, so it is a list of keys.
  const isListed = matcher.type === 'IN_LIST_STRING' && matcher['attribute'] === undefined;
  if (!isListed) return { about: 'unknown', id, matcher, negated };
  const list = `keys/${id}`;
  listedKeys.set(list, textsIn(matcher['strings']));
  return { about: 'list', id: list, negated };
}

export interface SeededDefinition {
  readonly served: ServedDefinition;
  readonly seeds: Seeds;
  readonly listed: ReadonlyMap<ListId, ReadonlySet<string>>;
  /** A matcher of a type that evaluators do not know makes them serve `control`. */
  readonly isReadable: boolean;
}

export interface KnownKey {
  readonly key: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly segments: ReadonlySet<ListId>;
}

export interface ServedKey {
  readonly served: Served;
  readonly serving: Serving;
}

const CONTROL = constantServing(null);

export function seededDefinition(served: ServedDefinition, seeds: Seeds): SeededDefinition {
  const listed = [...served.listedKeys].map(([list, keys]) => [list, new Set(keys)] as const);
  const isReadable = questionsOf(served).every(
    (question) => question.about !== 'unknown' || isKnownType(question.matcher.type),
  );
  return { seeds, served, listed: new Map(listed), isReadable };
}

/** What the vendor's SDKs serve a key by the same definitions, seeds included. */
export function servedTo(
  flag: string,
  known: KnownKey,
  definitions: ReadonlyMap<string, SeededDefinition>,
  above: readonly string[] = [],
): ServedKey {
  const definition = definitions.get(flag);
  // Flags that ask about each other in a circle serve nothing.
  if (!definition?.isReadable || above.includes(flag)) return { served: null, serving: CONTROL };
  const { served, seeds, listed } = definition;
  const { key, attributes, segments } = known;
  const isMet = (question: Question): boolean => {
    switch (question.about) {
      case 'list':
        return listed.get(question.id)?.has(key) ?? segments.has(question.id);
      case 'flag': {
        const other = servedTo(question.flag, known, definitions, [...above, flag]).served;
        return question.treatments.includes(other?.treatment ?? 'control');
      }
      case 'unknown': {
        const { attribute } = question.matcher;
        const value = typeof attribute === 'string' ? attributes[attribute] : key;
        return meets(question.matcher, value) ?? false;
      }
    }
  };
  const serving = servingOf<never>(served, served.targets.get(key), isMet);
  return { served: servedAt(serving, placeOf(key, seeds)), serving };
}
