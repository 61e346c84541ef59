import { isAncestor, type Checkout } from '../git/checkout.js';
import { commitTree } from '../git/commit-tree.js';
import type { Config } from '../model/desired.js';
import { strictestGuards } from '../plan/guards.js';
import { readConfig } from '../specs/read-config.js';

/**
 * The config whose guards hold for a run: the stricter of HEAD's and of the commit that was applied last, where that
 * is an ancestor of HEAD and can be read.
 */
export async function guardingConfig(
  checkout: Checkout,
  config: Config,
  commits: { readonly head: string | null; readonly applied: string | null },
): Promise<Config> {
  const { head, applied } = commits;
  if (head === null || applied === null || head === applied) return config;
  if ((await isAncestor(checkout, applied, head)) !== true) return config;
  const before = await readConfig(await commitTree(checkout, applied));
  return strictestGuards(config, before.ok ? before.config : null);
}
