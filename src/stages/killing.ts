import { findPlace, type Place } from '../api/connect.js';
import type { AdminReader } from '../api/reader.js';
import type { Config, Desired, DesiredKill } from '../model/desired.js';
import { objectId, type ObjectId } from '../model/object-id.js';
import type { Words } from '../model/run.js';
import type { KillOrder } from '../plan/kill-orders.js';
import { sendKills, type KillLane, type KillResults } from './kill-lane.js';
import { isSelected, type RunOptions } from './policy.js';
import type { Source } from './source.js';

/** What a run needs to send kills before it plans; a dry run has none of it. */
export interface Killing extends Pick<KillLane, 'openWriter' | 'onKill'> {
  readonly words: Partial<Words>;
}

export interface KillContext {
  readonly source: Source;
  readonly options: RunOptions;
  readonly openReader: (desired: Desired) => Promise<AdminReader>;
  /** Whether HEAD is one that an earlier run has gone beyond: what it orders is not what git orders now. */
  readonly isOutdated: (place: Place) => Promise<boolean>;
}

export const NO_KILLS: KillResults = new Map();

/** Sends what is ordered and within the operator's filters. */
export async function killFirst(
  orders: readonly KillOrder[],
  context: KillContext,
  { reader, place, killing }: { reader: AdminReader; place: Place; killing: Killing | null },
): Promise<KillResults> {
  const { source, options } = context;
  if (!killing || orders.length === 0 || (await context.isOutdated(place))) return NO_KILLS;
  return sendKills(orders, place, {
    ...killing,
    reader,
    checkout: source.checkout,
    head: source.revision.dirty ? null : source.revision.commit,
    isInReach: (flag, { configName, name, id }) =>
      isSelected(options.environments, [configName, name, id]) &&
      isSelected(options.only, [`flag/${flag}`]),
  });
}

/**
 * The kills of specs that are invalid: as much as can be told from what is right by itself.
 *
 * @returns results by object; all failed where the service could not be reached at all. Never throws.
 */
export async function killAmongInvalid(
  { kills, config }: { kills: readonly DesiredKill[]; config?: Config },
  context: KillContext,
  killing: Killing | null,
): Promise<KillResults> {
  if (!killing || !config || kills.length === 0) return NO_KILLS;
  try {
    const reader = await context.openReader(killsAlone(config, kills));
    const place = await findPlace(reader, config.workspace);
    return await killFirst(kills, context, { reader, place, killing });
  } catch (error) {
    const failed = kills.map(({ flag: name, environment }) => {
      const id: ObjectId = objectId({ kind: 'flag', name, environment });
      killing.onKill(id, { status: 'failed', error });
      return [id, { status: 'failed' as const, error }] as const;
    });
    return new Map(failed);
  }
}

/** What is ordered and within the operator's filters, as far as that can be told without asking the service. */
export function killsInReach(
  kills: readonly DesiredKill[],
  { environments, only }: RunOptions,
): ObjectId[] {
  return kills
    .filter(({ flag, environment }) => {
      return isSelected(environments, [environment]) && isSelected(only, [`flag/${flag}`]);
    })
    .map(({ flag: name, environment }) => objectId({ kind: 'flag', name, environment }));
}

/** Specs that say where the service is and what to kill, and nothing else. */
export function killsAlone(config: Config, kills: readonly DesiredKill[]): Desired {
  return {
    config,
    flags: new Map(),
    segments: new Map(),
    identities: [],
    kills,
    killLists: new Set(),
  };
}
