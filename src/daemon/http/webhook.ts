import { createHash, createHmac } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { isSameSecret, passwordOf, readSecrets, Refusal, type Surface } from './access.js';
import { repositoryAt } from '../../forge/open.js';
import { memberOf, valueAt } from '../../model/json.js';
import type { SourceView } from '../view.js';
import { BoundedMap } from '../../platform/bounded-map.js';
import type { WebhookResult } from '../metrics/metrics.js';

/** How far a signed time may be from ours, as the Standard Webhooks text recommends. */
const TOLERANCE_MS = 5 * 60_000;

const STANDARD = 'webhook-signature';
const GITHUB = 'x-hub-signature-256';
const BITBUCKET = 'x-hub-signature';
const GITLAB = 'x-gitlab-token';

function isSigned(headers: WebhookHeaders): boolean {
  const isNamed = [STANDARD, GITHUB, BITBUCKET, GITLAB].some((name) => headers[name] !== undefined);
  return isNamed || passwordOf(headers) !== undefined;
}

/**
 * Checks the signature over the raw bytes:
 *
 * - `webhook-signature`, `webhook-id`, `webhook-timestamp`: Standard Webhooks, as GitLab's signing token sends it and
 *   any script can;
 * - `x-hub-signature-256`: GitHub, Gitea, Forgejo; `x-hub-signature`: Bitbucket. They cover no time, so only the memory
 *   of deliveries prevents a replay;
 * - `x-gitlab-token`: GitLab's older secret token, and the password of `authorization`: Azure DevOps, which knows nothing
 *   better. They are no signatures: a person who sees one can send another request.
 *
 * Only the strongest one present counts: if it fails, a valid weaker one does not help.
 *
 * @returns a text that identifies the delivery: equal for repetitions, different for all others.
 * @throws Refusal 401
 */
