import { flagFieldType } from '../../model/flag/fields.js';
import type { Change, FieldChange } from '../../model/plan.js';
import { clean, quoted } from '../sanitize.js';
import { cut, type FieldLine, noBreak, span } from '../text/layout.js';
import { isBuckets, isRules, isTexts, isTreatments, keysText, valueText } from '../values.js';
import { fieldLabel, killedLine, sideText, treatmentLine, withTexts } from './field.js';
import { bucketsText, type FieldContext, wholeRuleLines } from './rule.js';

const DESCRIPTION_COLUMNS = 60;
const LONG_VALUE_COLUMNS = 80;

/** One paragraph, because there is no second side to compare. A kill and each rule have lines of their own. */
export function wholeLines(
  change: Pick<Change, 'fields' | 'keys'>,
  side: 'before' | 'after',
  context: FieldContext,
): FieldLine[] {
  const killed = change.fields.some((field) => field.path === '/killed' && field[side] === true);
  const parts = change.fields.flatMap((field) => wholeText(field, side, context));
  if (change.keys) parts.push(keysText(change.keys, context));
  return [
    ...(killed && side === 'after' ? [killedLine(true, 'YES')] : []),
    ...(parts.length > 0 ? [[span(parts.join(' · '))]] : []),
    ...change.fields.flatMap((field) => wholeTreatments(field, side, context)),
    ...change.fields.flatMap((field) => wholeRules(field, side, context)),
  ];
}

/** Only in full: the treatments that have texts. */
function wholeTreatments(
  field: FieldChange,
  side: 'before' | 'after',
  context: FieldContext,
): FieldLine[] {
  const treatments = field[side];
  if (context.inFull !== true || field.path !== '/treatments' || !isTreatments(treatments)) {
    return [];
  }
  const texts = treatments.map(withTexts).filter((each) => Object.keys(each).length > 1);
  return texts.flatMap((each) =>
    side === 'after'
      ? treatmentLine(undefined, each, context)
      : treatmentLine(each, undefined, context),
  );
}

function wholeRules(
  field: FieldChange,
  side: 'before' | 'after',
  { ruleNames, ...context }: FieldContext,
): FieldLine[] {
  const rules = field[side];
  if (field.path !== '/rules' || !isRules(rules)) return [];
  // The names belong to the rules after the change.
  const isNamed = side === 'after' && ruleNames !== undefined;
  return wholeRuleLines(rules, { ...context, ...(isNamed && { ruleNames }) });
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
      return [`treatments ${treatmentNames(value)}`];
    case '/rules':
      if (!isRules(value)) return [`rules ${sideText(value, context)}`];
      return value.length === 0 ? [noBreak('no rules')] : [];
    case '/defaultRule':
      return [
        `${noBreak('defaultRule ')}${isBuckets(value) ? bucketsText(value) : valueText(value)}`,
      ];
    case '/trafficAllocation':
      return value === 100 ? [] : [noBreak(`trafficAllocation ${valueText(value)} %`)];
    default:
      return [`${fieldLabel(field.path)} ${plainText(field.path, value, context)}`];
  }
}

function plainText(path: string, value: unknown, { inFull = false }: FieldContext): string {
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

function treatmentNames(value: unknown): string {
  if (!isTreatments(value)) return valueText(value);
  return value.map(({ name }) => quoted(name)).join(', ');
}
