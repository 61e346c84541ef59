import type { FlagImpact, Impact, KeyCount, Move, Range, Risk } from '../model/impact.js';
import type { ObjectId } from '../model/object-id.js';
import type { Change } from '../model/plan.js';
import { quoted } from './clean.js';
import type { FieldLine } from './field-line.js';
import { glue, span } from './layout.js';
import type { PlanReport } from './plan-report.js';
import { itemWords, plural } from './value-words.js';

/** Flags, moves of one flag, and names of keys that are shown; the rest is counted. */
const SHOWN_FLAGS = 3;
const SHOWN_MOVES = 4;
const SHOWN_NAMES = 5;

/** Whom a change reaches, on one line, and before it what a reviewer should not overlook. */
export function impactLines(change: Change, impact: Impact, showKeys: boolean): FieldLine[] {
  const risks = riskWords(impact.risks, change.ref.environment);
  // Of something new all is new, and its treatments stand there already.
  const isTold =
    change.action === 'update' || (change.action !== 'create' && impact.flags.length > 0);
  return [
    ...(risks === '' ? [] : [[span(`!! ${risks}`, 'alarm')]]),
    ...(isTold ? [[span(`reaches: ${reachWords(change, impact, showKeys)}`)]] : []),
  ];
}

/** Empty where a field line says it as loudly. */
function riskWords(risks: readonly Risk[], environment: string | null): string {
  return risks
    .filter((risk) => risk !== 'kills')
    .map((risk) => riskWord(risk, environment))
    .join('; ');
}

/** What a person calls a risk. */
export function riskWord(risk: Risk, environment: string | null): string {
  const words: Readonly<Record<Risk, string>> = {
    'all-of-production': `100 % of ${quoted(environment ?? '')}`,
    kills: 'kills: everybody gets the default treatment',
    'moves-between-variants': 'moves users between variants',
    'default-changed-while-killed': 'default changed while killed: everybody gets it at once',
    'serves-nobody': 'serves nobody',
  };
  return words[risk];
}

/** Undefined: the change reaches nobody by itself. */
export function impactOf(report: PlanReport, id: ObjectId): Impact | undefined {
  return report.impacts?.get(id);
}

/** Whom a change reaches, by which treatments; one line, however many there are. */
export function reachWords({ ref }: Change, { flags }: Impact, showKeys: boolean): string {
  if (flags.length === 0)
    return ref.kind === 'flag' ? 'nobody' : 'nobody, by the flags that are known here';
  const shown = flags.slice(0, SHOWN_FLAGS).map((each) => {
    const isOwn = ref.kind === 'flag' && ref.name === each.flag;
    return `${isOwn ? '' : `${quoted(each.flag)} `}${movesWords(each, showKeys)}`;
  });
  const more = flags.length - shown.length;
  return [...shown, ...(more > 0 ? [`… ${plural(more, 'more flag')}`] : [])].join('; ');
}

function movesWords(impact: FlagImpact, showKeys: boolean): string {
  const parts = impact.moves.flatMap((move) => moveWords(move, showKeys));
  if (parts.length === 0) {
    const sizes = sizesWords(impact).join(', ');
    return `${sizes} (too many combinations to tell more)`;
  }
  const more = parts.length - SHOWN_MOVES;
  const cut = [...parts.slice(0, SHOWN_MOVES), ...(more > 0 ? [`… ${String(more)} more`] : [])];
  return `${cut.join(', ')}${impact.bounded ? ' (at least; too many combinations to tell all)' : ''}`;
}

function moveWords(move: Move, showKeys: boolean): string[] {
  const { from, to, names } = move;
  const way = `${treatmentWords(from)} → ${treatmentWords(to)}`;
  const named = showKeys && names.length > 0 ? ` (${itemWords(names, SHOWN_NAMES)})` : '';
  return [
    ...trafficWords(move).map((size) => glue(`${size} ${way}`)),
    ...keysWords(move).map((size) => glue(`${size} ${way}`) + named),
  ];
}

function sizesWords(sizes: Pick<FlagImpact, 'traffic' | 'keys'>): string[] {
  return [...trafficWords(sizes), ...keysWords(sizes)];
}

function trafficWords({ traffic }: { readonly traffic: Range }): string[] {
  return traffic.atMost === 0 ? [] : [`${rangeWords(traffic)} %`];
}

function keysWords({ keys }: { readonly keys: KeyCount }): string[] {
  const { atLeast, atMost, certain } = keys;
  if (atMost === 0) return [];
  const about = !certain && atLeast === atMost ? 'about ' : '';
  return [`${about}${rangeWords(keys)} ${atMost === 1 ? 'key' : 'keys'}`];
}

function rangeWords({ atLeast, atMost }: Range): string {
  if (atLeast === atMost) return String(atMost);
  return atLeast === 0 ? `up to ${String(atMost)}` : `${String(atLeast)}–${String(atMost)}`;
}

/** Evaluators answer so where there is no definition. */
function treatmentWords(treatment: string | null): string {
  return treatment === null ? 'control' : quoted(treatment);
}
