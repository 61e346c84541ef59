import type {
  WireDefinition,
  WireDefinitionBody,
  WireIdentity,
  WirePatchOperation,
} from '../admin-api/wire.js';
import type { FlagFieldsChange } from './flag/flag.js';
import type { ObjectId } from './ref.js';

/** Unique within a plan and stable: `<change id>#<action>`, with a number behind it where one change needs several. */
export type StepId = string;

/**
 * One write to the service, as data: no closures, no clients, nothing that JSON would lose.
 *
 * `apply/executors.ts` runs it; the summary counts it.
 */
export type Step = StepHeader & StepRequest;

export interface StepHeader {
  readonly id: StepId;
  /** The change that this step is a part of. */
  readonly change: ObjectId;
  /** Steps that must have succeeded before. */
  readonly needs: readonly StepId[];
}

export type StepRequest =
  | {
      readonly action: 'create-flag';
      readonly flag: string;
      readonly trafficType: string;
      readonly description: string;
      /** The service cannot show a flag by itself: a refusal may mean that it is there, and has to be looked at. */
      readonly mayExist: boolean;
    }
  | {
      readonly action: 'patch-flag';
      readonly flag: string;
      /** Never empty. */
      readonly operations: readonly WirePatchOperation[];
      /** What the operations write, and what they were computed against. */
      readonly fields: FlagFieldsChange;
    }
  | {
      readonly action: 'delete-flag';
      readonly flag: string;
      /** The id that a run remembers, where no look showed whether it still is that flag. */
      readonly unseenId?: string;
    }
  /** Its definitions go with it. The members are those of a deletion. */
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
      /** Never empty; all are run or none is. */
      readonly operations: readonly WirePatchOperation[];
      /** The definition that the operations were computed against. */
      readonly expected: WireDefinition;
    }
  /**
   * Kills any flag, also one that this repository does not declare. Killing twice is killing once.
   */
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
       * Keys that the segment holds before, where it holds any: it must not hold fewer afterwards. On the first upload
       * of a change only; what goes wrong goes wrong there.
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
      /** Its id, or its name where the service was not seen to say an id. */
      readonly trafficTypeId: string;
      readonly environment: string;
      /** At most 10,000; each is taken or refused by itself. Writing one twice is writing it once. */
      readonly identities: readonly WireIdentity[];
    };

export type StepAction = StepRequest['action'];
export type StepOf<A extends StepAction> = StepHeader & Extract<StepRequest, { action: A }>;
