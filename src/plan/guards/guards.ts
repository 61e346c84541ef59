import type { Bucket } from '../../model/flag/flag.js';
import type { Config, Guards } from '../../model/desired.js';
import type { Change, GuardFinding, Plan } from '../../model/plan.js';
import type { State, StateEntry } from '../../model/state.js';
import type { PlanInput } from '../input.js';
import { observedKind } from '../objects/kinds.js';
import type { PlannedEnvironment } from '../policy.js';
import type { FlagImpact, Impact } from '../../model/impact.js';
import { definitionId, keyOf, objectId, type ObjectId, type ObjectRef } from '../../model/ref.js';
import { planImpact } from '../impact/impact.js';
import { withKilled } from '../kills/plan.js';

/** Limits where the config sets none. */
export const DEFAULT_GUARDS: Required<Guards> = {
  maxDeletes: 5,
  maxDeletePercent: 30,
  maxKeyRemovals: 500,
  maxKeyRemovalPercent: 20,
  maxShift: 100,
};

/** With fewer objects or keys than this, a percentage is meaningless. */
const FEW = 10;
/** Per cent of the traffic that a change in a protected environment may move at once: anything short of all keys. */
const MAX_FLIP = 99;

/** The inventory of the same specs in another workspace. */
export interface OtherInventory {
  readonly workspaceId: string;
  readonly objects: number;
}

/**
 * The guards that stop a plan, each with its figure: for every environment, and for the workspace level (`environment`
 * null). Guards never stop kills.
 *
 * @param config the one with the limits, see `strictestGuards`.
 * @param elsewhere where the specs were applied so far; empty if this workspace is among those.
 */
export function guardFindings(
  plan: Plan,
  input: PlanInput,
  config: Config,
  elsewhere: readonly OtherInventory[] = [],
): GuardFinding[] {
  const { policy, state } = input;
  const workspace = findingsAt(
    plan,
    { environment: null, id: null, limits: limitsOf(config) },
    state,
  );
  const places = policy.environments.flatMap((environment) => {
    const { name, id } = environment;
    const limits = limitsOf(config, environment);
    return [
      ...findingsAt(plan, { environment: name, id, limits }, state),
      ...(environment.protected ? flips(plan, environment) : []),
    ];
  });
  return [...anotherWorkspace(elsewhere), ...emptyRepository(input), ...workspace, ...places];
}

/** The limits for an environment, or for the workspace level. */
function limitsOf(config: Config, environment?: PlannedEnvironment): Required<Guards> {
  const own = config.environments.find((each) => each.name === environment?.name)?.guards;
  return { ...DEFAULT_GUARDS, ...config.guards, ...own };
}

interface Place {
  readonly environment: string | null;
  readonly id: string | null;
  readonly limits: Required<Guards>;
}

function findingsAt(plan: Plan, { environment, id, limits }: Place, state: State): GuardFinding[] {
  const changes = plan.changes.filter(({ ref }) => ref.environment === environment);
  const deletes = changes.filter(({ action }) => action === 'delete' || action === 'deactivate');
  return [
    ...exceeded('maxDeletes', deletes.length, limits),
    ...exceeded(
      'maxDeletePercent',
      share(deletes.length, () => inventorySize(state, id)),
      limits,
    ),
    ...changes.flatMap((change) =>
      change.keys ? keyFindings(change, change.keys.removed.length, { id, limits }, state) : [],
    ),
  ].map((finding) => ({ ...finding, environment }));
}

type Finding = Omit<GuardFinding, 'environment'>;

function keyFindings(
  { id, ref }: Change,
  removed: number,
  { id: environmentId, limits }: Pick<Place, 'id' | 'limits'>,
  state: State,
): Finding[] {
  const before = keysRemembered(ref, environmentId, state) ?? removed;
  return [
    ...exceeded('maxKeyRemovals', removed, limits),
    ...exceeded(
      'maxKeyRemovalPercent',
      share(removed, () => before),
      limits,
    ),
  ].map((finding) => ({ ...finding, id }));
}

