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

/** What a rule names, and where it does. */
export interface Reference {
  readonly kind: 'segment' | 'flag';
  readonly name: string;
  readonly treatments: readonly string[];
  readonly from: ResolvedFlag;
  readonly environment: string;
  readonly file: SpecFile;
  readonly path: readonly (string | number)[];
  /** Path of the treatments that the other flag must have. */
  readonly treatmentsPath: readonly (string | number)[];
}
