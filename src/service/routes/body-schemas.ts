import type { Schema } from '../rules/matchers.js';
import { KEY_SCHEMA } from '../rules/keys.js';
import { NAME_SCHEMA } from '../rules/names.js';
import { WORDS_MEMBERS } from '../rules/note.js';

/** Bodies that more than one endpoint takes. */

/** Any text, the empty one included. */
export const TEXT: Schema = { type: 'string' };

/**
 * Title and comment alone, or nothing. Of clients that have nothing to say some send an empty list, and to an
 * activation empty text.
 */
export const WORDS_BODY: Schema = {
  type: ['object', 'array', 'string', 'null'],
  maxItems: 0,
  additionalProperties: false,
  properties: WORDS_MEMBERS,
};

/** The body of a new traffic type. */
export const NEW_TRAFFIC_TYPE_BODY: Schema = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: { name: NAME_SCHEMA, ...WORDS_MEMBERS },
};

/** The body of a new segment. Its traffic type stands in the path alone. */
export const NEW_SEGMENT_BODY: Schema = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: NAME_SCHEMA,
    description: { type: ['string', 'null'], maxLength: 10_000 },
    ...WORDS_MEMBERS,
  },
};

/** A JSON Pointer (RFC 6901). */
const POINTER: Schema = { type: 'string', pattern: '^(/([^~\\u0000]|~[01])*)?$' };

/** The member that an operation needs besides its path. */
const NEEDED: Readonly<Record<string, string>> = {
  add: 'value',
  replace: 'value',
  test: 'value',
  move: 'from',
  copy: 'from',
};

/**
 * A list of patch operations, of those that are named here alone. Further members of an operation are passed over, as
 * RFC 6902 has it.
 */
const patchOf = (operations: readonly string[]): Schema => ({
  type: 'array',
  maxItems: 10_000,
  items: {
    type: 'object',
    required: ['op', 'path'],
    properties: { op: { enum: operations }, path: POINTER, from: POINTER, value: true },
    allOf: conditionsFor(operations),
  },
});

function conditionsFor(operations: readonly string[]): Schema[] {
  return Object.entries(NEEDED)
    .filter(([operation]) => operations.includes(operation))
    .map(([operation, needed]) => ({
      if: { properties: { op: { const: operation } } },
      then: { required: [needed] },
    }));
}

const CONTRACT_OPERATIONS = ['replace', 'add', 'remove'];

/** The contract's patch: three operations, described by `op`, `path` and `value`. RFC 6902 has other members passed over. */
export const CONTRACT_PATCH_BODY: Schema = {
  type: 'array',
  maxItems: 10_000,
  items: {
    type: 'object',
    required: ['op', 'path'],
    properties: { op: { enum: CONTRACT_OPERATIONS }, path: POINTER, value: true },
    allOf: conditionsFor(CONTRACT_OPERATIONS),
  },
};

/** The contract's body of a new flag or segment. */
export const CONTRACT_NEW_OBJECT_BODY: Schema = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: { name: NAME_SCHEMA, description: { type: 'string', maxLength: 10_000 } },
};

/** The other three operations belong to the same standard (RFC 6902) and are taken too. */
export const PATCH_BODY: Schema = patchOf([...CONTRACT_OPERATIONS, 'move', 'copy', 'test']);

/** The same, of an upload; a removal passes over what no segment holds. */
const NEW_KEYS: Schema = { type: 'array', items: KEY_SCHEMA };

/** Keys as a bare list. */
export const KEYS_ARRAY_BODY: Schema = { type: 'array', items: TEXT };

/** The contract's body of a removal, which has no place for a title. */
export const CONTRACT_REMOVAL_BODY: Schema = {
  type: 'object',
  required: ['keys'],
  additionalProperties: false,
  properties: { keys: KEYS_ARRAY_BODY, comment: TEXT },
};

/** Keys as a member beside title and comment. */
export const KEYS_OBJECT_BODY: Schema = {
  type: 'object',
  required: ['keys'],
  additionalProperties: false,
  properties: { keys: KEYS_ARRAY_BODY, ...WORDS_MEMBERS },
};

/** The contract's body of an upload. */
export const CONTRACT_UPLOAD_BODY: Schema = NEW_KEYS;

/** Keys of an upload as a member beside title and comment. */
export const UPLOAD_OBJECT_BODY: Schema = {
  type: 'object',
  required: ['keys'],
  additionalProperties: false,
  properties: { keys: NEW_KEYS, ...WORDS_MEMBERS },
};

/** Keys in either of the two forms: clients are known to send an upload both ways. */
export const UPLOAD_BODY: Schema = {
  ...UPLOAD_OBJECT_BODY,
  type: ['array', 'object'],
  items: KEY_SCHEMA,
};
