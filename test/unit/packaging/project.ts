import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the project. */
export const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));

export function readProjectFile(path: string): string {
  return readFileSync(join(PROJECT, path), 'utf8');
}
