import type { Rule } from '../kinds/flag.js';
import { jsonText } from './json-text.js';

/** Which rule of the old list became which of the new one; positions count from 0. */
export interface RulePairs {
  /** Sorted by `after`. */
  readonly pairs: readonly RulePair[];
  /** Positions in the old list, rising. */
  readonly removed: readonly number[];
  /** Positions in the new list, rising. */
  readonly added: readonly number[];
}

export interface RulePair {
  readonly before: number;
  readonly after: number;
  /** Its place among the rules that stayed changed; a rule that others were put before or taken from has not moved. */
  readonly moved: boolean;
}

/** Equal rules first, then those with equal conditions, then those that share buckets or a matcher. */
export function pairRules(before: readonly Rule[], after: readonly Rule[]): RulePairs {
  const found = new Map<number, number>();
  const taken = new Set<number>();
  const pair = (b: number, a: number): void => {
    found.set(a, b);
    taken.add(b);
  };
  for (const text of [jsonText, (rule: Rule) => jsonText(rule.matchers)]) {
    const held = positionsBy(before, text, taken);
    for (const [a, rule] of after.entries()) {
      if (found.has(a)) continue;
      const b = held.get(text(rule))?.shift();
      if (b !== undefined) pair(b, a);
    }
  }
  pairAlike(before, after, { found, taken, pair });
  const pairs = [...found]
    .map(([a, b]) => ({ before: b, after: a }))
    .sort((x, y) => x.after - y.after);
  const staying = risingPositions(pairs.map((each) => each.before));
  return {
    pairs: pairs.map((each, index) => ({ ...each, moved: !staying.has(index) })),
    removed: [...before.keys()].filter((b) => !taken.has(b)),
    added: [...after.keys()].filter((a) => !found.has(a)),
  };
}

interface Found {
  readonly found: ReadonlyMap<number, number>;
  readonly taken: ReadonlySet<number>;
  readonly pair: (before: number, after: number) => void;
}

/** What is left is paired with the nearest that is alike. */
function pairAlike(
  before: readonly Rule[],
  after: readonly Rule[],
  { found, taken, pair }: Found,
): void {
  const left = [...before.keys()].filter((b) => !taken.has(b));
  const features = new Map(left.map((b) => [b, featuresOf(before[b])]));
  for (const [a, rule] of after.entries()) {
    if (found.has(a)) continue;
    const own = featuresOf(rule);
    const alike = left
      .filter((b) => !taken.has(b) && own.some((feature) => features.get(b)?.includes(feature)))
      .sort((x, y) => Math.abs(x - a) - Math.abs(y - a));
    const [nearest] = alike;
    if (nearest !== undefined) pair(nearest, a);
  }
}

function featuresOf(rule: Rule | undefined): string[] {
  return rule ? [jsonText(rule.buckets), ...rule.matchers.map(jsonText)] : [];
}

function positionsBy(
  rules: readonly Rule[],
  text: (rule: Rule) => string,
  taken: ReadonlySet<number>,
): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (const [index, rule] of rules.entries()) {
    if (taken.has(index)) continue;
    const same = positions.get(text(rule));
    if (same) same.push(index);
    else positions.set(text(rule), [index]);
  }
  return positions;
}

/** Indexes of a longest rising run within `values`: the fewest are left to have moved. */
function risingPositions(values: readonly number[]): Set<number> {
  const lengths: number[] = [];
  const previous: number[] = [];
  let best = -1;
  for (const [i, value] of values.entries()) {
    let from = -1;
    for (let j = 0; j < i; j += 1) {
      const lower = (values[j] ?? 0) < value;
      if (lower && (from < 0 || (lengths[j] ?? 0) > (lengths[from] ?? 0))) from = j;
    }
    lengths.push(1 + (from < 0 ? 0 : (lengths[from] ?? 0)));
    previous.push(from);
    if (best < 0 || (lengths[i] ?? 0) > (lengths[best] ?? 0)) best = i;
  }
  const rising = new Set<number>();
  for (let i = best; i >= 0; i = previous[i] ?? -1) rising.add(i);
  return rising;
}
