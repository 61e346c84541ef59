import type { FastifyRequest } from 'fastify';
import { API_PREFIX } from '../../admin-api/wire.js';
import { ANSWER_SCHEMAS, answer } from '../routes/answer-schemas.js';
import type { Schema } from '../rules/shape.js';
import { WORDS_MEMBERS, WORDS_QUERY } from '../rules/members.js';
import type { Endpoint } from './endpoint.js';
import { KEYS_FILE } from './bodies.js';
import { badRequest } from './problem.js';

export const API_TITLE = 'Feature flag and segment administration';

/** Statuses that any endpoint may answer, beside 200. The contract shows 400 and 404 and leaves the others open. */
const REFUSALS: Readonly<Record<string, string>> = {
  400: 'The request is wrong',
  401: 'API key missing, wrong, revoked or of another type',
  403: 'The Admin API key may not do this, or the environment requires approvals',
  404: 'Not there, or not for this Admin API key',
  409: 'Already there, or still in use',
  413: 'The body is too large',
  414: 'A part of the path is too long',
  423: 'An open change request keeps it from being changed',
  429: 'Too many requests',
  503: 'The store does not answer; a write may have been made or not',
};

const REFUSED = Object.fromEntries(
  Object.entries(REFUSALS).map(([status, description]) => [
    status,
    { description, content: json(answer('Error')) },
  ]),
);

/** With the same schemas that the service checks requests against. */
export function openApiOf(endpoints: readonly Endpoint[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    const path = API_PREFIX + pathOf(endpoint);
    for (const method of endpoint.methods) {
      paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(endpoint, method) };
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: API_TITLE, version },
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: { ...ANSWER_SCHEMAS, Json: JSON_VALUE },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An Admin API key.' },
      },
    },
  };
}

/** With `{name}` for a parameter. */
export function pathOf({ path }: Endpoint): string {
  return path.replaceAll(/(?<=\/):(\w+)/g, '{$1}');
}

function operationOf(endpoint: Endpoint, method: string): object {
  return {
    operationId: operationIdOf(method, endpoint.path),
    summary: endpoint.summary,
    parameters: parametersOf(endpoint).map((each) => ({ ...each, schema: described(each.schema) })),
    ...bodyOf(endpoint),
    responses: {
      200: { description: 'Done', content: json(endpoint.answer) },
      ...REFUSED,
    },
  };
}

/** The service rejects null characters in bodies and queries before it looks at the schema. */
const NO_NULL = '^[^\\u0000]*$';
const ANY: Schema = { $ref: '#/components/schemas/Json' };

/** Members of any name but those that could be taken for the prototype of an object. */
const OPEN: Schema = {
  propertyNames: { pattern: NO_NULL, not: { enum: ['__proto__', 'constructor'] } },
  additionalProperties: ANY,
};

/** What a body may hold where its schema asks for nothing. */
const JSON_VALUE: Schema = {
  ...OPEN,
  type: ['null', 'boolean', 'number', 'string', 'array', 'object'],
  pattern: NO_NULL,
  items: ANY,
};

/**
 * Describes a schema of a request. Adds the checks that come before any schema, and replaces conditions by equivalent
 * choices, because many generators of requests or clients do not know conditions.
 */
export function described(schema: Schema): Schema {
  const members = Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [
      name,
      name === 'enum' ? member : describedMember(member),
    ]),
  );
  if (Array.isArray(members['allOf'])) return choicesOf(members as unknown as Conditions);
  const types = [members['type']].flat();
  return {
    ...(types.includes('string') ? { pattern: NO_NULL } : {}),
    ...(types.includes('object') ? OPEN : {}),
    ...members,
  };
}

function describedMember(member: unknown): unknown {
  if (member === true) return ANY;
  if (Array.isArray(member)) return member.map(describedMember);
  return typeof member === 'object' && member !== null ? described(member as Schema) : member;
}

/** A schema of objects that demands more depending on the value of one member. */
interface Conditions extends Members {
  readonly allOf: readonly {
    readonly if: { readonly properties: Readonly<Record<string, { readonly const: string }>> };
    readonly then: Partial<Members>;
  }[];
}

interface Members {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Schema>>;
}

