import { closed, type Schema } from './shape.js';

const TEXT: Schema = { type: 'string', minLength: 1 };
const TEXTS: Schema = { type: 'array', items: { type: 'string' }, minItems: 1 };
const NUMBER: Schema = { type: 'number' };
const TIME: Schema = { type: 'integer', description: 'Milliseconds since the epoch.' };
const between = (bound: Schema): Schema => closed({ from: bound, to: bound }, ['from', 'to']);

/** The attribute whose value is compared. It is optional for types that do not demand it below. */
const ATTRIBUTE = { attribute: TEXT };
const SET = { ...ATTRIBUTE, strings: TEXTS };
const ON_DATE = { ...ATTRIBUTE, date: TIME };
const NUMERIC = { ...ATTRIBUTE, number: NUMBER };
const SEMVER = { ...ATTRIBUTE, string: TEXT };

/**
 * The fields that a matcher of each known type must have, from public documentation of such services. The service takes
 * and keeps matchers of other types unchanged, because new types appear.
 */
const MATCHER_FIELDS: Readonly<Record<string, Readonly<Record<string, Schema>>>> = {
  IN_SEGMENT: { string: TEXT },
  IN_LARGE_SEGMENT: { string: TEXT },
  IN_RULE_BASED_SEGMENT: { string: TEXT },
  IN_SPLIT: {
    depends: {
      type: 'object',
      required: ['splitName'],
      properties: { splitName: TEXT, treatments: TEXTS, treatment: TEXT },
      anyOf: [{ required: ['treatments'] }, { required: ['treatment'] }],
    },
  },
  EQUAL_SET: SET,
  ANY_OF_SET: SET,
  ALL_OF_SET: SET,
  PART_OF_SET: SET,
  ON_DATE,
  ON_OR_AFTER_DATE: ON_DATE,
  ON_OR_BEFORE_DATE: ON_DATE,
  BETWEEN_DATE: { ...ATTRIBUTE, between: between(TIME) },
  EQUAL_NUMBER: NUMERIC,
  LESS_THAN_OR_EQUAL_NUMBER: NUMERIC,
  GREATER_THAN_OR_EQUAL_NUMBER: NUMERIC,
  BETWEEN_NUMBER: { ...ATTRIBUTE, between: between(NUMBER) },
  BOOLEAN: { ...ATTRIBUTE, bool: { type: 'boolean' } },
  IN_LIST_STRING: { strings: TEXTS },
  STARTS_WITH_STRING: { strings: TEXTS },
  ENDS_WITH_STRING: { strings: TEXTS },
  CONTAINS_STRING: { strings: TEXTS },
  MATCHES_STRING: { string: TEXT },
  EQUAL_TO_SEMVER: SEMVER,
  GREATER_THAN_OR_EQUAL_TO_SEMVER: SEMVER,
  LESS_THAN_OR_EQUAL_TO_SEMVER: SEMVER,
  BETWEEN_SEMVER: { ...ATTRIBUTE, between: between(TEXT) },
  IN_LIST_SEMVER: { ...ATTRIBUTE, strings: TEXTS },
};

export const KNOWN_MATCHER_TYPES: readonly string[] = Object.keys(MATCHER_FIELDS);

/** Of any known type: some clients send all of them, whatever the type. */
const ANY_MEMBERS = Object.fromEntries(
  ['type', 'negate', ...Object.values(MATCHER_FIELDS).flatMap((fields) => Object.keys(fields))].map(
    (name) => [name, true],
  ),
);

/** None of these members may be null, whatever the type of the matcher and whether it uses them. */
const MATCHER_MEMBERS = {
  ...Object.fromEntries(Object.keys(ANY_MEMBERS).map((name) => [name, { not: { type: 'null' } }])),
  type: TEXT,
  negate: { type: 'boolean' },
  attribute: { type: 'string' },
} satisfies Schema;

/**
 * @param isClosed whether matchers of known types may have known members only. Any other member may be misspelt, and
 * `negat: true` would serve the contrary.
 */
export function matcherSchema(isClosed: boolean): Schema {
  return {
    type: 'object',
    description:
      'Which further fields stand here depends on `type`; unknown types are kept as they are.',
    required: ['type'],
    properties: MATCHER_MEMBERS,
    allOf: Object.entries(MATCHER_FIELDS).map(([type, fields]) => ({
      if: { properties: { type: { const: type } } },
      then: {
        required: Object.keys(fields),
        properties: { ...(isClosed ? ANY_MEMBERS : {}), ...fields },
        ...(isClosed ? { additionalProperties: false } : {}),
      },
    })),
  };
}

/** The contract says that it does not show all types, so a strict service takes those of public documentation too. */
export const CONTRACT_MATCHER_SCHEMA: Schema = {
  ...matcherSchema(true),
  properties: { ...MATCHER_MEMBERS, type: { enum: KNOWN_MATCHER_TYPES } },
};
