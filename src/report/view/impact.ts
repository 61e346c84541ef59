import { grouped } from '../../model/collections.js';
import {
  RISKS,
  type FlagImpact,
  type Impact,
  type KeyCount,
  type Move,
  type Range,
  type Risk,
} from '../../model/impact.js';
import { keyOf } from '../../model/ref.js';
import { isRemoval, isKill, type Change } from '../../model/plan.js';
import { clean, quoted } from '../sanitize.js';
import { isUndone, kindText, type PlanReport } from '../plan-report.js';
import { noBreak, span, type FieldLine } from '../text/layout.js';
import { firstOf, itemText, moreText, plural } from '../values.js';

const SHOWN_FLAGS = 3;
const SHOWN_MOVES = 4;
const SHOWN_NAMES = 5;
const SHOWN_RISKS = 3;

/** First the risks that a reviewer should not overlook; last what a killed flag would serve after a restore. */
export function impactLines(change: Change, impact: Impact, showKeys: boolean): FieldLine[] {
  // The line of the field marks a kill already.
  const others = impact.risks.filter((risk) => risk !== 'kills');
  const risks = others.map((risk) => riskWord(risk, change.ref.environment)).join('; ');
  // For a new object all treatments are new, and the report shows them already.
  const isShown =
    change.action === 'update' || (change.action !== 'create' && impact.flags.length > 0);
  return [
    ...(risks === '' ? [] : [[span(`!! ${risks}`, 'alarm')]]),
    ...(isShown ? [[span(`reaches: ${audienceText(change, impact, { showKeys })}`)]] : []),
    ...(impact.afterRestore
      ? [[span(`after a restore: ${restoreText(impact.afterRestore, showKeys)}`)]]
      : []),
  ];
}

export function riskWord(risk: Risk, environment: string | null): string {
  const text: Readonly<Record<Risk, string>> = {
    'all-of-production': `100 % of ${quoted(environment ?? '')}`,
    'most-of-production': `at least half of ${quoted(environment ?? '')} may get something else`,
    'ramp-ends': `its ramp ends with at least half of ${quoted(environment ?? '')} moved`,
    kills: 'kills: everybody gets the default treatment',
    'moves-between-variants': 'moves users between variants',
    'default-changed-while-killed': 'default changed while killed: everybody gets it at once',
    'serves-nobody': 'serves nobody',
  };
  return text[risk];
}

/** The most traffic that a change moves now or by its ramp, in per cent, by which risks are put in order. */
export function sizeOf({ id }: Change, { impacts }: PlanReport): number {
  const { flags = [], atLast } = impacts?.get(id) ?? {};
  return Math.max(0, atLast?.atMost ?? 0, ...flags.map(({ traffic }) => traffic.atMost));
}

export interface PlannedRisk {
  readonly change: Change;
  readonly risk: Risk;
  readonly word: string;
}

/** The risks of a plan, those of the largest changes first, and those of one change in the order of `RISKS`. */
export function risksIn(report: PlanReport): PlannedRisk[] {
  return report.plan.changes
    .toSorted((a, b) => sizeOf(b, report) - sizeOf(a, report))
    .flatMap((change) =>
      risksOf(change, report).map((risk) => {
        return { change, risk, word: riskWord(risk, change.ref.environment) };
      }),
    );
}

export function risksLine(report: PlanReport): string {
  const risks = risksIn(report);
  if (risks.length === 0) return '';
  const objects = [...grouped(risks, ({ change }) => change)];
  const texts = firstOf(
    objects,
    SHOWN_RISKS,
    ([{ id }, own]) => `${clean(id)} ${own.map(({ word }) => word).join(', ')}`,
    (more) => `… ${plural(more, 'more object')}`,
  );
  return `${plural(risks.length, 'risk')}: ${texts.join('; ')}`;
}

/** The risks of a change, in the order of `RISKS`. A kill is always a risk, even if the impact was not worked out. */
export function risksOf(change: Change, report: PlanReport): Risk[] {
  const found = new Set(report.impacts?.get(change.id)?.risks);
  if (change.fields.some(isKill)) found.add('kills');
  return RISKS.filter((risk) => found.has(risk));
}

