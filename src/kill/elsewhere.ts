import { posix } from 'node:path';
import type { Checkout } from '../git/checkout.js';
import { treesElsewhere, type OwnPlace } from '../history/elsewhere.js';
import { readPart } from '../history/spec-history.js';
import { nameOf } from '../model/bound-desired.js';
import { definitionId, objectId, type ObjectId, type ObjectRef } from '../model/ref.js';
import { folderKindOf, type SpecTree } from '../model/spec-tree.js';
import { killsIn } from './in-git.js';

/**
 * Those of the definitions whose kill another config directory orders for the same workspace. Where nothing tells
 * whether it means the same service, its order counts.
 *
 * @param commit to read; null for the files on disk.
 * @throws FlagkeelError `GIT` the files of the repository cannot be listed.
 */
export async function killsElsewhere(
  checkout: Checkout,
  commit: string | null,
  { definitions, ...own }: OwnPlace & { readonly definitions: readonly ObjectRef[] },
): Promise<readonly ObjectId[]> {
  if (definitions.length === 0) return [];
  const ids = new Set(definitions.map(objectId));
  const names = new Set(definitions.map(({ name }) => name));
  const found: ObjectId[] = [];
  for (const { tree } of await treesElsewhere(checkout, commit, own)) {
    const kills = (await ordersIn(tree, names)).map(({ flag, environment: word }) => {
      const environment = nameOf(word, own.desired.environmentNames);
      return definitionId({ flag, environment });
    });
    found.push(...kills.filter((id) => ids.has(id)));
  }
  return found;
}

/**
 * Paths to the other config directories that order the kill of a flag, so that it is sent again.
 *
 * @param commit to read; null for the files on disk. @throws FlagkeelError `GIT` its files cannot be listed.
 */
export async function directoriesOrdering(
  checkout: Checkout,
  commit: string | null,
  workspace: OwnPlace['workspace'],
  { flag, environments }: { readonly flag: string; readonly environments: readonly string[] },
): Promise<readonly string[]> {
  const own = { workspace, isServedHere: async () => Promise.resolve(undefined) };
  const found: string[] = [];
  for (const { path, tree } of await treesElsewhere(checkout, commit, own)) {
    const orders = await ordersIn(tree, new Set([flag]));
    if (orders.some((each) => environments.includes(each.environment))) found.push(path);
  }
  return found;
}

async function ordersIn(tree: SpecTree, flags: ReadonlySet<string>) {
  const isRead = (path: string): boolean =>
    folderKindOf(path) === 'kills' || flags.has(posix.basename(path).replace(/[@.].*/, ''));
  const orders = killsIn(await readPart(tree, isRead));
  return orders.filter(({ flag }) => flags.has(flag));
}
