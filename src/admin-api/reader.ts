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
 * Every read of the administration service. It has no verb that writes: a dry run is composed with this alone.
 *
 * Answers, in all of it:
 * - `undefined`: the service said clearly that there is no such thing;
 * - `null`: the service does not have this endpoint (the contract does not promise it); remembered for the run;
 * - a list is whole, or the call fails;
 * - a failure is thrown (`FlagkeelError`) and never looks like an absence.
 *
 * Environments go by id, flags and segments by name. All of it may be repeated.
 */
export interface AdminReader {
  /** Scheme, host and port, without a slash at the end. */
  readonly origin: string;
  listWorkspaces(): Promise<readonly WireWorkspace[]>;
  listEnvironments(workspaceId: string): Promise<readonly WireEnvironment[]>;
  listRolloutStatuses(workspaceId: string): Promise<readonly WireRolloutStatus[]>;
  listSegments(workspaceId: string): Promise<readonly WireSegment[]>;
  /** By name, then by each id that is given or was learned; only where all are 404 it is an absence. */
  getDefinition(
    workspaceId: string,
    environmentId: string,
    flag: { readonly name: string; readonly id?: string | undefined },
  ): Promise<WireDefinition | undefined>;
  /** Remembers for the run which id an answer to a write named; nothing is asked. */
  learnFlag(workspaceId: string, flag: Pick<WireFlag, 'name' | 'id'>): void;
  /** Remembers for the run that the service refused a write because it has no such flag; nothing is asked. */
  learnAbsence(workspaceId: string, flag: string): void;
  /** What answers of the run said of a flag by the way; undefined: nothing. Nothing is asked. */
  flagSaid(workspaceId: string, flag: string): { readonly id: string } | 'absent' | undefined;
  /** `undefined`: the segment is not active in the environment. Keys in the service's order. */
  listKeys(environmentId: string, segment: string): Promise<ListedKeys | undefined>;
  /**
   * The cheap look: one page of one key. `undefined`: not active; `null`: active, and the answer does not prove how many
   * keys there are.
   */
  countKeys(environmentId: string, segment: string): Promise<number | null | undefined>;

  listTrafficTypes(workspaceId: string): Promise<readonly WireTrafficType[] | null>;
  listFlags(workspaceId: string): Promise<readonly WireFlag[] | null>;
  /** One flag by itself. `null` also where the service has no flag of this name and was not yet seen to show any. */
  getFlag(workspaceId: string, flag: string): Promise<WireFlag | null | undefined>;
  /** @param onEach told of each as soon as it came; of some twice, where the list has to be read again. */
  listDefinitions(
    workspaceId: string,
    environmentId: string,
    onEach?: (definition: WireDefinition) => void,
  ): Promise<readonly WireDefinition[] | null>;
}

export interface ListedKeys {
  readonly keys: readonly string[];
  readonly openChangeRequestId: string | null;
}
