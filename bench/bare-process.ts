import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';

/**
 * The least that the same stack can do, in a process of its own: it reads a body as JSON, looks at nothing, and sends
 * what the path's first part names. PUT to `/answers/NAME` says what that is. Says its origin on one line.
 */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
const answers = new Map<string, string>();
const app = Fastify({
  bodyLimit: MAX_BODY_BYTES,
  serverFactory: (handler) => createServer(handler),
});
app.put<{ Params: { name: string }; Body: { text: string } }>('/answers/:name', (request) => {
  answers.set(request.params.name, request.body.text);
  return true;
});
app.route<{ Params: { name: string } }>({
  method: ['GET', 'PUT', 'PATCH'],
  url: '/:name/*',
  // An asynchronous handler, as every one that asks a store is.
  handler: async (request, reply) =>
    reply
      .type('application/json; charset=utf-8')
      .send(await Promise.resolve(answers.get(request.params.name) ?? '')),
});
await app.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}\n`);
