import type { Desired } from '../../model/desired.js';
import type { Matcher } from '../../model/flag/flag.js';
import { orderedDefinition } from '../kills/orders.js';
import { asCompared, meets } from './attribute-match.js';
import { flagDistribution, flagsBehind, isExact, type Bounds } from './distribution.js';
import type { EnvironmentSides, FlagSides } from './environment-sides.js';
import type { KeyGroup, TargetSides } from './key-groups.js';
import {
  allMet,
  questionsOf,
  segmentList,
  servedDefinition,
  type ListId,
  type Question,
  type ServedDefinition,
} from './served-definition.js';
import { constantServing, WHOLE, type Serving, placeOf, type Seeds } from './serving.js';

export interface Situation {
  readonly key?: string;
  /** Segments that hold the key, whatever their lists say. If set, only these and those that list it hold it. */
  readonly segments?: readonly string[];
  /** If set, the key has no other attributes. */
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** The place from 1 to 100 that hashing gives the key, in this flag. */
  readonly at?: number;
  readonly seeds?: ReadonlyMap<string, Seeds>;
  readonly killed?: boolean;
}

export interface Answer {
  /** Treatment → bounds for the per cent of matching keys that get it. A null key stands for `control`. */
  readonly shares: ReadonlyMap<string | null, Bounds>;
  readonly isCertain: boolean;
  readonly killed: boolean;
  readonly isTarget: boolean;
  /** For each rule, whether the key meets it; null if hashing of another flag or an unknown fact decides. */
  readonly rules: readonly (boolean | null)[];
  /** Missing facts that may matter: `segment "x"`, `attribute "y"`, `flag "z"`, sorted. */
  readonly untold: readonly string[];
  readonly behind: ReadonlySet<string>;
}

/** By the evaluator that also computes the reach of plans. Undefined where the flag is not declared for the environment. */
export function evaluate(
  desired: Desired,
  { flag, environment }: { readonly flag: string; readonly environment: string },
  situation: Situation,
): Answer | undefined {
  const { key, at } = situation;
  const flags = new Map<string, FlagSides>();
  const targets = new Map<string, TargetSides>();
  const answers = new Map<string, boolean>();
  for (const name of desired.flags.keys()) {
    const ordered = orderedDefinition(desired, name, environment);
    if (!ordered) continue;
    const killed = name === flag ? (situation.killed ?? ordered.killed) : ordered.killed;
    const served = servedDefinition({ fields: { ...ordered, killed }, segments: {} });
    const now = name === flag && at !== undefined ? atPlace(served, at) : served;
    flags.set(name, { before: now, after: now });
    const target = key === undefined ? undefined : now.targets.get(key);
    if (target) targets.set(name, { before: target, after: target });
    for (const question of questionsOf(now)) {
      const listed = served.listedKeys.get(question.id);
      const answer = knownAnswer(question, listed, { desired, environment, situation });
      if (answer !== undefined) answers.set(question.id, answer);
    }
  }
  const own = flags.get(flag)?.after;
  if (!own) return undefined;
  const places = placesOf(situation);
  const group: KeyGroup = { targets, answers, places, lists: new Map(), count: 1, names: [] };
  const shares = sharesOf(flag, group, flags);
  const behind = flagsBehind(flag, { flags });
  const open = [...behind].flatMap((name) => questionsOf(flags.get(name)?.after));
  return {
    shares,
    behind,
    isCertain: [...shares.values()].every(isExact),
    killed: own.whole.fields.killed,
    isTarget: targets.has(flag),
    rules: own.branches.map(({ questions }) => {
      const met = allMet(questions, (question) => answerTo(question, group, flags) ?? OPEN);
      return met === OPEN ? null : met;
    }),
    untold: [...new Set(open.flatMap((question) => untoldIn(question, answers, flags)))].sort(),
  };
}

const OPEN = Symbol('open');

type Flags = EnvironmentSides['flags'];

interface Known {
  readonly desired: Desired;
  readonly environment: string;
  readonly situation: Situation;
}

