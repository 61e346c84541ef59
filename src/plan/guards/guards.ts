import type { Bucket } from '../../model/flag/flag.js';
import type { Config, Guards } from '../../model/desired.js';
import { isRemoval, type GuardFinding, type Plan } from '../../model/plan.js';
import type { State, StateEntry } from '../../model/state.js';
import type { PlanInput } from '../input.js';
import { declaredCount, observedKind } from '../objects/kinds.js';
import type { PlannedEnvironment } from '../policy.js';
import type { FlagImpact, Impact } from '../../model/impact.js';
import { definitionId, keyOf, type ObjectId } from '../../model/ref.js';
import { planImpact } from '../impact/impact.js';
import { withKilled } from '../kills/plan.js';
import { baseIn, WORKSPACE, type Place } from '../place.js';

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

export interface OtherInventory {
  readonly workspaceId: string;
  readonly objects: number;
}

/**
 * The guards that stop a plan, each with its figure. Guards never stop kills.
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
  const places = policy.environments.flatMap((environment) => [
    ...findingsAt(plan, environment, limitsOf(config, environment), state),
    ...(environment.protected ? flips(plan, environment) : []),
  ]);
  return [
    ...anotherWorkspace(elsewhere),
    ...emptyRepository(input),
    ...findingsAt(plan, WORKSPACE, limitsOf(config, WORKSPACE), state),
    ...places,
  ];
}

function limitsOf(config: Config, { name }: Pick<Place, 'name'>): Required<Guards> {
  const own = config.environments.find((each) => each.name === name)?.guards;
  return { ...DEFAULT_GUARDS, ...config.guards, ...own };
}

function findingsAt(
  plan: Plan,
  place: Place,
  limits: Required<Guards>,
  state: State,
): GuardFinding[] {
  const changes = plan.changes.filter(({ ref }) => ref.environment === place.name);
  const deletes = changes.filter(isRemoval);
  const deleted = share(
    deletes.length,
    () => deletable(state).filter((each) => baseIn(each, place)).length,
  );
  return [
    ...exceeded('maxDeletes', deletes.length, limits),
    ...exceeded('maxDeletePercent', deleted, limits),
    ...changes.flatMap(({ id, ref, keys }) => {
      if (!keys) return [];
      const removed = keys.removed.length;
      const spec = state.get(keyOf(ref.kind, ref.name))?.environments[place.id ?? '']?.spec;
      const known = spec && 'keys' in spec ? spec.keys.count : removed;
      const percent = share(removed, () => known);
      return [
        ...exceeded('maxKeyRemovals', removed, limits),
        ...exceeded('maxKeyRemovalPercent', percent, limits),
      ].map((finding) => ({ ...finding, id }));
    }),
  ].map((finding) => ({ ...finding, environment: place.name }));
}

/** Rounded up, so that a figure slightly above the limit exceeds it. */
function share(part: number, wholeOf: () => number): number {
  if (part === 0) return 0;
  const whole = wholeOf();
  return whole < FEW ? 0 : Math.ceil((part * 100) / whole);
}

function exceeded(
  guard: keyof Guards,
  found: number,
  limits: Required<Guards>,
): Omit<GuardFinding, 'environment'>[] {
  return found > limits[guard] ? [{ guard, found, limit: limits[guard] }] : [];
}

function anotherWorkspace(elsewhere: readonly OtherInventory[]): GuardFinding[] {
  return elsewhere.map(({ workspaceId, objects }) => {
    const place = { environment: null, workspace: workspaceId };
    return { guard: 'anotherWorkspace', ...place, found: objects, limit: 0 };
  });
}

function emptyRepository({ desired, state, policy }: PlanInput): GuardFinding[] {
  const written = declaredCount(desired) + policy.quarantined.size;
  // What moved to another directory is not lost with the files.
  const isHere = ({ kind, name }: StateEntry): boolean =>
    policy.held?.get(keyOf(kind, name))?.moved === undefined;
  const found = written > 0 ? 0 : deletable(state).filter(isHere).length;
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
  const limits = { ...DEFAULT_GUARDS };
  for (const guard of Object.keys(limits) as (keyof Guards)[]) {
    limits[guard] = Math.min(a[guard] ?? limits[guard], b[guard] ?? limits[guard]);
  }
  return limits;
}

/** In the worst case. New flags do not count as a shift, and guards never stop kills. @param impacts of the plan. */
export function shiftFindings(
  plan: Plan,
  input: PlanInput,
  impacts: ReadonlyMap<ObjectId, Impact>,
  config: Config,
): GuardFinding[] {
  const kills = new Map([...killsAndRestores(plan)].filter(([, isKilled]) => isKilled));
  const flags = new Map<ObjectId, FlagImpact>();
  for (const each of impactsBeside(kills, plan, input, impacts)) {
    const id = definitionId(each);
    const other = flags.get(id);
    if (!other || each.traffic.atMost > other.traffic.atMost) flags.set(id, each);
  }
  return input.policy.environments.flatMap(({ name }) => {
    const limit = limitsOf(config, { name }).maxShift;
    return [...flags].flatMap(([id, each]): GuardFinding[] => {
      const found = each.traffic.atMost;
      if (each.environment !== name || isMade(each) || found <= limit) return [];
      return [{ guard: 'maxShift', environment: name, id, found, limit }];
    });
  });
}

/** The impacts on flags, where these kills and restores count as done before. */
function impactsBeside(
  acts: ReadonlyMap<ObjectId, boolean>,
  plan: Plan,
  input: PlanInput,
  impacts: ReadonlyMap<ObjectId, Impact>,
): FlagImpact[] {
  const counted = acts.size > 0 ? planImpact(plan, withKilled(acts, input)) : impacts;
  return [...counted.values()].flatMap(({ flags }) => flags);
}

/**
 * The flags whose keys in a protected environment certainly all get another treatment, by whatever cause; `guardFindings`
 * judges the default rule alone, even if earlier rules may catch all keys. Kills and restores are no flips, and other
 * guards cover flags that begin or cease to serve.
 */
export function flipFindings(
  plan: Plan,
  input: PlanInput,
  impacts: ReadonlyMap<ObjectId, Impact>,
): GuardFinding[] {
  const all = impactsBeside(killsAndRestores(plan), plan, input, impacts);
  const flipped = new Map(
    all
      .filter((each) => each.traffic.atLeast > MAX_FLIP && !isMade(each))
      .filter(({ moves }) => moves.some(({ to }) => to !== null))
      .map((each) => [definitionId(each), each]),
  );
  return input.policy.environments
    .filter((environment) => environment.protected)
    .flatMap((environment) => {
      const known = new Set(flips(plan, environment).map(({ id }) => id));
      return [...flipped].flatMap(([id, { environment: name, traffic }]): GuardFinding[] => {
        if (name !== environment.name || known.has(id)) return [];
        const found = traffic.atLeast;
        return [{ guard: 'fullFlip', environment: name, id, found, limit: MAX_FLIP }];
      });
    });
}

function isMade({ moves }: FlagImpact): boolean {
  return moves.length > 0 && moves.every(({ from }) => from === null);
}

/** The value says whether the plan kills the definition, or restores it. */
function killsAndRestores(plan: Plan): Map<ObjectId, boolean> {
  const acts = new Map<ObjectId, boolean>();
  for (const { id, fields } of plan.changes) {
    const act = fields.find(({ path, before }) => path === '/killed' && before !== undefined);
    if (act) acts.set(id, act.after === true);
  }
  return acts;
}
