import type { FastifyInstance } from 'fastify';
import type { Log } from '../../log.js';
import type { Metrics, WebhookResult } from '../metrics/metrics.js';
import { readSecrets } from '../secret-file.js';
import type { DaemonControls, DaemonView, SourceView } from '../view.js';
import {
  concerns,
  isSigned,
  pushOf,
  SeenDeliveries,
  verifyWebhook,
  type Push,
  type WebhookFlaw,
  type WebhookHeaders,
} from '../webhook.js';
import { Refusal } from './refusal.js';

export interface WebhookOptions {
  readonly view: DaemonView;
  readonly controls: DaemonControls;
  /** Absent: the endpoint is off. */
  readonly secretFile: string | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly now: () => number;
}

/** A push of 2,048 commits, the most that GitHub tells of, is below this; what is above waits for the interval. */
const MAX_BODY_BYTES = 5 * 1024 * 1024;

/** `POST /webhook`: a signed push to a watched branch triggers a run of the sources that it is about. */
export function addWebhookRoute(app: FastifyInstance, options: WebhookOptions): void {
  const seen = new SeenDeliveries();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => {
    done(null, body);
  });
  app.addHook('onError', (_request, _reply, _error, done) => {
    options.metrics.noteWebhook('refused');
    done();
  });
  app.addHook('onRequest', async ({ headers }) => {
    if (options.secretFile === undefined) {
      throw new Refusal(
        403,
        'cannot take webhooks: they are off (start with --webhook-secret-file FILE)',
      );
    }
    // Before its body is read: a stranger costs nothing.
    if (!isSigned(headers as WebhookHeaders)) throw refusalOf('unsigned');
    return Promise.resolve();
  });
  app.post('/webhook', { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const headers = request.headers as WebhookHeaders;
    const secrets = await readSecrets(options.secretFile ?? '');
    if (typeof secrets === 'string') {
      throw new Refusal(503, `cannot check the signature: the file of secrets is ${secrets}`);
    }
    const verified = verifyWebhook(headers, body, secrets, options.now());
    if (!verified.ok) throw refusalOf(verified.flaw);
    const push = pushOf(headers, payloadOf(body, headers['content-type'] ?? ''));
    const answer = take(push, seen.note(verified.delivery), options);
    options.metrics.noteWebhook(answer.result);
    options.log.info({ ...answer, branch: push?.branch }, 'webhook');
    return reply.code(answer.result === 'accepted' ? 202 : 200).send(answer);
  });
}

interface WebhookAnswer {
  readonly result: WebhookResult;
  /** Those that were triggered. */
  readonly sources: readonly string[];
}

function take(
  push: Push | undefined,
  isRepeated: boolean,
  { view, controls }: WebhookOptions,
): WebhookAnswer {
  if (isRepeated) return { result: 'repeated', sources: [] };
  const concerned: readonly SourceView[] =
    push === undefined ? [] : view.sources().filter((source) => concerns(push, source));
  const sources = concerned.map(({ name }) => name);
  for (const name of sources) controls.trigger(name, 'webhook');
  return { result: sources.length === 0 ? 'ignored' : 'accepted', sources };
}

const FLAWS: Readonly<Record<WebhookFlaw, string>> = {
  unsigned: 'it bears no signature',
  'wrong-signature': 'its signature is not made with a secret that is known here',
  stale: 'its time is more than five minutes from ours',
};

function refusalOf(flaw: WebhookFlaw): Refusal {
  return new Refusal(401, `cannot take the webhook: ${FLAWS[flaw]}`);
}

/** GitHub sends forms unless it is told otherwise: the JSON is a field of it. */
function payloadOf(body: Buffer, contentType: string): unknown {
  const text = body.toString('utf8');
  const isForm = contentType.startsWith('application/x-www-form-urlencoded');
  const json = isForm ? (new URLSearchParams(text).get('payload') ?? '') : text;
  try {
    return JSON.parse(json) as unknown;
  } catch {
    throw new Refusal(400, 'cannot read the webhook: its body is not JSON');
  }
}
