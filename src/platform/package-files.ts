import { existsSync, readFileSync } from 'node:fs';

const ROOT = rootAbove(new URL('.', import.meta.url));

/**
 * URL of a file of this package, or of a folder with a slash at the end, by its path from the root:
 * `schemas/flag.schema.json`. Code cannot locate files relative to itself, because the build moves code into other
 * files.
 */
export function packageFile(path: string): URL {
  return new URL(path, ROOT);
}

function rootAbove(folder: URL): URL {
  const above = new URL('..', folder);
  if (existsSync(new URL('package.json', folder)) || above.href === folder.href) return folder;
  return rootAbove(above);
}

export function packageVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
