import { hash, timingSafeEqual } from 'node:crypto';

/** Every key starts with this, so that people and scanners of secrets recognise it. */
const PREFIX = 'fka_';
/** Base 62: digits and letters need no escaping in URLs and shells. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 12;
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${ID_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** `fka_`, a 12-character id, a 30-character secret, and a 6-character checksum. */
export interface NewAdminKey {
  readonly id: string;
  /** The full key, shown once to its creator; the store keeps only `hash`. */
  readonly key: string;
  readonly hash: string;
}

export function createAdminKey(randomBytes: (count: number) => Uint8Array): NewAdminKey {
  const id = randomText(ID_LENGTH, randomBytes);
  const payload = id + randomText(SECRET_LENGTH, randomBytes);
  const key = PREFIX + payload + checksum(payload);
  return { id, key, hash: hashKey(key) };
}

function randomText(length: number, randomBytes: (count: number) => Uint8Array): string {
  // 248 is the largest multiple of 62 in a byte: bytes above it would make some characters likelier than others.
  const fair = 248;
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < fair && text.length < length) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return text;
}

/** Protects no secret: it lets scanners tell a key from text that happens to look like one. */
function checksum(payload: string): string {
  const digest = hash('sha256', payload, 'buffer');
  return [...digest.subarray(0, CHECKSUM_LENGTH)]
    .map((byte) => ALPHABET.charAt(byte % ALPHABET.length))
    .join('');
}

/** In lower-case hex. The secret is long and random, so a slower hash would add nothing. */
function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** Undefined if the text does not look like a key. Its hash tells whether it is one. */
export function adminKeyId(text: string): string | undefined {
  return SHAPE.test(text) ? text.slice(PREFIX.length, PREFIX.length + ID_LENGTH) : undefined;
}

/** Always takes the same time, so that its duration reveals nothing about the hash. */
export function isSameKey(text: string, keptHash: string): boolean {
  const given = hash('sha256', text, 'buffer');
  const kept = Buffer.from(keptHash, 'hex');
  return given.length === kept.length && timingSafeEqual(given, kept);
}

/**
 * `Authorization: Bearer …` as in the contract, or `x-api-key` as some clients send it. With both, the contract's
 * header counts. @param strict accepts the contract's header only.
 */
export function keyFromHeaders(
  headers: {
    readonly authorization?: string | undefined;
    readonly 'x-api-key'?: string | string[] | undefined;
  },
  strict = false,
): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined || strict) return bearer;
  const other = headers['x-api-key'];
  return typeof other === 'string' ? other : undefined;
}
