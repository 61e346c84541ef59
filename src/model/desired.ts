import type {
  CheckSpec,
  ConfigSpec,
  EnvironmentConfigSpec,
  GuardsSpec,
  LintSpec,
} from '../generated/config.schema.d.js';
import type { KillSpec } from '../generated/kills.schema.d.js';
import type { FlagFields } from './flag/fields.js';
import type { Definition, DefinitionField } from './flag/flag.js';
import { bucketsOn, pathOf, shareOnRamp, withBuckets, type DesiredRamp } from './flag/ramp.js';
import type { NamedConditions } from './matcher/condition.js';
import type { Identities } from './identities.js';
import { sameJson, type Frozen } from './json.js';
import type { KeyList } from './segment-keys.js';
import type { Location } from './diagnostic.js';
import type { Reason, Withheld } from './plan.js';
import { KINDS, type Kind, type ObjectId } from './ref.js';

/** What specs declare, with environments as the config names them. Maps iterate in code-unit order of their keys. */
export interface Desired {
  readonly config: Config;
  readonly flags: ReadonlyMap<string, DesiredFlag>;
  readonly segments: ReadonlyMap<string, DesiredSegment>;
  /** By traffic type. */
  readonly identities: ReadonlyMap<string, DesiredIdentities>;
  readonly kills: readonly DesiredKill[];
  /** Environments that have a break-glass list: only such a list can take an entry back. */
  readonly killLists: ReadonlySet<string>;
  /** Definitions whose kill another config directory of the repository orders. Default: none that matters is known. */
  readonly killedElsewhere?: ReadonlySet<ObjectId>;
}

export const NOTHING_DESIRED: Omit<Desired, 'config'> = {
  flags: new Map(),
  segments: new Map(),
  identities: new Map(),
  kills: [],
  killLists: new Set(),
};

/** The member that holds the objects of a kind. */
const MEMBERS = {
  flag: 'flags',
  segment: 'segments',
  identities: 'identities',
} as const satisfies Record<Kind, keyof Desired>;

type DesiredOfAnyKind = DesiredFlag | DesiredSegment | DesiredIdentities;

/** By name. */
export function objectsOf(desired: Desired, kind: Kind): ReadonlyMap<string, DesiredOfAnyKind> {
  return desired[MEMBERS[kind]];
}

/** The specs with other objects of every kind. */
export function withObjects<D extends Desired>(
  desired: D,
  change: <T extends DesiredObject>(
    objects: ReadonlyMap<string, T>,
    kind: Kind,
  ) => ReadonlyMap<string, T>,
): D {
  const changed = KINDS.map(
    (kind) => [MEMBERS[kind], change(objectsOf(desired, kind), kind)] as const,
  );
  return { ...desired, ...Object.fromEntries(changed) };
}

export function trafficTypesOf(desired: Desired): string[] {
  const objects = KINDS.flatMap((kind) => [...objectsOf(desired, kind).values()]);
  const names = [desired.config.defaultTrafficType, ...objects.map((each) => each.trafficType)];
  return [...new Set(names)].filter((name) => name !== undefined).sort();
}

/** Members of the config that an environment's block may have too. */
export const POLICIES = ['onDrift', 'onConflict', 'onLiveKill', 'approvals'] as const;

type Policies = Frozen<Pick<ConfigSpec, (typeof POLICIES)[number]>>;

export type DriftPolicy = NonNullable<Policies['onDrift']>;
export type ConflictPolicy = NonNullable<Policies['onConflict']>;
export type LiveKillPolicy = NonNullable<Policies['onLiveKill']>;

export type Guards = Frozen<GuardsSpec>;

export interface TimeWindow {
  readonly name: string;
  /** Days on which it opens: 1 is Monday, 7 is Sunday. At least one. */
  readonly days: readonly number[];
  /** Minutes since midnight, inclusive. */
  readonly fromMinute: number;
  /** Minutes since midnight, exclusive, up to 1440. If less than `fromMinute`, the window ends on the next day. */
  readonly toMinute: number;
  readonly zone: string;
}

/** A time in which only kills and their restores may be changed. */
export interface Freeze {
  readonly name: string;
  /** Milliseconds since the epoch, inclusive. */
  readonly fromMs: number;
  /** Milliseconds since the epoch, exclusive; later than `fromMs`. */
  readonly toMs: number;
  /** For messages. */
  readonly zone: string;
  readonly reason?: string;
  /** Default: all. */
  readonly environments?: readonly string[];
}

export interface RampCheck extends Frozen<Pick<CheckSpec, 'equals' | 'atMost' | 'atLeast'>> {
  readonly name: string;
  /** Fetched with GET; http or https, without credentials. */
  readonly url: string;
  readonly timeoutMs: number;
  /** Where the value stands in the answer. Default: none, any answer with status 2xx passes. */
  readonly value?: { readonly pointer: string } | 'prometheus';
}

/** flagkeel.yaml with its defaults, except those that depend on the service. */
export interface Config
  extends Policies, Frozen<Pick<ConfigSpec, 'workspace' | 'ownershipTag' | 'onRemove'>> {
  /** Environments in the order of application. */
  readonly environments: readonly EnvironmentConfig[];
  /** Only a proposal: the operator decides which service receives the key. */
  readonly serviceUrl?: string;
  readonly serviceUrlLocation?: Location;
  readonly defaultTrafficType?: string;
  readonly references: { readonly segments: readonly string[]; readonly flags: readonly string[] };
  readonly prune: boolean;
  readonly suspend: boolean;
  /** Default: `auto`, the state is shared over origin where that is possible. */
  readonly pushState?: boolean;
  readonly guards: Guards;
  readonly lint?: LintSpec;
  readonly conditions?: NamedConditions;
  readonly windows?: readonly TimeWindow[];
  readonly freezes?: readonly Freeze[];
  readonly checks?: readonly RampCheck[];
}

