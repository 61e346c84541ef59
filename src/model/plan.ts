import type { Location } from './diagnostic.js';
import type { ChangeNote } from './outcome.js';
import type { ObjectId, ObjectRef } from './ref.js';
import type { Step } from './step.js';

export type Action = 'create' | 'update' | 'delete' | 'activate' | 'deactivate';

/** Why something changes, strongest first. */
export const REASONS = [
  'kill',
  'restore',
  'conflict',
  'commit',
  'prune',
  'ramp',
  'drift',
  'adopt',
  'unknown',
] as const;

export type Reason = (typeof REASONS)[number];

/** Why something that would change is left alone. */
export type WithheldWhy =
  /** Removed from git, and `prune` is off. */
  | 'prune-off'
  /** Removed from git, but no ancestor of HEAD is seen to have declared it. */
  | 'no-witness'
  /** Removed from git, but what stands under its name has another id than a run remembers. */
  | 'not-ours'
  /** Removed from git, and its spec says `protect: true`, or said so when it went. */
  | 'protected'
  /** Removed from git, but something still uses it or it lives on elsewhere. */
  | 'still-in-use'
  /** Changed on the service only, and `onDrift` is `report`. */
  | 'drift-reported'
  /** Changed on the service only, and corrected three times within an hour: somebody else keeps writing it. */
  | 'contested'
  /** Changed on both sides, and `onConflict` is `hold`. */
  | 'conflict-held'
  /** It differs in a protected environment, no run remembers it here, and nobody said `--adopt`. */
  | 'adopt-needed'
  /** The service sets this at creation only. */
  | 'immutable'
  /** A live kill that git did not order. */
  | 'live-kill'
  /** The service wants an approval first. */
  | 'approval-needed'
  /** Nothing else stands against it than that the run is suspended. */
  | 'suspended'
  /** A step of a ramp, or what stands where one was: somebody changed the share on the service. */
  | 'ramp-held'
  /** A freeze of its environment holds, or no window of it is open, and it goes at `until`. */
  | 'window-closed'
  /** An earlier object that this one needs is withheld. */
  | 'needs-withheld'
  /** Its specs are the same as at the revision that the reviewed plan starts from. */
  | 'not-reviewed'
  /** Identities, of which nothing is remembered that would tell whether they were written already. */
  | 'not-remembered'
  /** Identities, or attributes of them, that left git: they are never deleted. */
  | 'stays-on-service';

/** One managed field that differs. */
export interface FieldChange {
  /** JSON Pointer into the canonical form, for example `/defaultRule`. */
  readonly path: string;
  readonly reason: Reason;
  /** Absent member: the side has no such value. Lists of keys are never in here: see `keys`. */
  readonly base?: unknown;
  readonly before?: unknown;
  readonly after?: unknown;
  /** Set for individual targets instead of the three values. */
  readonly keys?: KeyChange;
}

/** `KIND/NAME` of the other side. */
export type Rename = { readonly from: ObjectId } | { readonly to: ObjectId };

export interface KeyChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** For identities only: keys whose attributes change. */
  readonly changed?: readonly string[];
  /** SHA-256 of the keys as they will be, see `KeyDigest`; of identities those that are written, with their attributes. */
  readonly sha256: string;
}

/** What a person reviews: one object, workspace-wide or in one environment. */
export interface Change {
  readonly id: ObjectId;
  readonly ref: ObjectRef;
  readonly action: Action;
  readonly reason: Reason;
  /** Null where the object no longer stands in the specs. */
  readonly location: Location | null;
  readonly fields: readonly FieldChange[];
  readonly keys?: KeyChange;
  /** For a flag that goes whole, and its definitions, which go with it: the service keeps them. Absent: they are deleted. */
  readonly archive?: true;
  /**
   * For an object that is created or removed: the object that it looks like a rename of, or to. It
   * has no effect on what is written.
   */
  readonly rename?: Rename;
  /** Changes that must succeed before this one; sorted. */
  readonly dependsOn: readonly ObjectId[];
}

export interface Withheld extends Change {
  readonly why: WithheldWhy;
  /** What to do about it, or what it waits for; one clause. */
  readonly wayOut: string;
  /** When it goes by itself, ISO 8601 in UTC. Absent: it does not, or nobody knows when. */
  readonly until?: string;
}

