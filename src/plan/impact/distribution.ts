import { keptIn } from '../../model/collections.js';
import type { EnvironmentSides } from './environment-sides.js';
import type { KeyGroup } from './key-groups.js';
import { questionsOf, servingOf, type Question } from './served-definition.js';
import {
  constantServing,
  isMove,
  servedAt,
  sharesOf,
  WHOLE,
  type Pair,
  type Serving,
  type Share,
} from './serving.js';

export type DistributionCache = Map<Serving, Map<Serving, Distribution>>;

interface Walk {
  readonly sides: Pick<EnvironmentSides, 'flags' | 'lists'>;
  readonly group: KeyGroup;
  readonly cache: DistributionCache;
  /** Flag → its distribution for this group. */
  readonly known: Map<string, Distribution>;
  /** Flags on the way to this one, each asking about the next. */
  readonly above: readonly string[];
  casesLeft: number;
}

/** Limit for the cases that are examined for one group and flag. */
const MAX_CASES = 1_000;
const CONTROL = constantServing(null);

/**
 * The treatments that the keys of a group get before and after. An unknown answer (an attribute, a segment that lives
 * elsewhere) is tried both ways and gives bounds. Another flag's treatment is an independent draw with known shares.
 */
export function flagDistribution(
  flag: string,
  group: KeyGroup,
  sides: Walk['sides'],
  cache: DistributionCache,
): Distribution {
  return walkFlag(flag, { sides, group, cache, known: new Map(), above: [], casesLeft: 0 });
}

function walkFlag(flag: string, walk: Walk): Distribution {
  const known = walk.known.get(flag);
  if (known) return known;
  // Flags that ask about each other in a circle have no computable result.
  if (walk.above.includes(flag)) return UNBOUNDED;
  const below = { ...walk, above: [...walk.above, flag], casesLeft: MAX_CASES };
  const answers = walk.group.answers ?? new Map<string, boolean>();
  const open: Case = { answers, served: new Map(), drawn: new Set(below.above) };
  const distribution = walkCase(flag, open, below);
  walk.known.set(flag, distribution);
  return distribution;
}

interface Case {
  /** By the id of the question. */
  readonly answers: ReadonlyMap<string, boolean>;
  readonly served: ReadonlyMap<string, Pair>;
  /** Flags whose hashing this case already uses: a second share that depends on them would not be independent. */
  readonly drawn: ReadonlySet<string>;
}

function walkCase(flag: string, at: Case, walk: Walk): Distribution {
  walk.casesLeft -= 1;
  if (walk.casesLeft < 0) return UNBOUNDED;
  const serving = (side: 'before' | 'after'): Serving | Unsettled => {
    const served = walk.sides.flags.get(flag)?.[side];
    const target = walk.group.targets.get(flag)?.[side];
    return served
      ? servingOf(served, target, (question) => answerTo(question, side, at, walk))
      : CONTROL;
  };
  const before = serving('before');
  if ('open' in before) return settled(before.open, flag, at, walk);
  const after = serving('after');
  if ('open' in after) return settled(after.open, flag, at, walk);
  const place = walk.group.places?.get(flag);
  if (place) {
    const pair = { from: servedAt(before, place), to: servedAt(after, place) };
    return certainDistribution([{ ...pair, parts: WHOLE }]);
  }
  const known = keptIn(walk.cache, before, () => new Map<Serving, Distribution>());
  return keptIn(known, after, () => certainDistribution(sharesOf(before, after)));
}

interface Unsettled {
  readonly open: { readonly answer: string } | { readonly flag: string };
}

function settled(open: Unsettled['open'], flag: string, at: Case, walk: Walk): Distribution {
  if ('flag' in open) return settledFlag(open.flag, flag, at, walk);
  const answered = [true, false].map((answer) => {
    const answers = new Map([...at.answers, [open.answer, answer]]);
    return walkCase(flag, { ...at, answers }, walk);
  });
  return union(answered);
}

function settledFlag(asked: string, flag: string, at: Case, walk: Walk): Distribution {
  const distribution = walkFlag(asked, walk);
  if (!distribution.whole) return UNBOUNDED;
  const pairs = [...distribution.pairs.values()];
  const behind = flagsBehind(asked, walk.sides);
  const isDraw = pairs.every(isExact) && [...behind].every((each) => !at.drawn.has(each));
  // A result that is the same for all keys leaves nothing to hashing.
  const drawn = pairs.length > 1 ? new Set([...at.drawn, ...behind]) : at.drawn;
  const cases = pairs.map((pair) => {
    const served = new Map([...at.served, [asked, pair]]);
    return walkCase(flag, { ...at, served, drawn }, walk);
  });
  const shares = pairs.map(({ most }) => most / WHOLE);
  return isDraw ? weighted(cases, shares) : union(cases);
}