/** Apart from negation; undefined where the situation does not decide it. */
function knownAnswer(
  question: Question,
  listed: readonly string[] | undefined,
  known: Known,
): boolean | undefined {
  const { key } = known.situation;
  switch (question.about) {
    case 'flag':
      return undefined;
    case 'list':
      return listed ? key !== undefined && listed.includes(key) : isInSegment(question.id, known);
    case 'unknown':
      return isMet(question.matcher, known.situation);
  }
}

/** A list that git manages in part, or not at all, does not exclude a key that it lacks. */
function isInSegment(
  list: ListId,
  { desired, environment, situation: { key, segments } }: Known,
): boolean | undefined {
  if (segments?.some((name) => segmentList(name) === list) === true) return true;
  const name = list.slice(segmentList('').length);
  const activation = desired.segments.get(name)?.environments.get(environment);
  if (key !== undefined && activation?.keys?.keys.includes(key) === true) return true;
  const isWhole = activation?.mode === 'exact' && activation.keys !== undefined;
  return isWhole || segments !== undefined ? false : undefined;
}

/** A missing attribute meets no matcher, so that it meets each negated one, as in the vendor's SDKs. */
function isMet(matcher: Matcher, { key, attributes }: Situation): boolean | undefined {
  const name = matcher['attribute'];
  if (typeof name !== 'string') return key === undefined ? undefined : meets(matcher, key);
  if (attributes === undefined) return undefined;
  if (!Object.hasOwn(attributes, name)) return false;
  return meets(matcher, asCompared(matcher, attributes[name]));
}

/** The definition with every decision of its own hashing made by one place. */
function atPlace(served: ServedDefinition, at: number): ServedDefinition {
  const fixed = (serving: Serving): Serving => ({
    ...serving,
    places: constantServing(serving.places[at - 1] ?? null).places,
  });
  return {
    ...served,
    otherwise: fixed(served.otherwise),
    branches: served.branches.map((branch) => ({ ...branch, serving: fixed(branch.serving) })),
  };
}

function placesOf({ key, seeds = new Map() }: Situation): NonNullable<KeyGroup['places']> {
  if (key === undefined) return new Map();
  return new Map([...seeds].map(([flag, each]) => [flag, placeOf(key, each)] as const));
}

/** In per cent; with too many cases to examine, any treatment of the flag is possible. */
function sharesOf(flag: string, group: KeyGroup, flags: Flags): Map<string | null, Bounds> {
  const { pairs, whole } = flagDistribution(flag, group, { flags, lists: new Map() }, new Map());
  if (!whole) {
    const names = flags.get(flag)?.after?.whole.fields.treatments ?? [];
    return new Map(names.map(({ name }) => [name, { least: 0, most: 100 }]));
  }
  return new Map(
    [...pairs.values()].map(({ to, least, most }) => [
      to?.treatment ?? null,
      { least: percent(least), most: percent(most) },
    ]),
  );
}

/** Two decimals, as precise as the service's shares; sums of other flags' shares have a far smaller error. */
function percent(parts: number): number {
  return Math.round((parts / WHOLE) * 10_000) / 100;
}

/** Apart from negation; undefined where hashing of another flag or an unknown fact decides. */
function answerTo(question: Question, group: KeyGroup, flags: Flags): boolean | undefined {
  const answer = group.answers?.get(question.id);
  if (answer !== undefined) return answer;
  if (question.about !== 'flag' || !flags.has(question.flag)) return undefined;
  const served = [...sharesOf(question.flag, group, flags).keys()];
  const wanted = served.filter((each) => each !== null && question.treatments.includes(each));
  if (wanted.length === served.length) return true;
  return wanted.length === 0 ? false : undefined;
}

/** The missing fact of an open question, if it is one that the caller can give. */
function untoldIn(
  question: Question,
  answers: ReadonlyMap<string, boolean>,
  flags: Flags,
): string[] {
  if (answers.has(question.id)) return [];
  switch (question.about) {
    case 'list':
      return [`segment "${question.id.slice(segmentList('').length)}"`];
    case 'flag':
      return flags.has(question.flag) ? [] : [`flag "${question.flag}"`];
    case 'unknown': {
      const { type, attribute } = question.matcher;
      return [typeof attribute === 'string' ? `attribute "${attribute}"` : `what ${type} asks`];
    }
  }
}
