import { readCatalogIn, unreadCatalog, type Catalog } from '../admin-api/workspace.js';
import { FlagkeelError } from '../errors.js';
import { objectsTouchedSince } from '../history/changed-since.js';
import type { BoundDesired } from '../model/bound-desired.js';
import { objectsOf, type DesiredFlag } from '../model/desired.js';
import { withTag } from '../model/flag/fields.js';
import { isNotLookedAt, type Plan } from '../model/plan.js';
import { keyOf, keyOfId, objectId, parseKey } from '../model/ref.js';
import { changedObjects, comparedWithBases, type ComparedBases } from '../plan/bases/compare.js';
import { filterOptionsOf } from '../model/remedy.js';
import type { LeftOut, RunOptions } from '../model/run.js';
import type { State } from '../model/state.js';
import { killOrders } from '../plan/kills/orders.js';
import { areIdentitiesTaken } from '../plan/objects/identities.js';
import {
  declaredCount,
  declaredKeys,
  declarationsIn,
  desiredInScope,
  namesInBase,
} from '../plan/objects/kinds.js';
import { pendingWithheld } from '../plan/plan.js';
import { endedIn, isPlanned, isSelectedHere, type PlanPolicy } from '../plan/policy.js';
import { didYouMean, quotedList } from '../specs/parse/suggest.js';
import type { Decided, LastObservation, Planned, RunContext, Scoped } from './context.js';

type Filters = Pick<RunOptions, 'only' | 'exclude' | 'tags' | 'owners'>;

/**
 * `KIND/NAME` of the objects that all filters of a run let through; null without a filter. Tags and owners are those of
 * flags in the specs at HEAD, so that they select no segment and no object that left the specs.
 *
 * @param state null if it was not read: then an object that left the specs is unknown.
 * @throws FlagkeelError `USAGE`: a filter names nothing, or together they leave no object. An empty plan would look like
 * in sync.
 */
export function selectedKeys(
  filters: Filters,
  desired: BoundDesired,
  state: State | null,
): ReadonlySet<string> | null {
  const { only, exclude = [], tags = [], owners = [] } = filters;
  if ([only, exclude, tags, owners].every(({ length }) => length === 0)) return null;
  const flags = [...desired.flags.values()];
  const known = knownKeys(desired, state);
  const nowhere = `neither the specs nor their references${state ? ' nor the state' : ''} have it`;
  refuseUnknown('--only', only, known, nowhere);
  refuseUnknown('--exclude', exclude, known, nowhere);
  const tagsOf = ({ fields, ownershipTag }: DesiredFlag): readonly string[] =>
    withTag(fields, ownershipTag).tags ?? [];
  refuseUnknown('--tag', tags, new Set(flags.flatMap(tagsOf)), 'no flag of the specs has it');
  const ownersOf = ({ owner }: DesiredFlag): readonly string[] =>
    owner === undefined ? [] : [owner];
  const named = 'no flag of the specs names it';
  refuseUnknown('--owner', owners, new Set(flags.flatMap(ownersOf)), named);
  const flagsWith = (wanted: readonly string[], wordsOf: typeof tagsOf): ReadonlySet<string> => {
    const found = flags.filter((flag) => wordsOf(flag).some((each) => wanted.includes(each)));
    return new Set(found.map(({ name }) => keyOf('flag', name)));
  };
  const sets = [
    ...(only.length > 0 ? [new Set(only)] : []),
    ...(tags.length > 0 ? [flagsWith(tags, tagsOf)] : []),
    ...(owners.length > 0 ? [flagsWith(owners, ownersOf)] : []),
  ];
  const selected = [...known].filter(
    (key) => !exclude.includes(key) && sets.every((each) => each.has(key)),
  );
  if (selected.length > 0) return new Set(selected);
  const words = filterOptionsOf(filters).join(' ');
  throw new FlagkeelError('USAGE', `cannot use ${words}: no object is left`);
}

function refuseUnknown(
  option: string,
  names: readonly string[],
  known: ReadonlySet<string>,
  why: string,
): void {
  const name = names.find((each) => !known.has(each));
  if (name === undefined) return;
  // Plans name a definition as `flag/pay@staging`.
  const suggestion = didYouMean(name.replace(/@.*/s, ''), known);
  throw new FlagkeelError('USAGE', `cannot use ${option} "${name}": ${why}${suggestion}`);
}

