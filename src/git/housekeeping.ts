import { isRepository } from './bare-repository.js';
import { openGit, type Git } from './git.js';
import { runWithInput } from './git-stream.js';

/** Objects that lie about one by one, above which it is worth packing them. */
const MAX_LOOSE = 1_000;
/** As many packs as are searched one after the other without harm. */
const MAX_PACKS = 20;
/** The first time, over what an earlier process left, takes longest. */
const TIMEOUT_MS = 900_000;

/**
 * Packs a bare repository of our own if there is much to pack, so that its files do not grow in number with each fetch
 * and each apply. Small packs are joined and large ones left alone, so that a large repository is not written anew each
 * time. Nothing is dropped, not even what nothing leads to any more: a history that was rewritten can still be compared
 * with. Other commands may run at the same time.
 *
 * @param directory nothing happens where no repository is.
 * @throws FlaghoistError `GIT`
 */
export async function keepHouse(directory: string, signal: AbortSignal): Promise<void> {
  if (!(await isRepository(directory))) return;
  const git = openGit(directory);
  if (!(await isUntidy(git))) return;
  const args = ['repack', '--geometric=2', '-d', '-l', '-q', '--no-write-bitmap-index'];
  const options = { signal, timeoutMs: TIMEOUT_MS };
  await runWithInput(git, args, '', `pack "${directory}"`, options);
}

async function isUntidy(git: Git): Promise<boolean> {
  const counts = await git.run(['count-objects', '-v'], 'count objects');
  const countOf = (name: string): number =>
    Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(counts)?.[1] ?? 0);
  return countOf('count') > MAX_LOOSE || countOf('packs') > MAX_PACKS;
}