/** Rounded up, so that a figure slightly above the limit exceeds it. */
function share(part: number, wholeOf: () => number): number {
  if (part === 0) return 0;
  const whole = wholeOf();
  return whole < FEW ? 0 : Math.ceil((part * 100) / whole);
}

function exceeded(guard: keyof Guards, found: number, limits: Required<Guards>): Finding[] {
  return found > limits[guard] ? [{ guard, found, limit: limits[guard] }] : [];
}

function anotherWorkspace(elsewhere: readonly OtherInventory[]): GuardFinding[] {
  return elsewhere.map(({ workspaceId, objects }) => {
    const place = { environment: null, workspace: workspaceId };
    return { guard: 'anotherWorkspace', ...place, found: objects, limit: 0 };
  });
}

function emptyRepository({ desired, state, policy }: PlanInput): GuardFinding[] {
  const written = desired.flags.size + desired.segments.size + policy.quarantined.size;
  const found = written > 0 ? 0 : deletable(state).length;
  if (found === 0) return [];
  return [{ guard: 'emptyRepository', environment: null, found, limit: 0 }];
}

function flips(plan: Plan, { name }: PlannedEnvironment): GuardFinding[] {
  return plan.changes.flatMap(({ id, ref, fields }) => {
    const field = ref.environment === name && fields.find(({ path }) => path === '/defaultRule');
    if (!field || field.before === undefined || field.after === undefined) return [];
    const found = movedShare(field.before as Bucket[], field.after as Bucket[]);
    const finding = { guard: 'fullFlip' as const, environment: name, id, found, limit: MAX_FLIP };
    return found > MAX_FLIP ? [finding] : [];
  });
}

/**
 * Per cent of keys that get another treatment. The service lays buckets end to end over 100 places, and a key keeps its
 * place when they change. So the share is exact without knowing the keys.
 */
export function movedShare(before: readonly Bucket[], after: readonly Bucket[]): number {
  const [old, now] = [placesOf(before), placesOf(after)];
  return old.filter((treatment, place) => treatment !== now[place]).length;
}

function placesOf(buckets: readonly Bucket[]): string[] {
  return buckets.flatMap(({ treatment, size }) => Array.from({ length: size }, () => treatment));
}

/** Objects that a run could delete: those that the service can show. */
function deletable(state: State): StateEntry[] {
  return [...state.values()].filter(({ kind }) => observedKind(kind) !== null);
}

/** Number of managed objects in one environment, or at workspace level. */
function inventorySize(state: State, environmentId: string | null): number {
  return deletable(state).filter((entry) =>
    environmentId === null
      ? entry.workspace !== undefined
      : entry.environments[environmentId] !== undefined,
  ).length;
}

function keysRemembered(
  { kind, name }: ObjectRef,
  environmentId: string | null,
  state: State,
): number | undefined {
  const spec = state.get(keyOf(kind, name))?.environments[environmentId ?? '']?.spec;
  return spec && 'keys' in spec ? spec.keys.count : undefined;
}

/**
 * The config with the stricter of its own guards and those of the last applied config, so that no change can loosen the
 * guard that would stop it. A new environment uses its own guards.
 */
export function strictestGuards(config: Config, before: Config): Config {
  return {
    ...config,
    guards: stricter(config.guards, before.guards),
    environments: config.environments.map((environment) => {
      const old = before.environments.find(({ name }) => name === environment.name);
      if (!old) return environment;
      const now = { ...config.guards, ...environment.guards };
      return { ...environment, guards: stricter(now, { ...before.guards, ...old.guards }) };
    }),
  };
}

