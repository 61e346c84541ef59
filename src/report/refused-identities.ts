import { byCodeUnits } from '../kinds/json.js';
import type { FailedIdentity } from '../model/run.js';

/** Identities that were refused for one reason. */
export interface Refusal {
  /** HTTP status that the service gave each of them; null where it gave none. */
  readonly status: number | null;
  /** In the service's words; without `showKeys` the key that they may hold is left out. */
  readonly message: string;
  readonly count: number;
  readonly keys?: readonly string[];
}

/** Reasons that are told apart; the rest is counted together. */
const MAX_REASONS = 20;
/** A shorter key may be a part of any word. */
const SHORTEST_NAMED = 3;

/** The failures by reason, the most frequent first. */
export function refusals(
  failed: readonly FailedIdentity[],
  { showKeys }: { readonly showKeys: boolean },
): readonly Refusal[] {
  const groups = new Map<string, { status: number | null; message: string; keys: string[] }>();
  for (const { key, status, message } of failed) {
    const said = showKeys ? message : withoutKey(message, key);
    const id = `${String(status)} ${said}`;
    const group = groups.get(id) ?? { status, message: said, keys: [] };
    groups.set(id, group);
    group.keys.push(key);
  }
  const all = [...groups.values()].sort(
    (a, b) => b.keys.length - a.keys.length || byCodeUnits(a.message, b.message),
  );
  const rest = all.slice(MAX_REASONS).flatMap(({ keys }) => keys);
  const other = { status: null, message: 'for other reasons', keys: rest };
  const told = [...all.slice(0, MAX_REASONS), ...(rest.length > 0 ? [other] : [])];
  return told.map(({ status, message, keys }) => ({
    status,
    message,
    count: keys.length,
    ...(showKeys && { keys }),
  }));
}

function withoutKey(message: string, key: string): string {
  return key.length < SHORTEST_NAMED ? message : message.replaceAll(key, '…');
}
