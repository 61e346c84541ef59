/** A JSON Schema (2020-12) as data. */
export type Schema = Readonly<Record<string, unknown>>;

const TEXT: Schema = { type: 'string', minLength: 1 };
const TEXTS: Schema = { type: 'array', items: { type: 'string' }, minItems: 1 };
const NUMBER: Schema = { type: 'number' };
const TIME: Schema = { type: 'integer', description: 'Milliseconds since the epoch.' };
/** A range, as the types `BETWEEN_…` hold it. */
const between = (bound: Schema): Schema => ({
  type: 'object',
  additionalProperties: false,
  required: ['from', 'to'],
  properties: { from: bound, to: bound },
});

/**
 * The attribute whose value is compared. Where a type below does not demand it, it may still be
 * given.
 */
const ATTRIBUTE = { attribute: TEXT };
const SET = { ...ATTRIBUTE, strings: TEXTS };
const ON_DATE = { ...ATTRIBUTE, date: TIME };
const NUMERIC = { ...ATTRIBUTE, number: NUMBER };
const SEMVER = { ...ATTRIBUTE, string: TEXT };

/**
 * The fields that a matcher of each known type must have. Public documentation of such services; types that do not
 * stand here are taken and kept as they come, for a service learns new ones.
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

/** The types whose fields are checked, in the order above. */
export const KNOWN_MATCHER_TYPES: readonly string[] = Object.keys(MATCHER_FIELDS);

/** Members that a matcher of any known type may hold, used by it or not: some clients send all of them, most empty. */
const ANY_MEMBERS = Object.fromEntries(
  ['type', 'negate', ...Object.values(MATCHER_FIELDS).flatMap((fields) => Object.keys(fields))].map(
    (name) => [name, true],
  ),
);

/**
 * A matcher. The contract shows `type` and `string`, with the type `IN_SEGMENT` alone.
 *
 * @param isClosed whether a matcher of a known type may hold no member that no known type has: it may be one that was
 *   misspelt, and `negat: true` would serve the contrary.
 */
export function matcherSchema(isClosed: boolean): Schema {
  return {
    type: 'object',
    description:
      'Which further fields stand here depends on `type`; unknown types are kept as they are.',
    required: ['type'],
    properties: {
      type: TEXT,
      negate: { type: ['boolean', 'null'] },
      attribute: { type: ['string', 'null'] },
    },
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

/**
 * A matcher on a strict service. The contract says that there are other types than the one that it shows, so that those of
 * public documentation are taken; a type that neither shows is refused.
 */
export const CONTRACT_MATCHER_SCHEMA: Schema = {
  ...matcherSchema(true),
  properties: {
    type: { enum: KNOWN_MATCHER_TYPES },
    negate: { type: 'boolean' },
    attribute: { type: 'string' },
  },
};
