import type { Desired } from '../../model/desired.js';
import type { Matcher } from '../../model/flag/flag.js';
import { keyOf } from '../../model/ref.js';
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
  /** Unset for a key that is unknown and in no list of keys. */
  readonly key?: string;
  /** Segments that hold the key, whatever their lists say. If set, only these and those that list it hold it. */
  readonly segments?: readonly string[];
  /** If set, the key has no other attributes. */
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** The place from 1 to 100 that hashing gives the key, in this flag. */
  readonly at?: number;
  /** Flag → its seeds, by which hashing of the key is known. */
  readonly seeds?: ReadonlyMap<string, Seeds>;
  /** Default: as in the specs. */
  readonly killed?: boolean;
}

/** The treatments of a flag in a situation, by the specs alone. */
export interface Answer {
  /** Treatment → bounds for the per cent of matching keys that get it. A null key stands for `control`. */
  readonly shares: ReadonlyMap<string | null, Bounds>;
  /** Whether each share is exact. */
  readonly isCertain: boolean;
  /** The flag is killed, so rules and targets have no effect. */
  readonly killed: boolean;
  /** The key is an individual target. */
  readonly isTarget: boolean;
  /** For each rule, whether the key meets it; null if hashing of another flag or an unknown fact decides. */
  readonly rules: readonly (boolean | null)[];
  /** Missing facts that may matter: `segment "x"`, `attribute "y"`, `flag "z"`, sorted. */
  readonly untold: readonly string[];
  /** The flag and all flags whose treatments decide about it. */
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

/**
 * The treatments that the specs serve in a situation, by the evaluator that also computes the reach of plans. Reads
 * only the specs, so equal specs give equal answers.
 *
 * @param environment as the config names it.
 * @returns undefined where the flag is not declared for the environment.
 */
export function evaluate(
  desired: Desired,
  { flag, environment }: { readonly flag: string; readonly environment: string },
  situation: Situation,
): Answer | undefined {
  const definitions = definitionsIn(desired, environment, { flag, situation });
  const asked = definitions.get(flag);
  if (asked === undefined) return undefined;
  const told = new ToldSituation(desired, environment, situation);
  const laid = new Map(
    [...definitions].map(([name, served]) => [name, told.answeredIn(served)] as const),
  );
  const own = situation.at === undefined ? laid.get(flag) : atPlace(laid.get(flag), situation.at);
  if (own) laid.set(flag, own);
  const sides: Pick<EnvironmentSides, 'flags' | 'lists'> = {
    flags: new Map([...laid].map(([name, served]) => [name, bothSides(served)])),
    lists: LISTS,
  };
  const group: KeyGroup = {
    lists: new Map([[EVERYBODY, 'kept']]),
    targets: targetsIn(laid, situation.key),
    places: placesOf(situation),
    count: 1,
    names: [],
  };
  const shares = sharesOf(flag, group, sides);
  const behind = flagsBehind(flag, sides);
  return {
    shares,
    behind,
    isCertain: [...shares.values()].every(isExact),
    killed: asked.whole.fields.killed,
    isTarget: group.targets.has(flag),
    rules: (own?.branches ?? []).map(({ questions }) =>
      all(questions.map((question) => answerTo(question, group, sides))),
    ),
    untold: [...new Set([...behind].flatMap((name) => untoldIn(name, sides)))].sort(),
  };
}

function definitionsIn(
  desired: Desired,
  environment: string,
  asked: { readonly flag: string; readonly situation: Situation },
): Map<string, ServedDefinition> {
  const found = new Map<string, ServedDefinition>();
  for (const name of desired.flags.keys()) {
    const ordered = orderedDefinition(desired, name, environment);
    if (!ordered) continue;
    const said = name === asked.flag ? asked.situation.killed : undefined;
    const fields = { ...ordered, killed: said ?? ordered.killed };
    found.set(name, servedDefinition({ fields, segments: {} }));
  }
  return found;
}

class ToldSituation {
  readonly #desired: Desired;
  readonly #environment: string;
  readonly #situation: Situation;

  constructor(desired: Desired, environment: string, situation: Situation) {
    this.#desired = desired;
    this.#environment = environment;
    this.#situation = situation;
  }

  answeredIn(served: ServedDefinition): ServedDefinition {
    const branches = served.branches.map(({ questions, serving }) => ({
      questions: questions.map((question) => this.#answered(question, served)),
      serving,
    }));
    return { ...served, branches };
  }

  #answered(question: Question, { listedKeys }: ServedDefinition): Question {
    const { negated } = question;
    const answer = this.#answerTo(question, listedKeys);
    if (answer === undefined) return question;
    return { about: 'list', list: answer ? EVERYBODY : NOBODY, negated };
  }

