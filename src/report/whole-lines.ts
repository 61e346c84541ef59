import type { Change, FieldChange } from '../model/plan.js';
import { bucketsWords } from './bucket-words.js';
import { clean, quoted } from './clean.js';
import type { FieldContext, FieldLine } from './field-line.js';
import { fieldLabel, sideWords } from './field-lines.js';
import { keysWords } from './key-lines.js';
import { glue, span } from './layout.js';
import { cut } from './text-width.js';
import { isTexts } from './json-text.js';
import { isBuckets, isRules, isTreatments, plural, valueWords } from './value-words.js';

const DESCRIPTION_COLUMNS = 60;
const LONG_VALUE_COLUMNS = 80;

/**
 * An object that is created or deleted, in a paragraph: one side alone needs no arrows. A kill has a line of its own.
 *
 * @param side of the fields that holds the object: `after` of one that is created, `before` of one that is deleted.
 */
export function wholeLines(
  change: Change,
  side: 'before' | 'after',
  context: FieldContext,
): FieldLine[] {
  const killed = change.fields.some((field) => field.path === '/killed' && field[side] === true);
  const parts = change.fields.flatMap((field) => wholeWords(field, side, context));
  if (change.keys) parts.push(keysWords(change.keys, context.showKeys));
  return [
    ...(killed && side === 'after'
      ? [[span('!! killed: YES', 'alarm'), span(' (everyone gets the default treatment)')]]
      : []),
    ...(parts.length > 0 ? [[span(parts.join(' · '))]] : []),
  ];
}

/** None where the value goes without saying. */
function wholeWords(field: FieldChange, side: 'before' | 'after', context: FieldContext): string[] {
  const value = field[side];
  if (field.keys) return [`${fieldLabel(field.path)} ${keysWords(field.keys, context.showKeys)}`];
  if (value === undefined) return [];
  switch (field.path) {
    case '/killed':
      return value === true && side === 'before' ? ['killed'] : [];
    case '/treatments':
      return [`treatments ${treatmentNames(value)}`];
    case '/rules':
      return isRules(value) ? ruleCount(value.length) : [`rules ${sideWords(value, context)}`];
    case '/defaultRule':
      return [
        `${glue('defaultRule ')}${isBuckets(value) ? bucketsWords(value) : valueWords(value)}`,
      ];
    case '/trafficAllocation':
      return value === 100 ? [] : [glue(`trafficAllocation ${valueWords(value)} %`)];
    case '/description':
      return [
        `description "${cut(clean(typeof value === 'string' ? value : valueWords(value)), DESCRIPTION_COLUMNS)}"`,
      ];
    case '/tags':
      return [`tags ${isTexts(value) ? value.map(quoted).join(', ') : valueWords(value)}`];
    default:
      return [`${fieldLabel(field.path)} ${valueWords(value, LONG_VALUE_COLUMNS)}`];
  }
}

function treatmentNames(value: unknown): string {
  if (!isTreatments(value)) return valueWords(value);
  return value.map(({ name }) => quoted(name)).join(', ');
}

function ruleCount(count: number): string[] {
  return [count === 0 ? glue('no rules') : glue(plural(count, 'rule'))];
}
