import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const FILE = 'store-id';

/** Where the embedded service of a config directory keeps its data. */
export function embeddedStorePath(directory: string, storeDirectory: string | undefined): string {
  return storeDirectory === undefined
    ? join(directory, '.flaghoist', 'service')
    : resolve(storeDirectory);
}

/** The id of a store that was used before; undefined: there is none. */
export function storeIdAt(path: string): string | undefined {
  const file = join(path, FILE);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/** The id of an open store, made where it has none yet: nobody else is there to make another. */
export function ensuredStoreId(path: string): string {
  const found = storeIdAt(path);
  if (found !== undefined) return found;
  const id = randomUUID();
  writeFileSync(join(path, FILE), `${id}\n`);
  return id;
}

/** What the state calls the embedded service: another store, made after this was deleted, is another service. */
export function embeddedStateName(storeId: string): string {
  return `embedded:${storeId}`;
}
