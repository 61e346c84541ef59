import { DEFINITION_SCHEMA } from '../rules/definition-schema.js';
import type { Schema } from '../rules/shape.js';
import { OPERATIONS } from '../store/tables.js';

/**
 * Shapes of answers, for the description of the service. Answers may hold more members than stand here; those that
 * stand under `required` are always there.
 */

const TEXT: Schema = { type: 'string' };
const TIME: Schema = { type: 'integer', description: 'Milliseconds since the epoch.' };
const COUNT: Schema = { type: 'integer', minimum: 0 };
const SEED: Schema = {
  ...COUNT,
  description: 'Of the hash that gives keys to treatments. A strict service leaves it out.',
};
const TRUTH: Schema = { type: 'boolean' };
const NULL: Schema = { type: 'null' };
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, NULL] });
const listOf = (items: Schema): Schema => ({ type: 'array', items });

function record(required: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema {
  return {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional },
  };
}

export const KEY_TYPE: Schema = { enum: ['admin', 'server_side', 'client_side'] };

const NAMED = { id: TEXT, name: TEXT };
const REFERENCE = record(NAMED);
/** The contract shows null or a list, and leaves the shape of an element open. */
const TAGS = orNull(listOf(record({ name: TEXT })));
/** Clients write the types of attributes in small letters or in capitals, and expect to read what they wrote. */
export const DATA_TYPE: Schema = {
  enum: [...['string', 'number', 'datetime', 'set'].flatMap((t) => [t, t.toUpperCase()]), null],
};
const ATTRIBUTE = record({
  id: TEXT,
  trafficTypeId: TEXT,
  displayName: TEXT,
  description: TEXT,
  dataType: DATA_TYPE,
  isSearchable: TRUTH,
  suggestedValues: listOf(TEXT),
});
/** Every page of a list repeats the offset and the limit that were in force for it. */
const PAGE = { offset: COUNT, limit: COUNT };

const { flagSets, impressionsDisabled, ...members } = DEFINITION_SCHEMA.properties;

