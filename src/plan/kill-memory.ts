import type { Definition } from '../kinds/flag.js';
import { objectId } from '../model/object-id.js';
import type { Base } from '../model/state.js';
import { isKillListed, isKillOrdered } from './kill-orders.js';
import type { PlanInput } from './plan-input.js';
import type { PlannedEnvironment } from './policy.js';

interface Remembered {
  readonly flag: string;
  readonly environment: PlannedEnvironment;
  /** What was remembered before this run. */
  readonly before: Base<Definition> | undefined;
  readonly head: string | null;
}

/**
 * The base with what later runs have to know of kills: whether the break-glass list ordered the one in it, and where
 * in history a kill was first seen that git had not ordered. Either may later be taken back by git alone.
 *
 * @param base of now; where it is `before` itself, only what was seen is brought up to date.
 */
export function rememberingKills(
  base: Base<Definition>,
  { flag, environment, before, head }: Remembered,
  { desired, actual }: PlanInput,
): Base<Definition> {
  const { configName, name } = environment;
  const { killListed: heldListed, liveKillSeenAt: heldSeenAt, ...rest } = base;
  const isListed = base === before ? heldListed : isKillListed(desired, flag, configName);
  const live = actual.flags.get(flag)?.definitions.get(name);
  const isOrdered = isKillOrdered(desired, flag, configName) || base.spec?.killed === true;
  const seenAt = before?.liveKillSeenAt ?? heldSeenAt;
  const seen = live === undefined ? seenAt : live?.killed && !isOrdered ? (seenAt ?? head) : null;
  return {
    ...rest,
    ...(isListed === true && { killListed: true }),
    ...(seen && { liveKillSeenAt: seen }),
  };
}

/** Definitions of which a kill was seen that git had not ordered, and which the specs now want unkilled. */
export function seenLiveKills({
  desired,
  state,
  policy,
}: Pick<PlanInput, 'desired' | 'state' | 'policy'>): LiveKillSeen[] {
  const seen: LiveKillSeen[] = [];
  for (const entry of state.values()) {
    if (entry.kind !== 'flag') continue;
    for (const { id, name: environment, configName } of policy.environments) {
      const seenAt = entry.environments[id]?.liveKillSeenAt;
      if (seenAt === undefined) continue;
      const definition = desired.flags.get(entry.name)?.environments.get(configName);
      if (definition?.fields.killed !== false) continue;
      const ref = { kind: 'flag' as const, name: entry.name, environment };
      seen.push({ id: objectId(ref), ref, configName, seenAt });
    }
  }
  return seen;
}

export interface LiveKillSeen {
  readonly id: string;
  readonly ref: { readonly kind: 'flag'; readonly name: string; readonly environment: string };
  readonly configName: string;
  /** HEAD of the run that first saw it. */
  readonly seenAt: string;
}
