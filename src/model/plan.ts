import type {
  Change as WrittenChange,
  Field as WrittenField,
  Plan as WrittenPlan,
  Withheld as WrittenWithheld,
} from '../generated/plan.schema.d.js';
import type { ChangeRequest, RequestDraft } from './change-request.js';
import { present } from './collections.js';
import type { Location } from './diagnostic.js';
import type { Frozen, ItemOf } from './json.js';
import type { ChangeNote } from './outcome.js';
import type { ObjectId, ObjectRef } from './ref.js';
import type {
  WireContent,
  WireDefinition,
  WireIdentity,
  WirePatchOperation,
} from '../admin-api/wire.js';
import type { FlagFieldsChange } from './flag/fields.js';

/* `schemas/plan.schema.json` explains the members that plans write, `docs/plan.md` the reasons to withhold a change. */

export type Action = WrittenChange['action'];

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

export type WithheldWhy = WrittenWithheld['why'];

export interface FieldChange extends Omit<Frozen<WrittenField>, 'keys'> {
  /** Set for individual targets instead of the three values. */
  readonly keys?: KeyChange;
}

export type Rename = { readonly from: ObjectId } | { readonly to: ObjectId };

export interface KeyChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Identities whose attributes change. */
  readonly changed?: readonly string[];
  /** Of the keys after the change, see `KeyDigest`; of written identities, with their attributes. */
  readonly sha256: string;
}

/** The numbers that records and hashes have in place of the keys. */
export function keyCounts({ added, removed, changed }: KeyChange) {
  const counts = { added: added.length, removed: removed.length };
  return { ...counts, ...present({ changed: changed?.length }) };
}

/** The unit of review. */
export interface Change {
  readonly id: ObjectId;
  readonly ref: ObjectRef;
  readonly action: Action;
  readonly reason: Reason;
  /** Null if the specs no longer have the object. */
  readonly location: Location | null;
  readonly fields: readonly FieldChange[];
  readonly keys?: KeyChange;
  /** The service keeps the removed flag and its definitions in an archive, instead of deleting them. */
  readonly archive?: true;
  /** `KIND/NAME` of the object whose rename this creation or removal looks like. Does not affect what is written. */
  readonly rename?: Rename;
  /** Changes that must succeed before this one; sorted. */
  readonly dependsOn: readonly ObjectId[];
}

export type ShownField = ItemOf<WrittenPlan['shown']>;

/** The document of an earlier dry run. Those of older versions lack `shown`: they show nothing. */
export type ReviewedPlan = Frozen<
  Pick<WrittenPlan, 'origin' | 'shown'> & {
    workspace: Pick<WrittenPlan['workspace'], 'id'>;
    changes: (Pick<WrittenChange, 'id' | 'action' | 'archive' | 'keys'> & {
      fields: Pick<WrittenField, 'path' | 'keys'>[];
    })[];
  }
>;

export interface Withheld extends Change {
  readonly why: WithheldWhy;
  /** Clause: the exact obstacle. Unset if `why` says it all. */
  readonly because?: string;
  /** The environment's name in flagkeel.yaml. Unset if it is that of the id. */
  readonly place?: string;
  /** When a later run applies it without help, ISO 8601 in UTC. Unset if that moment is unknown, or never comes. */
  readonly until?: string;
  /** Ours: an open one that brings the change, or one that was rejected. */
  readonly request?: ChangeRequest;
  /** Only flagkeel.yaml says it, so that no file of the object can say what is live. */
  readonly ofConfig?: true;
  /** Runs write nothing but kills now, whatever else holds it. */
  readonly suspended?: true;
}

/** By `noteKey`. */
export type PlanNotes = ReadonlyMap<string, ChangeNote>;

/** The id of a change; with the reason if it is withheld, because an object may have written and withheld parts. */
export function noteKey(change: Change | Withheld): string {
  return 'why' in change ? `${change.id} ${change.why}` : change.id;
}

export function isCreation({ action }: Pick<Change, 'action'>): boolean {
  return action === 'create' || action === 'activate';
}

export function isRemoval({ action }: Pick<Change, 'action'>): boolean {
  return action === 'delete' || action === 'deactivate';
}

/** Whether a field kills its flag, by a change or at its creation. */
export function isKill({ path, after }: Pick<FieldChange, 'path' | 'after'>): boolean {
  return path === '/killed' && after === true;
}

export function takesKillBack({ fields }: Pick<Change, 'fields'>): boolean {
  return fields.some(({ path, after }) => path === '/killed' && after === false);
}

/** Plain data; equal inputs give equal plans. */
export interface Plan {
  /** In the order of application: dependencies first, and within an object environments in config order. */
  readonly changes: readonly Change[];
  /** Sorted by id. */
  readonly withheld: readonly Withheld[];
  /** Each step comes after all steps that it needs. */
  readonly steps: readonly Step[];
  /** Managed objects (as `ObjectRef` counts them) without a difference. */
  readonly unchanged: readonly ObjectId[];
  readonly observed: 'full' | 'touched';
  readonly unmanaged: { readonly flags: number; readonly segments: number } | null;
  /** Kills on the service that git did not order and this plan leaves; sorted by id. They do not count as changes. */
  readonly liveKills: readonly LiveKill[];
  /** Open change requests of ours for something that git no longer asks for; by object, then oldest first. */
  readonly withdrawals?: readonly Withdrawal[];
  /** Compared only in part, so that a difference may remain unseen; sorted by id. */
  readonly notCompared: readonly NotCompared[];
}