/** By the name under which `/openapi.json` has them. Objects of the contract have the members of its tables. */
export const ANSWER_SCHEMAS = {
  Error: record({
    code: { type: 'integer', description: 'Equal to the HTTP status.' },
    message: { type: 'string', minLength: 1 },
    details: orNull(TEXT),
    transactionId: orNull(TEXT),
  }),
  True: { const: true },
  Workspace: record({
    ...NAMED,
    type: { const: 'workspace' },
    requiresTitleAndComments: TRUTH,
  }),
  Environment: record(
    { id: TEXT, name: TEXT, production: TRUTH },
    {
      apiTokens: {
        ...listOf(record({ id: TEXT, name: TEXT, type: TEXT, apiKeyType: KEY_TYPE, key: TEXT })),
        description:
          'The keys of its applications, in the answer of its creation and nowhere else.',
      },
    },
  ),
  TrafficType: record(
    { id: TEXT, name: TEXT },
    {
      displayAttributeId: orNull(TEXT),
      workspace: record({ type: { const: 'workspace' }, id: TEXT }),
    },
  ),
  Attribute: ATTRIBUTE,
  AttributePage: record({
    objects: listOf(ATTRIBUTE),
    nextMarker: orNull(TEXT),
    previousMarker: orNull(TEXT),
    limit: COUNT,
    count: COUNT,
  }),
  RolloutStatus: record({ id: TEXT, name: TEXT, description: TEXT }),
  Flag: record(
    {
      ...NAMED,
      description: TEXT,
      trafficType: REFERENCE,
      creationTime: TIME,
      rolloutStatus: REFERENCE,
      rolloutStatusTimestamp: TIME,
      tags: TAGS,
    },
    { owners: listOf(record({ id: TEXT, type: { enum: ['User', 'Team'] } })) },
  ),
  Tag: record({ name: TEXT, objectType: { const: 'Split' }, objectName: TEXT }),
  Definition: record(
    {
      ...NAMED,
      environment: REFERENCE,
      trafficType: REFERENCE,
      ...members,
      creationTime: TIME,
      lastUpdateTime: TIME,
    },
    {
      flagSets,
      impressionsDisabled,
      openChangeRequestId: { ...TEXT, description: 'Only while a change is requested.' },
      seed: SEED,
      trafficAllocationSeed: SEED,
    },
  ),
  Segment: record({
    name: TEXT,
    description: TEXT,
    trafficType: REFERENCE,
    creationTime: TIME,
    tags: TAGS,
  }),
  SegmentInEnvironment: record({
    name: TEXT,
    environment: REFERENCE,
    trafficType: REFERENCE,
    creationTime: TIME,
  }),
  SegmentDefinition: record({
    environmentURN: record({ type: { const: 'Environment' }, id: TEXT, name: TEXT }),
    name: TEXT,
    description: TEXT,
    status: { const: 'ACTIVE' },
    creationTime: TIME,
    lastUpdateTime: TIME,
    type: { const: 'Segment' },
  }),
  SegmentKeys: record({
    keys: listOf(record({ key: TEXT })),
    openChangeRequestId: orNull(TEXT),
    count: { ...COUNT, description: 'Keys in the whole segment.' },
    ...PAGE,
  }),
  RemovedKeys: record({ code: { const: 200 }, message: TEXT, details: NULL, transactionId: NULL }),
  Identity: record({
    key: TEXT,
    values: { type: 'object', additionalProperties: { type: 'string' } },
  }),
  SavedIdentities: record({
    objects: listOf({ $ref: '#/components/schemas/Identity' }),
    failed: listOf(record({ object: {}, status: COUNT, message: TEXT })),
    metadata: NULL,
    offset: NULL,
    limit: NULL,
    count: NULL,
    total: NULL,
  }),
  ChangeRequest: record({
    id: TEXT,
    status: { enum: ['REQUESTED', 'PUBLISHED', 'REJECTED', 'WITHDRAWN'] },
    operationType: { enum: OPERATIONS },
    title: orNull(TEXT),
    comment: orNull(TEXT),
    split: orNull(record({ name: TEXT, environment: REFERENCE })),
    segment: orNull(record({ name: TEXT, keys: listOf(TEXT) })),
    workspace: record({ type: { const: 'workspace' }, id: TEXT }),
    environment: REFERENCE,
    approvers: listOf(TEXT),
    comments: listOf(
      record({
        comment: orNull(TEXT),
        user: TEXT,
        role: { enum: ['SUBMITTER', 'APPROVER'] },
        timestamp: TIME,
      }),
    ),
    rolloutStatus: orNull(record({ id: TEXT })),
    creationTime: TIME,
  }),
  AuditEntry: record({
    id: COUNT,
    time: TIME,
    transactionId: TEXT,
    workspaceId: orNull(TEXT),
    environment: orNull(TEXT),
    environmentId: orNull(TEXT),
    kind: TEXT,
    name: TEXT,
    action: TEXT,
    title: orNull(TEXT),
    comment: orNull(TEXT),
    keyId: orNull(TEXT),
    keyName: orNull(TEXT),
    difference: { type: 'array' },
  }),
  AdminKey: record(
    {
      ...NAMED,
      apiKeyType: KEY_TYPE,
      creationTime: TIME,
      revocationTime: orNull(TIME),
      expirationTime: orNull(TIME),
      lastUseTime: orNull(TIME),
      workspaces: orNull(listOf(TEXT)),
      environments: orNull(listOf(TEXT)),
    },
    { key: { ...TEXT, description: 'In the answer of its creation, and nowhere else.' } },
  ),
} as const satisfies Readonly<Record<string, Schema>>;

export type AnswerName = keyof typeof ANSWER_SCHEMAS;

export const answer = (name: AnswerName): Schema => ({ $ref: `#/components/schemas/${name}` });
/** At the root of the answer, which is how the contract answers lists without pages. */
export const answerList = (name: AnswerName): Schema => listOf(answer(name));
/** A page of a list whose pages follow each other by a marker. */
export const answerMarked = (name: AnswerName): Schema =>
  record({
    data: answerList(name),
    nextMarker: orNull(TEXT),
    previousMarker: NULL,
    limit: COUNT,
    count: COUNT,
  });
export const answerPage = (name: AnswerName): Schema =>
  record({ objects: answerList(name), ...PAGE, totalCount: COUNT });