/** @param names as the config writes them. */
export function unknownEnvironment(name: string, names: readonly string[]): FlagkeelError {
  const why = `flagkeel.yaml has ${quotedList(names)}${didYouMean(name, names)}`;
  return new FlagkeelError('USAGE', `cannot use --environment "${name}": ${why}`);
}

function knownKeys(desired: BoundDesired, state: State | null): ReadonlySet<string> {
  const { references } = desired.config;
  const otherFlags = [...references.flags, ...desired.kills.map(({ flag }) => flag)];
  return new Set([
    ...declaredKeys(desired),
    ...otherFlags.map((name) => keyOf('flag', name)),
    ...references.segments.map((name) => keyOf('segment', name)),
    ...(state?.keys() ?? []),
  ]);
}

/** The declared objects and the environments that the filters of a run leave out; undefined without a filter. */
export function leftOutOf(
  options: Filters,
  { desired, state, policy }: { desired: BoundDesired; state: State; policy: PlanPolicy },
): LeftOut | undefined {
  const selected = selectedKeys(options, desired, state);
  const objects = selected && declaredKeys(desired).filter((key) => !selected.has(key));
  const environments = policy.environments.filter((each) => !each.selected);
  if (objects === null && environments.length === 0) return undefined;
  return {
    objects: [...new Set(objects)].sort(),
    environments: environments.map(({ name }) => name),
  };
}

/** Up to this number of touched objects, a run never falls back to reading everything. */
const FEW = 50;

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
export async function chooseScope(context: RunContext, decided: Decided): Promise<Scoped> {
  const { options, memory } = context;
  const { desired, policy, isDryRun, remembered } = decided;
  const about = aboutOf(context, decided);
  const last = memory.lastObservation(about);
  const full: Scoped = { ...decided, observed: 'full', last, about };
  if (remembered.home === null || remembered.applied === null) return full;
  const isReview = isDryRun && options.since !== undefined;
  const isByMemory = options.touchedSince === 'memory' && last !== null;
  const sinceState =
    options.touchedSince === 'state' ? await touchedSinceState(context, decided) : null;
  if (!isReview && !isByMemory && sinceState === null) return full;
  const touched = new Set([...touchedObjects(context, decided, last), ...(sinceState ?? [])]);
  // Only the lists of such a service show the id of a traffic type.
  if (last?.at.trafficTypes === null && desired.identities.size > 0) return full;
  if (touched.size > Math.max(FEW, declaredCount(desired) / 2)) return full;
  const { only } = policy;
  const wanted = only === null ? touched : new Set([...touched].filter((key) => only.has(key)));
  return { ...full, policy: { ...policy, only: wanted }, observed: 'touched' };
}

function aboutOf({ options }: RunContext, { home, policy }: Decided): string {
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
  const keys = new Set([...declaredKeys(desired), ...state.keys()]);
  const objects = [...keys].flatMap((key) => parseKey(key) ?? []);
  const commits = { since: applied, head: source.revision.commit };
  const touched = await objectsTouchedSince(source.checkout, commits, objects);
  return touched && new Set([...touched, ...outOfSync]);
}

function touchedObjects(
  { memory }: RunContext,
  decided: Decided,
  last: LastObservation | null,
): Set<string> {
  const { desired, policy, kills, isDryRun, remembered } = decided;
  // A run that writes has looked at all ordered kills before, and `kills` has those that were missing.
  const killed = killOrders(desired).filter(({ flag }) => isDryRun || !desired.flags.has(flag));
  memory.bases = comparedWithBases({ desired, state: remembered.state, policy }, memory.bases);
  return new Set<string>([
    ...openObjects(decided, memory.bases),
    ...(last ? changedObjects(last.desired, desired) : []),
    // Identities are compared with the recorded answers of the service, which needs no request.
    ...[...desired.identities.keys()].map((name) => keyOf('identities', name)),
    ...(last?.outOfSync ?? []),
    ...[...(policy.reviewed ?? []), ...kills.results.keys()].map(keyOfId),
    ...killed.map(({ flag }) => keyOf('flag', flag)),
  ]);
}

/** `KIND/NAME` of all objects that git or the time may change on the service, whatever the run looks at. */
export function openObjects(
  { desired, policy, moment }: Pick<Decided, 'desired' | 'policy' | 'moment'>,
  { state, away }: ComparedBases,
): string[] {
  return [
    ...away,
    // Left the specs.
    ...[...state].flatMap(([key, { kind, name }]) =>
      objectsOf(desired, kind).has(name) ? [] : [key],
    ),
    // Time moves shares, without any commit or change of a base.
    ...[...moment.ladders.keys()].map(keyOfId),
    ...endedIn(policy).map(({ name }) => keyOf('flag', name)),
  ];
}

