import type { Schema } from '../rules/matchers.js';
import { KEY_SCHEMA } from '../rules/keys.js';
import { NAME_SCHEMA } from '../rules/names.js';
import { WORDS_MEMBERS } from '../rules/note.js';

/** Bodies that more than one endpoint takes. */

/** Any text, the empty one included. */
export const TEXT: Schema = { type: 'string' };

/**
 * Title and comment alone, or nothing. Without anything to say, some clients send an empty list, and empty text to an
 * activation.
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

/** The body of a new segment. Its traffic type comes from the path alone. */
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

/** A list of patch operations of the given kinds. As RFC 6902 demands, further members of an operation are ignored. */
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

/**
 * The contract's patch: three operations, described by `op`, `path` and `value`. Other members are ignored, as RFC 6902
 * demands.
 */
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

/** The other three operations belong to the same standard (RFC 6902), so the service takes them too. */
export const PATCH_BODY: Schema = patchOf([...CONTRACT_OPERATIONS, 'move', 'copy', 'test']);

/** Keys of an upload have to be valid. A removal ignores keys that no segment can hold, so its keys may be any text. */
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

/** Keys in either of the two forms, because clients are known to send an upload both ways. */
export const UPLOAD_BODY: Schema = {
  ...UPLOAD_OBJECT_BODY,
  type: ['array', 'object'],
  items: KEY_SCHEMA,
};
