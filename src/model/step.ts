import type {
  WireDefinition,
  WireDefinitionBody,
  WireIdentity,
  WirePatchOperation,
} from '../admin-api/wire.js';
import type { FlagFieldsChange } from './flag/flag.js';
import type { ObjectId } from './ref.js';

/** Unique within a plan and stable: `<change id>#<action>`, with a number appended if one change needs several. */
export type StepId = string;

/** One write to the service, as plain data that survives JSON. `apply/executors.ts` runs it; the summary counts it. */
export type Step = StepHeader & StepRequest;

export interface StepHeader {
  readonly id: StepId;
  /** The change that this step belongs to. */
  readonly change: ObjectId;
  /** Steps that must succeed first. */
  readonly needs: readonly StepId[];
}

export type StepRequest =
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
  | {
      readonly action: 'create-definition';
      readonly flag: string;
      readonly environment: string;
      readonly body: WireDefinitionBody;
    }
  | {
      readonly action: 'patch-definition';
      readonly flag: string;
      readonly environment: string;
      /** Never empty; the service runs all of them or none. */
      readonly operations: readonly WirePatchOperation[];
      /** The definition that the operations were computed against. */
      readonly expected: WireDefinition;
    }
  /** Kills any flag, even one that this repository does not declare. Safe to repeat. */
  | { readonly action: 'kill-flag'; readonly flag: string; readonly environment: string }
  | { readonly action: 'delete-definition'; readonly flag: string; readonly environment: string }
  | {
      readonly action: 'create-segment';
      readonly segment: string;
      readonly trafficType: string;
      readonly description: string;
    }
  | { readonly action: 'activate-segment'; readonly segment: string; readonly environment: string }
  | {
      readonly action: 'upload-keys';
      readonly segment: string;
      readonly environment: string;
      /** At most 10,000. */
      readonly keys: readonly string[];
      /**
       * The keys of the segment before the change, if there are any: the upload must not lose any of them. Only on the
       * first upload of a change, because a service that replaces instead of appending already shows it there.
       */
      readonly before?: readonly string[];
    }
  | {
      readonly action: 'remove-keys';
      readonly segment: string;
      readonly environment: string;
      /** At most 10,000. */
      readonly keys: readonly string[];
    }
  | {
      readonly action: 'deactivate-segment';
      readonly segment: string;
      readonly environment: string;
    }
  | { readonly action: 'delete-segment'; readonly segment: string }
  | {
      readonly action: 'write-identities';
      readonly trafficType: string;
      /** Its id, or its name where no answer showed an id. */
      readonly trafficTypeId: string;
      readonly environment: string;
      /** At most 10,000; the service accepts or refuses each by itself. Safe to repeat. */
      readonly identities: readonly WireIdentity[];
    };

export type StepAction = StepRequest['action'];
export type StepOf<A extends StepAction> = StepHeader & Extract<StepRequest, { action: A }>;
