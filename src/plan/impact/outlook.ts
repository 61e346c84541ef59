import type { EnvironmentSides } from './environment-sides.js';
import type { KeyGroup } from './key-groups.js';
import { ANYTHING, anyOf, certainOutlook, isExact, mixed, type Outlook } from './parts.js';
import {
  questionsOf,
  type Branch,
  type Question,
  type ServedDefinition,
} from './served-definition.js';
import { constantServing, pairOf, sharesOf, WHOLE, type Pair, type Serving } from './serving.js';

/** What the walks of one environment have worked out already. */
export type OutlookCache = Map<Serving, Map<Serving, Outlook>>;

/** One group of keys, walked through the definitions of its environment. */
interface Walk {
  readonly sides: Pick<EnvironmentSides, 'flags' | 'lists'>;
  readonly group: KeyGroup;
  readonly cache: OutlookCache;
  /** Flag → its outlook for this group. */
  readonly known: Map<string, Outlook>;
  /** Flags on the way here, each asking about the next. */
  readonly above: readonly string[];
  casesLeft: number;
}

/** Cases that are looked at for one group and flag, at most. */
const MAX_CASES = 1_000;
const CONTROL = constantServing(null);

/**
 * What the keys of a group get of a flag before and after.
 *
 * The definitions are tried as an evaluator tries them. An answer that nobody knows (an attribute, a segment that lives
 * elsewhere) is tried both ways, and gives bounds. What another flag serves is a draw of its own: its shares are known,
 * and count as they are.
 */
export function flagOutlook(
  flag: string,
  group: KeyGroup,
  sides: Walk['sides'],
  cache: OutlookCache,
): Outlook {
  return walkFlag(flag, { sides, group, cache, known: new Map(), above: [], casesLeft: 0 });
}

function walkFlag(flag: string, walk: Walk): Outlook {
  const known = walk.known.get(flag);
  if (known) return known;
  // Flags that ask about each other in a circle serve nothing that could be told.
  if (walk.above.includes(flag)) return ANYTHING;
  const below = { ...walk, above: [...walk.above, flag], casesLeft: MAX_CASES };
  const open: Case = { answers: new Map(), served: new Map(), drawn: new Set(below.above) };
  const outlook = walkCase(flag, open, below);
  walk.known.set(flag, outlook);
  return outlook;
}

/** What was settled on the way to one case. */
interface Case {
  readonly answers: ReadonlyMap<string, boolean>;
  readonly served: ReadonlyMap<string, Pair>;
  /** Flags whose hashing counts in this case already: a second share that hangs on them would be no draw of its own. */
  readonly drawn: ReadonlySet<string>;
}

function walkCase(flag: string, at: Case, walk: Walk): Outlook {
  walk.casesLeft -= 1;
  if (walk.casesLeft < 0) return ANYTHING;
  const sides = walk.sides.flags.get(flag);
  const before = servingFor(flag, sides?.before, { side: 'before', at, walk });
  if ('open' in before) return settled(before.open, flag, at, walk);
  const after = servingFor(flag, sides?.after, { side: 'after', at, walk });
  if ('open' in after) return settled(after.open, flag, at, walk);
  return cachedOutlook(before, after, walk.cache);
}

function cachedOutlook(before: Serving, after: Serving, cache: OutlookCache): Outlook {
  const known = cache.get(before)?.get(after);
  if (known) return known;
  const outlook = certainOutlook(sharesOf(before, after));
  cache.set(before, (cache.get(before) ?? new Map<Serving, Outlook>()).set(after, outlook));
  return outlook;
}

/** What has to be settled before a definition says what it serves. */
interface Unsettled {
  readonly open: { readonly answer: string } | { readonly flag: string };
}

function settled(open: Unsettled['open'], flag: string, at: Case, walk: Walk): Outlook {
  if ('flag' in open) return settledFlag(open.flag, flag, at, walk);
  const answered = [true, false].map((answer) => {
    const answers = new Map([...at.answers, [open.answer, answer]]);
    return walkCase(flag, { ...at, answers }, walk);
  });
  return anyOf(answered);
}

function settledFlag(asked: string, flag: string, at: Case, walk: Walk): Outlook {
  const outlook = walkFlag(asked, walk);
  if (!outlook.whole) return ANYTHING;
  const pairs = [...outlook.pairs].filter(([, { most }]) => most > 0);
  const behind = flagsBehind(asked, walk.sides);
  const isDraw =
    pairs.every(([, parts]) => isExact(parts)) && [...behind].every((each) => !at.drawn.has(each));
  const drawn = isDraw ? new Set([...at.drawn, ...behind]) : at.drawn;
  const cases = pairs.map(([key]) => {
    const served = new Map([...at.served, [asked, pairOf(key)]]);
    return walkCase(flag, { ...at, served, drawn }, walk);
  });
  const shares = pairs.map(([, { most }]) => most / WHOLE);
  return isDraw ? mixed(cases, shares) : anyOf(cases);
}

/** A flag and all that what it serves hangs on. */
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

interface Asking {
  readonly side: 'before' | 'after';
  readonly at: Case;
  readonly walk: Walk;
}

function servingFor(
  flag: string,
  served: ServedDefinition | null | undefined,
  asking: Asking,
): Serving | Unsettled {
  if (!served) return CONTROL;
  const target = asking.walk.group.targets.get(flag)?.[asking.side];
  if (target) return target;
  for (const branch of served.branches) {
    const answer = matches(branch, asking);
    if (answer === true) return branch.serving;
    if (answer !== false) return answer;
  }
  return served.otherwise;
}

/** One no is enough, whatever else is open. */
function matches({ questions }: Branch, asking: Asking): boolean | Unsettled {
  const answers = questions.map((question) => {
    const answer = answerTo(question, asking);
    return typeof answer === 'boolean' ? answer !== question.negated : answer;
  });
  if (answers.includes(false)) return false;
  return answers.find((answer) => answer !== true) ?? true;
}

function answerTo(question: Question, { side, at, walk }: Asking): boolean | Unsettled {
  const { sides, group } = walk;
  switch (question.about) {
    case 'list': {
      if (!sides.lists.has(question.list)) return given(question.list, at);
      const standing = group.lists.get(question.list);
      return standing === 'kept' || standing === (side === 'before' ? 'removed' : 'added');
    }
    case 'flag': {
      const { flag, treatments } = question;
      if (!sides.flags.has(flag)) return given(JSON.stringify([flag, treatments]), at);
      const pair = at.served.get(flag);
      if (!pair) return { open: { flag } };
      const served = side === 'before' ? pair.from : pair.to;
      return served !== null && treatments.includes(served);
    }
    case 'unknown':
      return given(question.id, at);
  }
}

function given(answer: string, { answers }: Case): boolean | Unsettled {
  return answers.get(answer) ?? { open: { answer } };
}
