import {
  byNameOrId,
  findEnvironment,
  type Catalog,
  type LiveWorkspace,
} from '../admin-api/workspace.js';
import { FlagkeelError } from '../errors.js';
import { objectsChangedSince, objectsSameAt } from '../history/changed-since.js';
import type { SpecHistory } from '../history/spec-history.js';
import { endedKills, killsTakenBack } from '../kill/in-git.js';
import { nameOf, type BoundDesired } from '../model/bound-desired.js';
import type { RampCheck } from '../model/desired.js';
import type { Location } from '../model/diagnostic.js';
import type { CheckStanding } from '../model/flag/ramp.js';
import { keyOfId, definitionId, type ObjectId } from '../model/ref.js';
import { isSelected, SUSPENDED_BY_CONFIG, type RunOptions } from '../model/run.js';
import type { PlanInput } from '../plan/input.js';
import { killOrders } from '../plan/kills/orders.js';
import { declarationsIn } from '../plan/objects/kinds.js';
import { isSelectedHere, type PlanPolicy, type PlannedEnvironment } from '../plan/policy.js';
import { quotedList } from '../specs/parse/suggest.js';
import { desiredAt, stepsToCheck, type Facts, type Moment } from '../timing/desired-at.js';
import {
  historyOf,
  type Begun,
  type Decided,
  type RunContext,
  type Remembered,
  type AskCheck,
  type TimedInput,
} from './context.js';
import { selectedKeys, unknownEnvironment } from './scope.js';

/**
 * From config, operator and history. With `--since` the policy has the objects that the review covers.
 *
 * @throws FlagkeelError as `selectedKeys`, `resolvePolicy` and `objectsChangedSince` do.
 */
export async function decidePolicy(
  context: RunContext,
  { workspace, desired, quarantined, isDryRun }: Begun,
  remembered: Remembered,
): Promise<Pick<Decided, 'policy' | 'moment'>> {
  const { home, state, applied, isBehind, leftKilled } = remembered;
  const { options, source } = context;
  const only = selectedKeys(options, desired, state);
  const history = historyOf(context, desired);
  const stateless = home === null;
  const own = resolvePolicy(desired, workspace, options, { ...remembered, stateless });
  const { environments } = own;
  const resolved = { ...own, only };
  const since =
    options.since === undefined
      ? null
      : await objectsChangedSince(history, options.since, { desired, environments });
  const { shown } = options;
  const reviewed = since?.ids ?? (isBehind ? (shown?.ids ?? null) : null);
  const review = await reviewPolicy(history, { desired, remembered }, { only, reviewed });
  const moment = await momentOfRun(context, desired, resolved, remembered);
  const start = since?.before ?? undefined;
  const place = { origin: context.originName(), workspaceId: workspace.workspace.id };
  const facts = { place, start, ladders: moment.ladders };
  const shows: PlanPolicy['shows'] = shown && ((change) => shown.shows(change, facts));
  const mayBeBeside = options.mayBeBehind === true && !options.allowOlder;
  const newer = (isDryRun ? options.since : undefined) ?? (mayBeBeside ? applied : null);
  const over = newer ? await killsTakenBack(source.checkout, newer) : [];
  const takenBack = new Map(
    over.map(({ flag, environment: word, reason }) => {
      const environment = nameOf(word, desired.environmentNames);
      return [definitionId({ flag, environment }), reason];
    }),
  );
  const decided = { ...resolved, ...review, start, shows, quarantined, takenBack };
  const policy = { ...decided, closed: moment.closed };
  const head = source.revision.commit;
  const { judged, outOfSync } = remembered;
  const about = { desired, state, policy, history, head, applied, judged, outOfSync };
  const ended = await endedKills(about);
  return { policy: { ...policy, ...ended, leftKilled }, moment };
}

