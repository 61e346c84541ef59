import type { FlagSpec } from '../../generated/flag.schema.d.js';
import type { ResolvedDefinition } from './definition.js';
import type { SpecFile } from '../parse/parse-file.js';

/** A flag according to its own files, before its references are checked. */
export interface ResolvedFlag {
  readonly name: string;
  readonly file: SpecFile;
  readonly trafficType: string;
  readonly spec: FlagSpec;
  /** Environments in the order of the files; those of overlays come last. */
  readonly environments: ReadonlyMap<string, ResolvedDefinition>;
}

/** A name in a rule, and the rule. The exact place in the file is computed only for a diagnostic. */
export interface Reference {
  readonly kind: 'segment' | 'flag';
  readonly name: string;
  /** Treatments that the rule expects the other flag to have. */
  readonly treatments: readonly string[];
  readonly from: ResolvedFlag;
  readonly environment: string;
  /** Position of the rule, from 0. */
  readonly rule: number;
  /** Position of the condition, from 0; null if the rule has one condition instead of a list. */
  readonly condition: number | null;
  /** Members that lead from the condition to the names in it; `treatments` is null if they come from elsewhere. */
  readonly members: {
    readonly name: readonly string[];
    readonly treatments: readonly string[] | null;
  };
}
