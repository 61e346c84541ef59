import type { EnvironmentSides, FlagSides } from './environment-sides.js';
import {
  keyGroups,
  keyIndex,
  TRAFFIC,
  type Audience,
  type KeyGroup,
  type KeyIndex,
} from './key-groups.js';
import {
  flagDistribution,
  flagsBehind,
  type DistributionCache,
  type Distribution,
} from './distribution.js';
import { questionsOf, type ListId } from './served-definition.js';

/** All that is known of what one flag serves before and after the plan. */
export interface FlagAnalysis {
  readonly flag: string;
  readonly sides: FlagSides;
  /** Of the keys that stand in no known list. */
  readonly traffic: Distribution;
  readonly groups: readonly GroupShift[];
  /** Listed keys in combinations beyond those that are looked at. */
  readonly keysLeft: number;
  /** What it hangs on. */
  readonly audience: Audience;
}

export interface GroupShift {
  readonly group: KeyGroup;
  readonly shift: Distribution;
}

/** What a change does to one flag: its own, or one that uses what changes. */
export interface AffectedGroups {
  readonly analysis: FlagAnalysis;
  /** The groups of listed keys that the change is about, where it is not about the traffic. */
  readonly affected?: (group: KeyGroup) => boolean;
}

/** Combinations of lists and targets that are looked at for one flag, at most; the largest are. */
const MAX_GROUPS = 500;

/** Every flag of an environment that changes, or hangs on a flag or list that does; by name. */
export function analyses(sides: EnvironmentSides): Map<string, FlagAnalysis> {
  const reached = [...sides.flags.keys()]
    .sort()
    .map((flag) => ({ flag, audience: audienceOf(flag, sides) }))
    .filter(({ audience }) => isChanged(audience, sides));
  const lists = new Set(reached.flatMap(({ audience }) => [...audience.lists]));
  const index = keyIndex(new Map([...sides.lists].filter(([list]) => lists.has(list))));
  const cache: DistributionCache = new Map();
  return new Map(
    reached.map(({ flag, audience }) => [
      flag,
      analysisOf(flag, audience, { sides, index, cache }),
    ]),
  );
}

/** One flag alone, whether it changes or not. */
export function flagAnalysis(flag: string, sides: EnvironmentSides): FlagAnalysis {
  const audience = audienceOf(flag, sides);
  const index = keyIndex(new Map([...sides.lists].filter(([list]) => audience.lists.has(list))));
  return analysisOf(flag, audience, { sides, index, cache: new Map() });
}

interface Known {
  readonly sides: EnvironmentSides;
  readonly index: KeyIndex;
  readonly cache: DistributionCache;
}

function analysisOf(
  flag: string,
  audience: Audience,
  { sides, index, cache }: Known,
): FlagAnalysis {
  const all = keyGroups(index, audience);
  const groups = all.slice(0, MAX_GROUPS).map((group) => {
    return { group, shift: flagDistribution(flag, group, sides, cache) };
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
      if (question.about === 'list' && lists.has(question.list)) asked.add(question.list);
    }
  }
  return { lists: asked, flags: new Map(behind) };
}

function isChanged(audience: Audience, { flags, lists }: EnvironmentSides): boolean {
  return (
    [...audience.flags.keys()].some((name) => flags.get(name)?.change !== undefined) ||
    [...audience.lists].some((list) => lists.get(list)?.change !== undefined)
  );
}