/** If HEAD is behind, the review covers no object that later commits changed. */
async function reviewPolicy(
  history: SpecHistory,
  { desired, remembered }: { readonly desired: BoundDesired; readonly remembered: Remembered },
  { only, reviewed }: { only: PlanPolicy['only']; reviewed: ReadonlySet<ObjectId> | null },
): Promise<Pick<PlanPolicy, 'only' | 'reviewed' | 'behind'>> {
  const { isBehind, applied } = remembered;
  if (!isBehind || applied === null || reviewed === null) return { only, reviewed };
  const covered = await objectsSameAt(history, applied, { ids: reviewed, desired });
  const keys = [...covered].map(keyOfId).filter((key) => only?.has(key) ?? true);
  return { only: new Set(keys), reviewed: covered, behind: true };
}

/**
 * @throws FlagkeelError `NOT_ON_SERVICE`: the config names an environment that the workspace lacks, or one twice;
 *   `USAGE`: a filter names something that the config does not.
 */
export function resolvePolicy(
  desired: BoundDesired,
  at: LiveWorkspace,
  options: RunOptions,
  memory: Pick<PlanPolicy, 'stateless'> & Pick<Remembered, 'environments'>,
): PlanPolicy {
  const { config } = desired;
  const { stateless } = memory;
  const environments = resolveEnvironments(desired, at, options.environments, memory.environments);
  const otherwise = stateless ? 'none' : 'changed';
  return {
    environments,
    only: options.only.length === 0 ? null : new Set(options.only),
    quarantined: new Set(),
    prune: (config.prune || options.prune) && !stateless,
    archives: config.onRemove === 'archive',
    adopt: options.adopt,
    revertDrift: options.revertDrift,
    identities: options.identities === true ? 'all' : otherwise,
    stateless,
    suspended: options.suspend ?? (config.suspend ? SUSPENDED_BY_CONFIG : null),
    windowOverride: options.overrideWindow,
    provenRemovals: new Set(),
    restorable: new Map(),
  };
}

function resolveEnvironments(
  { config, configNames }: BoundDesired,
  at: LiveWorkspace,
  filter: readonly string[],
  known: Remembered['environments'],
): PlannedEnvironment[] {
  // The top of the config applies to ordinary environments; only its own block can loosen a protected one.
  const resolved = config.environments.map((environment): PlannedEnvironment => {
    const live = environmentOf(environment.name, at, filter, known);
    const isProtected = environment.protected ?? live.production;
    const place = configNames.get(live.name);
    return {
      name: live.name,
      id: live.id,
      ...(place !== undefined && place !== live.name && { place }),
      protected: isProtected,
      onDrift: environment.onDrift ?? (isProtected ? 'report' : (config.onDrift ?? 'revert')),
      onConflict: environment.onConflict ?? (isProtected ? 'hold' : (config.onConflict ?? 'apply')),
      onLiveKill: environment.onLiveKill ?? config.onLiveKill ?? 'keep',
      submitsRequests: (environment.approvals ?? config.approvals) === 'request',
      selected: isSelected(filter, [live.name, live.id]),
      ...(live.unseen && { unseen: live.unseen }),
    };
  });
  // Each word is the name or the id of one environment, so that only these two can mean the same one.
  const twice = resolved.find(({ id }, at) => resolved.some((each, i) => i < at && each.id === id));
  if (twice) {
    const what = `cannot tell two definitions of environment "${twice.name}" apart`;
    const why = 'flagkeel.yaml has it by its name and by its id (keep one)';
    throw new FlagkeelError('NOT_ON_SERVICE', `${what}: ${why}`);
  }
  for (const name of filter) {
    if (resolved.some((each) => [each.name, each.id].includes(name))) continue;
    throw unknownEnvironment(name, [...configNames.values()]);
  }
  return resolved;
}

