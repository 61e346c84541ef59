import type { Matcher, Rule } from '../../model/flag/flag.js';
import { keyDifference } from '../../model/segment-keys.js';
import { bucketsChange, bucketsText } from './buckets.js';
import { clean } from '../sanitize.js';
import { noBreak, span, type FieldLine } from '../text/layout.js';
import { isTexts, itemText, jsonText, listsKeys, plural } from '../values.js';
import { conditionText, matcherSubject } from './matcher.js';

/** The context for lines about the fields of one change. */
export interface FieldContext {
  /** Names the first keys of each list. */
  readonly showKeys: boolean;
  /** Shows every value that differs, and texts of several lines line by line: nothing is cut, and no list counted. */
  readonly inFull?: boolean;
  /** Names of the rules after the change, by position. */
  readonly ruleNames?: readonly (string | undefined)[];
}

/** The most values to show of a list that did not change itself, and of a new or removed rule. */
const LIST_LIMIT = 10;

/** One line for each rule that was removed, added, moved or changed; positions count from 1. */
export function ruleLines(
  before: readonly Rule[],
  after: readonly Rule[],
  context: FieldContext,
): FieldLine[] {
  const { pairs, removed, added } = pairRules(before, after);
  const gone = removed.map((b) => removedLine(b, before[b], context));
  const rest = [
    ...added.map((a) => ({ after: a, line: addedLine(a, after[a], context) })),
    ...pairs.flatMap((pair) => {
      const line = pairLine(pair, before[pair.before], after[pair.after], context);
      return line ? [{ after: pair.after, line }] : [];
    }),
  ].sort((x, y) => x.after - y.after);
  const lines = [...gone, ...rest.map((each) => each.line)];
  const unchanged = pairs.length - (rest.length - added.length);
  if (unchanged === 0) return lines;
  return [...lines, [span(`${plural(unchanged, 'rule')} unchanged`, 'faint')]];
}

/** The number of rules by kind of change: `1 rule changed, 1 added`; empty if none changes. */
export function rulesFact(before: readonly Rule[], after: readonly Rule[]): string {
  const { pairs, removed, added } = pairRules(before, after);
  const moved = pairs.filter((pair) => pair.moved).length;
  const changed = pairs.filter((pair) => {
    return !pair.moved && jsonText(before[pair.before]) !== jsonText(after[pair.after]);
  }).length;
  const counts = { changed, moved, added: added.length, removed: removed.length };
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  const texts = parts.map(([word, count], index) => {
    return noBreak(`${index === 0 ? plural(count, 'rule') : String(count)} ${word}`);
  });
  return texts.join(', ');
}

/** Rules that exist on one side only; positions count from 1. */
export function wholeRuleLines(rules: readonly Rule[], context: FieldContext): FieldLine[] {
  return rules.map((rule, index) => {
    const place = noBreak(`rule ${String(index + 1)}`);
    return [
      span(`${place}${nameOf(index, context)}:`, 'strong'),
      span(` ${ruleText(rule, context)}`),
    ];
  });
}

/** A rule in words: `if in segment staff, serve on 50 %, off 50 %`. */
function ruleText(rule: Rule, context: FieldContext): string {
  const limit = context.inFull === true ? Infinity : LIST_LIMIT;
  const condition = conditionText(rule.matchers, { ...context, limit });
  return `if ${condition}, serve ${bucketsText(rule.buckets)}`;
}

/** @param b position in the old list, from 0; people see positions from 1. */
function removedLine(b: number, rule: Rule | undefined, context: FieldContext): FieldLine {
  const text = rule ? ruleText(rule, context) : '';
  return [span(`- ${noBreak(`rule ${String(b + 1)}`)}:`, 'remove'), span(` ${text}`)];
}

/** @param a position in the new list, from 0. */
function addedLine(a: number, rule: Rule | undefined, context: FieldContext): FieldLine {
  const text = rule ? ruleText(rule, context) : '';
  return [
    span(`+ ${noBreak(`rule ${String(a + 1)}`)}${nameOf(a, context)}:`, 'add'),
    span(` ${text}`),
  ];
}

