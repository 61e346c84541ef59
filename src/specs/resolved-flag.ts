import type { FlagSpec } from '../generated/flag.schema.d.ts';
import type { ResolvedDefinition } from './definition-block.js';
import type { SpecFile } from './parse-file.js';

/** A flag as its own files have it. */
export interface ResolvedFlag {
  readonly name: string;
  readonly file: SpecFile;
  readonly trafficType: string;
  readonly spec: FlagSpec;
  /** In the order of the files; an overlay's environments last. */
  readonly environments: ReadonlyMap<string, ResolvedDefinition>;
}

/** What a rule names, and where it does: its place is worked out where something is wrong with it. */
export interface Reference {
  readonly kind: 'segment' | 'flag';
  readonly name: string;
  readonly treatments: readonly string[];
  readonly from: ResolvedFlag;
  readonly environment: string;
  /** Position of the rule. */
  readonly rule: number;
  /** Position of the condition; null where the rule has one and no list. */
  readonly condition: number | null;
  readonly members: ReferenceMembers;
}

/** Members from a condition to what it names. */
export interface ReferenceMembers {
  readonly name: readonly string[];
  /** To the treatments that the other flag must have. */
  readonly treatments: readonly string[];
}