function stricter(a: Guards, b: Guards): Required<Guards> {
  const [one, other] = [
    { ...DEFAULT_GUARDS, ...a },
    { ...DEFAULT_GUARDS, ...b },
  ];
  return {
    maxDeletes: Math.min(one.maxDeletes, other.maxDeletes),
    maxDeletePercent: Math.min(one.maxDeletePercent, other.maxDeletePercent),
    maxKeyRemovals: Math.min(one.maxKeyRemovals, other.maxKeyRemovals),
    maxKeyRemovalPercent: Math.min(one.maxKeyRemovalPercent, other.maxKeyRemovalPercent),
    maxShift: Math.min(one.maxShift, other.maxShift),
  };
}

/**
 * The flags that may change the treatment of more traffic in an environment than `maxShift` allows, in the worst case.
 * New flags do not count as a shift, and guards never stop kills.
 *
 * @param impacts of the plan.
 * @param config the one with the limits.
 */
export function shiftFindings(
  plan: Plan,
  input: PlanInput,
  impacts: ReadonlyMap<ObjectId, Impact>,
  config: Config,
): GuardFinding[] {
  const kills = new Map([...killsAndRestores(plan)].filter(([, isKilled]) => isKilled));
  const counted = kills.size > 0 ? planImpact(plan, withKilled(kills, input)) : impacts;
  const flags = new Map<ObjectId, FlagImpact>();
  for (const { flags: felt } of counted.values()) {
    for (const each of felt) {
      const id = definitionId(each);
      const other = flags.get(id);
      if (!other || each.traffic.atMost > other.traffic.atMost) flags.set(id, each);
    }
  }
  return input.policy.environments.flatMap((environment) => {
    const limit = limitsOf(config, environment).maxShift;
    return [...flags]
      .filter(([, each]) => each.environment === environment.name && !isMade(each))
      .map(([id, each]) => ({ id, found: each.traffic.atMost }))
      .filter(({ found }) => found > limit)
      .map(({ id, found }) => {
        return { guard: 'maxShift' as const, environment: environment.name, id, found, limit };
      });
  });
}

/**
 * The flags whose keys in a protected environment certainly all get another treatment, whatever the cause: an
 * allocation, a rule that every key matches, a segment, another flag. `guardFindings` judges the default rule alone,
 * even if earlier rules may catch all keys. Kills and restores are no flips, and other guards cover flags that begin or
 * cease to serve.
 *
 * @param impacts of the plan.
 */
export function flipFindings(
  plan: Plan,
  input: PlanInput,
  impacts: ReadonlyMap<ObjectId, Impact>,
): GuardFinding[] {
  const acts = killsAndRestores(plan);
  const counted = acts.size > 0 ? planImpact(plan, withKilled(acts, input)) : impacts;
  const flipped = new Map<string, FlagImpact>();
  for (const { flags } of counted.values()) {
    for (const each of flags) {
      const isWhole = each.traffic.atLeast > MAX_FLIP && !isMade(each) && !isGone(each);
      const ref = { kind: 'flag' as const, name: each.flag, environment: each.environment };
      if (isWhole) flipped.set(objectId(ref), each);
    }
  }
  return input.policy.environments
    .filter((environment) => environment.protected)
    .flatMap((environment) => {
      const known = new Set(flips(plan, environment).map(({ id }) => id));
      return [...flipped]
        .filter(([id, each]) => each.environment === environment.name && !known.has(id))
        .map(([id, { traffic }]) => {
          const place = { environment: environment.name, id };
          return { guard: 'fullFlip' as const, ...place, found: traffic.atLeast, limit: MAX_FLIP };
        });
    });
}

function isMade({ moves }: FlagImpact): boolean {
  return moves.length > 0 && moves.every(({ from }) => from === null);
}

function isGone({ moves }: FlagImpact): boolean {
  return moves.length > 0 && moves.every(({ to }) => to === null);
}

/** Definitions that a plan kills (true) or restores (false). */
function killsAndRestores(plan: Plan): Map<ObjectId, boolean> {
  const acts = new Map<ObjectId, boolean>();
  for (const { id, fields } of plan.changes) {
    const act = fields.find(({ path, before }) => path === '/killed' && before !== undefined);
    if (act) acts.set(id, act.after === true);
  }
  return acts;
}
