import type { Schema } from '../rules/matchers.js';

/** Bodies that more than one endpoint takes. */

export const TEXT: Schema = { type: 'string' };

const OPTIONAL_TEXT: Schema = { type: ['string', 'null'] };

export const WORDS_MEMBERS: Readonly<Record<string, Schema>> = {
  title: OPTIONAL_TEXT,
  comment: OPTIONAL_TEXT,
};

/** A new flag or segment. Whatever else stands in it is passed over. */
export const NAMED_OBJECT_BODY: Schema = {
  type: 'object',
  required: ['name'],
  properties: { name: TEXT, description: { type: ['string', 'null'], maxLength: 10_000 } },
};

export const PATCH_BODY: Schema = {
  type: 'array',
  maxItems: 10_000,
  items: {
    type: 'object',
    required: ['op', 'path'],
    properties: {
      op: { enum: ['replace', 'add', 'remove', 'move', 'copy', 'test'] },
      path: TEXT,
      from: TEXT,
      value: true,
    },
  },
};

export const KEYS_ARRAY_BODY: Schema = { type: 'array', items: TEXT };

export const KEYS_OBJECT_BODY: Schema = {
  type: 'object',
  required: ['keys'],
  properties: { keys: KEYS_ARRAY_BODY, ...WORDS_MEMBERS },
};

/** Either of them. */
export const KEYS_BODY: Schema = {
  type: ['array', 'object'],
  items: TEXT,
  required: ['keys'],
  properties: { keys: KEYS_ARRAY_BODY, ...WORDS_MEMBERS },
};
