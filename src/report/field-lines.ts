import { keyDifference } from '../kinds/key-list.js';
import type { FieldChange } from '../model/plan.js';
import { bucketsChange, bucketsWords } from './bucket-words.js';
import { clean, quoted } from './clean.js';
import type { FieldContext, FieldLine } from './field-line.js';
import { keysWords } from './key-lines.js';
import { glue, span } from './layout.js';
import { isTexts } from './json-text.js';
import { maskKeys } from './listed-keys.js';
import { ruleLines } from './rule-lines.js';
import { treatmentLines } from './treatment-lines.js';
import {
  isBuckets,
  isRules,
  isTreatments,
  NONE,
  textChange,
  valueWords,
  yesNo,
} from './value-words.js';

/**
 * What one field's change means, said in the words of the spec. A value that is not of the shape that its field has is
 * shown as JSON: what is reviewed is never left out.
 */
export function fieldLines(field: FieldChange, context: FieldContext): readonly FieldLine[] {
  if (field.keys) {
    return [labelled(fieldLabel(field.path), keysWords(field.keys, context.showKeys))];
  }
  const { path, before, after } = field;
  const lines = LINES_OF[path]?.(before, after, context) ?? [];
  return lines.length > 0
    ? lines
    : [labelled(fieldLabel(path), `${sideWords(before, context)} → ${sideWords(after, context)}`)];
}

/** One side of a field whose value goes on one line. */
export function sideWords(value: unknown, { showKeys }: FieldContext): string {
  if (isBuckets(value)) return bucketsWords(value);
  return valueWords(showKeys || value === undefined ? value : maskKeys(value));
}

/** `targets of on` for `/targets/on`, otherwise the name of the field. */
export function fieldLabel(path: string): string {
  const [first = '', ...rest] = path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const [treatment] = rest;
  if (first === 'targets' && treatment !== undefined && rest.length === 1) {
    return glue(`targets of ${quoted(treatment)}`);
  }
  return glue([first, ...rest].map((part) => clean(part)).join(' '));
}

/** Undefined: not the shapes that the field has. */
type Lines = (
  before: unknown,
  after: unknown,
  context: FieldContext,
) => readonly FieldLine[] | undefined;

const LINES_OF: Readonly<Record<string, Lines>> = {
  '/killed': (_before, after) => {
    return typeof after === 'boolean' ? [killedLine(after)] : undefined;
  },
  '/treatments': (before, after) => {
    return isTreatments(before) && isTreatments(after) ? treatmentLines(before, after) : undefined;
  },
  '/rules': (before, after, context) => {
    const [held, wanted] = [before ?? [], after ?? []];
    return isRules(held) && isRules(wanted) ? ruleLines(held, wanted, context) : undefined;
  },
  '/defaultRule': (before, after) => {
    if (!isBuckets(after)) return undefined;
    if (before === undefined) return [labelled('defaultRule', bucketsWords(after))];
    return isBuckets(before) ? [labelled('defaultRule', bucketsChange(before, after))] : undefined;
  },
  '/trafficAllocation': (before, after) => {
    if (typeof after !== 'number') return undefined;
    const from = typeof before === 'number' ? before : NONE;
    return [labelled('trafficAllocation', glue(`${String(from)} → ${String(after)} %`))];
  },
  '/description': (before, after) => {
    const [held, wanted] = [before ?? '', after ?? ''];
    if (typeof held !== 'string' || typeof wanted !== 'string') return undefined;
    return [labelled('description', textChange(held, wanted).join(' → '))];
  },
  '/tags': (before, after) => {
    const [held, wanted] = [before ?? [], after ?? []];
    return isTexts(held) && isTexts(wanted)
      ? [labelled('tags', setChange(held, wanted))]
      : undefined;
  },
};

/** Loud in words, not in colour alone: it stops or restores everything at once. */
function killedLine(after: boolean): FieldLine {
  const effect = after ? 'everyone gets the default treatment' : 'rules and targets decide again';
  return [
    span(`!! killed: ${yesNo(!after)} → ${yesNo(after).toUpperCase()}`, 'alarm'),
    span(` (${effect})`),
  ];
}

function labelled(label: string, words: string): FieldLine {
  return [span(`${label}:`, 'strong'), span(` ${words}`)];
}

/** `+a +b −c`. */
function setChange(before: readonly string[], after: readonly string[]): string {
  const { added, removed } = keyDifference([...after].sort(), [...before].sort());
  return [
    ...added.map((each) => glue(`+${quoted(each)}`)),
    ...removed.map((each) => glue(`−${quoted(each)}`)),
  ].join(' ');
}
