import { FlagkeelError } from '../errors.js';
import type { Location } from '../model/diagnostic.js';
import { isLoopback } from '../platform/proxy.js';

export const AUTH_HEADERS = ['authorization', 'x-api-key'] as const;

export type AuthHeader = (typeof AUTH_HEADERS)[number];

/** `--url`, `FLAGKEEL_URL` and `service.url`, strongest first. */
export interface OriginChoice {
  readonly cliUrl?: string | undefined;
  readonly envUrl?: string | undefined;
  /** `FLAGKEEL_ORIGINS`, see `parseOrigins`. */
  readonly allowedOrigins: readonly string[];
  /** `service.url` of the repository: only a proposal, because anyone who can push could name any host. */
  readonly proposedUrl?: string | undefined;
  readonly proposedLocation?: Location | undefined;
}

/**
 * To which URL the key may be sent; its path, if any, is the prefix of every request.
 *
 * @throws FlagkeelError ORIGIN_NOT_ALLOWED, with the setting that would allow it.
 */
export function decideOrigin(choice: OriginChoice): string {
  if (choice.cliUrl !== undefined) return accept(choice.cliUrl, '--url');
  if (choice.envUrl !== undefined) return accept(choice.envUrl, 'FLAGKEEL_URL');
  if (choice.proposedUrl === undefined) {
    throw notAllowed(
      'cannot reach the service: no URL was given (set --url, FLAGKEEL_URL, or service.url in flagkeel.yaml; or --embedded)',
    );
  }
  const source = sourceOf(choice.proposedLocation);
  const accepted = accept(choice.proposedUrl, source);
  const why = originRefusal(accepted, choice.allowedOrigins);
  if (isLoopback(accepted) || why === null) return accepted;
  const to = originOf(accepted);
  throw notAllowed(`cannot send the key to ${to}: ${source} proposes it and ${why}`);
}

/**
 * Why a valid URL from the repository is refused, with the setting that would allow it; null if its origin is in the
 * list. Loopback is no exception here.
 */
export function originRefusal(url: string, allowedOrigins: readonly string[]): string | null {
  const origin = originOf(url);
  if (allowedOrigins.includes(origin)) return null;
  const line = `FLAGKEEL_ORIGINS=${[...allowedOrigins, origin].join(',')}`;
  return `the operator did not allow it (set ${line})`;
}

/**
 * Splits `FLAGKEEL_ORIGINS`: URLs with commas or white space between them, of which scheme, host and port count. An
 * entry with http allows only requests without the key, because the key always needs https.
 *
 * @throws FlagkeelError ORIGIN_NOT_ALLOWED: an entry is no URL, or holds more than an address.
 */
export function parseOrigins(text: string): readonly string[] {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  return entries.map((entry) => addressIn(entry, 'FLAGKEEL_ORIGINS').origin);
}

/** Scheme, host and port, without a slash at the end. The URL must be valid. */
export function originOf(url: string): string {
  return new URL(url).origin;
}

function accept(text: string, source: string): string {
  const url = addressIn(text, source);
  if (url.protocol === 'http:' && !isLoopback(url.href)) {
    throw refused(url, source, 'beyond loopback the key is sent over https only');
  }
  return url.origin + url.pathname.replace(/(?<!\/)\/+$/, '');
}

function addressIn(text: string, source: string): URL {
  if (!URL.canParse(text)) throw notAllowed(`cannot use the URL of ${source}: it is not a URL`);
  const url = new URL(text);
  const refuse = (why: string) => refused(url, source, why);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw refuse('only https, and http on loopback, are known');
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('it holds credentials (set FLAGKEEL_API_KEY instead)');
  }
  if (url.hash !== '' || text.includes('#')) throw refuse('it holds a fragment');
  if (url.search !== '' || text.includes('?')) throw refuse('it holds a query');
  return url;
}

/** Names only the host, because the rest of the URL may hold a password. */
function refused(url: URL, source: string, why: string): FlagkeelError {
  return notAllowed(`cannot use the URL of ${source} (${url.protocol}//${url.host}): ${why}`);
}

function sourceOf(location: Location | undefined): string {
  if (location === undefined) return 'service.url';
  return `${location.file}:${location.line}:${location.column}`;
}

function notAllowed(message: string): FlagkeelError {
  return new FlagkeelError('ORIGIN_NOT_ALLOWED', message);
}
