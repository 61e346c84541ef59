import { existsSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, relative, sep } from 'node:path';
import { watch, type FSWatcher } from 'chokidar';
import { FlagkeelError } from '../../errors.js';
import { openCheckout, type Checkout, headFolders } from '../../git/checkout.js';
import { commitIn } from '../../git/log.js';
import { directoryTree, directoryFingerprint } from '../../git/directory-tree.js';
import { GitCache } from '../../git/cache.js';
import { localChanges } from '../../git/local-changes.js';
import { addsKill } from '../../kill/newer-commit.js';
import { openCommit, openSource, type Source } from '../../git/spec-source.js';
import type { CommitView } from '../view.js';
import type { Seen, Upstream } from './upstream.js';
import { isSpecPath } from '../../model/spec-tree.js';

/**
 * A directory of this machine: a checkout, of which the commit counts that is checked out, or files without git.
 *
 * It may vanish, be replaced or swapped at any time: nothing is kept of it from one look to the next but what it held,
 * and that it was a checkout. One that has lost its repository is out of reach: its files are of no commit.
 */
export class LocalUpstream implements Upstream {
  readonly location: string;
  readonly branch = null;
  readonly directory: string;
  #events: FileEvents | null = null;
  /** Of the runs: what a look lists is what the run after it reads. */
  #memory = new GitCache();
  #wasCheckout = false;
  #last: { readonly head: string; readonly fingerprint: string; readonly seen: Seen } | null = null;

  constructor(directory: string) {
    this.directory = directory;
    this.location = directory;
  }

  async poll(): Promise<Seen> {
    const real = await this.#real();
    return this.#with(real, async (checkout) => {
      await this.#events?.watch(await watchedFolders(this.directory, checkout));
      const disk = await directoryTree(checkout.directory);
      const fingerprint = directoryFingerprint(disk);
      const { head } = checkout;
      this.#wasCheckout ||= checkout.repository !== null;
      if (checkout.repository === null && this.#wasCheckout) throw lostRepository(this.directory);
      if (checkout.repository === null) return { commit: null, localFiles: fingerprint };
      if (head === null) throw noCommit(this.directory);
      const last = this.#last;
      if (last?.head === head && last.fingerprint === fingerprint) return last.seen;
      const isDirty = (await localChanges(checkout, { onDisk: disk })).length > 0;
      const commit = await commitIn(checkout, head);
      const seen = { commit, localFiles: isDirty ? fingerprint : null };
      this.#last = { head, fingerprint: fingerprint, seen };
      return seen;
    });
  }

  async open(commit: string | null, memory?: GitCache): Promise<Source> {
    const real = await this.#real();
    this.#memory = memory ?? this.#memory;
    try {
      if (commit !== null) return await openCommit(await openCheckout(real, memory), commit);
      return await openSource(real, { workingTree: true, sameAsHead: true, memory: this.#memory });
    } catch (error) {
      // The volume of a ConfigMap was swapped meanwhile, for example: no spec is wrong, and the next try reads its successor.
      if (existsSync(real)) throw error;
      throw notThere(this.directory, error);
    }
  }

  async describe(commit: string): Promise<CommitView> {
    return this.#with(await this.#real(), async (checkout) => commitIn(checkout, commit));
  }

  async addsKill(before: string, after: string): Promise<boolean> {
    return this.#with(await this.#real(), async (checkout) => addsKill(checkout, before, after));
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
    try {
      return await specsDirectory(this.directory);
    } catch (cause) {
      throw notThere(this.directory, cause);
    }
  }

  async #with<T>(directory: string, use: (checkout: Checkout) => Promise<T>): Promise<T> {
    const checkout = await openCheckout(directory, this.#memory);
    try {
      return await use(checkout);
    } finally {
      await checkout.close();
    }
  }
}

function notThere(directory: string, cause: unknown): FlagkeelError {
  return new FlagkeelError('GIT', `cannot read "${directory}": it is not there`, { cause });
}

function lostRepository(directory: string): FlagkeelError {
  return new FlagkeelError(
    'GIT',
    `cannot read "${directory}": it was a git repository and is none any more (check it out again)`,
  );
}

function noCommit(directory: string): FlagkeelError {
  return new FlagkeelError(
    'SPECS_INVALID',
    `cannot read specs in "${directory}": the repository has no commit yet (commit them)`,
  );
}

/** A Kubernetes volume (ConfigMap, Secret) swaps this link; the names beside it are links through it. */
const VOLUME_DATA = '..data';

/** The directory that really holds the specs at this moment: links are followed, those of a volume too. */
async function specsDirectory(directory: string): Promise<string> {
  const data = join(directory, VOLUME_DATA);
  return (await isLink(data)) ? realpath(data) : realpath(directory);
}

/**
 * All folders where something happens when the specs change: the files themselves, the commit that is checked out, and
 * every link on the way to them.
 *
 * @param directory as the operator gave it.
 */
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

/** A folder, and which of the paths in it count. */
interface WatchedFolder {
  readonly folder: string;
  /** Relative to the folder, with forward slashes. A folder below it that does not count is not entered. */
  readonly counts: (path: string) => boolean;
}

/**
 * Events of files, as the kernel tells them. The only door to the library that knows how.
 *
 * Symbolic links are watched as such and never followed: a swapped link (git-sync, a ConfigMap) is an event of the
 * folder that holds it, and none at all where links are followed. Where the kernel tells nothing, as on some network
 * volumes, nothing is heard, and whoever listens has to look by the clock as well.
 */
class FileEvents {
  readonly #hint: () => void;
  #watched = '';
  #watchers: FSWatcher[] = [];
  #closed = false;

  constructor(hint: () => void) {
    this.#hint = hint;
  }

  /** Watches these folders, and no longer those before. Repeating it with the same ones does nothing. */
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
    // What happened while the library still looked through the folder is no event to it.
    watcher.once('ready', this.#hint);
    // Too many watches, a folder that vanished: a look finds out, and the clock is left.
    watcher.on('error', this.#hint);
    return watcher;
  }
}
