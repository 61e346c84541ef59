import { hash, timingSafeEqual } from 'node:crypto';

/** The start of every key, by which people and scanners of secrets know one. */
const PREFIX = 'fka_';
/** Base 62: digits and letters, which no URL and no shell has to escape. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 12;
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${ID_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * An Admin API key: `fka_`, 12 characters by which it is found, 30 that are its secret, 6 that tell a typing error
 * or a chance match of a scanner from a key.
 */
export interface NewAdminKey {
  readonly id: string;
  /** Shown once, to whoever asked for it; the store keeps `hash` alone. */
  readonly key: string;
  readonly hash: string;
}

/**
 * Makes a key from random bytes. Keeping its hash is up to the caller.
 *
 * @param randomBytes source of unguessable bytes.
 */
export function createAdminKey(randomBytes: (count: number) => Uint8Array): NewAdminKey {
  const id = randomText(ID_LENGTH, randomBytes);
  const payload = id + randomText(SECRET_LENGTH, randomBytes);
  const key = PREFIX + payload + checksum(payload);
  return { id, key, hash: hashKey(key) };
}

/** Text in which every character of the alphabet is equally likely. */
function randomText(length: number, randomBytes: (count: number) => Uint8Array): string {
  // 248 is the largest multiple of 62 in a byte: what lies above would make some characters likelier than others.
  const fair = 248;
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < fair && text.length < length) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return text;
}

/**
 * Six characters from the SHA-256 of the rest. It keeps no secret: it only tells a key from text
 * that happens to look like one.
 */
function checksum(payload: string): string {
  const digest = hash('sha256', payload, 'buffer');
  return [...digest.subarray(0, CHECKSUM_LENGTH)]
    .map((byte) => ALPHABET.charAt(byte % ALPHABET.length))
    .join('');
}

/** SHA-256 in lower-case hex. The secret is random and long: nothing slower is needed to keep it. */
function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** Id of a key; undefined where the text is no key at all, which needs no look at the store. */
export function adminKeyId(text: string): string | undefined {
  if (!SHAPE.test(text)) return undefined;
  const payload = text.slice(PREFIX.length, -CHECKSUM_LENGTH);
  if (checksum(payload) !== text.slice(-CHECKSUM_LENGTH)) return undefined;
  return payload.slice(0, ID_LENGTH);
}

/**
 * Whether the text is the key whose hash is kept. The comparison takes the same time wherever the
 * two differ, so that its length tells nothing of the hash.
 */
export function isSameKey(text: string, keptHash: string): boolean {
  const given = Buffer.from(hashKey(text), 'hex');
  const kept = Buffer.from(keptHash, 'hex');
  return given.length === kept.length && timingSafeEqual(given, kept);
}

/**
 * The key of a request: `Authorization: Bearer …` as the contract has it, or `x-api-key` as some
 * clients send it. The contract's header comes first where both are there.
 *
 * @param strict whether the contract's header is the only one that counts.
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
