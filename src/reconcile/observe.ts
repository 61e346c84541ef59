import type { Catalog } from '../admin-api/workspace.js';
import { requestsByObject } from '../admin-api/change-requests.js';
import { observe } from '../admin-api/kinds.js';
import { originOf } from '../admin-api/origin.js';
import type { AdminReader } from '../admin-api/reader.js';
import type { Scope } from '../model/actual.js';
import { grouped } from '../model/collections.js';
import type { Plan } from '../model/plan.js';
import { keyOf, objectId } from '../model/ref.js';
import type { RunOptions } from '../model/run.js';
import { flagEntry } from '../model/state.js';
import { isAsWritten } from '../plan/bases/compare.js';
import type { PlanInput } from '../plan/input.js';
import { isKillOrdered } from '../plan/kills/orders.js';
import { timedInput, checkNamesOnService } from './policy.js';
import type { HeldReason, PlanPolicy } from '../plan/policy.js';
import { desiredInScope } from '../plan/objects/kinds.js';
import { requestsWanted } from '../plan/requests.js';
import { objectsSeen, scopeOf, type KeyCounting } from '../plan/scope.js';
import { declaredElsewhere, type OwnPlace } from '../history/elsewhere.js';
import { killsElsewhere } from '../kill/elsewhere.js';
import { provenRemovals, removalsOf } from '../history/removals.js';
import { historyOf, type RunContext, type Scoped, type TimedInput } from './context.js';
import type { Interrupted } from './record.js';
import { inScope, readCatalogFor } from './scope.js';

/** @throws FlagkeelError `NOT_ON_SERVICE`: the specs name a rollout status or traffic type that the service lacks. */
export async function observeInScope(
  context: RunContext,
  scoped: Scoped,
  interrupted: Interrupted,
): Promise<{ readonly input: TimedInput; readonly at: Catalog }> {
  const { desired, policy, observed, moment, reader, remembered, last } = scoped;
  const at = await readCatalogFor(scoped);
  checkNamesOnService(inScope(scoped), at);
  const counting = countingOf(context.options, observed);
  const open = new Set([...(remembered.outOfSync ?? []), ...(last?.outOfSync ?? [])]);
  const about = { desired, state: remembered.state, policy, counting, open };
  const shown = shownBy(interrupted, scoped);
  const whole = observed === 'full';
  const input = await observeScope(context, { reader, at }, { ...about, whole, shown });
  return { at, input: timedInput(input, moment) };
}

/**
 * Takes definitions for absent that were so when an interrupted run planned their creation, and that no run has found
 * since: if another writer has created one meanwhile, the service refuses to create it again. Leaves definitions unread
 * that such a run has created as git still wants them, because nothing is written to them.
 */
function shownBy(
  { unsent, made }: Interrupted,
  { remembered: { state }, policy, moment, desired }: Scoped,
): Scope['shown'] {
  if (unsent.size === 0) return undefined;
  const places = new Map(policy.environments.map((each) => [each.name, each]));
  return (name, environment) => {
    const id = objectId({ kind: 'flag', name, environment });
    const place = places.get(environment);
    const base = place && flagEntry(state, name)?.environments[place.id];
    if (unsent.has(id)) return base === undefined ? null : undefined;
    // Time moves a ramp, and taking a kill back restores a flag, though its specs are those of the base.
    const isMoved = moment.ladders.has(id) || policy.restorable.has(id);
    const isWritten = made.has(id) && place !== undefined && !isMoved;
    return isWritten && isAsWritten(name, place, { desired, state }) ? 'written' : undefined;
  };
}

/** Counts keys even of small segments in a look at touched objects, because full looks of the process list them. */
function countingOf({ keys, touchedSince }: RunOptions, observed: Plan['observed']): KeyCounting {
  if (keys === 'listed') return 'never';
  const isBetween = observed === 'touched' && touchedSince !== 'state';
  return keys === 'counted' || isBetween ? 'always' : 'large';
}

type Observing = Pick<
  RunContext,
  'source' | 'memory' | 'progress' | 'originName' | 'usesServiceToo'
>;

export async function observeScope(
  context: Observing,
  { reader, at }: { readonly reader: AdminReader; readonly at: Catalog },
  about: Omit<PlanInput, 'actual'> & {
    /** Default: `always`, so that keys are only counted if their number is the remembered one. */
    readonly counting?: KeyCounting;
    readonly open?: ReadonlySet<string>;
    readonly whole?: boolean;
    readonly shown?: Scope['shown'];
  },
): Promise<PlanInput> {
  const { desired, state, policy, counting = 'always', open, whole = false, shown } = about;
  const allEnvironments = at.environments.map(({ name }) => name);
  const objects = scopeOf({ desired, state, policy, allEnvironments, counting, open, whole });
  const scope = { ...objects, ...(shown && { shown }) };
  const [found, requests, removals] = await Promise.all([
    observe(reader, at, scope, objectsSeen(scope, context.progress)),
    requestsByObject(reader, at.environments, requestsWanted(state, policy)),
    policy.suspended ? NO_REMOVALS : removalsIn(context, at, { desired, state, policy }),
  ]);
  const seen = { ...found, ...(requests.size > 0 && { requests }) };
  const ordered = await withKillsElsewhere(context, at, { desired, actual: seen });
  const decided = { ...policy, ...removals };
  const input: PlanInput = { desired: ordered, actual: seen, state, policy: decided };
  if (at.rolloutStatuses !== null || !isStatusToWrite(input)) return input;
  const rolloutStatuses = await reader.listRolloutStatuses(at.workspace.id);
  checkNamesOnService(desiredInScope(desired, policy), { ...at, rolloutStatuses });
  return { ...input, actual: { ...seen, rolloutStatuses } };
}

