import {
  readCatalogIn,
  unreadCatalog,
  type Catalog,
  type LiveWorkspace,
} from '../admin-api/workspace.js';
import type { AdminReader } from '../admin-api/reader.js';
import type { BoundDesired } from '../model/bound-desired.js';
import { KINDS, keyOf, keyOfId, parseKey } from '../model/ref.js';
import type { Plan } from '../model/plan.js';
import type { State, StateEntry } from '../model/state.js';
import { killOrders } from '../plan/kills/orders.js';
import type { PlanPolicy } from '../plan/policy.js';
import { areIdentitiesTaken } from '../plan/objects/identities.js';
import {
  declarationsIn,
  desiredInScope,
  observedKind,
  OBSERVED_KINDS,
  plannedKind,
} from '../plan/objects/kinds.js';
import { objectsTouchedSince } from '../history/touched-since.js';
import { allKeys, changedObjects, comparedWithBases } from '../plan/bases/changed.js';
import type { LastObservation } from './cache.js';
import type { SentKills } from '../kill/sent-kills.js';
import type { RunContext, Remembered } from './context.js';

import { outOfSyncIn } from './out-of-sync.js';

/** Fewer touched objects than this are never too many. */
const FEW = 50;

interface ScopeInput {
  readonly desired: BoundDesired;
  readonly policy: PlanPolicy;
  readonly remembered: Remembered;
  readonly sent: SentKills;
  /** Nothing can be written. */
  readonly isDryRun: boolean;
}

/** What of the service a run looks at. */
export interface ObservationScope {
  /** Of the run: with a filter on what was touched, where that is all it looks at. */
  readonly policy: PlanPolicy;
  readonly observed: Plan['observed'];
  /** What the earlier runs over the same left; null: nothing. */
  readonly last: LastObservation | null;
  readonly state: State;
  /** See `LastLook`. */
  readonly about: string;
}

/**
 * Decides whether a run looks at everything or at what was touched, which is:
 *
 * - what the specs say otherwise than its base, or than they did at the last run, or at any commit since then;
 * - what the last run did not find equal: changed, failed, held back, drifted;
 * - what has a ramp;
 * - what left the specs, and what a kill or its taking back is about;
 * - in the plan of a review, what the review is about.
 *
 * Everything is looked at where no base is known; where no earlier run of this process left its memory, but for a review
 * and for a run that goes by the state; and where so much was touched that lists are the better way.
 *
 * @throws FlagkeelError `GIT`
 */
export async function chooseScope(
  context: RunContext,
  known: ScopeInput,
): Promise<ObservationScope> {
  const { options, memory } = context;
  const about = aboutOf(context, known);
  const last = memory.lastObservation(about);
  const { state } = known.remembered;
  const full: ObservationScope = { policy: known.policy, observed: 'full', last, about, state };
  if (known.remembered.home === null || known.remembered.applied === null) return full;
  const isReview = known.isDryRun && options.since !== undefined;
  const isByMemory = options.touchedSince === 'memory' && last !== null;
  const sinceState =
    options.touchedSince === 'state' ? await touchedSinceState(context, known) : null;
  if (!isReview && !isByMemory && sinceState === null) return full;
  const touched = new Set([...touchedObjects(context, known, last), ...(sinceState ?? [])]);
  const { identities } = known.desired;
  // Such a service says in its lists alone which id a traffic type has.
  if (last?.at.trafficTypes === null && identities.length > 0) return full;
  const declared = OBSERVED_KINDS.map(([, rules]) => rules.declared(known.desired).size);
  const total = declared.reduce((sum, size) => sum + size, 0);
  if (touched.size > Math.max(FEW, total / 2)) return full;
  const { only } = known.policy;
  const wanted = only === null ? touched : new Set([...touched].filter((key) => only.has(key)));
  return { ...full, policy: { ...known.policy, only: wanted }, observed: 'touched' };
}

function aboutOf({ options }: RunContext, { remembered: { home }, policy }: ScopeInput): string {
  const { environments, only } = options;
  const places = policy.environments.map(({ id, name, selected }) => [id, name, selected]);
  return JSON.stringify([home?.ref, environments, only, places]);
}

/**
 * What the commits since the last apply touched, and what was not in sync after it. Null: the state does not know enough,
 * or there are identities to write, for which ids are needed that only lists may show.
 */
