import type { Definition } from '../../model/flag/flag.js';
import { objectId } from '../../model/ref.js';
import { entriesOf, type Base } from '../../model/state.js';
import { isKillListed, isKillOrdered } from './orders.js';
import type { PlanInput } from '../input.js';
import type { PlannedEnvironment } from '../policy.js';

interface Remembered {
  readonly flag: string;
  readonly environment: PlannedEnvironment;
  /** What was remembered before this run. */
  readonly before: Base<Definition> | undefined;
  readonly head: string | null;
  /** The time of the look, ISO 8601 in UTC; undefined: not told. */
  readonly now?: string | undefined;
}

/**
 * The base with what later runs have to know of kills: whether the break-glass list ordered the one in it, and where
 * in history a kill was first seen that git had not ordered. Either may later be taken back by git alone.
 *
 * @param base of now; where it is `before` itself, only what was seen is brought up to date.
 */
export function rememberingKills(
  base: Base<Definition>,
  { flag, environment, before, head, now }: Remembered,
  { desired, actual }: PlanInput,
): Base<Definition> {
  const { name } = environment;
  const {
    killListed: heldListed,
    liveKillSeenAt: heldSeenAt,
    liveKillSeen: heldMoment,
    ...rest
  } = base;
  const isKill = base.spec?.killed === true;
  const isListed =
    base === before ? heldListed : (heldListed ?? (isKill && isKillListed(desired, flag, name)));
  const live = actual.flags.get(flag)?.definitions.get(name);
  const isOrdered = isKillOrdered(desired, flag, name) || isKill;
  const seenAt = before?.liveKillSeenAt ?? heldSeenAt;
  const seen = live === undefined ? seenAt : live?.killed && !isOrdered ? (seenAt ?? head) : null;
  // A time without the commit beside it would be of another look.
  const moment = seenAt === undefined ? now : (before?.liveKillSeen ?? heldMoment);
  return {
    ...rest,
    ...(isListed === true && { killListed: true }),
    ...(seen && { liveKillSeenAt: seen }),
    ...(seen && moment !== undefined && { liveKillSeen: moment }),
  };
}

/** Definitions of which a kill was seen that git had not ordered, and which the specs now want unkilled. */
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
