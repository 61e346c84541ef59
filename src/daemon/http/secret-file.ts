import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';

/** Many secrets, and far less than a file that was named by mistake. */
const MAX_BYTES = 64 * 1024;

/** Why a file gives no secrets. */
export type NoSecrets = 'unreadable' | 'empty' | 'too-large';

/**
 * Secrets in a file, one a line, so that a new one can be given out before the old one is taken away. Read again each
 * time: a rotated one is picked up, however the file was replaced.
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

/** Takes the same time wherever the two differ, and whatever their lengths. */
export function isSameSecret(given: string | Uint8Array, known: string | Uint8Array): boolean {
  const digest = (text: string | Uint8Array): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(known));
}
