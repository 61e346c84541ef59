import type { Checkout } from '../git/checkout.js';
import { commitTree } from '../git/commit-tree.js';
import { type SpecTree, topOf } from '../model/spec-tree.js';
import { killOrders, orderKey } from '../plan/kills/orders.js';
import type { SpecsResult } from '../specs/read-specs.js';
import { SpecHistory } from '../history/spec-history.js';
import { byCodeUnits } from '../model/json.js';
import type { Source } from '../git/spec-source.js';

/** Whether a commit orders a kill that an earlier one does not; see `killsAdded`. */
export async function addsKill(
  checkout: Checkout,
  before: string,
  after: string,
): Promise<boolean> {
  return (await killsAdded(checkout, before, after)).size > 0;
}

/**
 * The kills that a commit orders and an earlier one does not, by `orderKey`. Reads only the files that differ, to be
 * much faster than a plan.
 *
 * @throws FlagkeelError `GIT` a commit is not here.
 */
export async function killsAdded(
  checkout: Checkout,
  before: string,
  after: string,
): Promise<ReadonlySet<string>> {
  const history = new SpecHistory(checkout, after);
  const changed = new Set((await history.pathsChanged(before, after)).filter(mayKill));
  if (changed.size === 0) return new Set();
  const [old, young] = await Promise.all(
    [before, after].map(async (commit) => killsIn(await history.partAt(commit, changed))),
  );
  return new Set([...(young ?? [])].filter((each) => old?.has(each) !== true));
}

function mayKill(path: string): boolean {
  return path.startsWith('kills/') || path.startsWith('flags/');
}

/** Invalid specs order their kills too. */
function killsIn(specs: SpecsResult): ReadonlySet<string> {
  const orders = specs.ok ? killOrders(specs.desired) : specs.kills;
  return new Set(orders.map(orderKey));
}

/**
 * An older commit with the break-glass lists of a newer one, so that staying at the older commit neither misses kills
 * nor reverts any.
 *
 * @param commit full hash of the newer one.
 */
export async function withKillsOf(source: Source, commit: string): Promise<Source> {
  try {
    const newest = await commitTree(source.checkout, commit);
    return { ...source, tree: withFolderOf(source.tree, newest) };
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}

function withFolderOf(old: SpecTree, newest: SpecTree): SpecTree {
  const isKill = (path: string): boolean => topOf(path) === 'kills';
  const entries = [
    ...old.list().filter(({ path }) => !isKill(path)),
    ...newest.list().filter(({ path }) => isKill(path)),
  ].toSorted((a, b) => byCodeUnits(a.path, b.path));
  return {
    list: () => entries,
    read: async (path) => (isKill(path) ? newest : old).read(path),
  };
}
