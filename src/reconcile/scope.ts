import {
  readCatalogIn,
  unreadCatalog,
  type Catalog,
  type LiveWorkspace,
} from '../admin-api/workspace.js';
import type { AdminReader } from '../admin-api/reader.js';
import type { BoundDesired } from '../model/bound-desired.js';
import { KINDS, keyOf, keyOfId, parseKey } from '../model/ref.js';
import { isNotLookedAt, type Plan } from '../model/plan.js';
import type { State } from '../model/state.js';
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
import { objectsTouchedSince } from '../history/changed-since.js';
import { allKeys, changedObjects, comparedWithBases } from '../plan/bases/changed.js';
import type { LastObservation } from './cache.js';
import type { Moment } from '../timing/desired-at.js';
import type { Decided, RunContext } from './context.js';
import { outOfSyncIn } from './out-of-sync.js';

/** Up to this number of touched objects, a run never falls back to reading everything. */
const FEW = 50;

/** The part of the service that a run looks at. */
export interface ObservationScope {
  /** Policy of the run. If it looks only at touched objects, `only` is limited to them. */
  readonly policy: PlanPolicy;
  readonly observed: Plan['observed'];
  /** Result of earlier runs over the same scope in this process, if any. */
  readonly last: LastObservation | null;
  readonly state: State;
  readonly moment: Moment;
  /** See `LastLook`. */
  readonly about: string;
}

/**
 * Decides whether a run looks at all objects or only at the touched ones, which are those
 *
 * - whose specs differ from their base, or from the last run or any commit since then;
 * - that the last run did not find equal: changed, failed, held back, drifted;
 * - with a ramp;
 * - that left the specs, or that a kill or a restore affects;
 * - in the plan of a review, that the review covers.
 *
 * A run looks at all objects if no base is known; if no earlier run of this process left a memory, unless it is a
 * review or goes by the state; and if so many objects were touched that lists are cheaper.
 *
 * @throws FlagkeelError `GIT`
 */
export async function chooseScope(context: RunContext, known: Decided): Promise<ObservationScope> {
  const { options, memory } = context;
  const about = aboutOf(context, known);
  const last = memory.lastObservation(about);
  const { state } = known.remembered;
  const { policy, moment } = known;
  const full: ObservationScope = { policy, moment, observed: 'full', last, about, state };
  if (known.remembered.home === null || known.remembered.applied === null) return full;
  const isReview = known.isDryRun && options.since !== undefined;
  const isByMemory = options.touchedSince === 'memory' && last !== null;
  const sinceState =
    options.touchedSince === 'state' ? await touchedSinceState(context, known) : null;
  if (!isReview && !isByMemory && sinceState === null) return full;
  const touched = new Set([...touchedObjects(context, known, last), ...(sinceState ?? [])]);
  const { identities } = known.desired;
  // Only the lists of such a service show the id of a traffic type.
  if (last?.at.trafficTypes === null && identities.length > 0) return full;
  const declared = OBSERVED_KINDS.map(([, rules]) => rules.declared(known.desired).size);
  const total = declared.reduce((sum, size) => sum + size, 0);
  if (touched.size > Math.max(FEW, total / 2)) return full;
  const { only } = known.policy;
  const wanted = only === null ? touched : new Set([...touched].filter((key) => only.has(key)));
  return { ...full, policy: { ...known.policy, only: wanted }, observed: 'touched' };
}

function aboutOf({ options }: RunContext, { remembered: { home }, policy }: Decided): string {
  const { environments, only, exclude, tags, owners } = options;
  const places = policy.environments.map(({ id, name, selected }) => [id, name, selected]);
  return JSON.stringify([home?.ref, environments, only, exclude, tags, owners, places]);
}

/**
 * The objects that commits since the last apply touched, or that were out of sync after it. null if the state does not
 * know enough, or if there are identities to write: those need ids that only lists may show.
 */
async function touchedSinceState(
  { source }: RunContext,
  { desired, policy, remembered }: Decided,
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
  known: Decided,
  last: LastObservation | null,
): Set<string> {
  const { desired, policy, sent, isDryRun } = known;
  const { state } = known.remembered;
  // A run that writes has looked at all ordered kills before, and `sent` has those that were missing.
  const killed = killOrders(desired).filter(({ flag }) => isDryRun || !desired.flags.has(flag));
  const bases = comparedWithBases({ desired, state, policy }, context.memory.bases);
  context.memory.bases = bases;
  return new Set<string>([
    ...bases.away,
    ...(last ? changedObjects(last.desired, desired) : []),
    // Left the specs, or of a kind that cannot be observed.
    ...[...state].flatMap(([key, { kind, name }]) =>
      observedKind(kind)?.declared(desired).has(name) === true ? [] : [key],
    ),
    // Identities are compared with the recorded answers of the service, which needs no request.
    ...desired.identities.map(({ trafficType }) => keyOf('identities', trafficType)),
    ...(last?.outOfSync ?? []),
    // Time moves ramps, without any commit or change of a base.
    ...[...known.moment.ladders.keys()].map(keyOfId),
    ...[...(policy.reviewed ?? []), ...sent.results.keys()].map(keyOfId),
    ...[...policy.restorable.values(), ...killed.map(({ flag: name }) => ({ name }))].map(
      ({ name }) => keyOf('flag', name),
    ),
  ]);
}

/** The specs of the objects in scope. A full look keeps all specs, so that all names are checked. */
export function inScope(
  { observed, policy }: ObservationScope,
  desired: BoundDesired,
): BoundDesired {
  return observed === 'full' ? desired : desiredInScope(desired, policy);
}

/** Keeps this run's observation for the next run of the process. An apply adds its result later. */
export function recordObservation(
  { memory }: RunContext,
  { about }: ObservationScope,
  seen: { readonly desired: BoundDesired; readonly at: Catalog; readonly changes: Plan },
): void {
  const { desired, at, changes } = seen;
  // A run that put a look off leaves no memory, so that the next one of this process looks at everything.
  if (changes.notCompared.some(isNotLookedAt)) return;
  memory.keep({ about, desired, outOfSync: outOfSyncIn(changes), at });
}

/**
 * The data that all objects of the workspace share. A run over touched objects requests it only if these name a rollout
 * status or a traffic type that the last run did not see or, without a last run, that none of their bases has.
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

/** Whether the last run saw all needed names. */
function isSeen(
  { rolloutStatuses, trafficTypes }: Catalog,
  reach: ObservationScope,
  desired: BoundDesired,
): boolean {
  // The last run did not request them.
  if (rolloutStatuses === null) return false;
  const statuses = new Set(rolloutStatuses.map(({ name }) => name));
  return declarationsIn(inScope(reach, desired)).every(({ fields, trafficType }) => {
    const status = fields?.rolloutStatus;
    const isStatusKnown = status === undefined || statuses.has(status);
    return isStatusKnown && (trafficTypes?.includes(trafficType) ?? true);
  });
}

/** Whether the base of every object in scope has the names in its specs, so that the service knows them. */
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
