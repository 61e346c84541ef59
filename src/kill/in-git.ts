import { mergeBaseWith, resolveRevision, type Checkout } from '../git/checkout.js';
import { commitTree } from '../git/trees.js';
import { nameOf } from '../model/bound-desired.js';
import { eachOnce } from '../model/collections.js';
import { folderKindOf, overlaid } from '../model/spec-tree.js';
import { killOrders, isKillListed, isKillOrdered, type KillOrder } from '../plan/kills/orders.js';
import type { SpecsResult } from '../specs/read-specs.js';
import { ifHere, SpecHistory } from '../history/spec-history.js';
import type { Source } from '../git/spec-source.js';
import { definitionId, keyOf, objectId, type ObjectId, type ObjectRef } from '../model/ref.js';
import type { LiveKill } from '../model/plan.js';
import { flagEntry } from '../model/state.js';
import type { PlanInput } from '../plan/input.js';
import { seenLiveKills } from '../plan/kills/plan.js';
import type { PlanPolicy } from '../plan/policy.js';

/**
 * Kills that a commit orders and an earlier one does not. Reads only the files that differ, to be faster than a plan.
 *
 * @throws FlagkeelError `GIT` a commit is not here.
 */
export async function killsAdded(
  checkout: Checkout,
  before: string,
  after: string,
): Promise<readonly KillOrder[]> {
  const history = new SpecHistory(checkout, after);
  const changed = new Set((await history.pathsChanged(before, after)).filter(mayKill));
  if (changed.size === 0) return [];
  const isChanged = (path: string): boolean => changed.has(path);
  const [old = [], young = []] = await Promise.all(
    [before, after].map(async (commit) => killsIn(await history.partAt(commit, isChanged))),
  );
  const known = new Set(old.map(definitionId));
  return young.filter((each) => !known.has(definitionId(each)));
}

/**
 * Kills that another commit took back since HEAD parted from it. None on a fault of git, which must keep no kill back.
 *
 * @param revision of that commit; an ancestor of HEAD took back none.
 */
export async function killsTakenBack(
  checkout: Checkout,
  revision: string,
): Promise<readonly KillOrder[]> {
  try {
    const commit = await resolveRevision(checkout, revision);
    return await killsAdded(checkout, commit, await mergeBaseWith(checkout, commit));
  } catch {
    return [];
  }
}

function mayKill(path: string): boolean {
  return path.startsWith('kills/') || path.startsWith('flags/');
}

/** Invalid specs order their kills too. */
export function killsIn(specs: SpecsResult): readonly KillOrder[] {
  return specs.ok ? killOrders(specs.desired) : specs.kills;
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
    const isKill = (path: string): boolean => folderKindOf(path) === 'kills';
    return { ...source, tree: overlaid(source.tree, newest, isKill) };
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}

const MAX_COMMITS = 50;

/**
 * Adds, to live kills that no run has seen before, the first commit since the last apply that ordered them: a later one
 * took the order back.
 */
export async function withLostOrders(
  liveKills: readonly LiveKill[],
  { history, applied }: Pick<KillHistory, 'history' | 'applied'>,
): Promise<readonly LiveKill[]> {
  const isNew = ({ commit, wasOrdered }: LiveKill): boolean => commit === null && !wasOrdered;
  if (applied === null || !liveKills.some(isNew)) return liveKills;
  const commits = (await history.commitsAfter(applied, mayKill)).slice(0, MAX_COMMITS);
  const orderedIn = new Map<ObjectId, string>();
  // The newest commit comes first, so that the oldest order stays.
  for (const commit of commits) {
    const then = await ifHere(history.atAncestor(commit));
    for (const { id, ref } of liveKills) {
      const isOrdered = then && isKillOrdered(then, ref.name, ref.environment ?? '');
      if (isOrdered) orderedIn.set(id, commit);
    }
  }
  return liveKills.map((each) => {
    const commit = isNew(each) ? orderedIn.get(each.id) : undefined;
    return commit === undefined ? each : { ...each, orderedIn: commit };
  });
}

