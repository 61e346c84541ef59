import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { headFolders } from '../../git/head-files.js';
import type { Checkout } from '../../git/checkout.js';
import { isSpecPath } from '../../model/tree.js';
import type { WatchedFolder } from './file-events.js';

/** A Kubernetes volume (ConfigMap, Secret) swaps this link; the names beside it are links through it. */
const VOLUME_DATA = '..data';

/** The directory that really holds the specs at this moment: links are followed, those of a volume too. */
export async function specsDirectory(directory: string): Promise<string> {
  const data = join(directory, VOLUME_DATA);
  return (await isLink(data)) ? realpath(data) : realpath(directory);
}

/**
 * All folders where something happens when the specs change: the files themselves, the commit that is checked out, and
 * every link on the way to them.
 *
 * @param directory as the operator gave it.
 */
export async function watchedFolders(
  directory: string,
  checkout: Checkout,
): Promise<WatchedFolder[]> {
  const links = await linksOnTheWay(resolve(directory));
  return [
    { folder: checkout.directory, counts: (path) => isSpecPath(path) || isSpecPath(`${path}/`) },
    ...links.map((link) => ({
      folder: dirname(link),
      counts: (path: string) => path === basename(link),
    })),
    ...(await headFolders(checkout)).map((folder) => ({ folder, counts: saysHead(folder) })),
  ];
}

/** Of the folder of branches everything counts, of the others the files that say which commit is checked out. */
function saysHead(folder: string): (path: string) => boolean {
  if (basename(folder) === 'heads') return (path) => !path.endsWith('.lock');
  return (path) => path === 'HEAD' || path === 'packed-refs';
}

async function linksOnTheWay(directory: string): Promise<string[]> {
  const links: string[] = [];
  for (let path = directory; dirname(path) !== path; path = dirname(path)) {
    if (await isLink(path)) links.push(path);
  }
  const data = join(directory, VOLUME_DATA);
  return (await isLink(data)) ? [...links, data] : links;
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}
