import type { Actual } from '../../model/actual.js';
import type { BoundDesired } from '../../model/bound-desired.js';
import type { Reason, StepRequest } from '../../model/plan.js';
import type { ObjectRef } from '../../model/ref.js';
import type { Base } from '../../model/state.js';
import type { Fields } from '../fields.js';
import type { PlanInput } from '../input.js';
import type { Deed, ObjectPlan } from '../planned-change.js';
import type { PlannedEnvironment, WithheldReason } from '../policy.js';

/** The planner's rules for one kind of objects. `kinds.ts` lists the kinds. */
export interface PlannedKind {
  readonly plan: (input: PlanInput) => ObjectPlan[];
  /** As JSON: a change of the specs that leaves it equal does not concern the object. Undefined if not declared there. */
  readonly fingerprint: (desired: BoundDesired, ref: ObjectRef) => unknown;
  /**
   * The specs field by field, by which the commits behind an update are found. The paths are those of its fields. Null
   * for a kind that writes no fields.
   */
  readonly fieldsOf: ((desired: BoundDesired, ref: ObjectRef) => Fields | undefined) | null;
  readonly files: KindFiles;
  /** How a change reaches users: a definition serves them, or definitions ask about the keys. */
  readonly reaches: 'by-definition' | 'by-keys' | 'nobody';
  /** Null if the service cannot show such objects, so that a base holds what the service accepted. */
  readonly observed: ObservedKind | null;
}

/** Which files of the specs concern an object of a kind. Paths are relative to the config directory. */
export interface KindFiles {
  /** Whether the file's name marks it as the object's own. @param reason of the change in question. */
  readonly isOwn: (path: string, ref: ObjectRef, reason?: Reason) => boolean;
  /** Whether another file could concern the object all the same; true if in doubt. */
  readonly mayShape: (path: string, ref: ObjectRef) => boolean;
}

/** A kind that the service can show, so that each object is compared with its base and its live state. */
export interface ObservedKind {
  /** What a base remembers of a declared object; undefined if it is not declared in this place. */
  readonly spec: (desired: BoundDesired, ref: ObjectRef) => unknown;
  /**
   * The result of the single request that creates a declared object in one environment, without its kill. A kind whose
   * creation takes several requests has none: a half-made object looks like a changed one.
   */
  readonly created?: (desired: BoundDesired, ref: ObjectRef) => unknown;
  /**
   * The base of an object that was found equal only in part: equal fields are updated, all others stay. A kind whose
   * objects are one field in each place has none.
   */
  readonly withEqualFields?: (
    before: Base<unknown>,
    place: Sighting,
    input: PlanInput,
  ) => Base<unknown>;
  /** The base with what later runs need beside the spec. */
  readonly completed?: (base: Base<unknown>, place: Sighting, input: PlanInput) => Base<unknown>;
  /** How to remove an object of the inventory; undefined if it is gone. */
  readonly parts: (name: string, input: PlanInput) => Parts | undefined;
  /** Undefined if the object was not observed. */
  readonly seen: (actual: Actual, name: string) => SeenObject | undefined;
}

export interface SeenObject {
  /** For kinds that have ids. */
  readonly id?: string | undefined;
  readonly existence: 'present' | 'absent' | 'unknown';
  /** Environment name → whether the object exists there, for every environment that was read. */
  readonly places: ReadonlyMap<string, boolean>;
}

/** The writes that remove an object, whole or in one place. */
export interface Part extends Deed {
  /** Empty if it is removed together with the whole. */
  readonly requests: readonly StepRequest[];
  readonly held?: WithheldReason | undefined;
}

export interface Parts {
  /** Undefined if the service has nothing there. */
  readonly placeIn: (environment: PlannedEnvironment) => Part | undefined;
  readonly whole: () => Part;
}

export interface Sighting {
  readonly ref: ObjectRef;
  /** The base before this run. */
  readonly before: Base<unknown> | undefined;
  readonly head: string | null;
  /** Time of the observation, ISO 8601 in UTC; undefined to forget nothing. */
  readonly now: string | undefined;
}