const NO_REMOVALS = { provenRemovals: new Set<string>() };

const UNREAD_HISTORY: HeldReason = {
  why: 'prune-off',
  because: 'the clone is shallow: fetch the whole history first, which proves that git declared it',
};

async function removalsIn(
  context: Observing,
  at: Pick<Catalog, 'workspace'>,
  input: Pick<PlanInput, 'desired' | 'state' | 'policy'>,
): Promise<Pick<PlanPolicy, 'provenRemovals' | 'protectedRemovals' | 'held'>> {
  const { desired, policy } = input;
  const history = historyOf(context, desired);
  const { checkout, revision } = context.source;
  const { gone: removed, proven } = await provenRemovals(history, input);
  if (removed.length === 0) return NO_REMOVALS;
  const about = { removed, ...ownPlace(context, at, desired) };
  const now = commitRead(context);
  const moved = await declaredElsewhere(checkout, now, about);
  const unread = checkout.shallow && !policy.prune ? removed : [];
  const cut = unread.map((ref) => [objectId(ref), UNREAD_HISTORY] as const);
  const held = new Map([...(policy.held ?? []), ...cut, ...moved]);
  if (!policy.prune) return { provenRemovals: proven, held };
  const removals = await removalsOf(removed, desired, { checkout, head: revision.commit, history });
  const others = removed.filter((ref) => !held.has(objectId(ref)));
  const commits = grouped(others, ({ kind, name }) => removals.get(keyOf(kind, name))?.commit);
  // A directory may have removed again what moved to it. It keeps it on the service if it does not prune.
  for (const [commit, left] of commits) {
    if (commit === undefined) continue;
    const past = { ...about, removed: left, now };
    for (const [id, reason] of await declaredElsewhere(checkout, commit, past))
      held.set(id, reason);
  }
  const guarded = [...removals].flatMap(([key, each]) => (each.wasProtected ? key : []));
  return { provenRemovals: proven, protectedRemovals: new Set(guarded), held };
}

/** Asks about definitions that are killed without a known order, or that are not there yet. */
async function withKillsElsewhere(
  context: Observing,
  at: Pick<Catalog, 'workspace'>,
  { desired, actual }: Pick<PlanInput, 'desired' | 'actual'>,
): Promise<PlanInput['desired']> {
  const definitions = [...actual.flags].flatMap(([name, flag]) =>
    [...flag.definitions].flatMap(([environment, live]) => {
      if (live?.killed === false || isKillOrdered(desired, name, environment)) return [];
      return { kind: 'flag' as const, name, environment };
    }),
  );
  const about = { definitions, ...ownPlace(context, at, desired) };
  const found = await killsElsewhere(context.source.checkout, commitRead(context), about);
  // What is remembered of these specs goes by their identity.
  if (found.length === 0) return desired;
  return { ...desired, killedElsewhere: new Set([...(desired.killedElsewhere ?? []), ...found]) };
}

function commitRead({ source: { revision } }: Observing): string | null {
  return revision.dirty ? null : revision.commit;
}

/** The service as the states tell; without them, as both configs propose, unless the operator sends this run elsewhere. */
function ownPlace(
  { usesServiceToo, originName }: Observing,
  { workspace }: Pick<Catalog, 'workspace'>,
  desired: PlanInput['desired'],
): OwnPlace {
  const own = desired.config.serviceUrl;
  const isServedHere: OwnPlace['isServedHere'] = async (directory, { serviceUrl: other }) => {
    const isKnown = await usesServiceToo(directory);
    if (isKnown !== undefined || own === undefined || other === undefined) return isKnown;
    // An embedded service stands for the one that the config proposes.
    const follows = originOf(own) === originName() || !URL.canParse(originName());
    return follows && originOf(own) !== originOf(other) ? false : undefined;
  };
  return { desired, workspace, isServedHere };
}

/** Whether a flag may get another rollout status, which needs the id of that status. */
function isStatusToWrite({ desired, policy, actual, state }: PlanInput): boolean {
  const { flags } = desiredInScope(desired, policy);
  return [...flags.values()].some(({ name, fields, creation = fields }) => {
    const live = actual.flags.get(name);
    const { rolloutStatus } = live?.existence === 'absent' ? creation : fields;
    if (rolloutStatus === undefined) return false;
    if (live?.flag) return live.flag.rolloutStatus?.name !== rolloutStatus;
    // If the service does not show the flag, the last accepted value counts as the present one.
    const base = flagEntry(state, name)?.workspace?.spec;
    return live?.existence === 'absent' || base?.fields.rolloutStatus !== rolloutStatus;
  });
}
