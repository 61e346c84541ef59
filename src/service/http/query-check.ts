import type { FastifyRequest } from 'fastify';
import type { Endpoint } from './endpoint.js';
import { parametersOf } from './openapi.js';
import { badRequest } from './problem.js';

/** @throws Problem (400) the query repeats a parameter that has one value. */
export function checkQuery(query: Readonly<Record<string, unknown>>, endpoint: Endpoint): void {
  for (const { name, schema } of parametersOf(endpoint)) {
    if (schema['type'] === 'array' || !Array.isArray(query[name])) continue;
    throw badRequest(`${name} must stand once`);
  }
}

/** @throws Problem (400) the query has a parameter, or the request a body, that the endpoint does not take. */
export function checkNothingElse(
  { query, body }: Pick<FastifyRequest, 'query' | 'body'>,
  endpoint: Endpoint,
): void {
  const known = new Set(parametersOf(endpoint).map(({ name }) => name));
  const unknown = Object.keys(query as object).find((name) => !known.has(name));
  if (unknown !== undefined) throw badRequest(`Query has no parameter ${unknown}`);
  if (body !== undefined && endpoint.body === undefined)
    throw badRequest('Body has no member that the contract shows');
}
