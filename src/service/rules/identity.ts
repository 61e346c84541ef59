import { isStorable } from './keys.js';
import type { Schema } from './matchers.js';

const MAX_VALUE_LENGTH = 10_000;

export const IDENTITY_SCHEMA: Schema = {
  type: 'object',
  required: ['key'],
  properties: { key: { type: 'string' }, values: { type: ['object', 'null'] } },
};

/** Where the key stands in the path. */
export const IDENTITY_VALUES_SCHEMA: Schema = {
  type: 'object',
  properties: { values: { type: ['object', 'null'] } },
};

export interface GivenIdentity {
  readonly key: string;
  readonly values?: Readonly<Record<string, unknown>> | null;
}

/** Attribute → value as text, or why the identity cannot be taken. */
export type ReadIdentity =
  { readonly values: Readonly<Record<string, string>> } | { readonly failure: string };

/** Values are sent as text, numbers or truth values, and kept as text. */
export function readIdentity({ key, values }: GivenIdentity): ReadIdentity {
  if (key === '') return { failure: 'The key is empty' };
  if (key.length > 1_000 || !isStorable(key)) return { failure: 'The key cannot be stored' };
  const texts: [string, string][] = [];
  for (const [attribute, value] of Object.entries(values ?? {})) {
    const text = textOf(value);
    if (!/^[A-Za-z][-_A-Za-z0-9]{0,199}$/.test(attribute)) {
      return { failure: `The attribute ${attribute} is no name of an attribute` };
    }
    if (text === undefined || text.length > MAX_VALUE_LENGTH) {
      return { failure: `The value of ${attribute} is no text or number` };
    }
    texts.push([attribute, text]);
  }
  return { values: Object.fromEntries(texts) };
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
