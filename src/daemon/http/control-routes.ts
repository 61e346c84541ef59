import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Log } from '../../log.js';
import { isSameSecret, readSecrets } from '../secret-file.js';
import type { DaemonControls, DaemonView } from '../view.js';
import { holdBody, pinBody, targetBody, type TargetBody } from './control-bodies.js';
import { Refusal } from './refusal.js';

export interface ControlOptions {
  readonly view: DaemonView;
  readonly controls: DaemonControls;
  /** Absent: the endpoints are off. */
  readonly tokenFile: string | undefined;
  readonly log: Log;
  readonly now: () => number;
}

const MAX_BODY_BYTES = 16 * 1024;

/** What asks something of the daemon. Every answer is 202: it is asked, and the status tells what comes of it. */
export function addControlRoutes(app: FastifyInstance, options: ControlOptions): void {
  const { view, controls, log, now } = options;
  app.addHook('onRequest', async (request) => {
    refuseCrossSite(request);
    await refuseStranger(request, options.tokenFile);
  });
  const add = (path: string, act: (body: unknown) => Asked): void => {
    app.post(path, { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
      const asked = act(request.body);
      log.info({ request: path, ...asked }, 'asked by request');
      return reply.code(202).send({ accepted: true, ...asked });
    });
  };
  add('/reconcile', (body) => {
    const source = sourceOf(view, targetBody(body));
    controls.trigger(source, 'request');
    return { source };
  });
  add('/suspend', (body) => {
    const { reason, until, ...target } = holdBody(body, now());
    const source = sourceOf(view, target);
    controls.suspend(source, { reason, until });
    return { source, reason, until };
  });
  add('/resume', (body) => {
    const source = sourceOf(view, targetBody(body));
    controls.resume(source);
    return { source };
  });
  add('/pin', (body) => {
    const { commit, reason, until, ...target } = pinBody(body, now());
    const source = oneSourceOf(view, target);
    controls.pin(source, { commit, reason, until });
    return { source, commit, reason, until };
  });
  add('/unpin', (body) => {
    const source = oneSourceOf(view, targetBody(body));
    controls.unpin(source);
    return { source };
  });
}

/** What was asked, as the answer and the log repeat it. */
interface Asked {
  /** Null: all. */
  readonly source: string | null;
  readonly reason?: string;
  readonly until?: string;
  readonly commit?: string;
}

/** No page of another site sends anything here, not even with a token that it got hold of. */
function refuseCrossSite({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  const isOurs = site === undefined || site === 'same-origin' || site === 'none';
  const { origin, host } = headers;
  const isOurOrigin = origin === undefined || hostOf(origin) === host;
  if (isOurs && isOurOrigin) return;
  throw new Refusal(403, 'cannot do what was asked: it came from a page of another site');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

async function refuseStranger(
  { headers }: FastifyRequest,
  tokenFile: string | undefined,
): Promise<void> {
  if (tokenFile === undefined) {
    throw new Refusal(
      403,
      'cannot do what was asked: write endpoints are off (start with --token-file FILE)',
    );
  }
  const tokens = await readSecrets(tokenFile);
  if (typeof tokens === 'string') {
    throw new Refusal(503, `cannot check the token: the file of tokens is ${tokens}`);
  }
  const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (given !== undefined && tokens.some((token) => isSameSecret(given, token))) return;
  throw new Refusal(401, 'cannot do what was asked: it needs "Authorization: Bearer" and a token');
}

/** Null: all. */
function sourceOf(view: DaemonView, { source }: TargetBody): string | null {
  const names = view.sources().map(({ name }) => name);
  if (source === undefined) return null;
  if (names.includes(source)) return source;
  throw new Refusal(404, `cannot find that source (known: ${names.join(', ')})`);
}

/** Where there is but one source, it need not be named. */
function oneSourceOf(view: DaemonView, body: TargetBody): string {
  const names = view.sources().map(({ name }) => name);
  const [only] = names;
  const name = sourceOf(view, body) ?? (names.length === 1 ? only : undefined);
  if (name !== undefined) return name;
  throw new Refusal(400, `cannot tell which source is meant (say "source": ${names.join(', ')})`);
}
