import { existsSync } from 'node:fs';

const ROOT = rootAbove(new URL('.', import.meta.url));

/**
 * URL of a file or folder of this package. Code cannot locate files relative to itself: the build moves code into other
 * files.
 *
 * @param path from the root of the package: `schemas/flag.schema.json`. A folder ends with a slash.
 */
export function packageFile(path: string): URL {
  return new URL(path, ROOT);
}

function rootAbove(folder: URL): URL {
  const above = new URL('..', folder);
  if (existsSync(new URL('package.json', folder)) || above.href === folder.href) return folder;
  return rootAbove(above);
}
