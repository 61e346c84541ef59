import { createHash, createHmac } from 'node:crypto';
import { isSameSecret } from './secret-file.js';
import type { SourceView } from './view.js';

/** Names in lower case. */
export type WebhookHeaders = Readonly<Record<string, string | undefined>>;

export type WebhookFlaw =
  /** No signature of any kind that is known. */
  | 'unsigned'
  /** Signed with none of the secrets. */
  | 'wrong-signature'
  /** Its time is too far from ours. */
  | 'stale';

export type Verified =
  /** @param delivery the same for the same delivery and for no other. */
  | { readonly ok: true; readonly delivery: string }
  | { readonly ok: false; readonly flaw: WebhookFlaw };

/** How far a signed time may be from ours; what the Standard Webhooks text recommends. */
const TOLERANCE_MS = 5 * 60_000;

const GITHUB = 'x-hub-signature-256';
const GITLAB = 'x-gitlab-token';
const STANDARD = 'webhook-signature';

/** Whether it bears a signature at all: asked before the body is read. */
export function isSigned(headers: WebhookHeaders): boolean {
  return [GITHUB, GITLAB, STANDARD].some((name) => headers[name] !== undefined);
}

/**
 * Checks the signature, over the bytes as they came:
 *
 * - `webhook-signature`, `webhook-id`, `webhook-timestamp`: Standard Webhooks, which GitLab's signing token is and any
 *   script can do;
 * - `x-hub-signature-256`: GitHub, Gitea, Forgejo. It covers no time: what is remembered keeps it from being replayed;
 * - `x-gitlab-token`: GitLab's older secret token, which is no signature: whoever sees one may send another.
 *
 * The strongest that is there counts, and no weaker one saves it.
 */
export function verifyWebhook(
  headers: WebhookHeaders,
  body: Uint8Array,
  secrets: readonly string[],
  now: number,
): Verified {
  const standard = headers[STANDARD];
  if (standard !== undefined) return verifyStandard(standard, headers, body, secrets, now);
  const github = headers[GITHUB];
  if (github !== undefined) {
    const isRight = secrets.some((secret) =>
      isSameSecret(github, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`),
    );
    // The header with the delivery's id is not signed; the signature itself stands for the body.
    return isRight ? { ok: true, delivery: github } : WRONG;
  }
  const token = headers[GITLAB];
  if (token === undefined) return { ok: false, flaw: 'unsigned' };
  if (!secrets.some((secret) => isSameSecret(token, secret))) return WRONG;
  const id = headers['idempotency-key'] ?? createHash('sha256').update(body).digest('hex');
  return { ok: true, delivery: `gitlab ${id}` };
}

const WRONG = { ok: false, flaw: 'wrong-signature' } as const;

function verifyStandard(
  signatures: string,
  headers: WebhookHeaders,
  body: Uint8Array,
  secrets: readonly string[],
  now: number,
): Verified {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '' } = headers;
  const given = signatures.split(' ').slice(0, MAX_SIGNATURES);
  const isRight = secrets.map(keyOf).some((key) => {
    const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
    const right = `v1,${hmac.digest('base64')}`;
    return given.some((each) => isSameSecret(each, right));
  });
  if (!isRight || id === '') return WRONG;
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : NaN;
  const isFresh = Math.abs(seconds * 1_000 - now) <= TOLERANCE_MS;
  return isFresh ? { ok: true, delivery: `standard ${id}` } : { ok: false, flaw: 'stale' };
}

const MAX_SIGNATURES = 10;

/** `whsec_` and base64 as the standard writes secrets; any other text is its own bytes. */
function keyOf(secret: string): Uint8Array {
  const encoded = /^whsec_([A-Za-z0-9+/=]+)$/.exec(secret)?.[1];
  return Buffer.from(encoded ?? secret, encoded === undefined ? 'utf8' : 'base64');
}

/** Deliveries seen lately, so that none counts twice. */
export class SeenDeliveries {
  readonly #most: number;
  /** In the order in which they came. */
  readonly #seen = new Set<string>();

  constructor(most = 10_000) {
    this.#most = most;
  }

  /** Whether it was seen before; from now on it was. */
  note(delivery: string): boolean {
    const key = createHash('sha256').update(delivery).digest('base64');
    if (this.#seen.has(key)) return true;
    this.#seen.add(key);
    const [oldest] = this.#seen;
    if (this.#seen.size > this.#most && oldest !== undefined) this.#seen.delete(oldest);
    return false;
  }
}

/** What a push says of itself; everything in it is untrusted. */
export interface Push {
  /** Short name of the branch. */
  readonly branch: string;
  /** URLs and names by which the sender calls the repository; empty where it does not say. */
  readonly repositories: readonly string[];
}

/** @returns undefined: no push to a branch, or one that deleted it. */
export function pushOf(headers: WebhookHeaders, payload: unknown): Push | undefined {
  const event = headers['x-github-event'] ?? headers['x-gitlab-event'];
  if (event !== undefined && !PUSH_EVENTS.has(event)) return undefined;
  const { ref, deleted, after, repository, project } = recordOf(payload);
  const branch = typeof ref === 'string' ? /^refs\/heads\/(.+)$/.exec(ref)?.[1] : undefined;
  const isGone = deleted === true || (typeof after === 'string' && /^0+$/.test(after));
  if (branch === undefined || isGone) return undefined;
  return { branch, repositories: [...namesIn(repository), ...namesIn(project)] };
}

/** A system hook of GitLab tells of pushes and of everything else; its payload then decides. */
const PUSH_EVENTS: ReadonlySet<string> = new Set(['push', 'Push Hook', 'System Hook']);

const URL_MEMBERS = ['clone_url', 'ssh_url', 'git_http_url', 'git_ssh_url', 'http_url'] as const;

function namesIn(repository: unknown): string[] {
  const members = recordOf(repository);
  return URL_MEMBERS.map((name) => members[name]).filter((url) => typeof url === 'string');
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

/**
 * Whether a push is about this source: its branch, and its repository where both sides name one. Hosts are not compared:
 * a repository is often cloned by another name than the one by which its pages are shown.
 */
export function concerns(push: Push, { branch, location }: SourceView): boolean {
  if (branch !== null && branch !== push.branch) return false;
  const ours = repositoryPath(location);
  const theirs = push.repositories.map(repositoryPath).filter((path) => path !== undefined);
  return ours === undefined || theirs.length === 0 || theirs.includes(ours);
}

/** `shop/flags` of `https://host/shop/flags.git` and `git@host:shop/flags`; undefined of a directory. */
function repositoryPath(location: string): string | undefined {
  const path =
    /^[a-z][a-z+]*:\/\/[^/]+\/(.+)$/i.exec(location) ?? /^[^/\s]+@[^/\s]+:(.+)$/.exec(location);
  return path?.[1]
    ?.replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .toLowerCase();
}