/** One that the run leaves out need not be there for its key: it counts as protected where the config is silent. */
function environmentOf(
  name: string,
  at: LiveWorkspace,
  filter: readonly string[],
  known: Remembered['environments'],
): Pick<LiveWorkspace['environments'][number], 'id' | 'name' | 'production'> & { unseen?: true } {
  const words = Object.entries(known).find((each) => each.includes(name)) ?? [name];
  const isLeftOut = !isSelected(filter, [name, ...words]);
  if (!isLeftOut || byNameOrId(at.environments, name)) return findEnvironment(at, name);
  return { id: words[0], name, production: true, unseen: true };
}

/** As far as they were requested. @throws FlagkeelError `NOT_ON_SERVICE`, with the place in the specs. */
export function checkNamesOnService(desired: BoundDesired, at: Catalog): void {
  const declarations = declarationsIn(desired);
  const statuses = at.rolloutStatuses?.map(({ name }) => name);
  for (const { rolloutStatus, location } of declarations) {
    known('rollout status', rolloutStatus, statuses, location, at);
  }
  for (const { trafficType, location } of declarations) {
    known('traffic type', trafficType, at.trafficTypes, location, at);
  }
}

function known(
  what: string,
  name: string | undefined,
  names: readonly string[] | null | undefined,
  { file, line }: Location,
  { workspace }: Catalog,
): void {
  if (name === undefined || !names || names.includes(name)) return;
  const why = `workspace "${workspace.name}" has ${quotedList(names)}`;
  const message = `cannot use ${what} "${name}" (${file}:${line}): ${why}`;
  throw new FlagkeelError('NOT_ON_SERVICE', message);
}

/** The checks of steps that are due run here, once each, all side by side; a run that writes nothing runs none. */
export async function momentOfRun(
  { source, now, askCheck }: Pick<RunContext, 'source' | 'now' | 'askCheck'>,
  desired: BoundDesired,
  policy: Pick<PlanPolicy, 'environments' | 'only' | 'revertDrift'>,
  { home, timing: records, state }: Remembered,
): Promise<Moment> {
  const facts: Facts = {
    records,
    state,
    unkept: unkeptIn(home),
    head: source.revision.commit,
    environments: policy.environments,
    ordered: new Set(killOrders(desired).map(definitionId)),
    killed: new Set(),
    setbacks: new Map(),
    lowers: policy.revertDrift,
    checks: new Map(),
    actual: null,
  };
  const nowMs = now();
  const moment = desiredAt(desired, facts, nowMs);
  const steps = stepsToCheck(moment).filter(({ id }) => isSelectedHere(policy, id));
  if (steps.length === 0) return moment;
  const names = new Set(steps.flatMap(({ checks }) => checks));
  const asked = (desired.config.checks ?? []).filter(({ name }) => names.has(name));
  const answers = await Promise.all(asked.map(async (each) => standingOf(each, askCheck)));
  const checks = new Map(
    steps.map((step) => [
      step.key,
      step.checks.flatMap((name) => answers.find((each) => each.name === name) ?? []),
    ]),
  );
  return desiredAt(desired, { ...facts, checks }, nowMs);
}

/** Why the moments at which steps begin cannot be remembered: they would begin again with the next run. */
function unkeptIn(home: Remembered['home']): string | null {
  if (home === null) return 'no state is kept here';
  const missing = home.notShared();
  return missing && `the state cannot be shared (${missing.why})`;
}

async function standingOf(check: RampCheck, ask: AskCheck | undefined): Promise<CheckStanding> {
  const { name } = check;
  if (ask === undefined) return { name, result: 'not-asked', why: null };
  const fault = await ask(check);
  return fault ? { name, result: 'failed', ...fault } : { name, result: 'passed', why: null };
}

/** The specs of the moment, judged by the bases and the service of the input. */
export function timedInput(input: PlanInput, { facts, nowMs }: Moment): TimedInput {
  const { actual, state, desired } = input;
  const moment = desiredAt(desired, { ...facts, actual, state }, nowMs);
  return { ...input, desired: moment.desired, moment };
}
