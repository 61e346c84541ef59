import type { Change } from '../../model/plan.js';
import type { PlanReport } from '../plan-report.js';
import { isRules, plural } from '../values.js';
import { servedText } from './brief.js';
import type { ChangeRow } from './row.js';

/** More folders than this are joined with those around them. */
const MOST_FOLDERS = 12;

/** `new flag:`, or after an apply `new flag created:`. */
export function freshWords(kind: string, rows: readonly ChangeRow[]): string {
  const isDone = rows.every(({ deed }) => !deed.text.startsWith('will '));
  return `new ${kind}${isDone ? ' created' : ''}:`;
}

/**
 * A new object in one line: `production on 10 %, staging on 100 %`. Neighbours of which the same is said are joined.
 *
 * @param rows in the order of environments to show.
 */
export function freshText(rows: readonly ChangeRow[], report: PlanReport): string {
  const places: { names: string[]; text: string }[] = [];
  for (const { change, subject } of rows) {
    if (change.ref.environment === null) continue;
    const text = definitionText(change, report);
    const last = places.at(-1);
    if (last?.text === text) last.names.push(subject);
    else places.push({ names: [subject], text });
  }
  if (places.length === 0) return 'in no environment yet';
  const texts = places.map(({ names, text }) => `${listOf(names)} ${text}`);
  return texts.join(texts.some((text) => text.includes(', ')) ? '; ' : ', ');
}

function definitionText(change: Change, report: PlanReport): string {
  const served = servedText(change, report);
  if (served === '') return change.keys ? plural(change.keys.added.length, 'key') : 'active';
  const rules = change.fields.find(({ path }) => path === '/rules')?.after;
  const parts = [
    ...counted(isRules(rules) ? rules.length : 0, 'rule'),
    ...counted(
      change.fields.reduce((sum, { keys }) => sum + (keys?.added.length ?? 0), 0),
      'target',
    ),
  ];
  return [served, ...parts].join(', ');
}

function counted(count: number, word: string): string[] {
  return count === 0 ? [] : [plural(count, word)];
}

/** `a`, `a and b`, `a, b and c`. */
export function listOf(names: readonly string[]): string {
  const [last = '', ...others] = names.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
}

/** The folder of the specs of each object, or one above it where there would be too many. */
export function foldersOf(places: readonly string[]): string[] {
  const parts = places.map((place) => place.split('/').slice(0, -1));
  const deepest = Math.max(1, ...parts.map(({ length }) => length));
  const at = (depth: number): string[] => parts.map((each) => each.slice(0, depth).join('/'));
  for (let depth = deepest; depth > 1; depth -= 1) {
    if (new Set(at(depth)).size <= MOST_FOLDERS) return at(depth);
  }
  return at(1);
}
