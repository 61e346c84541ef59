import { FlaghoistError } from '../../errors.js';
import { openCheckout, type Checkout } from '../../git/checkout.js';
import { commitIn } from '../../git/commit-summary.js';
import { directoryTree } from '../../git/directory-tree.js';
import { filesPrint } from '../../git/files-print.js';
import { GitMemory } from '../../git/git-memory.js';
import { localChanges } from '../../git/local-changes.js';
import { addsKill } from '../../stages/added-kills.js';
import { openCommit, openSource, type Source } from '../../stages/source.js';
import type { CommitView } from '../view.js';
import { FileEvents } from './file-events.js';
import type { Seen, Upstream } from './upstream.js';
import { specsDirectory, watchedFolders } from './watched-folders.js';

/**
 * A directory of this machine: a checkout, of which the commit counts that is checked out, or files without git.
 *
 * It may vanish, be replaced or swapped at any time: nothing is kept of it from one look to the next but what it held.
 */
export class LocalUpstream implements Upstream {
  readonly location: string;
  readonly branch = null;
  readonly directory: string;
  #events: FileEvents | null = null;
  /** Of the runs: what a look lists is what the run after it reads. */
  #memory = new GitMemory();
  #last: { readonly head: string; readonly print: string; readonly seen: Seen } | null = null;

  constructor(directory: string) {
    this.directory = directory;
    this.location = directory;
  }

  async look(): Promise<Seen> {
    const real = await this.#real();
    return this.#with(real, async (checkout) => {
      await this.#events?.watch(await watchedFolders(this.directory, checkout));
      const disk = await directoryTree(checkout.directory);
      const print = filesPrint(disk);
      const { head } = checkout;
      if (checkout.repository === null) return { commit: null, localFiles: print };
      if (head === null) throw noCommit(this.directory);
      const last = this.#last;
      if (last?.head === head && last.print === print) return last.seen;
      const isDirty = (await localChanges(checkout, disk)).length > 0;
      const commit = await commitIn(checkout, head);
      const seen = { commit, localFiles: isDirty ? print : null };
      this.#last = { head, print, seen };
      return seen;
    });
  }

  async open(commit: string | null, memory?: GitMemory): Promise<Source> {
    const real = await this.#real();
    this.#memory = memory ?? this.#memory;
    if (commit === null) {
      return openSource(real, { workingTree: true, sameAsHead: true, memory: this.#memory });
    }
    return openCommit(await openCheckout(real, memory), commit);
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
      throw new FlaghoistError('GIT', `cannot read "${this.directory}": it is not there`, {
        cause,
      });
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

function noCommit(directory: string): FlaghoistError {
  return new FlaghoistError(
    'SPECS_INVALID',
    `cannot read specs in "${directory}": the repository has no commit yet (commit them)`,
  );
}
