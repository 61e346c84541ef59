import type { Checkout } from '../git/checkout.js';
import { readLog, type LoggedCommit } from '../git/log.js';
import type { BoundDesired } from '../model/bound-desired.js';
import { parseKey, type Kind } from '../model/ref.js';
import type { State } from '../model/state.js';
import { observedKind, plannedKind } from '../plan/objects/kinds.js';
import type { SpecHistory } from './spec-history.js';

/**
 * Objects of the inventory that HEAD no longer declares and that were protected when they were removed, as `KIND/NAME`.
 * The specs right before the removing commit decide. Earlier specs do not count, because the protection may have been
 * removed since.
 *
 * @throws FlagkeelError `GIT`
 */
export async function protectedRemovals(
  { checkout, head, history }: { checkout: Checkout; head: string | null; history: SpecHistory },
  { desired, state }: { readonly desired: BoundDesired; readonly state: State },
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const { repository } = checkout;
  const gone = [...state.keys()].filter((key) => isGone(key, desired));
  if (repository === null || head === null || gone.length === 0) return found;
  const log = await readLog(repository, null, head, 'first-parents');
  for (const key of gone) {
    const ref = parseKey(key);
    if (!ref) continue;
    const { isOwn } = plannedKind(ref.kind).files;
    const commits = log.filter(({ paths }) =>
      paths.some((path) => isOwn(path, { ...ref, environment: null })),
    );
    if (await wasProtected(ref, commits, history)) found.add(key);
  }
  return found;
}

/** @param commits that touched its files, newest first; the newest removed it. */
async function wasProtected(
  { kind, name }: { readonly kind: Kind; readonly name: string },
  [removal, ...earlier]: readonly LoggedCommit[],
  history: SpecHistory,
): Promise<boolean> {
  if (!removal) return false;
  const said = [...removal.parents.slice(0, 1), ...earlier.map(({ id }) => id)];
  // One after the other, because the first mostly decides.
  for (const commit of said) {
    const specs = await history.atAncestor(commit);
    const declared = specs && observedKind(kind)?.declared(specs).get(name);
    if (declared) return declared.protect === true;
  }
  // All those specs are invalid, so that nothing proves that it was unprotected.
  return true;
}

function isGone(key: string, desired: BoundDesired): boolean {
  const ref = parseKey(key);
  const rules = ref && observedKind(ref.kind);
  return rules ? !rules.declared(desired).has(ref.name) : false;
}
