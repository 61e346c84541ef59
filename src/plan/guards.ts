import type { Bucket } from '../kinds/flag.js';
import type { Config, Guards } from '../model/desired.js';
import type { Change, GuardFinding, Plan } from '../model/plan.js';
import { segmentEntry, type State, type StateEntry } from '../model/state.js';
import type { PlanInput } from './plan-input.js';
import type { PlannedEnvironment } from './policy.js';

/** What holds where the config says nothing. */
export const DEFAULT_GUARDS: Required<Guards> = {
  maxDeletes: 5,
  maxDeletePercent: 30,
  maxKeyRemovals: 500,
  maxKeyRemovalPercent: 20,
  maxShift: 100,
};

/** Of fewer objects or keys than this, a share says nothing. */
const FEW = 10;
/** Per cent of the traffic that a change in a protected environment may move at once: all but everybody. */
const MAX_FLIP = 99;

/** An inventory that the same specs have in another workspace. */
export interface OtherInventory {
  readonly workspaceId: string;
  readonly objects: number;
}

/**
 * The guards that a plan runs into, each with its figure: for every environment, and for the workspace level
 * (`environment` null). Empty: nothing stands against the plan. Kills are never held up by a guard.
 *
 * @param config that whose guards hold, see `strictestGuards`.
 * @param elsewhere where the specs were applied so far; empty where this workspace is among those.
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

/** The limits that hold in an environment, or at workspace level. */
export function limitsOf(config: Config, environment?: PlannedEnvironment): Required<Guards> {
  const own = config.environments.find((each) => each.name === environment?.configName)?.guards;
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
    ...changes.flatMap((change) => keyFindings(change, keysBefore(change, id, state), limits)),
  ].map((finding) => ({ ...finding, environment }));
}

type Finding = Omit<GuardFinding, 'environment'>;

function keyFindings({ id, keys }: Change, before: number, limits: Required<Guards>): Finding[] {
  const removed = keys?.removed.length ?? 0;
  return [
    ...exceeded('maxKeyRemovals', removed, limits),
    ...exceeded(
      'maxKeyRemovalPercent',
      share(removed, () => before),
      limits,
    ),
  ].map((finding) => ({ ...finding, id }));
}

/** Rounded up: what is a little over the limit is over it. */
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
  const written = desired.flags.size + desired.segments.size + policy.held.size;
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
 * Per cent of keys that get another treatment. Buckets are laid end to end over 100 places, and a key keeps its place
 * when they change: that is how the service splits traffic, so the share is exact without knowing who is where.
 */
export function movedShare(before: readonly Bucket[], after: readonly Bucket[]): number {
  const [old, now] = [placesOf(before), placesOf(after)];
  return old.filter((treatment, place) => treatment !== now[place]).length;
}

function placesOf(buckets: readonly Bucket[]): string[] {
  return buckets.flatMap(({ treatment, size }) => Array.from({ length: size }, () => treatment));
}

/** Of identities nothing is ever deleted. */
function deletable(state: State): StateEntry[] {
  return [...state.values()].filter(({ kind }) => kind !== 'identities');
}

/** Objects of ours in one environment, or at workspace level. */
function inventorySize(state: State, environmentId: string | null): number {
  return deletable(state).filter((entry) =>
    environmentId === null
      ? entry.workspace !== undefined
      : entry.environments[environmentId] !== undefined,
  ).length;
}

function keysBefore({ ref, keys }: Change, environmentId: string | null, state: State): number {
  const entry = ref.kind === 'segment' ? segmentEntry(state, ref.name) : undefined;
  const base = entry?.environments[environmentId ?? ''];
  return base?.spec?.keys?.count ?? keys?.removed.length ?? 0;
}

/**
 * The config with the stricter of its own guards and those of the config that was applied last, so that no change can
 * loosen the guard that stands against it. An environment that was not there before brings its own.
 */
export function strictestGuards(config: Config, before: Config | null): Config {
  if (!before) return config;
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
