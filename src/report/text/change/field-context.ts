import type { Span } from '../layout.js';

/** One paragraph about one field. */
export type FieldLine = readonly Span[];

/** What the lines about the fields of one change need to know beside the fields. */
export interface FieldContext {
  /** Name the first keys of each list. */
  readonly showKeys: boolean;
  /** Names of the rules as they will be, position by position. */
  readonly ruleNames?: readonly (string | undefined)[];
}