function verifiedDelivery(delivery: Delivery): string {
  const { headers, body, secrets } = delivery;
  const standard = headers[STANDARD];
  if (standard !== undefined) return standardDelivery(standard, delivery);
  const hub = headers[GITHUB] ?? headers[BITBUCKET];
  if (hub !== undefined) {
    const isRight = secrets.some((secret) =>
      isSameSecret(hub, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`),
    );
    if (!isRight) throw refusal(WRONG);
    // The header with the delivery's id is not signed, so the signature identifies the body.
    return hub;
  }
  const token = headers[GITLAB] ?? passwordOf(headers);
  if (token === undefined) throw refusal(UNSIGNED);
  if (!secrets.some((secret) => isSameSecret(token, secret))) throw refusal(WRONG);
  const id = headers['idempotency-key'] ?? createHash('sha256').update(body).digest('hex');
  return `token ${id}`;
}

interface Delivery {
  readonly headers: WebhookHeaders;
  readonly body: Uint8Array;
  readonly secrets: readonly string[];
  readonly now: number;
}

function standardDelivery(signatures: string, { headers, body, secrets, now }: Delivery): string {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '' } = headers;
  const given = signatures.split(' ').slice(0, MAX_SIGNATURES);
  const isRight = secrets.map(keyOf).some((key) => {
    const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
    const right = `v1,${hmac.digest('base64')}`;
    return given.some((each) => isSameSecret(each, right));
  });
  if (!isRight || id === '') throw refusal(WRONG);
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : NaN;
  if (Math.abs(seconds * 1_000 - now) <= TOLERANCE_MS) return `standard ${id}`;
  throw refusal('its time is more than five minutes from ours');
}

const UNSIGNED = 'it bears no signature';
const WRONG = 'its signature is not made with a secret that is known here';

function refusal(why: string): Refusal {
  return new Refusal(401, `cannot take the webhook: ${why}`);
}

const MAX_SIGNATURES = 10;

/** `whsec_` + base64 is the form of the standard. Any other text counts as its own bytes. */
function keyOf(secret: string): Uint8Array {
  const encoded = /^whsec_([A-Za-z0-9+/=]+)$/.exec(secret)?.[1];
  return Buffer.from(encoded ?? secret, encoded === undefined ? 'utf8' : 'base64');
}

const MOST_DELIVERIES = 10_000;

/** GitHub pushes at most 2,048 commits, which fit. Larger bodies are refused; the next poll finds those pushes. */
const MAX_BODY_BYTES = 5 * 1024 * 1024;

export function addWebhookRoute(
  app: FastifyInstance,
  { daemon, metrics, log, now }: Surface,
  secretFile: string | undefined,
): void {
  const seen = new BoundedMap<string, true>(MOST_DELIVERIES);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => {
    done(null, body);
  });
  app.addHook('onError', (_request, _reply, _error, done) => {
    metrics.noteWebhook('refused');
    done();
  });
  app.addHook('onRequest', async ({ headers }) => {
    if (secretFile === undefined) {
      const why = 'they are off (start with --webhook-secret-file FILE)';
      throw new Refusal(403, `cannot take webhooks: ${why}`);
    }
    // Refuses before reading the body, so that a stranger costs almost nothing.
    if (!isSigned(headers as WebhookHeaders)) throw refusal(UNSIGNED);
    return Promise.resolve();
  });
  app.post('/webhook', { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const headers = request.headers as WebhookHeaders;
    const secrets = await readSecrets(secretFile ?? '');
    if (typeof secrets === 'string') {
      throw new Refusal(503, `cannot check the signature: the file of secrets is ${secrets}`);
    }
    const delivery = verifiedDelivery({ headers, body, secrets, now: now() });
    const push = pushOf(headers, payloadOf(body, headers['content-type'] ?? ''));
    // Keyed by digest, because an identifier may be long. A repeated delivery keeps its age.
    const key = createHash('sha256').update(delivery).digest('base64');
    const isRepeated = seen.get(key) === true;
    if (!isRepeated) seen.set(key, true);
    const answer = take(push, isRepeated, daemon);
    metrics.noteWebhook(answer.result);
    log.info({ ...answer, branches: push?.branches.slice(0, 10) }, 'webhook');
    return reply.code(answer.result === 'accepted' ? 202 : 200).send(answer);
  });
}

function take(
  push: Push | undefined,
  isRepeated: boolean,
  daemon: Surface['daemon'],
): { readonly result: WebhookResult; readonly sources: readonly string[] } {
  if (isRepeated) return { result: 'repeated', sources: [] };
  const concerned: readonly SourceView[] =
    push === undefined ? [] : daemon.sources().filter((source) => concerns(push, source));
  const sources = concerned.map(({ name }) => name);
  for (const name of sources) daemon.trigger(name, 'webhook');
  return { result: sources.length === 0 ? 'ignored' : 'accepted', sources };
}

/** GitHub sends forms by default. */
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

type WebhookHeaders = Readonly<Record<string, string | undefined>>;

interface Push {
  readonly branches: readonly string[];
  /** URLs; empty if the sender gives none. */
  readonly repositories: readonly string[];
}

/** Undefined if this is no push to a branch of GitHub, Gitea, Forgejo, GitLab, Bitbucket or Azure DevOps. */
function pushOf(headers: WebhookHeaders, payload: unknown): Push | undefined {
  const event = EVENT_HEADERS.map((name) => headers[name]).find((value) => value !== undefined);
  if (event !== undefined && !PUSH_EVENTS.has(event)) return undefined;
  const at = (...path: readonly string[]): unknown => valueAt(payload, path);
  const moved = [
    { name: at('ref'), isGone: at('deleted') === true, id: at('after') },
    ...listOf(at('resource', 'refUpdates')).map((each) => {
      return { name: memberOf(each, 'name'), id: memberOf(each, 'newObjectId') };
    }),
    ...listOf(at('push', 'changes')).map((each) => bitbucketCloudRef(memberOf(each, 'new'))),
    ...listOf(at('changes')).map((each) => {
      return { name: valueAt(each, ['ref', 'id']), id: memberOf(each, 'toHash') };
    }),
  ];
  const branches = moved.flatMap(branchOf);
  if (branches.length === 0) return undefined;
  const places = [at('repository'), at('project'), at('resource', 'repository')];
  return { branches, repositories: places.flatMap(urlsOf) };
}

const EVENT_HEADERS = ['x-github-event', 'x-gitlab-event', 'x-event-key'] as const;

/** GitLab's system hook reports pushes and everything else; its payload then decides. */
const PUSH_EVENTS: ReadonlySet<string> = new Set([
  'push',
  'Push Hook',
  'System Hook',
  'repo:push',
  'repo:refs_changed',
]);

interface MovedRef {
  readonly name: unknown;
  /** The commit after the push; zeros if the ref was deleted. */
  readonly id?: unknown;
  readonly isGone?: boolean;
}

function branchOf({ name, id, isGone = false }: MovedRef): readonly string[] {
  const branch = typeof name === 'string' ? /^refs\/heads\/(.+)$/.exec(name)?.[1] : undefined;
  const isDeleted = isGone || (typeof id === 'string' && /^0+$/.test(id));
  return branch === undefined || isDeleted ? [] : [branch];
}

/** @param ref null if the push deleted the branch. */
function bitbucketCloudRef(ref: unknown): MovedRef {
  const [type, name] = ['type', 'name'].map((member) => memberOf(ref, member));
  return { name: type === 'branch' && typeof name === 'string' ? `refs/heads/${name}` : undefined };
}

const URL_MEMBERS = [
  'clone_url',
  'ssh_url',
  'git_http_url',
  'git_ssh_url',
  'http_url',
  'remoteUrl',
  'sshUrl',
] as const;

function urlsOf(repository: unknown): string[] {
  const urls = [
    ...URL_MEMBERS.map((name) => memberOf(repository, name)),
    valueAt(repository, ['links', 'html', 'href']),
    ...listOf(valueAt(repository, ['links', 'clone'])).map((each) => memberOf(each, 'href')),
    dataCenterUrl(repository),
  ];
  return urls.filter((url) => typeof url === 'string');
}

/** Bitbucket Data Center names a repository by project and slug, and its host nowhere; the host does not count. */
function dataCenterUrl(repository: unknown): string | undefined {
  const slug = memberOf(repository, 'slug');
  const key = valueAt(repository, ['project', 'key']);
  return typeof slug === 'string' && typeof key === 'string'
    ? `https://bitbucket/${key}/${slug}`
    : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Whether a push is about this source: same branch, and same repository if both sides name one. Hosts are not compared,
 * because a repository is often cloned under another host name than its pages have.
 */
function concerns(push: Push, { branch, location }: SourceView): boolean {
  if (branch !== null && !push.branches.includes(branch)) return false;
  const ours = repositoryPath(location);
  const theirs = push.repositories.map(repositoryPath).filter((path) => path !== undefined);
  return ours === undefined || theirs.length === 0 || theirs.includes(ours);
}

/** Bitbucket and Azure DevOps add a part to the path of a clone, and each protocol its own. */
function repositoryPath(location: string): string | undefined {
  const path = repositoryAt(location)?.path.toLowerCase();
  return path?.replace(/^(?:scm|v3)\//, '').replace('/_git/', '/');
}
