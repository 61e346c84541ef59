import { isLoopback, originRefusal } from '../../admin-api/origin.js';
import { FlagkeelError } from '../../errors.js';
import { FORMATS, type NotifyFormat } from './formats.js';

/** A target of messages. The path of its URL is often a secret, so only the origin is ever shown. */
export interface NotifyTarget {
  readonly format: NotifyFormat;
  readonly url: string;
  /** Template of a plain-text message. Default: our own text. */
  readonly template?: string;
}

/**
 * Parses `slack=https://…`, `json=https://…` and so on, or a URL alone, whose format is JSON unless its host implies
 * another.
 *
 * @param allowedOrigins null for a target named by the operator. Targets from places that others can write need an
 *   origin in this list.
 * @throws FlagkeelError USAGE if this is no such URL; ORIGIN_NOT_ALLOWED if the list lacks its origin. Messages show
 *   only the origin of the URL.
 */
export function parseNotifyTarget(
  text: string,
  allowedOrigins: readonly string[] | null,
): NotifyTarget {
  const [, named, address = ''] = /^(?:([a-z]+)=)?(.*)$/s.exec(text.trim()) ?? [];
  const format = FORMATS.find((each) => each === named);
  if (named !== undefined && format === undefined) {
    throw unusable(`"${named}" is no format (known: ${FORMATS.join(', ')})`);
  }
  if (!URL.canParse(address)) throw unusable('it is not a URL');
  const url = new URL(address);
  const isPlain = url.protocol === 'http:';
  if (url.protocol !== 'https:' && !isPlain) throw unusable('only https, and http on loopback');
  if (isPlain && !isLoopback(url.href)) throw unusable('beyond loopback https is needed');
  if (url.username !== '' || url.password !== '') throw unusable('its URL holds credentials');
  const why = allowedOrigins === null ? null : originRefusal(url.href, allowedOrigins);
  if (why !== null) {
    throw new FlagkeelError('ORIGIN_NOT_ALLOWED', `cannot notify ${url.origin}: ${why}`);
  }
  url.hash = '';
  return { format: format ?? formatOf(url.hostname), url: url.href };
}

/** Hosts whose webhooks accept only one format. */
const HOSTS: readonly (readonly [RegExp, NotifyFormat])[] = [
  [/^hooks\.slack\.com$/, 'slack'],
  [/\.(webhook\.office\.com|logic\.azure\.com|api\.powerplatform\.com)$/, 'teams'],
];

function formatOf(host: string): NotifyFormat {
  return HOSTS.find(([pattern]) => pattern.test(host))?.[1] ?? 'json';
}

function unusable(why: string): FlagkeelError {
  return new FlagkeelError('USAGE', `cannot use the address for notifications: ${why}`);
}
