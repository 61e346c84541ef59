import { API_PREFIX } from '../../admin-api/wire.js';
import type { Endpoint } from './endpoint.js';
import { ANSWER_SCHEMAS, answer } from '../routes/answer-schemas.js';
import { WORDS_QUERY } from '../routes/query-schemas.js';
import type { Schema } from '../rules/matchers.js';

/** The title of the interface, for whoever reads about it. */
export const API_TITLE = 'Feature flag and segment administration';

/**
 * Statuses that any endpoint may answer, beside 200. The contract shows 400 and 404 and leaves the
 * others open.
 */
const REFUSALS: Readonly<Record<string, string>> = {
  400: 'The request is wrong',
  401: 'The Admin API key is missing, wrong or revoked',
  403: 'The Admin API key may not do this, or the environment requires approvals',
  404: 'Not there, or not for this Admin API key',
  409: 'Already there, or still in use',
  413: 'The body is too large',
  414: 'A part of the path is too long',
  423: 'An open change request keeps it from being changed',
  429: 'Too many requests',
  503: 'The store does not answer; a write may have been made or not',
};

/** Describes endpoints in OpenAPI 3.1, by the very schemas that their requests are held against. */
export function openApiOf(endpoints: readonly Endpoint[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    const path = API_PREFIX + endpoint.path.replaceAll(/:(\w+)/g, '{$1}');
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
      schemas: ANSWER_SCHEMAS,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An Admin API key.' },
      },
    },
  };
}

function operationOf(endpoint: Endpoint, method: string): object {
  return {
    operationId: operationId(method, endpoint.path),
    summary: endpoint.summary,
    parameters: withoutNull(parametersOf(endpoint)),
    ...(withoutNull(bodyOf(endpoint)) as object),
    responses: {
      200: { description: 'Done', content: json(endpoint.answer) },
      ...Object.fromEntries(
        Object.entries(REFUSALS).map(([status, description]) => [
          status,
          { description, content: json(answer('Error')) },
        ]),
      ),
    },
  };
}

/** Whatever a body or a query holds is looked at for null characters before it is held against a schema. */
const NO_NULL = '^[^\\u0000]*$';

/** Schemas in which text without a pattern has that one. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutNull(member)]),
  );
  const isText = [members['type']].flat().includes('string');
  return isText && !('pattern' in members) ? { ...members, pattern: NO_NULL } : members;
}

/** A parameter of an operation, as OpenAPI has it. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

/** Parameters of the path in its order, then those of the query. */
export function parametersOf(endpoint: Endpoint): readonly Parameter[] {
  const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
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

/** What a parameter of the path holds, where it is not a name or an id. */
const PARAMETERS: Readonly<Record<string, string>> = {
  segment: 'Name.',
  key: 'Key of the identity, or id of the Admin API key.',
};

/** The body that an operation takes; nothing where it takes none. One that may be null may be left out. */
function bodyOf({ body, takesText, takesFile }: Endpoint): object {
  const content = {
    ...(body === undefined ? {} : json(body)),
    ...(takesText === true ? TEXT : {}),
    ...(takesFile === true ? FORM : {}),
  };
  if (Object.keys(content).length === 0) return {};
  const isOptional = body === undefined || [body['type']].flat().includes('null');
  return { requestBody: { required: !isOptional, content } };
}

const TEXT = { 'text/plain': { schema: { type: 'string' } } };

/** The form with a file of keys, see `keysFormFrom`. */
const FORM = {
  'multipart/form-data': {
    schema: {
      type: 'object',
      required: ['file'],
      properties: {
        file: { type: 'string', description: 'CSV of one column, without a head.' },
        payload: { type: 'string', description: 'JSON object with `title` and `comment`.' },
      },
    },
  },
};

function json(schema: Schema): object {
  return { 'application/json': { schema } };
}

/** `PUT /splits/ws/:ws/:flag/environments/:env/kill` → `putSplitsWsWsFlagEnvironmentsEnvKill`. */
function operationId(method: string, path: string): string {
  const words = path.split(/[/:]+/).filter((word) => word !== '');
  return [method.toLowerCase(), ...words.map(capitalised)].join('');
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