/** A full look keeps all specs, so that all names are checked. */
export function inScope({ observed, policy, desired }: Scoped): BoundDesired {
  return observed === 'full' ? desired : desiredInScope(desired, policy);
}

/** Keeps this run's observation for the next run of the process. An apply adds its result later. */
export function recordObservation(
  { memory }: RunContext,
  { about, desired }: Scoped,
  { at, plan }: { readonly at: Catalog; readonly plan: Plan },
): void {
  // A run that put a look off leaves no memory, so that the next one of this process looks at everything.
  if (plan.notCompared.some(isNotLookedAt)) return;
  memory.keep({ about, desired, outOfSync: outOfSyncIn(plan), at });
}

/**
 * The data that all objects of the workspace share. A run over touched objects requests it only if these name a rollout
 * status or a traffic type that the last run did not see or, without a last run, that none of their bases has.
 */
export async function readCatalogFor(scoped: Scoped): Promise<Catalog> {
  const { observed, last, reader, workspace } = scoped;
  if (observed === 'full') return readCatalogIn(reader, workspace);
  const seen = last?.at.workspace.id === workspace.workspace.id ? last.at : null;
  const isKnown = seen ? isSeen(seen, scoped) : isInBases(scoped);
  if (!isKnown) return readCatalogIn(reader, workspace);
  return seen ? { ...seen, ...workspace } : unreadCatalog(workspace);
}

function isSeen({ rolloutStatuses, trafficTypes }: Catalog, scoped: Scoped): boolean {
  // The last run did not request them.
  if (rolloutStatuses === null) return false;
  const statuses = rolloutStatuses.map(({ name }) => name);
  const isKnown = (name: string | undefined, names: readonly string[] | null): boolean =>
    name === undefined || (names?.includes(name) ?? true);
  return declarationsIn(inScope(scoped)).every(
    (each) => isKnown(each.rolloutStatus, statuses) && isKnown(each.trafficType, trafficTypes),
  );
}

/** Whether the base of every object in scope has the names in its specs, so that the service knows them. */
function isInBases(scoped: Scoped): boolean {
  return declarationsIn(inScope(scoped)).every(({ key, rolloutStatus, trafficType }) => {
    const seen = namesInBase(scoped.remembered.state.get(key));
    const isStatusKnown = rolloutStatus === undefined || rolloutStatus === seen?.rolloutStatus;
    return isStatusKnown && trafficType === seen?.trafficType;
  });
}

/**
 * `KIND/NAME` of all objects that a plan finds different or did not look at, and of live kills, which later partial plans
 * report too.
 */
export function outOfSyncIn(plan: Plan): Set<string> {
  const unseen = plan.notCompared.filter(isNotLookedAt);
  const open = [...plan.changes, ...pendingWithheld(plan), ...plan.liveKills, ...unseen];
  return new Set(open.map(({ id }) => keyOfId(id)));
}

/**
 * `KIND/NAME` of the objects that the state records as out of sync after a run: those that the run found, and the
 * earlier ones that it did not look at in all environments, and kills to take back that filters left out.
 *
 * @param found objects that the run itself left out of sync.
 * @returns null if nothing was known before, and the run did not look at everything.
 */
export function outOfSyncAfter(
  { input: { policy }, remembered: { outOfSync: known } }: Pick<Planned, 'input' | 'remembered'>,
  found: ReadonlySet<string>,
): ReadonlySet<string> | null {
  const isEverywhere = policy.environments.every(({ selected }) => selected);
  const isWhole = isEverywhere && policy.only === null && policy.quarantined.size === 0;
  if (isWhole) return found;
  if (known === null) return null;
  const seesAllPlaces = isEverywhere && policy.behind !== true;
  const isLookedAt = (key: string): boolean => {
    const ref = parseKey(key);
    return seesAllPlaces && ref !== undefined && isPlanned(policy, ref.kind, ref.name);
  };
  const left = endedIn(policy).filter((ref) => !isSelectedHere(policy, objectId(ref)));
  const leftOut = left.map(({ kind, name }) => keyOf(kind, name));
  return new Set([...[...known].filter((key) => !isLookedAt(key)), ...found, ...leftOut]);
}
