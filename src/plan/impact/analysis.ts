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
  flagDistribution,
  flagsBehind,
  dependsOnPlace,
  type DistributionCache,
  type Distribution,
} from './distribution.js';
import { questionsOf, type ListId } from './served-definition.js';

/** The known results of one flag before and after the plan. */
export interface FlagAnalysis {
  readonly flag: string;
  readonly sides: FlagSides;
  /** Of the keys in no known list. */
  readonly traffic: Distribution;
  readonly groups: readonly GroupShift[];
  /** Number of listed keys in combinations beyond the limit. */
  readonly keysLeft: number;
  /** The definitions and lists that decide what it serves. */
  readonly audience: Audience;
}

export interface GroupShift {
  readonly group: KeyGroup;
  readonly shift: Distribution;
}

/** The effect of a change on one flag: the changed flag, or one that uses the changed object. */
export interface AffectedGroups {
  readonly analysis: FlagAnalysis;
  /** The groups of listed keys that the change affects; unset if it affects the traffic. */
  readonly affected?: (group: KeyGroup) => boolean;
}

/** Limit for the combinations of lists and targets that are examined for one flag; the largest come first. */
const MAX_GROUPS = 500;

/** Every flag of an environment that changes, or depends on a changed flag or list; by name. */
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

/** A single flag, even if it does not change. */
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
