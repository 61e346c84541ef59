import { connectIn, type Connection, type Place } from '../api/connect.js';
import type { AdminReader } from '../api/reader.js';
import type { StateHome } from '../git/state-home.js';
import type { Desired } from '../model/desired.js';
import type { ObjectId } from '../model/object-id.js';
import type { Plan } from '../model/plan.js';
import type { State, StateEntry } from '../model/state.js';
import { killOrders } from '../plan/kill-orders.js';
import { pendingWithheld } from '../plan/plan.js';
import { wantedOf, type PlanPolicy } from '../plan/policy.js';
import { changedObjects, comparedWithBases } from './away-from-base.js';
import type { LastLook } from './run-memory.js';
import type { KillResults } from './kill-lane.js';
import type { RunContext } from './run.js';

/** Fewer touched objects than this are never too many. */
const FEW = 50;

interface Known {
  readonly desired: Desired;
  readonly state: State;
  readonly policy: PlanPolicy;
  readonly home: StateHome | null;
  /** HEAD of the last apply. */
  readonly applied: string | null;
  readonly kills: KillResults;
  /** Nothing can be written. */
  readonly isDryRun: boolean;
}

/** What of the service a run looks at. */
export interface Reach {
  /** Of the run: with a filter on what was touched, where that is all it looks at. */
  readonly policy: PlanPolicy;
  readonly observed: Plan['observed'];
  /** What the earlier runs over the same left; null: nothing. */
  readonly last: LastLook | null;
  /** See `LastLook`. */
  readonly about: string;
}

/**
 * Decides whether a run looks at everything or at what was touched, which is:
 *
 * - what the specs say otherwise than its base, or than they did at the last run;
 * - what the last run did not find equal: changed, failed, held back, drifted;
 * - what left the specs, and what a kill or its taking back is about;
 * - in the plan of a review, what the review is about.
 *
 * Everything is looked at where no base is known, where no earlier run of this process left its memory (but for a
 * review), and where so much was touched that lists are the better way.
 */
export function reachOf(context: RunContext, known: Known): Reach {
  const { options, memory } = context;
  const about = aboutOf(context, known);
  const last = memory.lastLook(about);
  const full: Reach = { policy: known.policy, observed: 'full', last, about };
  if (known.home === null || known.applied === null) return full;
  const isReview = known.isDryRun && options.since !== undefined;
  if (!isReview && (options.touched !== true || last === null)) return full;
  const touched = touchedObjects(context, known, last);
  const { flags, segments, identities } = known.desired;
  // Such a service says in its lists alone which id a traffic type has.
  if (last?.at.trafficTypes === null && identities.length > 0) return full;
  if (touched.size > Math.max(FEW, (flags.size + segments.size) / 2)) return full;
  const { only } = known.policy;
  const wanted = only === null ? touched : new Set([...touched].filter((key) => only.has(key)));
  return { ...full, policy: { ...known.policy, only: wanted }, observed: 'touched' };
}

function aboutOf({ options }: RunContext, { home, policy }: Known): string {
  const { environments, only } = options;
  const places = policy.environments.map(({ id, configName, selected }) => [
    id,
    configName,
    selected,
  ]);
  return JSON.stringify([home?.ref, environments, only, places]);
}

function touchedObjects(context: RunContext, known: Known, last: LastLook | null): Set<string> {
  const { desired, state, policy, kills } = known;
  const strangers = killOrders(desired).filter(({ flag }) => !desired.flags.has(flag));
  const bases = comparedWithBases(known, context.memory.bases);
  context.memory.bases = bases;
  return new Set<string>([
    ...bases.away,
    ...(last ? changedObjects(last.desired, desired) : []),
    ...[...state].flatMap(([key, entry]) => (isDeclared(entry, desired) ? [] : [key])),
    // To compare identities with what the service took nothing has to be asked.
    ...desired.identities.map(({ trafficType }) => `identities/${trafficType}`),
    ...(last?.unsettled ?? []),
    ...[...(policy.reviewed ?? []), ...kills.keys()].map(keyOf),
    ...[...policy.restorable.values(), ...strangers.map(({ flag: name }) => ({ name }))].map(
      ({ name }) => `flag/${name}`,
    ),
  ]);
}

function isDeclared({ kind, name }: StateEntry, { flags, segments }: Desired): boolean {
  if (kind === 'identities') return false;
  return kind === 'flag' ? flags.has(name) : segments.has(name);
}

function keyOf(id: ObjectId): string {
  return id.split('@', 1)[0] ?? id;
}

/** The objects that a run looks at; a filter by the operator alone lets names of all be checked. */
export function lookedAt({ observed, policy }: Reach, desired: Desired): Desired {
  if (observed === 'full') return desired;
  const named = <T extends { readonly name: string }>(objects: readonly T[]): Map<string, T> =>
    new Map(objects.map((each) => [each.name, each]));
  return {
    ...desired,
    flags: named(wantedOf(policy, 'flag', desired.flags)),
    segments: named(wantedOf(policy, 'segment', desired.segments)),
  };
}

/** `KIND/NAME` of all that a plan does not find equal. */
export function unsettledIn(plan: Plan): Set<string> {
  return new Set([...plan.changes, ...pendingWithheld(plan)].map(({ id }) => keyOf(id)));
}

/**
 * What is the same for all objects of a place. A run that looks at little asks for it only where what it looks at
 * names a rollout status or a traffic type that the last run did not see.
 */
export async function connectFor(
  reader: AdminReader,
  place: Place,
  reach: Reach,
  desired: Desired,
): Promise<Connection> {
  const { observed, last } = reach;
  if (observed === 'full' || last?.at.workspace.id !== place.workspace.id)
    return connectIn(reader, place);
  const { rolloutStatuses, trafficTypes, trafficTypeIds } = last.at;
  const statuses = new Set(rolloutStatuses.map(({ name }) => name));
  const { flags, segments, identities } = lookedAt(reach, desired);
  const looked = [...flags.values(), ...segments.values(), ...identities];
  const isKnown = looked.every((object) => {
    const status = 'fields' in object ? object.fields.rolloutStatus : undefined;
    const isStatusKnown = status === undefined || statuses.has(status);
    return isStatusKnown && (trafficTypes?.includes(object.trafficType) ?? true);
  });
  return isKnown
    ? { ...place, rolloutStatuses, trafficTypes, trafficTypeIds }
    : connectIn(reader, place);
}
