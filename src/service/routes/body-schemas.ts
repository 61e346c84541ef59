import { closed, type Schema } from '../rules/matchers.js';
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

export const NEW_TRAFFIC_TYPE_BODY: Schema = closed({ name: NAME_SCHEMA, ...WORDS_MEMBERS }, [
  'name',
]);

/** The contract's body of a new flag or segment. The traffic type comes from the path alone. */
export const CONTRACT_NEW_OBJECT_BODY = closed(
  { name: NAME_SCHEMA, description: { type: 'string', maxLength: 10_000 } },
  ['name'],
);

export const NEW_SEGMENT_BODY: Schema = {
  ...CONTRACT_NEW_OBJECT_BODY,
  properties: { ...CONTRACT_NEW_OBJECT_BODY.properties, ...WORDS_MEMBERS },
};

/** A JSON Pointer (RFC 6901). */
const POINTER: Schema = { type: 'string', pattern: '^(/([^~\\u0000]|~[01])*)?$' };

const NEEDED: Readonly<Record<string, string>> = {
  add: 'value',
  replace: 'value',
  test: 'value',
  move: 'from',
  copy: 'from',
};

/** A list of patch operations of the given kinds. As RFC 6902 demands, further members of an operation are ignored. */
const patchOf = (operations: readonly string[], more: Schema = {}): Schema => ({
  type: 'array',
  maxItems: 10_000,
  items: {
    type: 'object',
    required: ['op', 'path'],
    properties: { op: { enum: operations }, path: POINTER, ...more, value: true },
    allOf: Object.entries(NEEDED)
      .filter(([operation]) => operations.includes(operation))
      .map(([operation, needed]) => ({
        if: { properties: { op: { const: operation } } },
        then: { required: [needed] },
      })),
  },
});

const CONTRACT_OPERATIONS = ['replace', 'add', 'remove'];
/** The contract's patch: three operations, described by `op`, `path` and `value`. */
export const CONTRACT_PATCH_BODY: Schema = patchOf(CONTRACT_OPERATIONS);
/** The other three operations belong to the same standard (RFC 6902), so the service takes them too. */
export const PATCH_BODY: Schema = patchOf([...CONTRACT_OPERATIONS, 'move', 'copy', 'test'], {
  from: POINTER,
});

export const KEYS_ARRAY_BODY: Schema = { type: 'array', items: TEXT };

/** The contract's body of an upload. Its keys have to be valid; a removal ignores keys that no segment can hold. */
export const CONTRACT_UPLOAD_BODY: Schema = { type: 'array', items: KEY_SCHEMA };

const keysBody = (keys: Schema, words: Schema): Schema => closed({ keys, ...words }, ['keys']);

export const CONTRACT_REMOVAL_BODY = keysBody(KEYS_ARRAY_BODY, { comment: TEXT });
export const KEYS_OBJECT_BODY = keysBody(KEYS_ARRAY_BODY, WORDS_MEMBERS);
export const UPLOAD_OBJECT_BODY = keysBody(CONTRACT_UPLOAD_BODY, WORDS_MEMBERS);

/** Keys in either of the two forms, because clients are known to send an upload both ways. */
export const UPLOAD_BODY: Schema = {
  ...UPLOAD_OBJECT_BODY,
  type: ['array', 'object'],
  items: KEY_SCHEMA,
};