/** Undefined if the rule neither moved nor changed. */
function pairLine(
  { before: b, after: a, moved }: RulePair,
  before: Rule | undefined,
  after: Rule | undefined,
  context: FieldContext,
): FieldLine | undefined {
  if (!before || !after) return undefined;
  const sameCondition = jsonText(before.matchers) === jsonText(after.matchers);
  const sameBuckets = jsonText(before.buckets) === jsonText(after.buckets);
  if (!moved && sameCondition && sameBuckets) return undefined;
  const condition = sameCondition
    ? conditionText(after.matchers, { ...context, limit: LIST_LIMIT })
    : conditionChange(before.matchers, after.matchers, context);
  const served = sameBuckets
    ? bucketsText(after.buckets)
    : bucketsChange(before.buckets, after.buckets);
  const place = moved ? `rule ${String(b + 1)} → ${String(a + 1)}` : `rule ${String(a + 1)}`;
  return [
    span(`~ ${noBreak(place)}${nameOf(a, context)}:`, 'change'),
    span(` if ${condition}, serve ${served}`),
  ];
}

/**
 * The change of a condition. If only values of lists differ, these alone are shown: `country in [+IT −FR]`; otherwise
 * both conditions are.
 */
function conditionChange(
  before: readonly Matcher[],
  after: readonly Matcher[],
  context: FieldContext,
): string {
  const parts = after.map((matcher, index) => listChange(before[index], matcher, context));
  if (before.length === after.length && parts.every((part) => part !== undefined)) {
    return parts.join(' and ');
  }
  return `${conditionText(before, context)} → ${conditionText(after, context)}`;
}

/** The words for a matcher of which at most the list of values differs; undefined if more does. */
function listChange(
  before: Matcher | undefined,
  after: Matcher,
  context: FieldContext,
): string | undefined {
  if (!before) return undefined;
  if (jsonText(before) === jsonText(after))
    return conditionText([after], { ...context, limit: LIST_LIMIT });
  const subject = matcherSubject(after);
  const [held, wanted] = [before['strings'], after['strings']];
  if (subject === undefined || !isTexts(held) || !isTexts(wanted)) return undefined;
  if (jsonText({ ...before, strings: [] }) !== jsonText({ ...after, strings: [] })) {
    return undefined;
  }
  const { added, removed } = keyDifference([...wanted].sort(), [...held].sort());
  if (added.length + removed.length === 0) return undefined;
  if (listsKeys(after) && !context.showKeys) {
    return `${subject} a list of keys (+${String(added.length)} −${String(removed.length)})`;
  }
  const parts = [
    ...(added.length > 0 ? [`+ ${itemText(added, Infinity)}`] : []),
    ...(removed.length > 0 ? [`− ${itemText(removed, Infinity)}`] : []),
  ];
  return `${subject} [${parts.join('; ')}] of ${String(wanted.length)}`;
}

/** The rule's name in the spec. The service does not keep it. */
function nameOf(index: number, { ruleNames }: FieldContext): string {
  const name = ruleNames?.[index];
  return name === undefined ? '' : ` "${clean(name)}"`;
}

/** The rules of the old and the new list that belong together; positions count from 0. */
interface RulePairs {
  /** Sorted by `after`. */
  readonly pairs: readonly RulePair[];
  /** Positions in the old list, ascending. */
  readonly removed: readonly number[];
  /** Positions in the new list, ascending. */
  readonly added: readonly number[];
}

interface RulePair {
  readonly before: number;
  readonly after: number;
  /**
   * Whether it changed its position among the rules that stayed. Adding or removing rules before a rule does not move
   * it.
   */
  readonly moved: boolean;
}

/**
 * Finds the old rule for each new one. Equal rules are paired first, then rules with equal conditions, then rules that
 * share buckets or a matcher.
 */
function pairRules(before: readonly Rule[], after: readonly Rule[]): RulePairs {
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

/** The pairs found so far, and the way to add one. */
interface Found {
  readonly found: ReadonlyMap<number, number>;
  readonly taken: ReadonlySet<number>;
  readonly pair: (before: number, after: number) => void;
}

/** Pairs each remaining rule with the nearest similar one. */
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

/** The features by which rules are similar. */
function featuresOf(rule: Rule | undefined): string[] {
  return rule ? [jsonText(rule.buckets), ...rule.matchers.map(jsonText)] : [];
}

/** Positions of the unpaired rules, by the feature that is compared. */
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

/**
 * Indexes of a longest ascending subsequence of `values`. All other rules count as moved, so that their number is as
 * small as possible.
 */
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
