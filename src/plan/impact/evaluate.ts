import type { Desired } from '../../model/desired.js';
import type { Matcher } from '../../model/flag/flag.js';
import { orderedDefinition } from '../kills/orders.js';
import { asCompared, meets } from './attribute-match.js';
import { flagDistribution, flagsBehind, isExact, type Bounds } from './distribution.js';
import type { EnvironmentSides, FlagSides, ListSides } from './environment-sides.js';
import type { KeyGroup, TargetSides } from './key-groups.js';
import {
  segmentList,
  servedDefinition,
  type ListId,
  type Question,
  type ServedDefinition,
} from './served-definition.js';
import { constantServing, pairOf, WHOLE, type Serving, placeOf, type Seeds } from './serving.js';

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

/** Lists that hold every key, and no key: an answered question is replaced by a question about one of these. */
const EVERYBODY: ListId = 'answered/yes';
const NOBODY: ListId = 'answered/no';
const EMPTY: ListSides = { before: [], added: [], removed: [] };
const LISTS: ReadonlyMap<ListId, ListSides> = new Map([
  [EVERYBODY, EMPTY],
  [NOBODY, EMPTY],
]);

/** By the evaluator that also computes the reach of plans. Undefined where the flag is not declared for the environment. */
export function evaluate(
  desired: Desired,
  { flag, environment }: { readonly flag: string; readonly environment: string },
  situation: Situation,
): Answer | undefined {
  const { key } = situation;
  const flags = new Map<string, FlagSides>();
  const targets = new Map<string, TargetSides>();
  for (const name of desired.flags.keys()) {
    const ordered = orderedDefinition(desired, name, environment);
    if (!ordered) continue;
    const killed = name === flag ? (situation.killed ?? ordered.killed) : ordered.killed;
    const served = servedDefinition({ fields: { ...ordered, killed }, segments: {} });
    const answered = withAnswers(served, { desired, environment, situation });
    const at = name === flag ? situation.at : undefined;
    const now = at === undefined ? answered : atPlace(answered, at);
    flags.set(name, { before: now, after: now });
    const target = key === undefined ? undefined : now.targets.get(key);
    if (target) targets.set(name, { before: target, after: target });
  }
  const own = flags.get(flag)?.after;
  if (!own) return undefined;
  const sides: Sides = { flags, lists: LISTS };
  const group: KeyGroup = {
    lists: new Map([[EVERYBODY, 'kept']]),
    ...{ targets, places: placesOf(situation), count: 1, names: [] },
  };
  const shares = sharesOf(flag, group, sides);
  const behind = flagsBehind(flag, sides);
  return {
    shares,
    behind,
    isCertain: [...shares.values()].every(isExact),
    killed: own.whole.fields.killed,
    isTarget: targets.has(flag),
    rules: own.branches.map(({ questions }) =>
      all(questions.map((question) => answerTo(question, group, sides))),
    ),
    untold: [...new Set([...behind].flatMap((name) => untoldIn(name, sides)))].sort(),
  };
}

type Sides = Pick<EnvironmentSides, 'flags' | 'lists'>;

interface Known {
  readonly desired: Desired;
  readonly environment: string;
  readonly situation: Situation;
}

/** The definition with the questions answered that a situation decides. */
function withAnswers(served: ServedDefinition, known: Known): ServedDefinition {
  const answered = (question: Question): Question => {
    const answer = knownAnswer(question, served.listedKeys, known);
    if (answer === undefined) return question;
    return { about: 'list', list: answer ? EVERYBODY : NOBODY, negated: question.negated };
  };
  const branches = served.branches.map(({ questions, serving }) => {
    return { questions: questions.map(answered), serving };
  });
  return { ...served, branches };
}

function knownAnswer(
  question: Question,
  listedKeys: ServedDefinition['listedKeys'],
  known: Known,
): boolean | undefined {
  const { key } = known.situation;
  switch (question.about) {
    case 'flag':
      return undefined;
    case 'list': {
      const listed = listedKeys.get(question.list);
      return listed ? key !== undefined && listed.includes(key) : isInSegment(question.list, known);
    }
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
function sharesOf(flag: string, group: KeyGroup, sides: Sides): Map<string | null, Bounds> {
  const { pairs, whole } = flagDistribution(flag, group, sides, new Map());
  if (!whole) {
    const names = sides.flags.get(flag)?.after?.whole.fields.treatments ?? [];
    return new Map(names.map(({ name }) => [name, { least: 0, most: 100 }]));
  }
  const shares = [...pairs].map(([key, { least, most }]) => {
    const bounds = { least: percent(least), most: percent(most) };
    return [pairOf(key).to?.treatment ?? null, bounds] as const;
  });
  return new Map(shares);
}

/** Two decimals, as precise as the service's shares; sums of other flags' shares have a far smaller error. */
function percent(parts: number): number {
  return Math.round((parts / WHOLE) * 10_000) / 100;
}

function answerTo(question: Question, group: KeyGroup, sides: Sides): boolean | null {
  if (question.about === 'list' && sides.lists.has(question.list)) {
    return group.lists.has(question.list) !== question.negated;
  }
  if (question.about !== 'flag' || !sides.flags.has(question.flag)) return null;
  const served = [...sharesOf(question.flag, group, sides).keys()];
  const wanted = served.filter((each) => each !== null && question.treatments.includes(each));
  if (wanted.length === served.length) return !question.negated;
  return wanted.length === 0 ? question.negated : null;
}

/** One negative answer decides, even if others are open. */
function all(answers: readonly (boolean | null)[]): boolean | null {
  if (answers.includes(false)) return false;
  return answers.includes(null) ? null : true;
}

function untoldIn(name: string, { flags, lists }: Sides): string[] {
  return (flags.get(name)?.after?.branches ?? []).flatMap(({ questions }) =>
    questions.flatMap((question): string[] => {
      switch (question.about) {
        case 'list':
          return lists.has(question.list)
            ? []
            : [`segment "${question.list.slice(segmentList('').length)}"`];
        case 'flag':
          return flags.has(question.flag) ? [] : [`flag "${question.flag}"`];
        case 'unknown': {
          const { type, attribute } = question.matcher;
          return [typeof attribute === 'string' ? `attribute "${attribute}"` : `what ${type} asks`];
        }
      }
    }),
  );
}
