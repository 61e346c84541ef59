import type { Definition, FlagFields } from '../model/flag/flag.js';

/** A flag to be written to a file, with the names that specs use. */
export interface FlagToWrite {
  readonly name: string;
  readonly trafficType: string;
  /** Fields to write; the service keeps the others. */
  readonly fields: FlagFields;
  /** Environment, by its name in the config → every field of the definition, in config order. */
  readonly environments: ReadonlyMap<string, Required<Definition>>;
}

/** A segment to be written to a file, with the names that specs use. */
export interface SegmentToWrite {
  readonly name: string;
  readonly trafficType: string;
  readonly description: string;
  /**
   * Environment, by its name in the config → sorted keys, in config order; null if the keys are unknown and stay under
   * the service's control.
   */
  readonly environments: ReadonlyMap<string, readonly string[] | null>;
}

/** An environment to be written, in the order of application. */
export interface EnvironmentToWrite {
  /** Its name in the config. */
  readonly name: string;
  /** Whether the config marks it as protected. */
  readonly production: boolean;
}

/** A whole config repository. */
export interface RepositoryToWrite {
  /** Name or id, as in the config. */
  readonly workspace: string;
  readonly environments: readonly EnvironmentToWrite[];
  /** Sorted by name. */
  readonly flags: readonly FlagToWrite[];
  readonly segments: readonly SegmentToWrite[];
}
