import { isDeepStrictEqual } from 'node:util';
import { ownMember } from '../../model/collections.js';
import { type FieldType, flagFieldType } from '../../model/flag/fields.js';
import type { Treatment } from '../../model/flag/flag.js';
import { isRecord, type Json, partsOf } from '../../model/json.js';
import type { Change, FieldChange } from '../../model/plan.js';
import { keyDifference } from '../../model/segment-keys.js';
import { clean, quoted } from '../sanitize.js';
import { cut, type FieldLine, noBreak, span } from '../text/layout.js';
import {
  isBuckets,
  isRules,
  isTexts,
  isTreatments,
  jsonText,
  keysText,
  maskKeys,
  NONE,
  textChange,
  valueChange,
  valueText,
  yesNo,
} from '../values.js';
import {
  bucketsChange,
  bucketsText,
  type FieldContext,
  orderChange,
  wholeRuleLines,
} from './rule.js';
import { ruleLines } from './rules.js';

/** In the words of a spec. A value of an unexpected shape is shown as JSON, because a review must not hide anything. */
export function fieldLines(field: FieldChange, context: FieldContext): readonly FieldLine[] {
  if (field.keys) return [labelled(fieldLabel(field.path), keysText(field.keys, context))];
  const { path, before, after } = field;
  const linesOf = LINES_OF[path] ?? linesOfFlagField(path);
  const lines = linesOf?.(before, after, context) ?? [];
  if (lines.length > 0) return lines;
  return [labelled(fieldLabel(path), `${sideText(before, context)} → ${sideText(after, context)}`)];
}

export function sideText(value: unknown, { showKeys }: FieldContext): string {
  if (isBuckets(value)) return bucketsText(value);
  return valueText(showKeys || value === undefined ? value : maskKeys(value));
}

/** The name of a field, from its JSON Pointer: `targets of on` for `/targets/on`. */
export function fieldLabel(path: string): string {
  const [first = '', ...rest] = partsOf(path);
  const [treatment] = rest;
  if (first === 'targets' && treatment !== undefined && rest.length === 1) {
    return noBreak(`targets of ${quoted(treatment)}`);
  }
  return noBreak([first, ...rest].map((part) => clean(part)).join(' '));
}

type Lines = (
  before: unknown,
  after: unknown,
  context: FieldContext,
) => readonly FieldLine[] | undefined;

const LINES_OF: Readonly<Record<string, Lines>> = {
  '/killed': (before, after) => {
    if (before === undefined && after === false) return undefined;
    if (typeof after !== 'boolean') return undefined;
    const from = before === undefined ? '' : `${yesNo(!after)} → `;
    return [killedLine(after, `${from}${yesNo(after).toUpperCase()}`)];
  },
  '/treatments': ofLists(isTreatments, treatmentLines),
  '/rules': ofLists(isRules, ruleLines),
  '/defaultRule': (before, after) => {
    if (!isBuckets(after)) return undefined;
    if (before === undefined) return [labelled('defaultRule', bucketsText(after))];
    return isBuckets(before) ? [labelled('defaultRule', bucketsChange(before, after))] : undefined;
  },
  '/trafficAllocation': (before, after) => {
    if (typeof after !== 'number') return undefined;
    const from = typeof before === 'number' ? before : NONE;
    return [labelled('trafficAllocation', noBreak(`${String(from)} → ${String(after)} %`))];
  },
};

const FLAG_FIELD_LINES: Readonly<Record<FieldType, ((label: string) => Lines) | undefined>> = {
  name: undefined,
  prose: (label) => (before, after, context) => {
    const [held, wanted] = [before ?? '', after ?? ''];
    if (typeof held !== 'string' || typeof wanted !== 'string') return undefined;
    const lines = severalLines(label, held, wanted, context);
    if (lines.length > 0) return lines;
    return [labelled(label, proseChange(held, wanted, context).join(' → '))];
  },
  names: (label) =>
    ofLists(isTexts, (before, after) => [labelled(label, setChange(before, after))]),
};

function linesOfFlagField(path: string): Lines | undefined {
  const type = flagFieldType(path);
  return type && FLAG_FIELD_LINES[type]?.(fieldLabel(path));
}

/** A missing side is an empty list. */
function ofLists<T>(
  isList: (value: unknown) => value is readonly T[],
  lines: (before: readonly T[], after: readonly T[], context: FieldContext) => FieldLine[],
): Lines {
  return (before, after, context) => {
    const [held, wanted] = [before ?? [], after ?? []];
    return isList(held) && isList(wanted) ? lines(held, wanted, context) : undefined;
  };
}