async function touchedSinceState(
  { source }: RunContext,
  { desired, policy, remembered }: ScopeInput,
): Promise<ReadonlySet<string> | null> {
  const { state, applied, outOfSync } = remembered;
  if (applied === null || outOfSync === null) return null;
  if (!areIdentitiesTaken({ desired, state, policy })) return null;
  const keys = new Set([...allKeys(desired), ...state.keys()]);
  const objects = [...keys].flatMap((key) => parseKey(key) ?? []);
  const commits = { since: applied, head: source.revision.commit };
  const touched = await objectsTouchedSince(source.checkout, commits, objects);
  return touched && new Set([...touched, ...outOfSync]);
}

function touchedObjects(
  context: RunContext,
  known: ScopeInput,
  last: LastObservation | null,
): Set<string> {
  const { desired, policy, sent } = known;
  const { state } = known.remembered;
  const strangers = killOrders(desired).filter(({ flag }) => !desired.flags.has(flag));
  const bases = comparedWithBases({ desired, state, policy }, context.memory.bases);
  context.memory.bases = bases;
  return new Set<string>([
    ...bases.away,
    ...(last ? changedObjects(last.desired, desired) : []),
    ...[...state].flatMap(([key, entry]) => (isDeclared(entry, desired) ? [] : [key])),
    // To compare identities with what the service took nothing has to be asked.
    ...desired.identities.map(({ trafficType }) => keyOf('identities', trafficType)),
    ...(last?.outOfSync ?? []),
    // Time moves them, and no commit and no base tells.
    ...[...(policy.ladders?.keys() ?? [])].map(keyOfId),
    ...[...(policy.reviewed ?? []), ...sent.results.keys()].map(keyOfId),
    ...[...policy.restorable.values(), ...strangers.map(({ flag: name }) => ({ name }))].map(
      ({ name }) => keyOf('flag', name),
    ),
  ]);
}

/** Whether the specs declare an object that can be looked at. */
function isDeclared({ kind, name }: StateEntry, desired: BoundDesired): boolean {
  return observedKind(kind)?.declared(desired).has(name) ?? false;
}

/** The objects that a run looks at; a filter by the operator alone lets names of all be checked. */
export function inScope(
  { observed, policy }: ObservationScope,
  desired: BoundDesired,
): BoundDesired {
  return observed === 'full' ? desired : desiredInScope(desired, policy);
}

/** Keeps for the next run of this process what this one saw; how it ended is said once it has applied its plan. */
export function recordObservation(
  { memory }: RunContext,
  { about }: ObservationScope,
  seen: { readonly desired: BoundDesired; readonly at: Catalog; readonly changes: Plan },
): void {
  const { desired, at, changes } = seen;
  memory.keep({ about, desired, outOfSync: outOfSyncIn(changes), at });
}

/**
 * What is the same for all objects of a place. A run that looks at little asks for it only where what it looks at
 * names a rollout status or a traffic type that the last run did not see, or without one, that no base of it has.
 */
export async function readCatalogFor(
  reader: AdminReader,
  place: LiveWorkspace,
  reach: ObservationScope,
  desired: BoundDesired,
): Promise<Catalog> {
  const { observed, last } = reach;
  if (observed === 'full') return readCatalogIn(reader, place);
  const seen = last?.at.workspace.id === place.workspace.id ? last.at : null;
  const isKnown = seen ? isSeen(seen, reach, desired) : isInBases(reach, desired);
  if (!isKnown) return readCatalogIn(reader, place);
  return seen ? { ...seen, ...place } : unreadCatalog(place);
}

/** Whether the last run saw every name that is needed. */
function isSeen(
  { rolloutStatuses, trafficTypes }: Catalog,
  reach: ObservationScope,
  desired: BoundDesired,
): boolean {
  // That run did not ask.
  if (rolloutStatuses === null) return false;
  const statuses = new Set(rolloutStatuses.map(({ name }) => name));
  return declarationsIn(inScope(reach, desired)).every(({ fields, trafficType }) => {
    const status = fields?.rolloutStatus;
    const isStatusKnown = status === undefined || statuses.has(status);
    return isStatusKnown && (trafficTypes?.includes(trafficType) ?? true);
  });
}

/** Whether every object that is looked at was found on the service with the very names that its specs have. */
function isInBases(reach: ObservationScope, desired: BoundDesired): boolean {
  const wanted = inScope(reach, desired);
  return KINDS.every((kind) => {
    const { declarations, namesInBase } = plannedKind(kind);
    return declarations(wanted).every(({ name, trafficType, fields }) => {
      const seen = namesInBase(reach.state, name);
      const status = fields?.rolloutStatus;
      const isStatusKnown = status === undefined || status === seen?.rolloutStatus;
      return isStatusKnown && trafficType === seen?.trafficType;
    });
  });
}
