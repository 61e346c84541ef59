import type { Matcher, Rule } from '../kinds/flag.js';
import { keyDifference } from '../kinds/key-list.js';
import { bucketsChange, bucketsWords } from './bucket-words.js';
import { clean } from './clean.js';
import type { FieldContext, FieldLine } from './field-line.js';
import { glue, span } from './layout.js';
import { isTexts, jsonText } from './json-text.js';
import { listsKeys } from './listed-keys.js';
import { conditionWords, matcherSubject } from './matcher-words.js';
import { pairRules, type RulePair } from './rule-pairs.js';
import { itemWords, plural } from './value-words.js';

/** Values of a list that are shown at most where the list itself did not change. */
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

/** `if in segment staff, serve on 50 %, off 50 %`. */
export function ruleWords(rule: Rule, context: FieldContext): string {
  const condition = conditionWords(rule.matchers, { ...context, limit: LIST_LIMIT });
  return `if ${condition}, serve ${bucketsWords(rule.buckets)}`;
}

function removedLine(b: number, rule: Rule | undefined, context: FieldContext): FieldLine {
  const words = rule ? ruleWords(rule, context) : '';
  return [span(`- ${glue(`rule ${String(b + 1)}`)}:`, 'remove'), span(` ${words}`)];
}

function addedLine(a: number, rule: Rule | undefined, context: FieldContext): FieldLine {
  const words = rule ? ruleWords(rule, context) : '';
  return [
    span(`+ ${glue(`rule ${String(a + 1)}`)}${nameOf(a, context)}:`, 'add'),
    span(` ${words}`),
  ];
}

/** Undefined where the rule neither moved nor changed. */
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
    ? conditionWords(after.matchers, { ...context, limit: LIST_LIMIT })
    : conditionChange(before.matchers, after.matchers, context);
  const served = sameBuckets
    ? bucketsWords(after.buckets)
    : bucketsChange(before.buckets, after.buckets);
  const place = moved ? `rule ${String(b + 1)} → ${String(a + 1)}` : `rule ${String(a + 1)}`;
  return [
    span(`~ ${glue(place)}${nameOf(a, context)}:`, 'change'),
    span(` if ${condition}, serve ${served}`),
  ];
}

/** Where only values of lists differ, those alone: `country in [+IT −FR]`; otherwise both conditions whole. */
function conditionChange(
  before: readonly Matcher[],
  after: readonly Matcher[],
  context: FieldContext,
): string {
  const parts = after.map((matcher, index) => listChange(before[index], matcher, context));
  if (before.length === after.length && parts.every((part) => part !== undefined)) {
    return parts.join(' and ');
  }
  return `${conditionWords(before, context)} → ${conditionWords(after, context)}`;
}

function listChange(
  before: Matcher | undefined,
  after: Matcher,
  context: FieldContext,
): string | undefined {
  if (!before) return undefined;
  if (jsonText(before) === jsonText(after))
    return conditionWords([after], { ...context, limit: LIST_LIMIT });
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
    ...(added.length > 0 ? [`+ ${itemWords(added, Infinity)}`] : []),
    ...(removed.length > 0 ? [`− ${itemWords(removed, Infinity)}`] : []),
  ];
  return `${subject} [${parts.join('; ')}] of ${String(wanted.length)}`;
}

function nameOf(index: number, { ruleNames }: FieldContext): string {
  const name = ruleNames?.[index];
  return name === undefined ? '' : ` "${clean(name)}"`;
}
