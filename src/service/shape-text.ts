import type { Schema } from './rules/matchers.js';

/**
 * A JSON Schema for people: `{ name: string, tags?: [string] | null }`. Says what stands where and may be absent; bounds
 * and patterns are left to the schema. A shape of its own stands there by its name.
 */
export function shapeText(schema: Schema, indent = ''): string {
  const { $ref, anyOf, type, properties, items, additionalProperties } = schema;
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? $ref;
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (Array.isArray(schema['enum']))
    return choices(schema['enum'].map((each) => JSON.stringify(each)));
  if (isSchema(properties)) return orNull(type, objectText(schema, properties, indent));
  if (isSchema(items)) return orNull(type, `[${shapeText(items, indent)}]`);
  if (isSchema(additionalProperties))
    return `{ [name]: ${shapeText(additionalProperties, indent)} }`;
  if (Array.isArray(anyOf))
    return choices(anyOf.filter(isSchema).map((each) => shapeText(each, indent)));
  if (Array.isArray(type)) return choices(type.map(String));
  return typeof type === 'string' ? type : 'anything';
}

function objectText(schema: Schema, properties: Schema, indent: string): string {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const deeper = `${indent}  `;
  const members = Object.entries(properties).map(([name, member]) => {
    const mark = required.includes(name) ? '' : '?';
    const shape = isSchema(member) ? shapeText(member, deeper) : 'anything';
    return `${deeper}${name}${mark}: ${shape}\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function orNull(type: unknown, shape: string): string {
  return Array.isArray(type) && type.includes('null') ? `${shape} | null` : shape;
}

/** Each once. */
function choices(shapes: readonly string[]): string {
  return [...new Set(shapes)].join(' | ');
}