/** A kill or its end is marked in the text and not by colour alone, because it stops or restores everything at once. */
function killedLine(isKilled: boolean, words: string): FieldLine {
  const effect = isKilled
    ? 'everyone gets the default treatment'
    : 'rules and targets decide again';
  return [span(`!! killed: ${words}`, 'alarm'), span(` (${effect})`)];
}

function labelled(label: string, text: string): FieldLine {
  return [span(`${label}:`, 'strong'), span(` ${text}`)];
}

function proseChange(before: string, after: string, { inFull }: FieldContext): [string, string] {
  return textChange(before, after, inFull === true ? Infinity : undefined);
}

/** Only in full: the lines that differ, of a text that has several; otherwise empty. */
function severalLines(
  label: string,
  before: unknown,
  after: unknown,
  { inFull }: FieldContext,
): FieldLine[] {
  const [held, wanted] = [before ?? '', after ?? ''];
  if (inFull !== true || typeof held !== 'string' || typeof wanted !== 'string') return [];
  if (!/[\r\n]/.test(held + wanted)) return [];
  const [a, b] = [linesIn(held), linesIn(wanted)];
  const shorter = Math.min(a.length, b.length);
  let [head, tail] = [0, 0];
  while (head < shorter && a[head] === b[head]) head += 1;
  while (tail < shorter - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const gone = a.slice(head, a.length - tail).map(shownLine);
  const come = b.slice(head, b.length - tail).map(shownLine);
  // What cleaning takes away is shown as JSON, see `textChange`.
  if (isDeepStrictEqual(gone, come)) return [];
  return [
    labelled(label, `from line ${String(head + 1)}`),
    ...gone.map((line) => [span(`- ${line}`, 'remove')]),
    ...come.map((line) => [span(`+ ${line}`, 'add')]),
  ];
}

function linesIn(text: string): string[] {
  return text === '' ? [] : text.split(/\r\n|[\r\n]/);
}

function shownLine(line: string): string {
  return clean(line).replace(/^ +/, noBreak);
}

/** `+a +b −c`. */
function setChange(before: readonly string[], after: readonly string[]): string {
  const { added, removed } = keyDifference([...after].sort(), [...before].sort());
  return [
    ...added.map((each) => noBreak(`+${quoted(each)}`)),
    ...removed.map((each) => noBreak(`−${quoted(each)}`)),
  ].join(' ');
}

function treatmentLines(
  before: readonly Treatment[],
  after: readonly Treatment[],
  context: FieldContext,
): FieldLine[] {
  const held = new Map(before.map((treatment) => [treatment.name, treatment]));
  const wanted = new Set(after.map((treatment) => treatment.name));
  const gone = before.filter(({ name }) => !wanted.has(name));
  const order = orderChange(
    before.map(({ name }) => name),
    after.map(({ name }) => name),
  );
  return [
    ...gone.flatMap((treatment) => treatmentLine(treatment, undefined, context)),
    ...after.flatMap((treatment) => treatmentLine(held.get(treatment.name), treatment, context)),
    ...order.map((text) => [span('~ treatments:', 'change'), span(` ${text}`)]),
  ];
}

/** Empty if the treatment did not change. What a removed treatment had is shown only in full. */
function treatmentLine(
  before: Treatment | undefined,
  after: Treatment | undefined,
  context: FieldContext,
): FieldLine[] {
  const label = noBreak(`treatment ${quoted((after ?? before)?.name ?? '')}`);
  if (!after && context.inFull !== true) return [[span(`- ${label}`, 'remove')]];
  const [held, shown] = after ? [before, after] : [undefined, before && withTexts(before)];
  const lines: FieldLine[] = [];
  const parts: string[] = [];
  for (const name of ['description', 'configuration'] as const) {
    if (shown?.[name] === undefined) continue;
    const several = severalLines(`${label} ${name}`, before?.[name], after?.[name], context);
    lines.push(...several);
    if (several.length > 0) continue;
    if (name === 'configuration') parts.push(...configurationChange(held?.[name], shown[name]));
    else parts.push(...descriptionChange(held?.[name], shown[name] ?? '', context));
  }
  const text = parts.join('; ');
  if (before && after) {
    return text === '' ? lines : [[span(`~ ${label}:`, 'change'), span(` ${text}`)], ...lines];
  }
  const head = after ? span(`+ ${label}`, 'add') : span(`- ${label}`, 'remove');
  return [[head, span(text === '' ? '' : `: ${text}`)], ...lines];
}

/** Services show an empty description where there is none. */
function withTexts({ description = '', ...treatment }: Treatment): Treatment {
  return { ...treatment, ...(description !== '' && { description }) };
}

/** Git does not manage a text that the new side lacks. */
function descriptionChange(
  before: string | undefined,
  after: string,
  context: FieldContext,
): string[] {
  if ((before ?? '') === after) return [];
  const [was, is] = proseChange(before ?? '', after, context);
  return [`description ${before === undefined ? is : `${was} → ${is}`}`];
}

function configurationChange(before: Json | undefined, after: Json | undefined): string[] {
  if (sameValue(before, after)) return [];
  if (!isRecord(before) || !isRecord(after)) {
    return [
      `configuration ${before === undefined ? valueText(after) : valueChange(before, after)}`,
    ];
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const parts = names
    .map((name) => [name, ownMember(before, name), ownMember(after, name)] as const)
    .filter(([, was, is]) => !sameValue(was, is))
    .map(([name, was, is]) => `${quoted(name)} ${valueChange(was, is)}`);
  return [`configuration ${parts.join(', ')}`];
}

/** Whether two values are equal, in whatever order they have their members. */
function sameValue(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined ? a === b : jsonText(a) === jsonText(b);
}

const DESCRIPTION_COLUMNS = 60;
const LONG_VALUE_COLUMNS = 80;

/** One paragraph, because there is no second side to compare. A kill and each rule have lines of their own. */
export function wholeLines(
  { fields, keys }: Pick<Change, 'fields' | 'keys'>,
  side: 'before' | 'after',
  context: FieldContext,
): FieldLine[] {
  const valueOf = (path: string): unknown => fields.find((field) => field.path === path)?.[side];
  const [treatments, rules] = [valueOf('/treatments'), valueOf('/rules')];
  const parts = fields.flatMap((field) => wholeText(field, side, context));
  if (keys) parts.push(keysText(keys, context));
  // The names belong to the rules after the change.
  const { ruleNames: _, ...unnamed } = context;
  return [
    ...(valueOf('/killed') === true && side === 'after' ? [killedLine(true, 'YES')] : []),
    ...(parts.length > 0 ? [[span(parts.join(' · '))]] : []),
    ...(context.inFull === true && isTreatments(treatments)
      ? wholeTreatments(treatments, side, context)
      : []),
    ...(isRules(rules) ? wholeRuleLines(rules, side === 'after' ? context : unnamed) : []),
  ];
}

function wholeTreatments(
  treatments: readonly Treatment[],
  side: 'before' | 'after',
  context: FieldContext,
): FieldLine[] {
  const texts = treatments.map(withTexts).filter((each) => Object.keys(each).length > 1);
  return texts.flatMap((each) =>
    side === 'after'
      ? treatmentLine(undefined, each, context)
      : treatmentLine(each, undefined, context),
  );
}

/** Empty if the value is the usual one. */
function wholeText(field: FieldChange, side: 'before' | 'after', context: FieldContext): string[] {
  const value = field[side];
  if (field.keys) return [`${fieldLabel(field.path)} ${keysText(field.keys, context)}`];
  if (value === undefined) return [];
  switch (field.path) {
    case '/killed':
      return value === true && side === 'before' ? ['killed'] : [];
    case '/treatments':
      if (!isTreatments(value)) return [`treatments ${valueText(value)}`];
      return [`treatments ${value.map(({ name }) => quoted(name)).join(', ')}`];
    case '/rules':
      if (!isRules(value)) return [`rules ${sideText(value, context)}`];
      return value.length === 0 ? [noBreak('no rules')] : [];
    case '/defaultRule':
      return [`${noBreak('defaultRule ')}${sideText(value, context)}`];
    case '/trafficAllocation':
      return value === 100 ? [] : [noBreak(`trafficAllocation ${valueText(value)} %`)];
    default:
      return [`${fieldLabel(field.path)} ${plainValue(field.path, value, context)}`];
  }
}

function plainValue(path: string, value: unknown, { inFull = false }: FieldContext): string {
  switch (flagFieldType(path)) {
    case 'prose':
      return `"${cut(clean(typeof value === 'string' ? value : valueText(value)), inFull ? Infinity : DESCRIPTION_COLUMNS)}"`;
    case 'names':
      return isTexts(value) ? value.map(quoted).join(', ') : valueText(value);
    case 'name':
    case undefined:
      return valueText(value, inFull ? Infinity : LONG_VALUE_COLUMNS);
  }
}
