import type { ListedRequest } from '../model/change-request.js';
import type {
  WireDefinition,
  WireEnvironment,
  WireFlag,
  WireRolloutStatus,
  WireSegment,
  WireTrafficType,
  WireWorkspace,
} from './wire.js';

/**
 * All reads of the administration service. It cannot write, so that a dry run gets only this.
 *
 * For all methods:
 * - `undefined` means that the service clearly reported an absence;
 * - `null` means that the service lacks the endpoint, which the contract does not promise; remembered for the run;
 * - a list is complete, or the call fails;
 * - a failure is thrown (`FlagkeelError`) and never looks like an absence.
 *
 * Environments are given by id, flags and segments by name. Repeating is safe.
 */
export interface AdminReader {
  /** Scheme, host and port, without a slash at the end. */
  readonly origin: string;
  listWorkspaces(): Promise<readonly WireWorkspace[]>;
  listEnvironments(workspaceId: string): Promise<readonly WireEnvironment[]>;
  listRolloutStatuses(workspaceId: string): Promise<readonly WireRolloutStatus[]>;
  listSegments(workspaceId: string): Promise<readonly WireSegment[]>;
  /**
   * One request; `look` is the one caller, because a 404 of one key proves no absence.
   *
   * @param flag `key` is what the path has for the flag: its name, or an id.
   */
  getDefinition(
    workspaceId: string,
    environmentId: string,
    flag: { readonly name: string; readonly key: string },
  ): Promise<WireDefinition | undefined>;
  /** Remembers for the run the id in an answer to a write. Sends no request. */
  learnFlag(workspaceId: string, flag: Pick<WireFlag, 'name' | 'id'>): void;
  /** Remembers for the run that the service refused a write because it has no such flag. Sends no request. */
  learnAbsence(workspaceId: string, flag: string): void;
  /**
   * Facts about a flag from other answers of the run: its newest id, and all ids that it had, oldest first. undefined if
   * there are none. Sends no request.
   */
  flagSaid(workspaceId: string, flag: string): FlagSaid;
  /** Keys in the service's order; `undefined` if the segment is not active in the environment. */
  listKeys(environmentId: string, segment: string): Promise<ListedKeys | undefined>;
  /**
   * Counts keys cheaply, with one page of one key. `undefined` if the segment is not active; `null` if it is active but
   * the answer does not prove the number of keys.
   */
  countKeys(environmentId: string, segment: string): Promise<number | null | undefined>;

  listTrafficTypes(workspaceId: string): Promise<readonly WireTrafficType[] | null>;
  listFlags(workspaceId: string): Promise<readonly WireFlag[] | null>;
  /** One flag. `null` also if the service shows no flag of this name and has not shown any flag yet. */
  getFlag(workspaceId: string, flag: string): Promise<WireFlag | null | undefined>;
  /** @param onEach called for each definition on arrival; twice for some if the list has to be read again. */
  listDefinitions(
    workspaceId: string,
    environmentId: string,
    onEach?: (definition: WireDefinition) => void,
  ): Promise<readonly WireDefinition[] | null>;
  /** The open requests of an environment, oldest first, and the newest hundred rejected ones. */
  listChangeRequests(environmentId: string): Promise<readonly ListedRequest[] | null>;
}

export type FlagSaid =
  { readonly id: string; readonly ids: readonly string[] } | 'absent' | undefined;

export interface ListedKeys {
  readonly keys: readonly string[];
  readonly openChangeRequestId: string | null;
}
