import type { Definition, FlagFields } from '../model/flag/flag.js';

/** A flag that is to be said in a file, under the names of the specs. */
export interface FlagToWrite {
  readonly name: string;
  readonly trafficType: string;
  /** Absent fields are left as the service has them. */
  readonly fields: FlagFields;
  /** Environment, as the config names it → every field of the definition; in config order. */
  readonly environments: ReadonlyMap<string, Required<Definition>>;
}

/** A segment that is to be said in a file, under the names of the specs. */
export interface SegmentToWrite {
  readonly name: string;
  readonly trafficType: string;
  readonly description: string;
  /**
   * Environment, as the config names it → sorted keys; in config order. Null: who is in it is not known, and is left to
   * the service.
   */
  readonly environments: ReadonlyMap<string, readonly string[] | null>;
}

/** An environment that is written, in the order of application. */
export interface EnvironmentToWrite {
  /** As the config names it. */
  readonly name: string;
  /** Whether the config says that it is protected. */
  readonly production: boolean;
}

/** A whole config repository. */
export interface RepositoryToWrite {
  /** Name or id, as the config names it. */
  readonly workspace: string;
  readonly environments: readonly EnvironmentToWrite[];
  /** Sorted by name. */
  readonly flags: readonly FlagToWrite[];
  readonly segments: readonly SegmentToWrite[];
}
