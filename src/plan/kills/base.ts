import type { Definition } from '../../model/flag/flag.js';
import { keyOf, objectId } from '../../model/ref.js';
import { entriesOf, flagEntry, type Base, type State } from '../../model/state.js';
import { isKillListed, isKillOrdered } from './orders.js';
import type { PlanInput } from '../input.js';
import type { Sighting } from '../objects/planned-kind.js';

/**
 * The base with the facts about kills that later runs need: whether the break-glass list ordered its kill, and at which
 * commit a kill without an order was first seen. A change in git alone may later take back either.
 *
 * @param base the new one; if it is `before` itself, only the sighting is updated.
 */
export function rememberingKills(
  base: Base<unknown>,
  { ref: { name: flag, environment }, before, head, now }: Sighting,
  { desired, actual }: PlanInput,
): Base<unknown> {
  if (environment === null) return base;
  const {
    killListed: heldListed,
    liveKillSeenAt: heldSeenAt,
    liveKillSeen: heldMoment,
    ...rest
  } = base;
  const isKill = (base.spec as Definition | undefined)?.killed === true;
  const isListed =
    base === before
      ? heldListed
      : (heldListed ?? (isKill && isKillListed(desired, flag, environment)));
  const live = actual.flags.get(flag)?.definitions.get(environment);
  const isOrdered = isKillOrdered(desired, flag, environment) || isKill;
  const seenAt = before?.liveKillSeenAt ?? heldSeenAt;
  const seen = live === undefined ? seenAt : live?.killed && !isOrdered ? (seenAt ?? head) : null;
  // Without its commit, the time would belong to another sighting.
  const moment = seenAt === undefined ? now : (before?.liveKillSeen ?? heldMoment);
  return {
    ...rest,
    ...(isListed === true && { killListed: true }),
    ...(seen && { liveKillSeenAt: seen }),
    ...(seen && moment !== undefined && { liveKillSeen: moment }),
  };
}

/** After a restore outside all runs: a later kill must not be taken for the one that git ordered. */
export function afterRestore(state: State, flag: string, environmentId: string): State {
  const entry = flagEntry(state, flag);
  const base = entry?.environments[environmentId];
  if (!entry || !base) return state;
  const { killListed, liveKillSeenAt, liveKillSeen, ...rest } = base;
  const spec = rest.spec?.killed === true ? { ...rest.spec, killed: false } : rest.spec;
  const restored = { ...rest, ...(spec && { spec }) };
  const environments = { ...entry.environments, [environmentId]: restored };
  return new Map(state).set(keyOf('flag', flag), { ...entry, environments });
}

/** Definitions with a live kill that git had not ordered, and that the specs now want without one. */
export function seenLiveKills({
  desired,
  state,
  policy,
}: Pick<PlanInput, 'desired' | 'state' | 'policy'>): LiveKillSeen[] {
  const seen: LiveKillSeen[] = [];
  for (const entry of entriesOf(state, 'flag')) {
    for (const { id, name: environment } of policy.environments) {
      const seenAt = entry.environments[id]?.liveKillSeenAt;
      if (seenAt === undefined) continue;
      const definition = desired.flags.get(entry.name)?.environments.get(environment);
      if (definition?.fields.killed !== false) continue;
      const ref = { kind: 'flag' as const, name: entry.name, environment };
      seen.push({ id: objectId(ref), ref, seenAt });
    }
  }
  return seen;
}

export interface LiveKillSeen {
  readonly id: string;
  readonly ref: { readonly kind: 'flag'; readonly name: string; readonly environment: string };
  /** HEAD of the run that first saw it. */
  readonly seenAt: string;
}
