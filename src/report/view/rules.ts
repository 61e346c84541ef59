import { commonPositions, grouped } from '../../model/collections.js';
import type { Matcher, Rule } from '../../model/flag/flag.js';
import { keyDifference } from '../../model/segment-keys.js';
import { noBreak, span, type FieldLine } from '../text/layout.js';
import { isTexts, jsonText, listsKeys, plural, signedItems } from '../values.js';
import {
  bucketsChange,
  bucketsText,
  conditionText,
  LIST_LIMIT,
  matcherSubject,
  nameOf,
  ruleLine,
  type FieldContext,
} from './rule.js';

export function ruleLines(
  before: readonly Rule[],
  after: readonly Rule[],
  context: FieldContext,
): FieldLine[] {
  const { pairs, removed, added } = pairRules(before, after);
  // The names belong to the rules after the change.
  const { ruleNames: _, ...unnamed } = context;
  const changed = pairs.filter(isChanged);
  const rest = [
    ...added.map(([at, rule]) => ({ at, line: ruleLine(at, rule, context, '+ ', 'add') })),
    ...changed.map((pair) => ({ at: pair.after[0], line: pairLine(pair, context) })),
  ].sort((x, y) => x.at - y.at);
  const unchanged = pairs.length - changed.length;
  return [
    ...removed.map(([at, rule]) => ruleLine(at, rule, unnamed, '- ', 'remove')),
    ...rest.map(({ line }) => line),
    ...(unchanged > 0 ? [[span(`${plural(unchanged, 'rule')} unchanged`, 'faint')]] : []),
  ];
}

/** `1 rule changed, 1 added`; empty if none changes. */
export function rulesFact(before: readonly Rule[], after: readonly Rule[]): string {
  const { pairs, removed, added } = pairRules(before, after);
  const moved = pairs.filter((pair) => pair.moved).length;
  const changed = pairs.filter(isChanged).length - moved;
  const counts = { changed, moved, added: added.length, removed: removed.length };
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  const texts = parts.map(([word, count], index) => {
    return noBreak(`${index === 0 ? plural(count, 'rule') : String(count)} ${word}`);
  });
  return texts.join(', ');
}

function isChanged({ before: [, was], after: [, is], moved }: RulePair): boolean {
  return moved || jsonText(was) !== jsonText(is);
}

function pairLine({ before, after, moved }: RulePair, context: FieldContext): FieldLine {
  const [[b, was], [a, is]] = [before, after];
  const condition =
    jsonText(was.matchers) === jsonText(is.matchers)
      ? conditionText(is.matchers, { ...context, limit: LIST_LIMIT })
      : conditionChange(was.matchers, is.matchers, context);
  const served =
    jsonText(was.buckets) === jsonText(is.buckets)
      ? bucketsText(is.buckets)
      : bucketsChange(was.buckets, is.buckets);
  const place = moved ? `rule ${String(b + 1)} → ${String(a + 1)}` : `rule ${String(a + 1)}`;
  return [
    span(`~ ${noBreak(place)}${nameOf(a, context)}:`, 'change'),
    span(` if ${condition}, serve ${served}`),
  ];
}

/** If only values of lists differ, these alone are shown: `country in [+IT −FR]`; otherwise both conditions. */
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
  return `${subject} [${signedItems(added, removed, Infinity)}] of ${String(wanted.length)}`;
}

type PlacedRule = readonly [number, Rule];

interface RulePair {
  readonly before: PlacedRule;
  readonly after: PlacedRule;
  /** Whether it changed its position among the rules that stayed. */
  readonly moved: boolean;
}

/** Equal rules are paired first, then those with equal conditions, then each with the nearest that shares something. */
function pairRules(before: readonly Rule[], after: readonly Rule[]) {
  const found = new Map<number, PlacedRule>();
  const left = new Map(before.entries());
  const pair = (a: number, old: PlacedRule | undefined): void => {
    if (old === undefined) return;
    found.set(a, old);
    left.delete(old[0]);
  };
  for (const text of [jsonText, (rule: Rule) => jsonText(rule.matchers)]) {
    const equal = grouped(left, ([, rule]) => text(rule));
    for (const [a, rule] of after.entries()) {
      if (!found.has(a)) pair(a, equal.get(text(rule))?.shift());
    }
  }
  const features = new Map([...left].map(([b, rule]) => [b, featuresOf(rule)]));
  for (const [a, rule] of after.entries()) {
    if (found.has(a)) continue;
    const own = featuresOf(rule);
    const alike = [...left].filter(([b]) => own.some((each) => features.get(b)?.includes(each)));
    pair(a, alike.sort(([x], [y]) => Math.abs(x - a) - Math.abs(y - a))[0]);
  }
  const placed = [...after.entries()];
  const pairs = placed.flatMap((each) => {
    const old = found.get(each[0]);
    return old ? [{ before: old, after: each }] : [];
  });
  // All others count as moved, which are then as few as possible.
  const positions = pairs.map((each) => each.before[0]);
  const staying = commonPositions(
    positions.toSorted((x, y) => x - y),
    positions,
  );
  return {
    pairs: pairs.map((each, index) => ({ ...each, moved: !staying.has(index) })),
    removed: [...left],
    added: placed.filter(([a]) => !found.has(a)),
  };
}

function featuresOf(rule: Rule): string[] {
  return [jsonText(rule.buckets), ...rule.matchers.map(jsonText)];
}