/** A flag and all flags that decide what it serves. */
export function flagsBehind(flag: string, { flags }: Pick<Walk['sides'], 'flags'>): Set<string> {
  const found = new Set([flag]);
  for (const each of found) {
    const { before, after } = flags.get(each) ?? {};
    for (const question of [before, after].flatMap(questionsOf)) {
      if (question.about === 'flag') found.add(question.flag);
    }
  }
  return found;
}

function answerTo(
  question: Question,
  side: 'before' | 'after',
  at: Case,
  walk: Walk,
): boolean | Unsettled {
  const { sides, group } = walk;
  const { id: answer } = question;
  if (sides.lists.has(answer)) {
    const standing = group.lists.get(answer);
    return standing === 'kept' || standing === (side === 'before' ? 'removed' : 'added');
  }
  if (question.about === 'flag' && sides.flags.has(question.flag)) {
    const { flag, treatments } = question;
    const pair = at.served.get(flag);
    if (!pair) return { open: { flag } };
    const served = side === 'before' ? pair.from : pair.to;
    return served !== null && treatments.includes(served.treatment);
  }
  return at.answers.get(answer) ?? { open: { answer } };
}

/** The treatments that the keys of a group get before and after: parts of `WHOLE`, with bounds. */
export interface Distribution {
  /** By `pairKey`; pairs that are missing here cannot occur, and each that is here may. */
  readonly pairs: ReadonlyMap<string, PairBounds>;
  /** Of all moves together: the bounds of single pairs need not occur at the same time. */
  readonly moved: Bounds;
  /** False if there were too many cases, so that the bounds allow anything. */
  readonly whole: boolean;
}

export interface Bounds {
  readonly least: number;
  readonly most: number;
}

export interface PairBounds extends Pair, Bounds {}

const NOTHING: Bounds = { least: 0, most: 0 };

const UNBOUNDED: Distribution = {
  pairs: new Map(),
  moved: { least: 0, most: WHOLE },
  whole: false,
};

export function certainDistribution(shares: readonly Share[]): Distribution {
  const pairs = new Map<string, PairBounds>();
  let moved = 0;
  for (const { from, to, parts } of shares) {
    const key = pairKey({ from, to });
    pairs.set(key, { from, to, ...exactly((pairs.get(key)?.most ?? 0) + parts) });
    if (isMove({ from, to })) moved += parts;
  }
  return { pairs, moved: exactly(moved), whole: true };
}

function pairKey({ from, to }: Pair): string {
  return JSON.stringify([from, to].map((each) => each && [each.treatment, each.configuration]));
}

/** Whether keys of the group may get different results, and few enough cases that their places would tell them apart. */
export function dependsOnPlace({ pairs, whole }: Distribution): boolean {
  return whole && pairs.size > 1;
}

/** The distribution over cases whose sizes are unknown. */
function union(distributions: readonly Distribution[]): Distribution {
  const widest = (all: readonly Bounds[]): Bounds => ({
    least: Math.min(...all.map(({ least }) => least)),
    most: Math.max(...all.map(({ most }) => most)),
  });
  return combined(distributions, widest);
}

/** The distribution over cases whose shares hashing decides; the shares sum to one. */
function weighted(distributions: readonly Distribution[], shares: readonly number[]): Distribution {
  const mean = (all: readonly Bounds[]): Bounds => ({
    least: all.reduce((sum, { least }, index) => sum + least * (shares[index] ?? 0), 0),
    most: all.reduce((sum, { most }, index) => sum + most * (shares[index] ?? 0), 0),
  });
  return combined(distributions, mean);
}

function combined(
  distributions: readonly Distribution[],
  join: (all: readonly Bounds[]) => Bounds,
): Distribution {
  if (distributions.some(({ whole }) => !whole)) return UNBOUNDED;
  const all = new Map(distributions.flatMap(({ pairs }) => [...pairs]));
  const pairs = [...all].map(([key, { from, to }]) => {
    const bounds = join(distributions.map((each) => each.pairs.get(key) ?? NOTHING));
    return [key, { from, to, ...bounds }] as const;
  });
  return {
    pairs: new Map(pairs),
    moved: join(distributions.map(({ moved }) => moved)),
    whole: true,
  };
}

export function isExact({ least, most }: Bounds): boolean {
  return least === most;
}

function exactly(parts: number): Bounds {
  return { least: parts, most: parts };
}
