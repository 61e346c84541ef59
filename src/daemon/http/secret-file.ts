import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';

/** Room for many secrets, and far less than a file named by mistake. */
const MAX_BYTES = 64 * 1024;

/** Why a file gives no secrets. */
export type NoSecrets = 'unreadable' | 'empty' | 'too-large';

/**
 * Reads the secrets of a file, one a line, so that an operator can add a new one before removing the old one. Each call
 * reads the file again, which picks up a rotated secret however the file was replaced.
 */
export async function readSecrets(file: string): Promise<readonly string[] | NoSecrets> {
  try {
    if ((await stat(file)).size > MAX_BYTES) return 'too-large';
    const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.trim());
    const secrets = lines.filter((line) => line !== '');
    return secrets.length === 0 ? 'empty' : secrets;
  } catch {
    return 'unreadable';
  }
}

/** Compares in constant time, whatever the position of a difference and the lengths. */
export function isSameSecret(given: string | Uint8Array, known: string | Uint8Array): boolean {
  const digest = (text: string | Uint8Array): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(known));
}
