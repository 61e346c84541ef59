import type { Form, Json } from '../json.js';

/* Both the spec and the service's answer take this form before they are compared: sets sorted, shorthands expanded. */

export interface Treatment {
  readonly name: string;
  /** Unset if git does not manage it: the live description stays. */
  readonly description?: string;
  /** The parsed value of the wire's JSON text. Unset if git does not manage it. */
  readonly configuration?: Json;
}

export interface Bucket {
  readonly treatment: string;
  /** Whole per cent, 0 to 100; a list sums to 100. */
  readonly size: number;
}

/** One matcher in the wire's shape without nulls, `negate: false`, or order in its sets. */
export type Matcher = { readonly type: string } & Readonly<Record<string, Json>>;

export interface Rule {
  readonly matchers: readonly Matcher[];
  readonly buckets: readonly Bucket[];
}

/** Git does not manage the absent fields of a desired one: runs leave them as the service has them. */
export interface Definition {
  /** In bucket order. */
  readonly treatments?: readonly Treatment[];
  /** Individual targets: treatment → sorted, unique, non-empty keys. */
  readonly targets?: Readonly<Record<string, readonly string[]>>;
  readonly defaultTreatment?: string;
  readonly baselineTreatment?: string;
  /** Whole per cent. */
  readonly trafficAllocation?: number;
  /** First match wins. */
  readonly rules?: readonly Rule[];
  readonly defaultRule?: readonly Bucket[];
  readonly killed?: boolean;
}

export type DefinitionField = keyof Definition;

const BUCKETS: Form = [{ treatment: 'text', size: 'count' }];

/** What a state may hold of each field, in the order in which plans show them. */
export const DEFINITION_FORMS: Readonly<Record<DefinitionField, Form>> = {
  killed: 'boolean',
  treatments: [{ name: 'text', 'description?': 'text' }],
  targets: { '*': ['text'] },
  defaultTreatment: 'text',
  baselineTreatment: 'text',
  trafficAllocation: 'count',
  rules: [{ matchers: [{ type: 'text' }], buckets: BUCKETS }],
  defaultRule: BUCKETS,
};

export const DEFINITION_FIELDS = Object.keys(DEFINITION_FORMS) as readonly DefinitionField[];

/** The fields in the order in which a file has them. */
export const DEFINITION_FIELDS_IN_FILE = [
  'treatments',
  'defaultTreatment',
  'baselineTreatment',
  'killed',
  'trafficAllocation',
  'targets',
  'rules',
  'defaultRule',
] as const satisfies readonly DefinitionField[];

const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['true', true],
  ['off', false],
  ['false', false],
]);

/** Whether a flag with these treatments answers true or false. */
export function isSwitch(treatments: readonly string[]): boolean {
  return treatments.every((name) => TRUTHS.has(name));
}

/** What a treatment is to OpenFeature: a truth value for a flag that is a switch; otherwise its name. */
export function openFeatureValue(
  treatment: string,
  treatments: readonly string[],
): boolean | string {
  return isSwitch(treatments) ? (TRUTHS.get(treatment) ?? treatment) : treatment;
}
