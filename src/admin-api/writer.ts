import type { FlagFieldsChange } from '../model/flag/flag.js';
import type { IdentitiesAnswer, ChangeNote } from '../model/outcome.js';
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
 * Every write to the administration service, one request each.
 *
 * `note` go into the query of every write, and into the body too where the service takes them there. A refusal is a
 * `RejectedError` with the service's status and note; below 500 the write was not made. From 500 on, and after
 * `UNREACHABLE` and `UNREADABLE`, it is unknown whether it was made. Nothing in here is sent a second time unless `api/retry.ts` says that this kind of request bears it.
 */
export interface AdminWriter {
  createFlag(
    workspaceId: string,
    flag: { name: string; trafficType: string; description: string },
    note: ChangeNote,
  ): Promise<WireFlag>;
  /**
   * @param fields what the operations write; with it a patch of unknown fate is looked up, and sent again only where
   *   these fields are still what they were before. A patch without operations changes nothing, and answers the flag.
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
   * Takes a flag away with its definitions, which the service keeps. That it is gone already is no error.
   *
   * @throws FlagkeelError `NOT_ON_SERVICE`: the service cannot archive; the flag is there.
   */
  archiveFlag(workspaceId: string, flag: string, note: ChangeNote): Promise<void>;
  createDefinition(
    place: DefinitionTarget,
    body: WireDefinitionBody,
    note: ChangeNote,
  ): Promise<WireDefinition>;
  /**
   * The answer where the service gives one that is a definition; otherwise null, and it has to be read back.
   *
   * @param expected what is patched; with it a patch of unknown fate is looked up, and sent again only where the
   *   definition is still that.
   */
  patchDefinition(
    place: DefinitionTarget,
    operations: readonly WirePatchOperation[],
    note: ChangeNote,
    expected?: WireDefinition,
  ): Promise<WireDefinition | null>;
  deleteDefinition(place: DefinitionTarget, note: ChangeNote): Promise<void>;
  createSegment(
    workspaceId: string,
    segment: { name: string; trafficType: string; description: string },
    note: ChangeNote,
  ): Promise<WireSegment>;
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
  /** `null`: the service does not have this endpoint. */
  deactivateSegment(environmentId: string, segment: string, note: ChangeNote): Promise<true | null>;
  deleteSegment(workspaceId: string, segment: string, note: ChangeNote): Promise<void>;
  /** Creates or updates, each by itself; at most 10,000. */
  writeIdentities(
    place: IdentitiesTarget,
    identities: readonly WireIdentity[],
    note: ChangeNote,
  ): Promise<IdentitiesAnswer>;
}

export interface IdentitiesTarget {
  readonly trafficTypeId: string;
  /** Name. */
  readonly trafficType: string;
  readonly environmentId: string;
}

export interface DefinitionTarget {
  readonly workspaceId: string;
  /** Or its name, on services that find it by that. */
  readonly environmentId: string;
  /** Name. */
  readonly flag: string;
}