/** Title and comment of what is planned, by `noteKey`. */
export type PlanNotes = ReadonlyMap<string, ChangeNote>;

/** The id of a change; of what is withheld the reason too, because parts of one object may be written and withheld. */
export function noteKey(change: Change | Withheld): string {
  return 'why' in change ? `${change.id} ${change.why}` : change.id;
}

/** The difference between desired and actual, and how to close it. Plain data; equal inputs give equal plans. */
export interface Plan {
  /**
   * Changes in the order of application: what others need comes first, and within an object
   * environments are in config order.
   */
  readonly changes: readonly Change[];
  /** Sorted by id. */
  readonly withheld: readonly Withheld[];
  /** A step comes after all that it needs. */
  readonly steps: readonly Step[];
  /** Objects (as `ObjectRef` counts them) that are managed and equal. */
  readonly unchanged: readonly ObjectId[];
  readonly observed: 'full' | 'touched';
  readonly unmanaged: { readonly flags: number; readonly segments: number } | null;
  /** Kills on the service that git does not order and this plan leaves; sorted by id. They are no changes. */
  readonly liveKills: readonly LiveKill[];
  /** What was looked at less closely than the rest, so that nobody knows whether it is equal; sorted by id. */
  readonly notCompared: readonly NotCompared[];
}

/**
 * The keys of a segment were counted, and not compared one by one; or the service does not show a flag at workspace
 * level, so that only the base says what is there.
 */
export interface NotCompared {
  readonly id: ObjectId;
  readonly what: 'keys' | 'fields';
  readonly why: 'counted' | 'not-shown';
}

/** A definition of ours that is killed on the service, and not by an order of git. */
export interface LiveKill {
  readonly id: ObjectId;
  readonly ref: ObjectRef;
  /** Where the specs declare the definition. */
  readonly location: Location;
  /** When a run first saw it, ISO 8601 in UTC; null: no run remembers that. */
  readonly seen: string | null;
  /** HEAD of that run; null: no run remembers that. */
  readonly commit: string | null;
  /** Git ordered it when it was last found equal, and HEAD does so no more, without taking it back: a revert, for example. */
  readonly wasOrdered?: true;
}

/** Something that the specs wanted somebody to look at again. Nothing changes by itself. */
export interface Reminder {
  readonly id: ObjectId;
  /** A kill is past its `review`, or a flag past its `expires`. */
  readonly what: 'review' | 'expiry';
  /** As the specs write it: a day, or a moment with its offset. */
  readonly due: string;
  /** Of a kill: why, and who ordered it; untrusted text. */
  readonly reason?: string;
  readonly by?: string;
}

/** What a guard counts. */
export type GuardName =
  | 'maxDeletes'
  | 'maxDeletePercent'
  | 'maxKeyRemovals'
  | 'maxKeyRemovalPercent'
  /** A protected environment in which everybody, or everybody whom no rule matches, gets another treatment, in per cent. */
  | 'fullFlip'
  /** Specs without a single flag or segment, over an inventory that is not empty. */
  | 'emptyRepository'
  /** A flag that may serve more of the traffic another treatment than the limit, in per cent. */
  | 'maxShift'
  /** Specs that were applied to another workspace so far, and never to this one. */
  | 'anotherWorkspace';

/** Guards that only `--force` lets a plan pass: what they see is rarely meant. */
export const FORCED_GUARDS: ReadonlySet<GuardName> = new Set([
  'emptyRepository',
  'anotherWorkspace',
]);

/** A guard that a plan runs into. */
export interface GuardFinding {
  readonly guard: GuardName;
  /** Null for a guard of the whole workspace. */
  readonly environment: string | null;
  /** The object that it is about, where it is about one. */
  readonly id?: ObjectId;
  /** The figure that was found, in the guard's own unit: objects, keys, or per cent. */
  readonly found: number;
  readonly limit: number;
  /** Id of the other workspace, where it is about one. */
  readonly workspace?: string;
  /** The specs hold an `allow` for it that came with an earlier change, or nobody can tell. */
  readonly spentAllow?: true;
}

/** A guard that a plan runs into and that the specs let it pass. */
export interface AllowedFinding extends GuardFinding {
  readonly guard: 'maxShift' | 'fullFlip';
  readonly environment: string;
  readonly id: ObjectId;
  readonly reason: string;
}