/** Turns conditions into a choice: one schema for each of the named values, and one for all others. */
function choicesOf({ allOf, ...base }: Conditions): Schema {
  const values = allOf.map((each) => each.if.properties);
  const [name = ''] = Object.keys(values[0] ?? {});
  const known = values.map((value) => value[name]?.const);
  const others = { [name]: { ...base.properties[name], not: { enum: known } } };
  return {
    anyOf: [
      ...allOf.map((each) => choiceOf(base, each.then, each.if.properties)),
      choiceOf(base, {}, others),
    ],
  };
}

function choiceOf(base: Members, more: Partial<Members>, value: Members['properties']): Schema {
  const { required = [], properties = {} } = more;
  const own = Object.entries(properties).filter(([, schema]) => schema !== ANY);
  return {
    ...OPEN,
    ...base,
    ...more,
    required: [...base.required, ...required],
    properties: { ...properties, ...base.properties, ...Object.fromEntries(own), ...value },
  };
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

/** Parameters of the path in its order, then those of the query. */
export function parametersOf(endpoint: Endpoint): readonly Parameter[] {
  const names = [...endpoint.path.matchAll(/\/:(\w+)/g)].map(([, name = '']) => name);
  const query = { ...endpoint.query, ...('write' in endpoint ? WORDS_QUERY : {}) };
  return [
    ...names.map((name) => ({
      name,
      in: 'path' as const,
      required: true,
      description: PARAMETERS[name] ?? 'Name or id.',
      schema: { type: 'string', minLength: 1 },
    })),
    ...Object.entries(query).map(([name, schema]) => ({ name, in: 'query' as const, schema })),
  ];
}

/**
 * Checks what no schema does. The check throws a Problem (400) if the query repeats a parameter that has one value,
 * or, on a strict service, if query or body hold more than the endpoint takes.
 */
export function checkOfRest(endpoint: Endpoint, isStrict: boolean) {
  const taken = new Map(parametersOf(endpoint).map(({ name, schema }) => [name, schema]));
  return ({ query, body }: Pick<FastifyRequest, 'query' | 'body'>): void => {
    for (const [name, value] of Object.entries(query as object)) {
      const schema = taken.get(name);
      if (schema === undefined && isStrict) throw badRequest(`Query has no parameter ${name}`);
      if (schema !== undefined && schema['type'] !== 'array' && Array.isArray(value)) {
        throw badRequest(`${name} must stand once`);
      }
    }
    if (isStrict && body !== undefined && endpoint.body === undefined) {
      throw badRequest('Body has no member that the contract shows');
    }
  };
}

/** Descriptions of path parameters that are not a name or an id. */
const PARAMETERS: Readonly<Record<string, string>> = {
  segment: 'Name.',
  key: 'Key of the identity, or id of the Admin API key.',
};

/** A body that may be null is optional. */
function bodyOf({ body, takesText, takesFile }: Endpoint): object {
  const content = {
    ...(body === undefined ? {} : json(described(body))),
    ...(takesText === true ? TEXT : {}),
    ...(takesFile === true ? FORM : {}),
  };
  if (Object.keys(content).length === 0) return {};
  const isOptional = body === undefined || [body['type']].flat().includes('null');
  return { requestBody: { required: !isOptional, content } };
}

const TEXT = { 'text/plain': { schema: described({ type: 'string' }) } };

/** The form with a file of keys, see `keysFormFrom`. */
const FORM = {
  'multipart/form-data': {
    schema: described({
      type: 'object',
      required: ['file'],
      properties: {
        file: {
          type: 'string',
          pattern: KEYS_FILE,
          description: 'CSV of one column, without a head.',
        },
        payload: {
          type: 'object',
          properties: WORDS_MEMBERS,
          description: 'Title and comment, as JSON.',
        },
      },
    }),
    encoding: { payload: { contentType: 'application/json' } },
  },
};

function json(schema: Schema): object {
  return { 'application/json': { schema } };
}

/** `PUT /splits/ws/:ws/:flag/environments/:env/kill` → `putSplitsWsWsFlagEnvironmentsEnvKill`. */
function operationIdOf(method: string, path: string): string {
  const words = path.split(/[/:]+/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return method.toLowerCase() + words.join('');
}