/** On one line of limited length; only flags that are known here are counted. */
export function audienceText(
  { ref }: Change,
  { flags }: Impact,
  { showKeys }: { readonly showKeys: boolean },
): string {
  if (flags.length === 0) return kindText(ref.kind).reachesNobody;
  const textOf = (each: FlagImpact): string => {
    const isOwn = keyOf(ref.kind, ref.name) === keyOf('flag', each.flag);
    return `${isOwn ? '' : `${quoted(each.flag)} `}${movesText(each, showKeys)}`;
  };
  const rest = (more: number): string => `… ${plural(more, 'more flag')}`;
  return firstOf(flags, SHOWN_FLAGS, textOf, rest).join('; ');
}

/** If there are too many combinations the text says so, instead of claiming completeness. */
function movesText(impact: FlagImpact, showKeys: boolean): string {
  const parts = impact.moves.flatMap((move) => moveText(move, showKeys));
  if (parts.length === 0) {
    const sizes = [...trafficText(impact), ...keysText(impact)].join(', ');
    return `${sizes} (too many combinations to tell more)`;
  }
  const shown = firstOf(parts, SHOWN_MOVES, String, moreText).join(', ');
  return `${shown}${impact.bounded ? ' (at least; too many combinations to tell all)' : ''}`;
}

function restoreText(impact: FlagImpact, showKeys: boolean): string {
  const { traffic, keys } = impact;
  if (traffic.atMost + keys.atMost === 0) return 'nobody gets anything but the default treatment';
  return movesText(impact, showKeys);
}

/** Share of the traffic and number of listed keys, each if it is not zero. A treatment that stays is named once. */
function moveText(move: Move, showKeys: boolean): string[] {
  const { from, to, names } = move;
  const way =
    from === to
      ? `${treatmentText(to)} with another configuration`
      : `${treatmentText(from)} → ${treatmentText(to)}`;
  const named = showKeys && names.length > 0 ? ` (${itemText(names, SHOWN_NAMES)})` : '';
  return [
    ...trafficText(move).map((size) => noBreak(`${size} ${way}`)),
    ...keysText(move).map((size) => noBreak(`${size} ${way}`) + named),
  ];
}

function trafficText({ traffic }: { readonly traffic: Range }): string[] {
  return traffic.atMost === 0 ? [] : [`${rangeText(traffic)} %`];
}

function keysText({ keys }: { readonly keys: KeyCount }): string[] {
  const { atLeast, atMost, certain } = keys;
  if (atMost === 0) return [];
  const about = !certain && atLeast === atMost ? 'about ' : '';
  return [`${about}${rangeText(keys)} ${atMost === 1 ? 'key' : 'keys'}`];
}

function rangeText({ atLeast, atMost }: Range): string {
  if (atLeast === atMost) return String(atMost);
  return atLeast === 0 ? `up to ${String(atMost)}` : `${String(atLeast)}–${String(atMost)}`;
}

/** null becomes `control`, the answer of evaluators for a flag without a definition. */
function treatmentText(treatment: string | null): string {
  return treatment === null ? 'control' : quoted(treatment);
}

/** How much a change matters to a reader, as numbers to compare one after the other by `byWeight`. */
export function weightOf(change: Change, report: PlanReport): readonly number[] {
  const { environment } = change.ref;
  const isLeft = isUndone(change, report);
  const isRisky = risksOf(change, report).length > 0;
  const isProtected =
    environment !== null && report.protectedEnvironments?.has(environment) === true;
  return [
    isLeft,
    isRisky,
    isRisky ? sizeOf(change, report) : 0,
    isRemoval(change),
    isProtected,
    // What was not done reaches none of it.
    isLeft ? 0 : sizeOf(change, report),
    change.action !== 'create' && change.action !== 'activate',
  ].map(Number);
}

export function byWeight(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((each, index) => each !== b[index]);
  return at === -1 ? 0 : (b[at] ?? 0) - (a[at] ?? 0);
}

export function isUrgent(change: Change, report: PlanReport): boolean {
  return isUndone(change, report) || isRemoval(change) || risksOf(change, report).length > 0;
}
