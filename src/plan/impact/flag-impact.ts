import type { FlagImpact, KeyCount, Move, Range } from '../../model/impact.js';
import { byCodeUnits, sortedSet } from '../../model/json.js';
import type { EnvironmentSides, FlagSides } from './environment-sides.js';
import {
  keyGroups,
  keyIndex,
  placedGroups,
  TRAFFIC,
  type Audience,
  type KeyGroup,
  type KeyIndex,
} from './key-groups.js';
import {
  certainDistribution,
  dependsOnPlace,
  flagDistribution,
  flagsBehind,
  isExact,
  type Bounds,
  type Distribution,
  type DistributionCache,
} from './distribution.js';
import { questionsOf, type ListId } from './served-definition.js';
import { isMove, WHOLE, type Pair } from './serving.js';

export interface FlagAnalysis {
  readonly flag: string;
  readonly sides: FlagSides;
  /** Of the keys in no known list. */
  readonly traffic: Distribution;
  readonly groups: readonly GroupShift[];
  /** Number of listed keys in combinations beyond the limit. */
  readonly keysLeft: number;
  readonly audience: Audience;
}

export interface GroupShift {
  readonly group: KeyGroup;
  readonly shift: Distribution;
}

/** Limit for the combinations of lists and targets that are examined for one flag; the largest come first. */
const MAX_GROUPS = 500;

/** An analysis of each flag that changes, or depends on a changed flag or list; by name. */
export function analyses(sides: EnvironmentSides): Map<string, FlagAnalysis> {
  // The sides have the flags that these ask about too, of which no plan says anything.
  const reached = [...sides.flags.keys()]
    .sort()
    .map((flag) => ({ flag, audience: audienceOf(flag, sides) }))
    .filter(({ audience }) => isChanged(audience, sides));
  const lists = new Set(reached.flatMap(({ audience }) => [...audience.lists]));
  const index = keyIndex(sides.lists, lists);
  const cache: DistributionCache = new Map();
  return new Map(
    reached.map(({ flag, audience }) => [
      flag,
      analysisOf(flag, audience, { sides, index, cache }),
    ]),
  );
}

export function flagAnalysis(flag: string, sides: EnvironmentSides): FlagAnalysis {
  const audience = audienceOf(flag, sides);
  const index = keyIndex(sides.lists, audience.lists);
  return analysisOf(flag, audience, { sides, index, cache: new Map() });
}

function analysisOf(
  flag: string,
  audience: Audience,
  { sides, index, cache }: { sides: EnvironmentSides; index: KeyIndex; cache: DistributionCache },
): FlagAnalysis {
  const all = keyGroups(index, audience);
  const shifted = (group: KeyGroup): GroupShift => {
    return { group, shift: flagDistribution(flag, group, sides, cache) };
  };
  let room = MAX_GROUPS;
  const groups = all
    .slice(0, MAX_GROUPS)
    .map(shifted)
    .flatMap((each) => {
      if (!dependsOnPlace(each.shift)) return [each];
      const parts = placedGroups(each.group, audience, room);
      room -= parts.length;
      return parts.length === 0 ? [each] : parts.map(shifted);
    });
  return {
    flag,
    audience,
    groups,
    sides: sides.flags.get(flag) ?? { before: null, after: null },
    traffic: flagDistribution(flag, TRAFFIC, sides, cache),
    keysLeft: all.slice(MAX_GROUPS).reduce((sum, { count }) => sum + count, 0),
  };
}

function audienceOf(flag: string, { flags, lists }: EnvironmentSides): Audience {
  const behind = [...flagsBehind(flag, { flags })].flatMap((name) => {
    const sides = flags.get(name);
    return sides ? [[name, sides] as const] : [];
  });
  const asked = new Set<ListId>();
  for (const [, { before, after }] of behind) {
    for (const question of [before, after].flatMap(questionsOf)) {
      if (lists.has(question.id)) asked.add(question.id);
    }
  }
  return { lists: asked, flags: new Map(behind) };
}

