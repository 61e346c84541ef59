import type { FastifyInstance } from 'fastify';

/**
 * Lets pages of any site ask the routes of a scope: the key is in a header, which a page has to know, and in no cookie.
 *
 * @param below the path of the routes.
 */
export function openToPages(scope: FastifyInstance, below: string): void {
  scope.addHook('onRequest', (_request, reply, done) => {
    void reply.headers({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'etag',
    });
    done();
  });
  scope.options(`${below}/*`, { config: { isPublic: true } }, async (request, reply) =>
    reply
      .code(204)
      .headers({
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers':
          request.headers['access-control-request-headers'] ?? 'authorization, content-type',
        'access-control-max-age': '600',
      })
      .send(),
  );
}
