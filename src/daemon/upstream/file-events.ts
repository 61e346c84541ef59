import { relative, sep } from 'node:path';
import { watch, type FSWatcher } from 'chokidar';

/** A folder, and which of the paths in it count. */
export interface WatchedFolder {
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
export class FileEvents {
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
    // Too many watches, a folder that vanished: a look finds out, and the clock is left.
    watcher.on('error', this.#hint);
    return watcher;
  }
}
