import { grouped } from '../../model/collections.js';
import type { Change } from '../../model/plan.js';
import type { Kind } from '../../model/ref.js';
import { isUndone, kindText, type PlanReport, shownEnvironments } from '../plan-report.js';
import { clean } from '../sanitize.js';
import { span, type Span } from '../text/layout.js';
import { counted, isRules, plural } from '../values.js';
import { servedText } from './brief.js';
import { audienceText, byWeight, risksIn, risksOf, riskWord, weightOf } from './impact.js';
import type { ChangeRow, Row } from './row.js';

/** An object with its changes, as far as the headline needs it. */
interface Headed {
  readonly kind: Kind;
  readonly keys: readonly string[];
  readonly rows: readonly ChangeRow[];
  readonly fresh: string;
}

/** The parts of a plan that the headline chooses from, each in the order in which it is shown. */
interface Heading {
  readonly folds: readonly Headed[];
  readonly withheld: readonly ChangeRow[];
  readonly liveKills: readonly Row[];
}

/**
 * The first line of every report: what happens to whom, by the heaviest change, the largest risk, and how much else there
 * is. Empty if there is nothing to say. All text is cleaned.
 */
export function headlineOf(report: PlanReport, heading: Heading): Span[] {
  const refused = report.guardFindings?.length
    ? [[span('A guard refuses this plan', 'alarm')]]
    : [];
  return [...refused, ...partsOf(report, heading)].flatMap((part, index) =>
    index === 0 ? part : [span(' · '), ...part],
  );
}

function partsOf(report: PlanReport, { folds, withheld, liveKills }: Heading): Span[][] {
  const [fold] = folds;
  if (fold) {
    const isFirst =
      (folds.length > 1 || fold.keys.length > 1) && folds.every((each) => isNew(each, report));
    return isFirst ? newParts(report, folds) : changeParts(report, fold);
  }
  const [row = liveKills[0]] = withheld;
  if (!row) return [];
  const words = withheld.length > 0 ? row.deed.text : `is killed on the service, ${row.deed.text}`;
  return [
    [span('Nothing to write', 'strong')],
    [span(`${row.subject} ${words}`)],
    ...restParts(withheld.length + liveKills.length - 1, 0),
  ];
}

/** Whether a fold is a whole new object, or several, and nothing of it failed. */
function isNew({ kind, fresh, rows }: Headed, report: PlanReport): boolean {
  if (fresh !== '') return true;
  const isAdded = rows.every(({ change: { action } }) => action === 'create');
  const hasFailed = rows.some(({ change }) => isUndone(change, report));
  return kindText(kind).details === 'identities' && isAdded && !hasFailed;
}

function changeParts(report: PlanReport, fold: Headed): Span[][] {
  const { kind, keys, rows, fresh } = fold;
  const one = clean(keys[0] ?? '');
  if (fresh !== '' && keys.length === 1) {
    const name = [span(one, 'strong')];
    const what = [span(freshWords(kind, rows)), span(` ${fresh}`, 'strong')];
    return [name, what, ...riskParts(report, rows), ...othersParts(report, rows)];
  }
  const [row] = rows.toSorted((a, b) =>
    byWeight(weightOf(a.change, report), weightOf(b.change, report)),
  );
  if (!row) return [];
  const subject = keys.length === 1 ? one : kindText(kind).counted(keys.length);
  const place = row.change.ref.environment === null ? '' : ` in ${row.subject}`;
  const fact = row.fact ? `: ${row.fact}` : '';
  return [
    [span(`${subject}${place}`, 'strong'), span(` ${row.deed.text}${fact}`)],
    ...(row.reason ? [[span(row.reason, 'change')]] : []),
    ...reachParts(report, row),
    ...riskParts(report, [row]),
    ...othersParts(report, [row], keys.length),
  ];
}

/** Only new objects: their numbers by kind, their environments, and the largest risk. */
function newParts(report: PlanReport, folds: readonly Headed[]): Span[][] {
  const texts = [...grouped(folds, ({ kind }) => kind)].map(([kind, all]) =>
    kindText(kind).countedNew(all.flatMap(({ keys }) => keys).length),
  );
  const rows = folds.flatMap((fold) => fold.rows);
  const changed = new Set(rows.map(({ change }) => change.ref.environment));
  const places = shownEnvironments(report).filter((place) => changed.has(place));
  const where = places.length === 0 ? '' : ` in ${LIST.format(places.map(clean))}`;
  const words = `${report.outcomes ? 'Created ' : ''}${texts.join(', ')}${where}`;
  return [[span(words, 'strong')], ...riskParts(report, rows), ...othersParts(report, rows)];
}

function reachParts(report: PlanReport, { change }: ChangeRow): Span[][] {
  const impact = report.impacts?.get(change.id);
  if (!impact || change.action !== 'update') return [];
  return [[span(`reaches ${audienceText(change, impact, false)}`)]];
}

/** The first risk, with its object if there are several. */
function riskParts(report: PlanReport, rows: readonly ChangeRow[]): Span[][] {
  for (const { change } of rows) {
    const [risk] = risksOf(change, report);
    if (risk === undefined) continue;
    const isNamed = new Set(rows.map((row) => row.change.ref.name)).size > 1;
    const name = isNamed ? `${clean(change.id)} ` : '';
    return [[span(`!! ${name}${riskWord(risk, change.ref.environment)}`, 'alarm')]];
  }
  return [];
}

/** The changes and risks that the headline does not name. */
function othersParts(
  report: PlanReport,
  rows: readonly ChangeRow[],
  changed = rows.length,
): Span[][] {
  const { changes } = report.plan;
  const risks = risksIn(report).length;
  const shown = rows.some(({ change }) => risksOf(change, report).length > 0) ? 1 : 0;
  return restParts(changes.length - changed, risks - shown);
}

function restParts(changes: number, risks: number): Span[][] {
  const texts = [...counted(changes, 'more change'), ...counted(risks, 'more risk')];
  return texts.length === 0 ? [] : [[span(`and ${texts.join(', ')}`)]];
}

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
  const texts = places.map(({ names, text }) => `${LIST.format(names)} ${text}`);
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

/** `a`, `a and b`, `a, b and c`. */
const LIST = new Intl.ListFormat('en-GB');