function isChanged(audience: Audience, { lists }: EnvironmentSides): boolean {
  return (
    [...audience.flags.values()].some(({ change }) => change !== undefined) ||
    [...audience.lists].some((list) => lists.get(list)?.change !== undefined)
  );
}

const NOBODY = certainDistribution([]);
const NOTHING: Bounds = { least: 0, most: 0 };
/** Rounding error of sums of other flags' shares; far below a key, and a hundredth of a per cent. */
const ROUNDING = 1e-6;

/** The analysis of these groups of listed keys alone, without the traffic. */
export function partOf(analysis: FlagAnalysis, isPart: (group: KeyGroup) => boolean): FlagAnalysis {
  const groups = analysis.groups.filter(({ group }) => isPart(group));
  return { ...analysis, groups, traffic: NOBODY, keysLeft: 0 };
}

export function flagImpact(analysis: FlagAnalysis, environment: string): FlagImpact {
  const { flag, traffic, groups, keysLeft } = analysis;
  const shifts = [traffic, ...groups.map(({ shift }) => shift)];
  const pairs = [...new Map(shifts.flatMap((each) => [...each.pairs]))];
  const moved = keyCount(groups, ({ shift }) => shift.moved);
  return {
    flag,
    environment,
    traffic: percent(traffic.moved),
    keys: keysLeft > 0 ? { ...moved, atMost: moved.atMost + keysLeft, certain: false } : moved,
    listed: groups.reduce((sum, { group }) => sum + group.count, keysLeft),
    moves: pairs
      .filter(([, pair]) => isMove(pair))
      .map(([id, pair]) => moveOf(id, pair, traffic.pairs.get(id), groups))
      .filter((move) => move.traffic.atMost + move.keys.atMost > 0)
      .sort(largestFirst),
    bounded: keysLeft > 0 || shifts.some(({ whole }) => !whole),
  };
}

export function isAffected({ traffic, keys }: FlagImpact): boolean {
  return traffic.atMost + keys.atMost > 0;
}

function moveOf(
  id: string,
  { from, to }: Pair,
  traffic: Bounds | undefined,
  groups: readonly GroupShift[],
): Move {
  const partsOf = ({ shift }: GroupShift): Bounds => shift.pairs.get(id) ?? NOTHING;
  const names = groups.filter((each) => partsOf(each).most > 0).flatMap(({ group }) => group.names);
  return {
    from: from?.treatment ?? null,
    to: to?.treatment ?? null,
    traffic: percent(traffic ?? NOTHING),
    keys: keyCount(groups, partsOf),
    names: sortedSet(names),
  };
}

function largestFirst(a: Move, b: Move): number {
  return (
    b.traffic.atMost - a.traffic.atMost ||
    b.keys.atMost - a.keys.atMost ||
    byCodeUnits(`${String(a.from)} ${String(a.to)}`, `${String(b.from)} ${String(b.to)}`)
  );
}

/** Two decimals, as without other flags the parts are. A small effect is never rounded to none. */
function percent({ least, most }: Bounds): Range {
  const smallest = most > ROUNDING ? 1 : 0;
  return { atLeast: Math.round(least) / 100, atMost: Math.max(Math.round(most), smallest) / 100 };
}

/** Averages where hashing decides, rounded outwards to whole keys. */
function keyCount(groups: readonly GroupShift[], partsOf: (group: GroupShift) => Bounds): KeyCount {
  let [least, most] = [0, 0];
  let certain = true;
  for (const each of groups) {
    const parts = partsOf(each);
    const { count } = each.group;
    least += (count * parts.least) / WHOLE;
    most += (count * parts.most) / WHOLE;
    certain &&= isExact(parts) && (parts.most === 0 || parts.most >= WHOLE - ROUNDING);
  }
  return { atLeast: Math.floor(least + ROUNDING), atMost: Math.ceil(most - ROUNDING), certain };
}
