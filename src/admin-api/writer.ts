import type { FlagFieldsChange } from '../model/flag/flag.js';
import type { ChangeRequest } from '../model/change-request.js';
import type { IdentitiesAnswer, ChangeNote } from '../model/outcome.js';
import type { Submission } from './change-requests.js';
import type {
  WireDefinition,
  WireDefinitionBody,
  WireFlag,
  WireIdentity,
  WirePatchOperation,
  WireSegment,
  WireSegmentInEnvironment,
} from './wire.js';

/**
 * All writes to the administration service, one request each.
 *
 * `note` goes into the query of every write, and also into the body if the service takes it there. A refusal is a
 * `RejectedError` with the status and message of the service; below 500 the write was not made. From 500 on, and after
 * `UNREACHABLE` and `UNREADABLE`, it is unknown whether it was made. A request is repeated only if `http/retry.ts`
 * allows it for its kind.
 */
export interface AdminWriter {
  createFlag(workspaceId: string, flag: NewObject, note: ChangeNote): Promise<WireFlag>;
  /**
   * @param fields written by the operations. With them, a patch of unknown fate is looked up, and repeated only if
   *   these fields are still unchanged. A patch without operations changes nothing, and returns the flag.
   */
  patchFlag(
    workspaceId: string,
    flag: string,
    operations: readonly WirePatchOperation[],
    note: ChangeNote,
    fields?: FlagFieldsChange,
  ): Promise<WireFlag>;
  deleteFlag(workspaceId: string, flag: string, note: ChangeNote): Promise<void>;
  /**
   * Archives a flag with its definitions, which the service keeps. A missing flag is no error.
   *
   * @throws FlagkeelError `NOT_ON_SERVICE`: the service cannot archive, and the flag still exists.
   */
  archiveFlag(workspaceId: string, flag: string, note: ChangeNote): Promise<void>;
  createDefinition(
    place: DefinitionTarget,
    body: WireDefinitionBody,
    note: ChangeNote,
  ): Promise<WireDefinition>;
  /**
   * Returns the answer if it is a definition; otherwise null, and the caller has to read the definition.
   *
   * @param expected the definition before the patch. With it, a patch of unknown fate is looked up, and repeated only
   *   if the definition is still unchanged.
   */
  patchDefinition(
    place: DefinitionTarget,
    operations: readonly WirePatchOperation[],
    note: ChangeNote,
    expected?: WireDefinition,
  ): Promise<WireDefinition | null>;
  deleteDefinition(place: DefinitionTarget, note: ChangeNote): Promise<void>;
  createSegment(workspaceId: string, segment: NewObject, note: ChangeNote): Promise<WireSegment>;
  activateSegment(
    environmentId: string,
    segment: string,
    note: ChangeNote,
  ): Promise<WireSegmentInEnvironment>;
  /** Appends; at most 10,000 keys. */
  uploadKeys(
    environmentId: string,
    segment: string,
    keys: readonly string[],
    note: ChangeNote,
  ): Promise<void>;
  /** At most 10,000 keys. */
  removeKeys(
    environmentId: string,
    segment: string,
    keys: readonly string[],
    note: ChangeNote,
  ): Promise<void>;
  /** `null` if the service lacks this endpoint. */
  deactivateSegment(environmentId: string, segment: string, note: ChangeNote): Promise<true | null>;
  deleteSegment(workspaceId: string, segment: string, note: ChangeNote): Promise<void>;
  /** Creates or updates each identity by itself; at most 10,000. */
  writeIdentities(
    place: IdentitiesTarget,
    identities: readonly WireIdentity[],
    note: ChangeNote,
  ): Promise<IdentitiesAnswer>;
  /** See `submitOnce` of `change-requests.ts`. */
  submitChangeRequest(submission: Submission): Promise<ChangeRequest | null>;
  /** Withdraws a request of ours. One that was decided or withdrawn meanwhile, or is gone, is no error. */
  withdrawChangeRequest(id: string): Promise<void>;
}

export interface NewObject {
  readonly name: string;
  /** Name. */
  readonly trafficType: string;
  readonly description: string;
}

export interface IdentitiesTarget {
  readonly trafficTypeId: string;
  /** Name. */
  readonly trafficType: string;
  readonly environmentId: string;
}

export interface DefinitionTarget {
  readonly workspaceId: string;
  /** May be its name on services that accept names. */
  readonly environmentId: string;
  /** Name. */
  readonly flag: string;
}
