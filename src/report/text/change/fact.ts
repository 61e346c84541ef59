import type { Change, FieldChange } from '../../../model/plan.js';
import { keysText } from '../../masked-keys.js';
import { isBuckets } from '../../values.js';
import { sharesChange } from './buckets.js';
import { noBreak } from '../layout.js';

/**
 * What an update means in a few words: `on 25 → 40 %`, `killed`, `+120 −3 keys`. Empty where no field of the change has
 * such words; what the other fields mean stands in their own lines.
 */
export function factText({ action, ref, fields, keys }: Change): string {
  if (action !== 'update' || ref.kind === 'identities') return '';
  const facts = fields.map(fieldFact).filter((fact) => fact !== '');
  return [...facts, ...(keys ? [keysText(keys, false)] : [])].join(', ');
}

function fieldFact({ path, before, after }: FieldChange): string {
  switch (path) {
    case '/killed':
      return after === true ? 'killed' : noBreak('no longer killed');
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
