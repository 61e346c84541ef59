import type { FlagSpec } from '../../generated/flag.schema.d.js';
import type { ResolvedDefinition } from './definition.js';
import type { SpecFile } from '../parse/parse-file.js';

/** A flag as its own files have it, before its references are checked. */
export interface ResolvedFlag {
  readonly name: string;
  readonly file: SpecFile;
  readonly trafficType: string;
  readonly spec: FlagSpec;
  /** Environments in the order of the files; those of overlays come last. */
  readonly environments: ReadonlyMap<string, ResolvedDefinition>;
}

/**
 * A name in a rule, and the rule. The exact place in the file is worked out only where something is
 * wrong with it.
 */
export interface Reference {
  readonly kind: 'segment' | 'flag';
  readonly name: string;
  /** Treatments that the rule expects the other flag to have. */
  readonly treatments: readonly string[];
  readonly from: ResolvedFlag;
  readonly environment: string;
  /** Position of the rule, from 0. */
  readonly rule: number;
  /** Position of the condition, from 0; null where the rule has one condition and not a list. */
  readonly condition: number | null;
  readonly members: ReferenceMembers;
}

/** Members that lead from a condition to what it names. */
export interface ReferenceMembers {
  readonly name: readonly string[];
  /** Members that lead to the treatments that the other flag must have; null: the condition does not say them itself. */
  readonly treatments: readonly string[] | null;
}