interface KillHistory extends Omit<PlanInput, 'actual'> {
  readonly history: SpecHistory;
  /** null if the specs come from no commit, so that history does not cover them. */
  readonly head: string | null;
  /** HEAD of the last apply. */
  readonly applied: string | null;
  readonly judged: Readonly<Record<string, string>>;
  readonly outOfSync: ReadonlySet<string> | null;
}

/**
 * Definitions whose kill HEAD reverts, according to history:
 *
 * - it was killed on the service by hand, and `killed: false` first appears in a commit after the HEAD at which a run
 *   saw that; also anew, if commits in between did not say it;
 * - it is declared elsewhere, and the break-glass list of the last apply, or of one that left this to later runs, had it
 *   but the present list does not. Without a present list its kill is orphaned.
 *
 * Only ancestry decides, never a clock. If it is unknown, nothing is restored.
 */
export async function endedKills(
  of: KillHistory,
): Promise<Pick<PlanPolicy, 'restorable' | 'orphaned'>> {
  const ended = await ordersEndedElsewhere(of);
  const hasList = ({ environment }: ObjectRef): boolean =>
    of.desired.killLists.has(environment ?? '');
  const restored = [...(await answeredLiveKills(of)), ...ended.filter(hasList)];
  return {
    restorable: new Map(restored.map((ref) => [objectId(ref), ref])),
    orphaned: ended.filter((ref) => !hasList(ref)),
  };
}

async function answeredLiveKills(of: KillHistory): Promise<ObjectRef[]> {
  const answered: ObjectRef[] = [];
  for (const { ref, seenAt } of seenLiveKills(of)) {
    // In sequence, because there is rarely more than one, and each may mean reading a whole tree.
    if (await isSaidAnew(of, ref, seenAt)) answered.push(ref);
  }
  return answered;
}

/** Whether the `killed: false` of HEAD first appears in a commit after `since`: `since` or a later one lacks it. */
async function isSaidAnew(of: KillHistory, ref: ObjectRef, since: string): Promise<boolean> {
  if (of.head === since) return false;
  const mayShape = (path: string): boolean => path.startsWith('flags/');
  const later = await of.history.commitsAfter(since, mayShape);
  for (const commit of [since, ...later]) {
    const then = await of.history.atAncestor(commit);
    const definition = then?.flags.get(ref.name)?.environments.get(ref.environment ?? '');
    // A commit without the flag says nothing: bringing it back, by a revert, does not speak of the kill.
    if (definition && definition.fields.killed !== false) return true;
  }
  return false;
}

async function ordersEndedElsewhere(of: KillHistory): Promise<ObjectRef[]> {
  const { desired, state, policy, applied, judged, outOfSync, head } = of;
  const ended = new Map<ObjectId, ObjectRef>();
  const isList = (path: string): boolean => folderKindOf(path) === 'kills';
  // Beside lists, other files may be invalid, or missing in a partial clone.
  const listsAt = eachOnce(async (commit) => {
    const specs = await of.history.partAtAncestor(commit, isList);
    return (specs?.ok ? specs.desired : specs)?.kills ?? [];
  });
  for (const { id, name: environment } of policy.environments) {
    for (const commit of new Set([applied, judged[id] ?? null])) {
      if (commit === null || commit === head) continue;
      for (const { flag: name, environment: word } of await listsAt(commit)) {
        const ref = { kind: 'flag' as const, name, environment };
        const isDeclared = desired.flags.get(name)?.environments.has(environment) === true;
        const isOurs = flagEntry(state, name)?.environments[id] !== undefined;
        // What a later run restored may have been killed by hand since.
        const isOpen = commit === applied || outOfSync?.has(keyOf('flag', name)) === true;
        const isHere = nameOf(word, desired.environmentNames) === environment;
        if (!isHere || isDeclared || isOurs || !isOpen) continue;
        if (!isKillListed(desired, name, environment)) ended.set(objectId(ref), ref);
      }
    }
  }
  return [...ended.values()];
}
