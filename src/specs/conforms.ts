import { follow, schemaOf, type Schema, type SchemaName } from './schemas.js';

type Check = (value: unknown) => boolean;

/** A schema, and the document that its own references start from. */
interface At {
  readonly schema: Schema;
  readonly root: SchemaName;
}

/**
 * Whether a value surely is what its schema says. False leaves it to the library, which says what is wrong: most files
 * are right, and to load it and have it compile the schemas takes as long as reading a hundred of them.
 */
export function conforms(name: SchemaName, value: unknown): boolean {
  return checkOf({ schema: schemaOf(name), root: name })(value);
}

const checks = new WeakMap<Schema, Check>();

function checkOf({ schema, root }: At): Check {
  const known = checks.get(schema);
  if (known !== undefined) return known;
  let parts: readonly Check[] | undefined;
  // Worked out when it is first asked: a schema may lead back to itself.
  const check: Check = (value) => {
    parts ??= partsOf({ schema, root });
    for (const part of parts) if (!part(value)) return false;
    return true;
  };
  checks.set(schema, check);
  return check;
}

/** They say nothing of a value. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$defs',
  'title',
  'description',
  'x-expected',
  'tsType',
]);

function partsOf({ schema, root }: At): Check[] {
  return Object.entries(schema).flatMap(([keyword, given]: [string, unknown]) => {
    if (ANNOTATIONS.has(keyword)) return [];
    const make = KEYWORDS[keyword];
    return [make === undefined ? () => false : make(given, { schema, root })];
  });
}

/** Of what JSON Schema has, what our schemas use. */
const KEYWORDS: Readonly<Record<string, (given: unknown, at: At) => Check>> = {
  $ref: (ref, { root }) => checkOf(follow(ref as string, root)),
  anyOf: (several, { root }) => {
    const alternatives = (several as Schema[]).map((schema) => checkOf({ schema, root }));
    return (value) => alternatives.some((each) => each(value));
  },
  type: (types) => {
    const tests = [types as string | string[]].flat().map((type) => TYPES[type] ?? (() => false));
    return (value) => tests.some((test) => test(value));
  },
  const: (only) => (value) => value === only,
  enum: (several) => (value) => (several as unknown[]).includes(value),
  required: (names) =>
    ofObjects((object) => (names as string[]).every((name) => object[name] !== undefined)),
  properties: (properties, { root }) => {
    const members = Object.entries(properties as Record<string, Schema>).map(
      ([name, schema]) => [name, checkOf({ schema, root })] as const,
    );
    return ofObjects((object) =>
      members.every(([name, check]) => object[name] === undefined || check(object[name])),
    );
  },
  additionalProperties: (others, { schema: { properties = {} }, root }) => {
    const check = typeof others === 'object' ? checkOf({ schema: others as Schema, root }) : null;
    return ofObjects((object) =>
      Object.keys(object).every(
        (name) =>
          Object.hasOwn(properties, name) || (check ? check(object[name]) : others === true),
      ),
    );
  },
  minProperties: (least) => ofObjects((object) => Object.keys(object).length >= (least as number)),
  maxProperties: (most) => ofObjects((object) => Object.keys(object).length <= (most as number)),
  items: (items, { root }) => {
    const check = checkOf({ schema: items as Schema, root });
    return (value) => !Array.isArray(value) || value.every(check);
  },
  minItems: (least) => (value) => !Array.isArray(value) || value.length >= (least as number),
  maxItems: (most) => (value) => !Array.isArray(value) || value.length <= (most as number),
  minLength: (least) => (value) =>
    typeof value !== 'string' || characters(value) >= (least as number),
  pattern: (pattern) => {
    const expression = new RegExp(pattern as string, 'u');
    return (value) => typeof value !== 'string' || expression.test(value);
  },
  minimum: (least) => (value) => typeof value !== 'number' || value >= (least as number),
  maximum: (most) => (value) => typeof value !== 'number' || value <= (most as number),
};

const TYPES: Readonly<Record<string, Check>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  array: (value) => Array.isArray(value),
  object: isObject,
};

function ofObjects(check: (object: Readonly<Record<string, unknown>>) => boolean): Check {
  return (value) => !isObject(value) || check(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Characters as a schema counts them: one for a pair of surrogates. */
function characters(text: string): number {
  return text.length < 2 ? text.length : Array.from(text).length;
}
