import type { EnvironmentSides, FlagSides } from './environment-sides.js';
import { keyGroups, keyIndex, TRAFFIC, type KeyGroup, type Reach } from './key-groups.js';
import { flagOutlook, flagsBehind, type OutlookCache } from './outlook.js';
import type { Outlook } from './parts.js';
import { questionsOf, type ListId } from './served-definition.js';

/** All that is known of what one flag serves before and after the plan. */
export interface FlagAnalysis {
  readonly flag: string;
  readonly sides: FlagSides;
  /** Of the keys that stand in no known list. */
  readonly traffic: Outlook;
  readonly groups: readonly GroupOutlook[];
  /** Listed keys in combinations beyond those that are looked at. */
  readonly keysLeft: number;
  /** What it hangs on. */
  readonly reach: Reach;
}

export interface GroupOutlook {
  readonly group: KeyGroup;
  readonly outlook: Outlook;
}

/** What a change does to one flag: its own, or one that uses what changes. */
export interface Felt {
  readonly analysis: FlagAnalysis;
  /** The groups of listed keys that the change is about, where it is not about the traffic. */
  readonly concerned?: (group: KeyGroup) => boolean;
}

/** Combinations of lists and targets that are looked at for one flag, at most; the largest are. */
const MAX_GROUPS = 500;

/** Every flag of an environment that changes, or hangs on a flag or list that does; by name. */
export function analyses(sides: EnvironmentSides): Map<string, FlagAnalysis> {
  const reached = [...sides.flags.keys()]
    .sort()
    .map((flag) => ({ flag, reach: reachOf(flag, sides) }))
    .filter(({ reach }) => isChanged(reach, sides));
  const lists = new Set(reached.flatMap(({ reach }) => [...reach.lists]));
  const index = keyIndex(new Map([...sides.lists].filter(([list]) => lists.has(list))));
  const cache: OutlookCache = new Map();
  return new Map(
    reached.map(({ flag, reach }) => {
      const all = keyGroups(index, reach);
      const groups = all.slice(0, MAX_GROUPS).map((group) => {
        return { group, outlook: flagOutlook(flag, group, sides, cache) };
      });
      const left = all.slice(MAX_GROUPS).reduce((sum, { count }) => sum + count, 0);
      const analysis = {
        flag,
        reach,
        groups,
        sides: sides.flags.get(flag) ?? { before: null, after: null },
        traffic: flagOutlook(flag, TRAFFIC, sides, cache),
        keysLeft: left,
      };
      return [flag, analysis] as const;
    }),
  );
}

function reachOf(flag: string, { flags, lists }: EnvironmentSides): Reach {
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

function isChanged(reach: Reach, { flags, lists }: EnvironmentSides): boolean {
  return (
    [...reach.flags.keys()].some((name) => flags.get(name)?.change !== undefined) ||
    [...reach.lists].some((list) => lists.get(list)?.change !== undefined)
  );
}
