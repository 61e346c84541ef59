import type { FlagImpact, KeyCount, Move, Range } from '../../model/impact.js';
import { byCodeUnits, sortedSet } from '../../model/json.js';
import type { AffectedGroups, GroupShift } from './analysis.js';
import { certainDistribution, isExact, type Bounds } from './distribution.js';
import { isMove, pairOf, WHOLE } from './serving.js';

const NOBODY = certainDistribution(new Map());
const NOTHING: Bounds = { least: 0, most: 0 };
/** Rounding error of sums of other flags' shares; far below a key, and a hundredth of a per cent. */
const ROUNDING = 1e-6;

/** The effect of a change on one flag, in figures. */
export function flagImpact(
  { analysis, affected }: AffectedGroups,
  environment: string,
): FlagImpact {
  const { flag, traffic: everybody, groups, keysLeft } = analysis;
  const traffic = affected ? NOBODY : everybody;
  const counted = affected ? groups.filter(({ group }) => affected(group)) : groups;
  const ids = [traffic, ...counted.map(({ shift }) => shift)]
    .flatMap(({ pairs }) => [...pairs.keys()])
    .filter((id) => isMove(pairOf(id)));
  const left = affected ? 0 : keysLeft;
  const moved = keyCount(counted, ({ shift }) => shift.moved);
  return {
    flag,
    environment,
    traffic: percent(traffic.moved),
    keys: left > 0 ? { ...moved, atMost: moved.atMost + left, certain: false } : moved,
    listed: counted.reduce((sum, { group }) => sum + group.count, left),
    moves: sortedSet(ids)
      .map((id) => moveOf(id, traffic.pairs.get(id), counted))
      .filter((move) => move.traffic.atMost + move.keys.atMost > 0)
      .sort(largestFirst),
    bounded: left > 0 || [{ shift: traffic }, ...counted].some(({ shift }) => !shift.whole),
  };
}

/** Whether the flag may serve any key something else than before. */
export function isAffected({ traffic, keys }: FlagImpact): boolean {
  return traffic.atMost + keys.atMost > 0;
}

function moveOf(id: string, traffic: Bounds | undefined, groups: readonly GroupShift[]): Move {
  const partsOf = ({ shift }: GroupShift): Bounds => shift.pairs.get(id) ?? NOTHING;
  const names = groups.filter((each) => partsOf(each).most > 0).flatMap(({ group }) => group.names);
  const { from, to } = pairOf(id);
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

/**
 * Two decimals: without other flags the parts are whole hundredths of a per cent. A small effect is never rounded to
 * none.
 */
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
