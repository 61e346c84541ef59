import { closed, type Schema } from './shape.js';
import { WORDS_MEMBERS } from './members.js';

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
function matcherSchema(isClosed: boolean): Schema {
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
const CONTRACT_MATCHER_SCHEMA: Schema = {
  ...matcherSchema(true),
  properties: { ...MATCHER_MEMBERS, type: { enum: KNOWN_MATCHER_TYPES } },
};

/** JSON Schema cannot demand that they sum to 100, so `definition.ts` checks it. */
const BUCKETS_SCHEMA: Schema = {
  type: 'array',
  description: 'The sizes sum to 100.',
  items: closed(
    { treatment: { type: 'string' }, size: { type: 'integer', minimum: 0, maximum: 100 } },
    ['treatment', 'size'],
  ),
};

/** `configurations` and `segments` are of public documentation. `members.ts` checks the names themselves. */
const TREATMENT_MEMBERS = {
  name: { type: 'string' },
  description: { type: 'string', maxLength: 10_000 },
  configurations: { type: 'string', description: 'JSON text.' },
  keys: { type: 'array', items: TEXT, description: 'Individual targets: a set.' },
  segments: { type: 'array', items: TEXT },
} satisfies Readonly<Record<string, Schema>>;

function treatmentSchema(isClosed: boolean): Schema {
  return {
    type: 'object',
    ...(isClosed ? { additionalProperties: false } : {}),
    required: ['name'],
    properties: TREATMENT_MEMBERS,
  };
}

/** The most rules of a definition: more than people can read, and few enough to check quickly. */
export const MAX_RULES = 250;
export const MAX_MATCHERS = 20;

interface SchemaForm {
  readonly isClosed: boolean;
  readonly isContract?: boolean;
}

/** The contract shows `AND` as the only combiner. */
function ruleSchema({ isClosed, isContract = false }: SchemaForm): Schema {
  const matchers = {
    type: 'array',
    minItems: 1,
    ...(isClosed ? { maxItems: MAX_MATCHERS } : {}),
    items: isContract ? CONTRACT_MATCHER_SCHEMA : matcherSchema(isClosed),
  };
  const condition = closed({ combiner: { enum: ['AND'] }, matchers }, ['matchers']);
  return closed({ buckets: BUCKETS_SCHEMA, condition }, ['buckets', 'condition']);
}

/**
 * The members of a definition that a client may set. None of them may be null, nor a known member of a treatment, a
 * rule or a matcher. Number and form of treatments are those of public documentation.
 *
 * @param isClosed whether treatments and matchers may have known members only. New content has to; stored content need
 * not, or a definition of an earlier version could not even be killed.
 */
function definitionMembers(isClosed: boolean) {
  return {
    killed: { type: 'boolean' },
    treatments: { type: 'array', minItems: 2, maxItems: 20, items: treatmentSchema(isClosed) },
    defaultTreatment: { type: 'string' },
    baselineTreatment: { type: 'string' },
    trafficAllocation: { type: 'integer', minimum: 0, maximum: 100 },
    rules: {
      type: 'array',
      ...(isClosed ? { maxItems: MAX_RULES } : {}),
      items: ruleSchema({ isClosed }),
    },
    defaultRule: BUCKETS_SCHEMA,
    flagSets: { type: 'array', items: { type: 'object' } },
    impressionsDisabled: { type: 'boolean' },
  } as const satisfies Readonly<Record<string, Schema>>;
}

export const DEFINITION_SCHEMA = {
  type: 'object',
  required: ['treatments', 'defaultTreatment', 'defaultRule'],
  properties: definitionMembers(false),
} as const satisfies Schema;

const CONTRACT_REFERENCE: Schema = closed({ id: { type: 'string' }, name: { type: 'string' } });

/** As answers have it, or an id or name alone. */
const OWNER_SCHEMA: Schema = { ...CONTRACT_REFERENCE, type: ['object', 'string'] };

const CLOSED_MEMBERS = definitionMembers(true);

/**
 * The body that makes a definition, or replaces it. Clients send back everything that they read: the owners of the
 * definition, which `checkBelongs` compares with the path, and times and seeds, which are ignored. Any other member is
 * refused, because it may be misspelt. Clients send `rules: null` for a definition without rules.
 */
export const DEFINITION_BODY = {
  ...DEFINITION_SCHEMA,
  additionalProperties: false,
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    environment: OWNER_SCHEMA,
    trafficType: OWNER_SCHEMA,
    ...CLOSED_MEMBERS,
    rules: { ...CLOSED_MEMBERS.rules, type: ['array', 'null'] },
    creationTime: { type: 'integer' },
    lastUpdateTime: { type: 'integer' },
    openChangeRequestId: { type: ['string', 'null'] },
    seed: { type: 'integer' },
    trafficAllocationSeed: { type: 'integer' },
    ...WORDS_MEMBERS,
  },
} as const satisfies Schema;

/**
 * A definition after a patch. Members with a default must still be there: removing `trafficAllocation` must not mean
 * 100 percent, and removing `killed` must not end a kill.
 */
export const PATCHED_DEFINITION_SCHEMA = {
  ...DEFINITION_SCHEMA,
  required: [...DEFINITION_SCHEMA.required, 'killed', 'trafficAllocation', 'baselineTreatment'],
} as const satisfies Schema;

/** The contract shows neither configurations nor segments of treatments, and neither flag sets nor impressions. */
const { configurations: _texts, segments: _names, ...CONTRACT_TREATMENT } = TREATMENT_MEMBERS;
const { flagSets: _sets, impressionsDisabled: _impressions, ...CONTRACT_MEMBERS } = CLOSED_MEMBERS;

export const CONTRACT_DEFINITION_BODY = {
  ...DEFINITION_SCHEMA,
  additionalProperties: false,
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    environment: CONTRACT_REFERENCE,
    trafficType: CONTRACT_REFERENCE,
    ...CONTRACT_MEMBERS,
    treatments: { ...CONTRACT_MEMBERS.treatments, items: closed(CONTRACT_TREATMENT, ['name']) },
    rules: { ...CONTRACT_MEMBERS.rules, items: ruleSchema({ isClosed: true, isContract: true }) },
  },
} as const satisfies Schema;

export const CONTRACT_DEFINITION_SCHEMA = {
  ...CONTRACT_DEFINITION_BODY,
  properties: {
    ...CONTRACT_DEFINITION_BODY.properties,
    creationTime: true,
    lastUpdateTime: true,
    openChangeRequestId: true,
  },
} as const satisfies Schema;
