import { byCodeUnits, sortedSet } from '../../kinds/json.js';
import type { FlagImpact, KeyCount, Move, Range } from '../../model/impact.js';
import type { Felt, GroupOutlook } from './analysis.js';
import { certainOutlook, isExact, type Parts } from './parts.js';
import { isMove, pairOf, WHOLE } from './serving.js';

const NOBODY = certainOutlook(new Map());
const NOTHING: Parts = { least: 0, most: 0 };
/** What adding up shares of other flags may be off by; far below a key, and a hundredth of a per cent. */
const ROUNDING = 1e-6;

/** What a change does to one flag, in figures. */
export function flagImpact({ analysis, concerned }: Felt, environment: string): FlagImpact {
  const { flag, traffic: everybody, groups, keysLeft } = analysis;
  const traffic = concerned ? NOBODY : everybody;
  const counted = concerned ? groups.filter(({ group }) => concerned(group)) : groups;
  const ids = [traffic, ...counted.map(({ outlook }) => outlook)]
    .flatMap(({ pairs }) => [...pairs.keys()])
    .filter((id) => isMove(pairOf(id)));
  const left = concerned ? 0 : keysLeft;
  const moved = keyCount(counted, ({ outlook }) => outlook.moved);
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
    bounded: left > 0 || [{ outlook: traffic }, ...counted].some(({ outlook }) => !outlook.whole),
  };
}

/** Whether the flag serves anybody anything else than before, as far as can be told. */
export function isFelt({ traffic, keys }: FlagImpact): boolean {
  return traffic.atMost + keys.atMost > 0;
}

function moveOf(id: string, traffic: Parts | undefined, groups: readonly GroupOutlook[]): Move {
  const partsOf = ({ outlook }: GroupOutlook): Parts => outlook.pairs.get(id) ?? NOTHING;
  const names = groups.filter((each) => partsOf(each).most > 0).flatMap(({ group }) => group.names);
  return {
    ...pairOf(id),
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
 * Two decimals: without other flags the parts are whole hundredths of a per cent. What happens to few is never rounded
 * to what happens to nobody.
 */
function percent({ least, most }: Parts): Range {
  const smallest = most > ROUNDING ? 1 : 0;
  return { atLeast: Math.round(least) / 100, atMost: Math.max(Math.round(most), smallest) / 100 };
}

/** Where hashing decides, the average, rounded outwards to whole keys. */
function keyCount(
  groups: readonly GroupOutlook[],
  partsOf: (group: GroupOutlook) => Parts,
): KeyCount {
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
