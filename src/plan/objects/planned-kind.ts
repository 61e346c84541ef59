import type { Actual } from '../../model/actual.js';
import type { BoundDesired } from '../../model/bound-desired.js';
import type { DesiredObjects } from '../../model/desired.js';
import type { Location } from '../../model/diagnostic.js';
import type { Reason } from '../../model/plan.js';
import type { Kind, ObjectRef } from '../../model/ref.js';
import type { ScopedObjects } from '../../model/scope.js';
import type { Base, State } from '../../model/state.js';
import type { Fields } from '../fields.js';
import type { PlanInput } from '../input.js';
import type { ObjectPlan } from '../planned-change.js';
import type { PlannedEnvironment, PlanPolicy } from '../policy.js';

/** All that the planner has to know of one kind of objects. The kinds stand together in the table of `kinds.ts`. */
export interface PlannedKind {
  /** Lower ranks go first where nothing else decides; among removals they go last. Each kind has a rank of its own. */
  readonly rank: number;
  /** Everything of the kind that the specs declare, in their order; one object may stand here once per environment. */
  readonly declarations: (desired: BoundDesired) => readonly DeclaredObject[];
  /** The member of the specs that holds the kind, with those objects alone that a run looks at. */
  readonly inScope: (desired: BoundDesired, policy: PlanPolicy) => Partial<DesiredObjects>;
  /** Plans the objects that the specs declare and the policy lets through. */
  readonly plan: (input: PlanInput) => ObjectPlan[];
  /** Plans what git used to declare of one object of the inventory and no longer does. */
  readonly planRemoval: (name: string, input: PlanInput) => ObjectPlan[];
  /**
   * What the specs say of an object in an environment, or at workspace level (null), as JSON: a change of the specs
   * that leaves it as it is was not about this object. Undefined: the specs do not declare it there.
   */
  readonly fingerprint: (
    desired: BoundDesired,
    name: string,
    environment: Pick<PlannedEnvironment, 'name'> | null,
  ) => unknown;
  /**
   * The same field by field, with the paths that a plan gives its differences. Absent: a change of such an object is
   * one of all of it, and has no fields.
   */
  readonly fieldsOf?: (
    desired: BoundDesired,
    name: string,
    environment: Pick<PlannedEnvironment, 'name'> | null,
  ) => Fields | undefined;
  /** The names that the service had for the object when its base was taken; undefined: there is no such base. */
  readonly namesInBase: (state: State, name: string) => NamesInBase | undefined;
  readonly files: KindFiles;
  /** By what a change reaches people: a definition serves them, keys are asked about by definitions. */
  readonly reaches: 'by-definition' | 'by-keys' | 'nobody';
  /** Null: the service cannot show such objects, so that a base of one is what the service was seen to take. */
  readonly observed: ObservedKind | null;
}

/** What of an object is a name that the service lists elsewhere. */
export interface NamesInBase {
  readonly trafficType: string;
  /** Of flags alone. */
  readonly rolloutStatus?: string | undefined;
}

/** Which files of the specs speak of an object of a kind. Paths are relative to the config directory. */
export interface KindFiles {
  /** Whether the file is the object's own by its name. @param reason of the change that is asked about. */
  readonly isOwn: (path: string, ref: ObjectRef, reason?: Reason) => boolean;
  /** Whether a file that is not its own could be about the object all the same; rather once too often. */
  readonly mayShape: (path: string, ref: ObjectRef) => boolean;
}

/** A kind of which the service shows the objects, so that each is compared with its base and with what is there. */
export interface ObservedKind {
  /** By name. */
  readonly declared: (desired: BoundDesired) => ReadonlyMap<string, DeclaredObject>;
  /** Which objects of the kind have to be observed for a plan; see `scopeOf`. */
  readonly scope: (input: ScopeInput) => KindScope;
  /** The named objects with all that the service has of them in these environments. */
  readonly wholeScope: (
    names: readonly string[],
    environments: readonly string[],
  ) => Partial<ScopedObjects>;
  /** What a base remembers of a declared object at workspace level. Undefined: it is not declared. */
  readonly workspaceBase: (desired: BoundDesired, name: string) => unknown;
  /** What a base remembers of it in one environment. Undefined: it is not declared there. */
  readonly environmentBase: (
    desired: BoundDesired,
    name: string,
    environment: Pick<PlannedEnvironment, 'name'>,
  ) => unknown;
  /**
   * What the single request that creates a declared object in one environment makes of it, but for a kill. Undefined: its
   * creation takes several requests, so that one that is half made cannot be told from one that somebody changed.
   */
  readonly createdBase: (
    desired: BoundDesired,
    name: string,
    environment: Pick<PlannedEnvironment, 'name'>,
  ) => unknown;
  /**
   * The base of an object of which not all was found equal: the fields that were are of now, all others keep theirs.
   *
   * @param environment null: the workspace level.
   */
  readonly withEqualFields: (
    before: Base<unknown>,
    place: {
      readonly name: string;
      readonly environment: PlannedEnvironment | null;
      readonly head: string | null;
    },
    input: PlanInput,
  ) => Base<unknown>;
  /** The base with what it has to remember besides, from run to run. */
  readonly completed: (
    base: Base<unknown>,
    place: RememberedPlace,
    input: PlanInput,
  ) => Base<unknown>;
  /** The id that the service shows, where objects of the kind have one. */
  readonly serviceId: (actual: Actual, name: string) => string | undefined;
  /** Environment name → whether the object is there, for every environment that was looked at. */
  readonly places: (actual: Actual, name: string) => ReadonlyMap<string, boolean>;
  /** Whether the service was seen to have no such object. Unknown is not gone. */
  readonly isGone: (actual: Actual, name: string) => boolean;
  /** Whether the service was seen to have the object. Unknown is not there. */
  readonly isThere: (actual: Actual, name: string) => boolean;
}

export interface DeclaredObject {
  readonly name: string;
  readonly location: Location;
  readonly trafficType: string;
  /** Of flags alone. */
  readonly fields?: { readonly rolloutStatus?: string };
  /** Never deleted, in no environment. */
  readonly protect?: true;
  /** By the environment's name on the service. */
  readonly environments: ReadonlyMap<string, unknown>;
}

/**
 * Of which segments the number of keys is enough, where neither git nor that number has changed: of none, of those with
 * more keys than 20 pages hold, or of all.
 */
export type KeyCounting = 'never' | 'large' | 'always';

/** What decides which objects are observed. */
export interface ScopeInput {
  readonly desired: BoundDesired;
  readonly state: State;
  readonly policy: PlanPolicy;
  /** Names of all environments of the workspace. */
  readonly allEnvironments: readonly string[];
  readonly counting: KeyCounting;
  /** What changed rules name outside the filter of the run: names, and where they have to be there. */
  readonly needed: ReadonlyMap<Kind, ReadonlyMap<string, ReadonlySet<string>>>;
}

export interface KindScope {
  readonly objects: Partial<ScopedObjects>;
  /** Whether anything of the inventory is not wholly declared any more. */
  readonly hasRemovals: boolean;
}

export interface RememberedPlace {
  readonly name: string;
  readonly environment: PlannedEnvironment;
  /** What was remembered before this run. */
  readonly before: Base<unknown> | undefined;
  readonly head: string | null;
  /** The time of the look, ISO 8601 in UTC; undefined: not told. */
  readonly now: string | undefined;
}
