import type { FastifyInstance } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { DaemonView } from '../view.js';
import { Refusal } from './refusal.js';

const MOST_LISTENERS = 100;
/** Changes come in bursts while a run goes on; a page need not be drawn for each. */
const GATHER_MS = 250;
/** Proxies close what is silent for long. */
const BEAT_MS = 20_000;

/** `GET /events`: says `change` whenever the status page would look different, and nothing else. */
export function addEvents(app: FastifyInstance, view: DaemonView): void {
  const listeners = new Set<ServerResponse>();
  let gathering: NodeJS.Timeout | undefined;
  const say = (text: string): void => {
    for (const listener of listeners) listener.write(text);
  };
  const stop = view.onChange(() => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      say('event: change\ndata:\n\n');
    }, GATHER_MS);
  });
  const beat = setInterval(() => {
    say(': still here\n\n');
  }, BEAT_MS);
  // Before the server waits for its answers to end: these never would.
  app.addHook('preClose', (done) => {
    stop();
    clearTimeout(gathering);
    clearInterval(beat);
    for (const listener of listeners) listener.end();
    done();
  });
  app.get('/events', (_, reply) => {
    if (listeners.size >= MOST_LISTENERS) {
      throw new Refusal(503, 'cannot follow: too many pages are open already');
    }
    reply.hijack();
    const response = reply.raw;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write('retry: 3000\n\n');
    listeners.add(response);
    response.on('close', () => {
      listeners.delete(response);
    });
  });
}
