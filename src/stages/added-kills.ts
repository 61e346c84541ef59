import type { Checkout } from '../git/checkout.js';
import { commitTree } from '../git/commit-tree.js';
import type { SpecTree } from '../model/tree.js';
import { killOrders } from '../plan/kill-orders.js';
import { CONFIG_PATH } from '../specs/load-files.js';
import { readSpecs } from '../specs/read-specs.js';

/**
 * Whether a commit orders a kill that an earlier one does not. Only the files that differ are read, so that the answer
 * is there long before a plan would be.
 *
 * @throws FlaghoistError `GIT` a commit is not here.
 */
export async function addsKill(
  checkout: Checkout,
  before: string,
  after: string,
): Promise<boolean> {
  const [then, now] = await Promise.all([
    commitTree(checkout, before),
    commitTree(checkout, after),
  ]);
  const known = new Map(then.list().map(({ path, blobId }) => [path, blobId]));
  const touched = new Set(
    now
      .list()
      .filter(({ path, blobId }) => mayKill(path) && known.get(path) !== blobId)
      .map(({ path }) => path),
  );
  if (touched.size === 0) return false;
  const [old, young] = await Promise.all([kills(then, touched), kills(now, touched)]);
  return [...young].some((each) => !old.has(each));
}

function mayKill(path: string): boolean {
  return path.startsWith('kills/') || path.startsWith('flags/');
}

async function kills(tree: SpecTree, paths: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const entries = tree.list().filter(({ path }) => path === CONFIG_PATH || paths.has(path));
  // What the other files say is missing, so that most of these specs are invalid; their kills count all the same.
  const specs = await readSpecs({ list: () => entries, read: async (path) => tree.read(path) });
  const orders = specs.ok ? killOrders(specs.desired) : specs.kills;
  return new Set(orders.map(({ flag, environment }) => `${flag}@${environment}`));
}