/**
 * A segment whose keys the run counted instead of comparing; a flag whose workspace level the service does not show, so
 * that only its base is known; or a definition that an interrupted run wrote, and that this one did not look at.
 */
export type NotCompared = ItemOf<WrittenPlan['notCompared']>;

/** Whether no run has looked at the object since an interrupted one wrote it. */
export function isNotLookedAt({ what }: Pick<NotCompared, 'what'>): boolean {
  return what === 'definition';
}

/** The fields of an object that people own: git said what its creation sends, and no run compares them. */
export type LeftToPeople = ItemOf<WrittenPlan['leftToPeople']>;

export interface Withdrawal {
  readonly id: ObjectId;
  readonly request: ChangeRequest;
}

export function withdrawStepId({ id, request }: Withdrawal): StepId {
  return `${id}#withdraw-request-${request.id}`;
}

/** A definition that is killed on the service, but not by an order of git. */
export interface LiveKill
  extends Omit<ItemOf<WrittenPlan['liveKills']>, 'wayOut'>, Pick<Withheld, 'place'> {
  readonly ref: ObjectRef;
  /** null if the specs do not declare it. */
  readonly location: Location | null;
}

export type Reminder = ItemOf<WrittenPlan['reminders']>;

/** A guard that stops a plan; the figures are in its own unit: objects, keys, or per cent. */
export type GuardFinding = Omit<ItemOf<WrittenPlan['guards']>, 'says'>;

export type GuardName = GuardFinding['guard'];

/** Guards that only `--force` passes: the changes that they find are rarely intended. */
export const FORCED_GUARDS: ReadonlySet<GuardName> = new Set([
  'emptyRepository',
  'anotherWorkspace',
]);

/** A guard that would stop a plan but that the specs allow it to pass. */
export type AllowedFinding = ItemOf<WrittenPlan['allowed']>;

/** Unique within a plan and stable: `<change id>#<action>`, with a number appended if one change needs several. */
export type StepId = string;

/** One write to the service, as plain data that survives JSON. */
export type Step = StepHeader & StepRequest;

export interface StepHeader {
  readonly id: StepId;
  readonly change: ObjectId;
  /** Steps that must succeed first. */
  readonly needs: readonly StepId[];
}

export type StepRequest = StepAct & {
  /** What to submit if the service refuses the act without an approval. Unset: the change waits for a person. */
  readonly ask?: RequestDraft;
};

interface InDefinition {
  readonly flag: string;
  readonly environment: string;
}

interface InSegment {
  readonly segment: string;
  readonly environment: string;
}

type StepAct =
  /** Withdraws a change request of ours before other steps of its object. */
  | { readonly action: 'withdraw-request'; readonly request: string }
  | {
      readonly action: 'create-flag';
      readonly flag: string;
      readonly trafficType: string;
      readonly description: string;
      /** The service cannot return a single flag: after a refusal the run checks whether the flag already exists. */
      readonly mayExist: boolean;
    }
  | {
      readonly action: 'patch-flag';
      readonly flag: string;
      /** Never empty. */
      readonly operations: readonly WirePatchOperation[];
      /** The fields that the operations write, and the values that they were computed from. */
      readonly fields: FlagFieldsChange;
    }
  | {
      readonly action: 'delete-flag';
      readonly flag: string;
      /** The remembered id, set if no answer showed whether the flag still has it. */
      readonly unseenId?: string;
    }
  /** Archives the flag's definitions too. The members are those of a deletion. */
  | { readonly action: 'archive-flag'; readonly flag: string; readonly unseenId?: string }
  | (InDefinition & { readonly action: 'create-definition'; readonly body: WireContent })
  | (InDefinition & {
      readonly action: 'patch-definition';
      /** Never empty; the service runs all of them or none. */
      readonly operations: readonly WirePatchOperation[];
      /** The definition that the operations were computed against. */
      readonly expected: WireDefinition;
    })
  /** Kills any flag, even one that this repository does not declare. Safe to repeat. */
  | (InDefinition & { readonly action: 'kill-flag' })
  | (InDefinition & { readonly action: 'delete-definition' })
  | {
      readonly action: 'create-segment';
      readonly segment: string;
      readonly trafficType: string;
      readonly description: string;
    }
  | (InSegment & { readonly action: 'activate-segment' })
  | (InSegment & { readonly action: 'deactivate-segment' })
  | (InSegment & {
      readonly action: 'upload-keys';
      /** At most 10,000. */
      readonly keys: readonly string[];
      /**
       * The keys of the segment before the change, if there are any: the upload must not lose any of them. Only on the
       * first upload of a change, because a service that replaces instead of appending already shows it there.
       */
      readonly before?: readonly string[];
    })
  /** At most 10,000 keys. */
  | (InSegment & { readonly action: 'remove-keys'; readonly keys: readonly string[] })
  | { readonly action: 'delete-segment'; readonly segment: string }
  | {
      readonly action: 'write-identities';
      readonly trafficType: string;
      /** Id of the traffic type, or its name where no answer showed an id. */
      readonly trafficTypeId: string;
      readonly environment: string;
      /** At most 10,000; the service accepts or refuses each by itself. Safe to repeat. */
      readonly identities: readonly WireIdentity[];
    };

export type StepAction = StepRequest['action'];
