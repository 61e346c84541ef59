import type { KeyChange } from '../model/plan.js';
import { glue } from './layout.js';
import { itemWords } from './value-words.js';

const SHOWN_KEYS = 5;

/** `+120 −3 keys`; with `showKeys` the first of each. */
export function keysWords(keys: KeyChange, showKeys: boolean): string {
  const { added, removed } = keys;
  const counts = glue(`+${String(added.length)} −${String(removed.length)} keys`);
  if (!showKeys || added.length + removed.length === 0) return counts;
  const parts = [
    ...(added.length > 0 ? [`+ ${itemWords(added, SHOWN_KEYS)}`] : []),
    ...(removed.length > 0 ? [`− ${itemWords(removed, SHOWN_KEYS)}`] : []),
  ];
  return `${counts}: ${parts.join('; ')}`;
}
