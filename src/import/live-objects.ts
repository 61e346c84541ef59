import type { Definition } from '../model/flag/flag.js';
import type { ActualFlag } from '../model/actual.js';

/** A live flag under the names of the specs. */
export interface LiveFlag {
  readonly name: string;
  readonly trafficType: string;
  readonly actual: ActualFlag;
  /** Definitions by the name that the config has for an environment, in config order. */
  readonly environments: ReadonlyMap<string, Required<Definition>>;
}

/** A live segment under the names of the specs. */
export interface LiveSegment {
  readonly name: string;
  readonly trafficType: string;
  readonly description: string;
  /** Environment, as the config names it → sorted keys; in config order. */
  readonly environments: ReadonlyMap<string, readonly string[]>;
}