export interface EnvironmentConfig extends Frozen<
  Omit<EnvironmentConfigSpec, 'guards' | 'windows'>
> {
  /** Name or id, as the config writes it. */
  readonly name: string;
  readonly guards: Guards;
  /** Names of the windows in which changes may go. Default: at any time. */
  readonly windows?: readonly string[];
}

export interface DesiredObject<T extends DesiredPart = DesiredPart> {
  readonly name: string;
  readonly location: Location;
  readonly trafficType: string;
  /** Never deleted, in any environment. */
  readonly protect?: true;
  readonly environments: ReadonlyMap<string, T>;
}

/** An object in one environment. */
interface DesiredPart {
  readonly location: Location;
}

export interface DesiredFlag extends DesiredObject<DesiredDefinition> {
  readonly fields: FlagFields;
  /** For the creation: `fields`, and those that people own afterwards. Unset if there are none of these. */
  readonly creation?: FlagFields;
  /** The only tag that git owns here; unset if git owns all tags, which then include it, or people do. */
  readonly ownershipTag?: string;
  /** Who answers for it; never sent. */
  readonly owner?: string;
  /** Day after which it should be gone (`2026-10-03`). */
  readonly expires?: string;
}

export interface DesiredDefinition extends DesiredPart {
  readonly fields: Definition;
  /** For the creation: `fields`, and those that later runs leave alone. */
  readonly creation: Required<Definition>;
  readonly unmanaged?: readonly DefinitionField[];
  /** The names of `fields.rules`, position by position; for people only. */
  readonly ruleNames: readonly (string | undefined)[];
  readonly ramps?: readonly DesiredRamp[];
  /** Fields whose value the time decides, by path; set by `timing`. */
  readonly timed?: ReadonlyMap<string, TimedField>;
  /** Guards that the flag may pass; each allowance counts for the change in which it was added. */
  readonly allow?: readonly Allowance[];
}

/** Positions of the rules whose shares grow by steps; null for the default rule. */
export function steppedRules({ ramps = [] }: DesiredDefinition): ReadonlySet<number | null> {
  return new Set(ramps.map(({ rule }) => rule));
}

/** Whether a definition with these fields changed has another share than its specs where it grows by steps. */
export function leavesSteps(
  { ramps = [], creation }: DesiredDefinition,
  live: Definition,
  changed: ReadonlySet<string>,
): boolean {
  return ramps.some((ramp) => {
    const buckets = bucketsOn(live, ramp);
    return changed.has(pathOf(ramp)) && buckets && !sameJson(buckets, bucketsOn(creation, ramp));
  });
}

/** How a planner treats a difference in such a field. */
export interface TimedField {
  /** Why it differs, if only the time changed it in git. */
  readonly reason?: Reason;
  /** Why it must not be written; unset if it may. */
  readonly held?: Pick<Withheld, 'why' | 'because'>;
  /** The value that git orders, if a failed check took its ramp back, or it stays beyond the last step: it waits for a person. */
  readonly waits?: Pick<Withheld, 'why'> & { readonly for: unknown; readonly because: string };
}

export interface Allowance {
  readonly guard: 'maxShift' | 'fullFlip';
  readonly reason: string;
}

export type SegmentMode = 'exact' | 'add-only' | 'external';

export interface DesiredSegment extends DesiredObject<DesiredActivation> {
  /** Set at creation only: the service cannot change it. */
  readonly description: string;
}

export interface DesiredActivation extends DesiredPart {
  readonly mode: SegmentMode;
  /** Unset if git manages only the activation. */
  readonly keys?: KeyList;
  readonly keysFile?: string;
}

/** The identities of a traffic type, which is their name; they are in environments only. */
export type DesiredIdentities = DesiredObject<DesiredKeys>;

export interface DesiredKeys extends DesiredPart {
  readonly keys: Identities;
}

export interface DesiredKill extends Frozen<KillSpec> {
  readonly flag: string;
  readonly environment: string;
  readonly location: Location;
}

/** For people: protected environments first, and within each group the one that is applied last. */
export function mostProtectedFirst(
  environments: readonly { readonly name: string; readonly protected?: boolean }[],
): string[] {
  const latest = environments.toReversed();
  return latest
    .toSorted((a, b) => Number(b.protected ?? false) - Number(a.protected ?? false))
    .map(({ name }) => name);
}

/** The flag with the live shares of an environment that are a step of its ramps there. */
export function onLiveSteps(flag: DesiredFlag, environment: string, live: Definition): DesiredFlag {
  const definition = flag.environments.get(environment);
  if (!definition?.ramps) return flag;
  const { ramps, fields, creation } = definition;
  const moved = <T extends Definition>(said: T): T =>
    ramps.reduce((side, ramp) => {
      const buckets = bucketsOn(live, ramp);
      const share = buckets && shareOnRamp(ramp, buckets);
      const isStep = ramp.steps.some(({ percent }) => percent === share);
      return buckets && isStep ? withBuckets(side, ramp, buckets) : side;
    }, said);
  const now = { ...definition, fields: moved(fields), creation: moved(creation) };
  return { ...flag, environments: new Map(flag.environments).set(environment, now) };
}