  #answerTo(question: Question, listedKeys: ServedDefinition['listedKeys']): boolean | undefined {
    const { key } = this.#situation;
    switch (question.about) {
      case 'flag':
        return undefined;
      case 'list': {
        const listed = listedKeys.get(question.list);
        return listed ? key !== undefined && listed.includes(key) : this.#isIn(question.list);
      }
      case 'unknown':
        return this.#isMet(question.matcher);
    }
  }

  /** A list that git manages in part, or not at all, does not exclude a key that it lacks. */
  #isIn(list: ListId): boolean | undefined {
    const { key, segments } = this.#situation;
    if (segments?.some((name) => segmentList(name) === list) === true) return true;
    const name = list.slice(keyOf('segment', '').length);
    const activation = this.#desired.segments.get(name)?.environments.get(this.#environment);
    if (key !== undefined && activation?.keys?.keys.includes(key) === true) return true;
    const isWhole = activation?.mode === 'exact' && activation.keys !== undefined;
    return isWhole || segments !== undefined ? false : undefined;
  }

  /** A missing attribute meets no matcher, so that it meets each negated one, as in the vendor's SDKs. */
  #isMet(matcher: Matcher): boolean | undefined {
    const { key, attributes } = this.#situation;
    const name = matcher['attribute'];
    if (typeof name !== 'string') return key === undefined ? undefined : meets(matcher, key);
    if (attributes === undefined) return undefined;
    if (!Object.hasOwn(attributes, name)) return false;
    return meets(matcher, asCompared(matcher, attributes[name]));
  }
}

/** The definition with every decision of its own hashing made by one place. */
function atPlace(served: ServedDefinition | undefined, at: number): ServedDefinition | undefined {
  const fixed = (serving: Serving): Serving => ({
    ...serving,
    places: constantServing(serving.places[at - 1] ?? null).places,
  });
  return (
    served && {
      ...served,
      otherwise: fixed(served.otherwise),
      branches: served.branches.map((branch) => ({ ...branch, serving: fixed(branch.serving) })),
    }
  );
}

function bothSides(served: ServedDefinition): FlagSides {
  return { before: served, after: served };
}

function placesOf({ key, seeds = new Map() }: Situation): NonNullable<KeyGroup['places']> {
  if (key === undefined) return new Map();
  return new Map([...seeds].map(([flag, each]) => [flag, placeOf(key, each)] as const));
}

function targetsIn(
  laid: ReadonlyMap<string, ServedDefinition>,
  key: string | undefined,
): ReadonlyMap<string, TargetSides> {
  if (key === undefined) return new Map();
  return new Map(
    [...laid].flatMap(([name, { targets }]) => {
      const target = targets.get(key);
      return target ? [[name, { before: target, after: target }] as const] : [];
    }),
  );
}

/** In per cent; with too many cases to examine, any treatment of the flag is possible. */
function sharesOf(
  flag: string,
  group: KeyGroup,
  sides: Pick<EnvironmentSides, 'flags' | 'lists'>,
): Map<string | null, Bounds> {
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

function answerTo(
  question: Question,
  group: KeyGroup,
  sides: Pick<EnvironmentSides, 'flags' | 'lists'>,
): boolean | null {
  const answer = plainAnswer(question, group, sides);
  return answer === null ? null : answer !== question.negated;
}

function plainAnswer(
  question: Question,
  group: KeyGroup,
  sides: Pick<EnvironmentSides, 'flags' | 'lists'>,
): boolean | null {
  if (question.about === 'list' && sides.lists.has(question.list)) {
    return group.lists.has(question.list);
  }
  if (question.about !== 'flag' || !sides.flags.has(question.flag)) return null;
  const served = [...sharesOf(question.flag, group, sides).keys()];
  const wanted = served.filter((each) => each !== null && question.treatments.includes(each));
  return wanted.length === served.length ? true : wanted.length === 0 ? false : null;
}

/** One negative answer decides, even if others are open. */
function all(answers: readonly (boolean | null)[]): boolean | null {
  if (answers.includes(false)) return false;
  return answers.includes(null) ? null : true;
}

function untoldIn(
  name: string,
  { flags, lists }: Pick<EnvironmentSides, 'flags' | 'lists'>,
): string[] {
  return (flags.get(name)?.after?.branches ?? []).flatMap(({ questions }) =>
    questions.flatMap((question): string[] => {
      switch (question.about) {
        case 'list':
          return lists.has(question.list)
            ? []
            : [`segment "${question.list.slice('segment/'.length)}"`];
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
