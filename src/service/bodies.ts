import type { FastifyInstance, FastifyRequest } from 'fastify';
import { badRequest, Problem } from './problem.js';
import { holdsNull, isTooDeep, MAX_JSON_DEPTH } from './rules/json-text.js';
import { keysFormFrom, type KeysForm } from './rules/keys-file.js';

/**
 * Clients send JSON under any content type, and no body at all under `application/json`: only what stands in the body
 * counts.
 */
export function takeAnyBody(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (request, body: string, done) => {
    if (body.trim() === '') {
      done(null, undefined);
      return;
    }
    const problem = problemOfText(body);
    if (problem !== undefined) {
      done(problem);
      return;
    }
    void parseJson(request, body, (error, value) => {
      const takesText = request.routeOptions.config.takesText === true;
      const isJson = error === null && !(takesText && isBareWord(value));
      if (isJson) done(null, value);
      else if (takesText) done(null, body);
      else done(...formOrRefusal(request, body));
    });
  });
}

/** What a body that is no JSON comes to where a file may be sent. */
function formOrRefusal(request: FastifyRequest, body: string): [Problem | null, KeysForm?] {
  try {
    const { takesFile } = request.routeOptions.config;
    const form = takesFile === true ? keysFormFrom(body) : undefined;
    return form === undefined ? [badRequest('Body is no JSON text')] : [null, form];
  } catch (error) {
    if (error instanceof Problem) return [error];
    throw error;
  }
}

function problemOfText(body: string): Problem | undefined {
  if (holdsNull(body)) return badRequest('Body must not hold a null character');
  if (!isTooDeep(body)) return undefined;
  return badRequest(`Body is nested more than ${MAX_JSON_DEPTH} levels deep`);
}

/** Where text is taken, `true` and `12.0` are words of it. */
function isBareWord(value: unknown): boolean {
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}
