import { keyOf } from '../../model/ref.js';
import type { Change } from '../../model/plan.js';
import type { Outcomes } from '../../model/outcome.js';
import type { Base, State } from '../../model/state.js';
import { baseIn, putBase } from '../place.js';
import { CONTEST_MS, CONTESTED_AFTER, placeNamed, type PlanPolicy } from '../policy.js';

/** Path of the whole object, for objects that are deleted again and again. */
export const WHOLE_OBJECT = '';
/** Path of the keys of a segment in an environment, which are one field. */
export const SEGMENT_KEYS = '/keys';

/** The state with the corrections of an apply added. @param now the time of the apply, ISO 8601 in UTC. */
export function stateAfterCorrections(
  { state, policy }: { state: State; policy: Pick<PlanPolicy, 'environments'> },
  changes: readonly Change[],
  outcomes: Outcomes,
  now: string,
): State {
  const next = new Map(state);
  for (const change of changes) {
    const { kind, name, environment } = change.ref;
    const paths = correctedPaths(change, outcomes);
    const place = placeNamed(policy, environment);
    const base = place && baseIn(next.get(keyOf(kind, name)), place);
    if (base && paths.length > 0) putBase(next, change.ref, place, corrected(base, paths, now));
  }
  return next;
}

function correctedPaths(
  { id, action, reason, fields, keys }: Change,
  outcomes: Outcomes,
): string[] {
  if (outcomes.get(id)?.status !== 'applied') return [];
  if (action === 'create' || action === 'activate') return reason === 'drift' ? [WHOLE_OBJECT] : [];
  if (action !== 'update') return [];
  if (keys) return reason === 'drift' ? [SEGMENT_KEYS] : [];
  return fields.filter((field) => field.reason === 'drift').map(({ path }) => path);
}

function corrected<T>(base: Base<T>, paths: readonly string[], now: string): Base<T> {
  const moments = paths.map((path) => {
    const earlier = base.corrections?.[path] ?? [];
    return [path, [...earlier, now].slice(-CONTESTED_AFTER)] as const;
  });
  return { ...base, corrections: { ...base.corrections, ...Object.fromEntries(moments) } };
}

/**
 * Earlier corrections are forgotten once the object is found equal more than an hour after the last of them.
 *
 * @param now the time of the observation; undefined to forget nothing.
 */
export function rememberingCorrections<T>(
  base: Base<T>,
  before: Base<unknown> | undefined,
  now: string | undefined,
): Base<T> {
  if (!before?.corrections) return base;
  const lately = Object.entries(before.corrections).filter(([, moments]) => {
    const last = Date.parse(moments.at(-1) ?? '');
    return now === undefined || Date.parse(now) - last <= CONTEST_MS;
  });
  return lately.length === 0 ? base : { ...base, corrections: Object.fromEntries(lately) };
}
