import {
  isCreation,
  type Change,
  type FieldChange,
  type Reason,
  type KeyChange,
  type Withheld,
} from '../../model/plan.js';
import { isBuckets, isRules, keysText, firstOf, itemText, plural } from '../values.js';
import { kindText, type PlanReport } from '../plan-report.js';
import { clean, quoted } from '../sanitize.js';
import { cut, noBreak, plainText, span, type FieldLine } from '../text/layout.js';
import {
  changedShares,
  type FieldContext,
  type ShareChange,
  sharesChange,
  sharesText,
  wholeRuleLines,
} from './rule.js';
import { fieldLines } from './field.js';
import { audienceText } from './impact.js';
import { rulesFact } from './rules.js';
import type { Change as WrittenChange } from '../../generated/plan.schema.d.js';
import { grouped } from '../../model/collections.js';
import type { Outcome, FailedIdentity } from '../../model/outcome.js';
import { byCodeUnits, type ItemOf } from '../../model/json.js';

const REASON_COLUMNS = 80;
const WITHOUT_KEYS = { showKeys: false } as const;
const FACT_PATHS = ['/killed', '/defaultRule', '/trafficAllocation'];

interface Brief {
  /** `on 25 → 40 %`, `new: on 5 %`, `deleted`; never empty. */
  readonly fact: string;
  /** Without the usual reason, and without kills, which the fact itself mentions. */
  readonly reasons: readonly Reason[];
  readonly share: ShareChange | undefined;
  /** The changes that the fact leaves out, one per line. */
  readonly others: readonly string[];
  /** Undefined for new objects, and if the change reaches no users by itself. */
  readonly reach: string | undefined;
}

export function briefOf(change: Change, report: PlanReport): Brief {
  const named = change.fields.filter((field) => fieldFact(field, change, report) !== '');
  const reasons = new Set([change.reason, ...named.map(({ reason }) => reason)]);
  const impact = report.impacts?.get(change.id);
  const isNew = isCreation(change);
  return {
    ...meaningOf(change, report),
    reasons: [...reasons].filter((reason) => reason !== 'commit' && reason !== 'kill'),
    share: change.action === 'update' ? firstShare(change) : undefined,
    reach: impact && !isNew ? audienceText(change, impact, WITHOUT_KEYS) : undefined,
  };
}

function meaningOf(change: Change, report: PlanReport): Pick<Brief, 'fact' | 'others'> {
  switch (change.action) {
    case 'create': {
      const served = servedText(change, report);
      const rules = fieldAt(change, '/rules')?.after;
      const context = contextOf(change, report, WITHOUT_KEYS);
      const lines = isRules(rules) ? wholeRuleLines(rules, context) : [];
      const fact = served === '' ? withKeys('new', change) : `new: ${served}`;
      return { fact, others: lines.map(plainText) };
    }
    case 'activate':
      return { fact: withKeys('active', change), others: [] };
    case 'deactivate':
      return { fact: withKeys('inactive', change), others: [] };
    case 'delete':
      return { fact: withKeys(change.archive ? 'archived' : 'deleted', change), others: [] };
    case 'update': {
      const [keys = 'changed'] = keysFacts(change);
      return { fact: factText(change, report) || keys, others: otherLines(change, report) };
    }
  }
}

function otherLines(change: Change, report: PlanReport): string[] {
  const context = contextOf(change, report, WITHOUT_KEYS);
  return change.fields.flatMap((field) => {
    if (fieldFact(field, change, report) !== '') return [];
    const why = field.reason === change.reason ? '' : ` (${field.reason})`;
    return fieldLines(field, context).map((line) => plainText(line) + why);
  });
}

/** `on 5 %`, `killed`; empty for objects that serve no users. */
export function servedText(change: Change, report: PlanReport): string {
  const valueOf = (path: string): unknown => fieldAt(change, path)?.after;
  if (valueOf('/killed') === true) return killedText(change.id, report);
  const buckets = valueOf('/defaultRule');
  if (!isBuckets(buckets)) return '';
  const allocation = valueOf('/trafficAllocation');
  const part =
    typeof allocation === 'number' && allocation < 100
      ? ` of ${String(allocation)} % of the traffic`
      : '';
  return `${sharesText(buckets, valueOf('/defaultTreatment'))}${part}`;
}

function withKeys(word: string, change: Change): string {
  return [word, ...keysFacts(change)].join(': ');
}

function keysFacts(change: Change): string[] {
  if (!change.keys) return [];
  return kindText(change.ref.kind).details === 'identities'
    ? identityLines(change, undefined, WITHOUT_KEYS).map(plainText)
    : [keysText(change.keys, WITHOUT_KEYS)];
}

function firstShare(change: Change): ShareChange | undefined {
  const { before, after } = fieldAt(change, '/defaultRule') ?? {};
  return isBuckets(before) && isBuckets(after) ? changedShares(before, after)[0] : undefined;
}

function fieldAt({ fields }: Change, path: string): FieldChange | undefined {
  return fields.find((field) => field.path === path);
}

type KeyContext = Pick<FieldContext, 'showKeys'>;

export function contextOf(
  change: Change,
  report: PlanReport,
  { showKeys }: KeyContext,
): FieldContext {
  const ruleNames = report.ruleNames?.get(change.id);
  return ruleNames ? { showKeys, ruleNames } : { showKeys };
}

