import type { Change as WrittenChange } from '../../generated/plan.schema.d.js';
import { grouped } from '../../model/collections.js';
import type { Change, KeyChange, Withheld } from '../../model/plan.js';
import type { Outcome, FailedIdentity } from '../../model/outcome.js';
import { clean, quoted } from '../sanitize.js';
import { noBreak, span, cut, type FieldLine } from '../text/layout.js';
import { firstOf, itemText, plural } from '../values.js';
import { byCodeUnits, type ItemOf } from '../../model/json.js';

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
  showKeys: boolean,
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
