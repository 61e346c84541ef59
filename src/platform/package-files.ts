import { existsSync } from 'node:fs';

const ROOT = rootAbove(new URL('.', import.meta.url));

/**
 * A file or folder that comes with this package. The build puts code into other files than its sources, so that no code may find
 * one by the place where it stands itself.
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