/** `on 25 → 40 %`, `killed: INC-6012`, `+120 −3 keys`, `1 rule added`; empty for fields that have lines of their own. */
export function factText(change: Change, report: PlanReport): string {
  const { action, ref, fields, keys } = change;
  if (action !== 'update' || kindText(ref.kind).details === 'identities') return '';
  const facts = fields
    .toSorted((a, b) => FACT_PATHS.indexOf(a.path) - FACT_PATHS.indexOf(b.path))
    .map((field) => fieldFact(field, change, report))
    .filter((fact) => fact !== '');
  if (keys) facts.push(keysText(keys, WITHOUT_KEYS));
  if (facts.length > 0) return facts.join(', ');
  const { before = [], after = [] } = fieldAt(change, '/rules') ?? {};
  return isRules(before) && isRules(after) ? rulesFact(before, after) : '';
}

function fieldFact(
  { path, before, after }: FieldChange,
  { id }: Pick<Change, 'id'>,
  report: PlanReport,
): string {
  switch (path) {
    case '/killed':
      return after === true ? killedText(id, report) : noBreak('no longer killed');
    case '/trafficAllocation':
      return typeof before === 'number' && typeof after === 'number'
        ? noBreak(`traffic ${String(before)} → ${String(after)} %`)
        : '';
    case '/defaultRule':
      return isBuckets(before) && isBuckets(after) ? sharesChange(before, after) : '';
    default:
      return '';
  }
}

function killedText(id: Change['id'], { killReasons }: PlanReport): string {
  const reason = killReasons?.get(id);
  return reason === undefined ? 'killed' : `killed: ${cut(clean(reason), REASON_COLUMNS)}`;
}

const SHOWN_KEYS = 5;
const SHOWN_REASONS = 5;
const MESSAGE_COLUMNS = 200;

/** Identities that left git, and those that lost attributes there. The service keeps both. */
export function stayingLines({ keys }: Pick<Withheld, 'keys'>, showKeys: boolean): FieldLine[] {
  const { removed = [], changed = [] } = keys ?? {};
  return [
    ...(removed.length > 0 ? [[span(counted('−', removed, showKeys))]] : []),
    ...(changed.length > 0 ? [[span(`attributes of ${counted('', changed, showKeys)}`)]] : []),
  ];
}

export function identityLines(
  { keys }: Pick<Change, 'keys'>,
  outcome: Outcome | undefined,
  { showKeys }: KeyContext,
): FieldLine[] {
  const refused = refusals(outcome?.identities?.failed ?? [], { showKeys });
  const rest = (more: number) => [span(`and for ${more} more reasons`, 'remove')];
  return [
    ...(keys ? [[span(identityText(keys, showKeys))]] : []),
    ...firstOf(refused, SHOWN_REASONS, refusalLine, rest),
  ];
}

function identityText({ added, changed = [] }: KeyChange, showKeys: boolean): string {
  if (changed.length === 0) return counted('+', added, showKeys);
  if (added.length === 0) return counted('~', changed, showKeys);
  const text = noBreak(`+${added.length} ~${changed.length} identities`);
  if (!showKeys) return text;
  return `${text}: + ${itemText(added, SHOWN_KEYS)}; ~ ${itemText(changed, SHOWN_KEYS)}`;
}

function counted(sign: string, keys: readonly string[], showKeys: boolean): string {
  const text = noBreak(sign + plural(keys.length, 'identity', 'identities'));
  return showKeys ? `${text}: ${itemText(keys, SHOWN_KEYS)}` : text;
}

function refusalLine({ status, message, count, keys }: Refusal): FieldLine {
  const why = [
    ...(status === null ? [] : [`status ${status}`]),
    ...(message === '' ? [] : [`"${cut(clean(message), MESSAGE_COLUMNS)}"`]),
  ].join(' ');
  const named = keys ? `: ${keys.slice(0, SHOWN_KEYS).map(quoted).join(', ')}` : '';
  const more = keys && keys.length > SHOWN_KEYS ? ` and ${keys.length - SHOWN_KEYS} more` : '';
  const reason = why === '' ? '' : ` (${why})`;
  return [span(`${count} refused${reason}${named}${more}`, 'remove')];
}

/** Without `showKeys` a key in the message is removed. */
type Refusal = ItemOf<NonNullable<WrittenChange['error']>['refused']>;

const MAX_REASONS = 20;
/** Shorter keys are not searched for in messages, because they could be part of any word. */
const SHORTEST_NAMED = 3;

export function refusals(
  failed: readonly FailedIdentity[],
  { showKeys }: { readonly showKeys: boolean },
): readonly Refusal[] {
  const said = failed.map(({ key, status, message }) => {
    return { key, status, message: showKeys ? message : withoutKey(message, key) };
  });
  const all = [...grouped(said, ({ status, message }) => `${String(status)} ${message}`).values()]
    .map((group) => {
      const { status = null, message = '' } = group[0] ?? {};
      return { status, message, keys: group.map(({ key }) => key) };
    })
    .sort((a, b) => b.keys.length - a.keys.length || byCodeUnits(a.message, b.message));
  const rest = all.slice(MAX_REASONS).flatMap(({ keys }) => keys);
  const other = { status: null, message: 'for other reasons', keys: rest };
  const listed = [...all.slice(0, MAX_REASONS), ...(rest.length > 0 ? [other] : [])];
  return listed.map(({ keys, ...reason }) => {
    return { ...reason, count: keys.length, ...(showKeys && { keys }) };
  });
}

/** The key would make each message a reason of its own, and must not be shown. */
function withoutKey(message: string, key: string): string {
  return key.length < SHORTEST_NAMED ? message : message.replaceAll(key, '…');
}
