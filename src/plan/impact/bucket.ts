/**
 * The place, from 1 to 100, that hashing gives a key: MurmurHash3 (x86, 32 bits) of its bytes in UTF-8, modulo 100. The
 * vendor's SDKs compute the same, so a definition's seed decides which keys a share reaches.
 */
export function bucketOf(key: string, seed: number): number {
  return (murmur(Buffer.from(key, 'utf8'), seed) % 100) + 1;
}

/** @returns an unsigned integer of 32 bits. */
function murmur(bytes: Buffer, seed: number): number {
  const tail = bytes.length - (bytes.length % 4);
  let hash = seed | 0;
  for (let at = 0; at < tail; at += 4) {
    hash = rotated(hash ^ mixed(bytes.readInt32LE(at)), 13);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let at = bytes.length - 1; at >= tail; at -= 1) rest = (rest << 8) | (bytes[at] ?? 0);
  hash ^= mixed(rest) ^ bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function mixed(word: number): number {
  return Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
}

function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
