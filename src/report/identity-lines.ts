import type { Change, KeyChange, Withheld } from '../model/plan.js';
import type { Outcome } from '../model/run.js';
import { clean, quoted } from './clean.js';
import type { FieldLine } from './field-line.js';
import { glue, span } from './layout.js';
import { refusals, type Refusal } from './refused-identities.js';
import { cut } from './text-width.js';
import { itemWords, plural } from './value-words.js';

const SHOWN_KEYS = 5;
const SHOWN_REASONS = 5;
const MESSAGE_COLUMNS = 200;

/** Identities that left git, and those that lost attributes there. */
export function stayingLines({ keys }: Pick<Withheld, 'keys'>, showKeys: boolean): FieldLine[] {
  const { removed = [], changed = [] } = keys ?? {};
  return [
    ...(removed.length > 0 ? [[span(counted('−', removed, showKeys))]] : []),
    ...(changed.length > 0 ? [[span(`attributes of ${counted('', changed, showKeys)}`)]] : []),
  ];
}

/** What is written of the identities of one place, and after an apply what the service refused of it. */
export function identityLines(
  { keys }: Pick<Change, 'keys'>,
  outcome: Outcome | undefined,
  showKeys: boolean,
): FieldLine[] {
  const refused = refusals(outcome?.identities?.failed ?? [], { showKeys });
  const shown = refused.slice(0, SHOWN_REASONS).map(refusalLine);
  const more = refused.length - shown.length;
  return [
    ...(keys ? [[span(identityWords(keys, showKeys))]] : []),
    ...shown,
    ...(more > 0 ? [[span(`and for ${more} more reasons`, 'remove')]] : []),
  ];
}

/** `+3 ~2 identities`; with `showKeys` the first of each. */
function identityWords({ added, changed = [] }: KeyChange, showKeys: boolean): string {
  if (changed.length === 0) return counted('+', added, showKeys);
  if (added.length === 0) return counted('~', changed, showKeys);
  const words = glue(`+${added.length} ~${changed.length} identities`);
  if (!showKeys) return words;
  return `${words}: + ${itemWords(added, SHOWN_KEYS)}; ~ ${itemWords(changed, SHOWN_KEYS)}`;
}

function counted(sign: string, keys: readonly string[], showKeys: boolean): string {
  const words = glue(sign + plural(keys.length, 'identity', 'identities'));
  return showKeys ? `${words}: ${itemWords(keys, SHOWN_KEYS)}` : words;
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
