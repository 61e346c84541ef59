import type { Treatment } from '../kinds/flag.js';
import type { Json } from '../kinds/json.js';
import { orderChange } from './bucket-words.js';
import { quoted } from './clean.js';
import type { FieldLine } from './field-line.js';
import { jsonText } from './json-text.js';
import { glue, span } from './layout.js';
import { isJsonRecord, NONE, textChange, valueWords } from './value-words.js';

/** One line for each treatment that was added, removed or changed, and one for a changed order. */
export function treatmentLines(
  before: readonly Treatment[],
  after: readonly Treatment[],
): FieldLine[] {
  const held = new Map(before.map((treatment) => [treatment.name, treatment]));
  const wanted = new Set(after.map((treatment) => treatment.name));
  const gone = before.filter(({ name }) => !wanted.has(name));
  const order = orderChange(
    before.map(({ name }) => name),
    after.map(({ name }) => name),
  );
  return [
    ...gone.map(({ name }) => [span(`- ${glue(`treatment ${quoted(name)}`)}`, 'remove')]),
    ...after.flatMap((treatment) => treatmentLine(held.get(treatment.name), treatment)),
    ...order.map((words) => [span('~ treatments:', 'change'), span(` ${words}`)]),
  ];
}

function treatmentLine(before: Treatment | undefined, after: Treatment): FieldLine[] {
  const label = glue(`treatment ${quoted(after.name)}`);
  const parts = [
    ...descriptionChange(before?.description, after.description),
    ...configurationChange(before?.configuration, after.configuration),
  ];
  const words = parts.join('; ');
  if (!before) return [[span(`+ ${label}`, 'add'), span(words === '' ? '' : `: ${words}`)]];
  if (words === '') return [];
  return [[span(`~ ${label}:`, 'change'), span(` ${words}`)]];
}

/** Absent in the new one is not managed and no change; likewise below. */
function descriptionChange(before: string | undefined, after: string | undefined): string[] {
  if (after === undefined || before === after) return [];
  if (before === undefined) return [`description ${textChange('', after)[1]}`];
  return [`description ${textChange(before, after).join(' → ')}`];
}

/** Member by member where both sides are objects. */
function configurationChange(before: Json | undefined, after: Json | undefined): string[] {
  if (after === undefined || sameValue(before, after)) return [];
  if (!isJsonRecord(before) || !isJsonRecord(after)) {
    return [
      `configuration ${before === undefined ? '' : `${valueWords(before)} → `}${valueWords(after)}`,
    ];
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const parts = names
    .filter((name) => !sameValue(before[name], after[name]))
    .map((name) => `${quoted(name)} ${valueWords(before[name])} → ${valueWords(after[name])}`);
  return parts.length === 0 ? [] : [`configuration ${parts.join(', ') || NONE}`];
}

function sameValue(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined ? a === b : jsonText(a) === jsonText(b);
}
