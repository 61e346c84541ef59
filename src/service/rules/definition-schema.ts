import { closed, type Schema } from './shape.js';
import { CONTRACT_MATCHER_SCHEMA, matcherSchema } from './matchers.js';
import { WORDS_MEMBERS } from './members.js';

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
function treatmentSchema(isClosed: boolean): Schema {
  return {
    type: 'object',
    ...(isClosed ? { additionalProperties: false } : {}),
    required: ['name'],
    properties: {
      name: { type: 'string' },
      description: { type: 'string', maxLength: 10_000 },
      configurations: { type: 'string', description: 'JSON text.' },
      keys: {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        description: 'Individual targets: a set.',
      },
      segments: { type: 'array', items: { type: 'string', minLength: 1 } },
    },
  };
}

/** The most rules of a definition: more than people can read, and few enough to check quickly. */
export const MAX_RULES = 250;
export const MAX_MATCHERS = 20;

/** The contract shows `AND` as the only combiner. */
function ruleSchema(isClosed: boolean, isContract = false): Schema {
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
      items: ruleSchema(isClosed),
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

const CONTRACT_TREATMENT: Schema = closed(
  {
    name: { type: 'string' },
    description: { type: 'string', maxLength: 10_000 },
    keys: { type: 'array', items: { type: 'string', minLength: 1 } },
  },
  ['name'],
);

/** The contract shows neither flag sets nor impressions. */
const {
  flagSets: _flagSets,
  impressionsDisabled: _impressions,
  ...CONTRACT_MEMBERS
} = CLOSED_MEMBERS;

export const CONTRACT_DEFINITION_BODY = {
  ...DEFINITION_SCHEMA,
  additionalProperties: false,
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    environment: CONTRACT_REFERENCE,
    trafficType: CONTRACT_REFERENCE,
    ...CONTRACT_MEMBERS,
    treatments: { ...CONTRACT_MEMBERS.treatments, items: CONTRACT_TREATMENT },
    rules: { ...CONTRACT_MEMBERS.rules, items: ruleSchema(true, true) },
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
