import { existsSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, relative, sep } from 'node:path';
import { watch, type FSWatcher } from 'chokidar';
import { FlagkeelError } from '../../errors.js';
import { openCheckout, type Checkout, headFolders } from '../../git/checkout.js';
import { commitIn } from '../../git/log.js';
import { directoryTree, directoryFingerprint } from '../../git/trees.js';
import { GitCache } from '../../git/cache.js';
import { localChanges, openCommit, openSource, type Source } from '../../git/spec-source.js';
import type { Seen, Upstream } from './upstream.js';
import { isSpecPath } from '../../model/spec-tree.js';

/**
 * A local directory: a git checkout, of which only the commit at HEAD counts, or files without git.
 *
 * It may vanish or be replaced at any time, so polls share nothing but the last result and whether it was a checkout. A
 * checkout that loses its repository counts as unreachable, because its files belong to no commit.
 */
export class LocalUpstream implements Upstream {
  readonly kind = 'checkout';
  readonly location: string;
  readonly branch = null;
  readonly directory: string;
  #events: FileEvents | null = null;
  /** Shared with the runs: the run after a poll reads what that poll has listed. */
  #memory = new GitCache();
  #wasCheckout = false;
  #last: { readonly head: string; readonly fingerprint: string; readonly seen: Seen } | null = null;

  constructor(directory: string) {
    this.directory = directory;
    this.location = directory;
  }

  async poll(): Promise<Seen> {
    const checkout = await openCheckout(await this.#real(), this.#memory);
    try {
      return await this.#seenIn(checkout);
    } finally {
      await checkout.close();
    }
  }

  async #seenIn(checkout: Checkout): Promise<Seen> {
    await this.#events?.watch(await watchedFolders(this.directory, checkout));
    const disk = await directoryTree(checkout.directory);
    const fingerprint = directoryFingerprint(disk);
    const { head } = checkout;
    this.#wasCheckout ||= checkout.repository !== null;
    if (checkout.repository === null && this.#wasCheckout) throw unreadable(this.directory, LOST);
    if (checkout.repository === null) return { commit: null, localFiles: fingerprint };
    if (head === null) {
      const message = `cannot read specs in "${this.directory}": the repository has no commit yet (commit them)`;
      throw new FlagkeelError('SPECS_INVALID', message);
    }
    const last = this.#last;
    if (last?.head === head && last.fingerprint === fingerprint) return last.seen;
    const isDirty = (await localChanges(checkout, { onDisk: disk })).length > 0;
    const commit = await commitIn(checkout, head);
    const seen = { commit, localFiles: isDirty ? fingerprint : null };
    this.#last = { head, fingerprint, seen };
    return seen;
  }

  async open(commit: string | null, memory?: GitCache): Promise<Source> {
    const real = await this.#real();
    this.#memory = memory ?? this.#memory;
    try {
      if (commit !== null) return await openCommit(await openCheckout(real, this.#memory), commit);
      return await openSource(real, { workingTree: true, sameAsHead: true, memory: this.#memory });
    } catch (error) {
      // The directory vanished meanwhile, for example because a ConfigMap's volume was swapped. The specs are not
      // wrong, and the next try reads the new volume.
      if (existsSync(real)) throw error;
      throw unreadable(this.directory, NOT_THERE, error);
    }
  }

  follow(hint: () => void): () => Promise<void> {
    const events = new FileEvents(hint);
    this.#events = events;
    return async () => {
      this.#events = null;
      await events.close();
    };
  }

  async #real(): Promise<string> {
    const data = join(this.directory, VOLUME_DATA);
    try {
      return await realpath((await isLink(data)) ? data : this.directory);
    } catch (cause) {
      throw unreadable(this.directory, NOT_THERE, cause);
    }
  }
}

function unreadable(directory: string, why: string, cause?: unknown): FlagkeelError {
  return new FlagkeelError('GIT', `cannot read "${directory}": ${why}`, { cause });
}

const NOT_THERE = 'it is not there';
const LOST = 'it was a git repository and is none any more (check it out again)';

/** Kubernetes swaps this link when a volume (ConfigMap, Secret) changes; the names beside it are links through it. */
const VOLUME_DATA = '..data';

/** All folders with events when the specs change: the files, the commit at HEAD, and every link on the way to them. */
async function watchedFolders(directory: string, checkout: Checkout): Promise<WatchedFolder[]> {
  const links = await linksOnTheWay(resolve(directory));
  return [
    { folder: checkout.directory, counts: isSpecPath },
    ...links.map((link) => ({
      folder: dirname(link),
      counts: (path: string) => path === basename(link),
    })),
    ...(await headFolders(checkout)).map((folder) => ({ folder, counts: saysHead(folder) })),
  ];
}

/** In the folder of branches every file counts, in the others only those that determine the commit at HEAD. */
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

interface WatchedFolder {
  readonly folder: string;
  /** Takes a path relative to the folder, with forward slashes. A subfolder that does not count is not entered. */
  readonly counts: (path: string) => boolean;
}

/**
 * File events of the kernel.
 *
 * It watches symbolic links and never follows them: a swapped link (git-sync, a ConfigMap) causes an event in the
 * folder that holds it, and none if the link is followed. Some network volumes have no events, so callers must poll at
 * intervals too.
 */
class FileEvents {
  readonly #hint: () => void;
  #watched = '';
  #watchers: FSWatcher[] = [];
  #closed = false;

  constructor(hint: () => void) {
    this.#hint = hint;
  }

  async watch(folders: readonly WatchedFolder[]): Promise<void> {
    const key = folders.map(({ folder }) => folder).join('\0');
    if (key === this.#watched || this.#closed) return;
    this.#watched = key;
    await this.#end();
    this.#watchers = folders.map((each) => this.#open(each));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    const watchers = this.#watchers;
    this.#watchers = [];
    await Promise.all(watchers.map(async (each) => each.close()));
  }

  #open({ folder, counts }: WatchedFolder): FSWatcher {
    const watcher = watch(folder, {
      followSymlinks: false,
      ignoreInitial: true,
      ignored: (path) => {
        const inside = relative(folder, path).split(sep).join('/');
        return inside !== '' && !counts(inside);
      },
    });
    watcher.on('all', this.#hint);
    // The library reports no changes from before it has finished listing the folder.
    watcher.once('ready', this.#hint);
    // Too many watches, or a vanished folder: a poll finds out, and the interval still works.
    watcher.on('error', this.#hint);
    return watcher;
  }
}
