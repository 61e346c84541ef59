import { MATCHER_SCHEMA, type Schema } from './matchers.js';

const TREATMENT_SCHEMA: Schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    description: { type: ['string', 'null'], maxLength: 10_000 },
    configurations: { type: ['string', 'null'], description: 'JSON text.' },
    keys: {
      type: ['array', 'null'],
      items: { type: 'string', minLength: 1 },
      description: 'Individual targets: a set.',
    },
    segments: { type: ['array', 'null'], items: { type: 'string', minLength: 1 } },
  },
};

const BUCKETS_SCHEMA: Schema = {
  type: 'array',
  description: 'The sizes sum to 100.',
  items: {
    type: 'object',
    required: ['treatment', 'size'],
    properties: {
      treatment: { type: 'string' },
      size: { type: 'integer', minimum: 0, maximum: 100 },
    },
  },
};

const RULE_SCHEMA: Schema = {
  type: 'object',
  required: ['buckets', 'condition'],
  properties: {
    buckets: BUCKETS_SCHEMA,
    condition: {
      type: 'object',
      required: ['matchers'],
      properties: {
        combiner: { enum: ['AND', null] },
        matchers: { type: 'array', minItems: 1, items: MATCHER_SCHEMA },
      },
    },
  },
};

/** The members of a definition that a client may set. Others may stand beside them and are not looked at. */
export const DEFINITION_SCHEMA = {
  type: 'object',
  required: ['treatments', 'defaultTreatment', 'defaultRule'],
  properties: {
    killed: { type: ['boolean', 'null'] },
    treatments: { type: 'array', minItems: 2, maxItems: 20, items: TREATMENT_SCHEMA },
    defaultTreatment: { type: 'string' },
    baselineTreatment: { type: ['string', 'null'] },
    trafficAllocation: { type: ['integer', 'null'], minimum: 0, maximum: 100 },
    rules: { type: ['array', 'null'], items: RULE_SCHEMA },
    defaultRule: BUCKETS_SCHEMA,
    flagSets: { type: ['array', 'null'], items: { type: 'object' } },
    impressionsDisabled: { type: ['boolean', 'null'] },
  },
} as const satisfies Schema;
