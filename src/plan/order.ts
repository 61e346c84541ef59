import { byCodeUnits } from '../kinds/json.js';
import type { Actual } from '../model/actual.js';
import { objectId, type Kind, type ObjectId } from '../model/object-id.js';
import type { Change } from '../model/plan.js';
import type { Step, StepId, StepRequest } from '../model/step.js';
import { isCreation, isRemoval, type Draft } from './draft.js';
import { liveUsesOf, type Use } from './uses.js';
import { treatmentChange, widened, type TreatmentChange } from './widen.js';

/**
 * Puts drafts in the order in which they can be applied, by real references and not by kind:
 *
 *     segment ──► segment@env ──► flag@env ──► flag@env that depends on it
 *     flag ───────────────────────▲
 *     x@staging ──► x@production            (config order, object by object)
 *
 * and the other way round for what is removed: a user is changed before what it uses goes. A flag that adds a
 * treatment which one flag needs and removes one which another still uses is changed in two steps around them: widen,
 * dependants, narrow. Among what is free to go the workspace level comes first (last, where it is a deletion), then
 * environments in config order, segments before flags, then names: equal drafts give equal order.
 *
 * Kills come before everything and need nothing.
 */
export function ordered(
  drafts: readonly Draft[],
  actual: Actual,
  environments: readonly string[],
): { changes: Change[]; steps: Step[] } {
  const rank = ranker(environments);
  const killing = drafts.filter(isKilling).sort((a, b) => compareRanks(rank(a), rank(b)));
  const others = drafts.map(withoutKill).filter(({ requests }) => requests.length > 0);
  const inOrder = topological(nodesOf(others, actual, environments));
  const killsAlone = killing.filter(({ requests }) => requests.length === 1);
  const changes = inOrder.flatMap(({ draft, isLast }): Change[] => {
    if (!isLast) return [];
    const { change } = draft;
    const needs = inOrder.filter((node) => node.draft === draft).flatMap((node) => [...node.needs]);
    const ids = new Set(needs.map((need) => need.draft.change.id).filter((id) => id !== change.id));
    return [{ ...change, dependsOn: [...ids].sort(byCodeUnits) }];
  });
  return {
    changes: [...killsAlone.map(({ change }) => ({ ...change, dependsOn: [] })), ...changes],
    steps: stepsOf(inOrder, killSteps(killing)),
  };
}

function isKilling({ requests }: Draft): boolean {
  return requests.some(({ action }) => action === 'kill-flag');
}

function withoutKill(draft: Draft): Draft {
  if (!isKilling(draft)) return draft;
  return { ...draft, requests: draft.requests.filter(({ action }) => action !== 'kill-flag') };
}

function killSteps(killing: readonly Draft[]): Step[] {
  return killing.flatMap(({ change: { id: change }, requests }) =>
    requests
      .filter(({ action }) => action === 'kill-flag')
      .map((request): Step => ({ id: `${change}#1-kill-flag`, change, needs: [], ...request })),
  );
}

/** A draft, or one half of a draft that is applied in two. */
interface Node {
  readonly draft: Draft;
  readonly requests: readonly StepRequest[];
  readonly isLast: boolean;
  readonly needs: Set<Node>;
}

/** First and last node of each draft; mostly the same. */
interface Ends {
  readonly first: Node;
  readonly last: Node;
  readonly treatments: TreatmentChange;
}

function nodesOf(
  drafts: readonly Draft[],
  actual: Actual,
  environments: readonly string[],
): Node[] {
  const rank = ranker(environments);
  const sorted = [...drafts].sort((a, b) => compareRanks(rank(a), rank(b)));
  const liveUses = new Map(sorted.map((draft) => [draft, usesLive(draft, actual)]));
  const split = draftsToSplit(sorted, liveUses);
  const ends = new Map<ObjectId, Ends>(
    sorted.map((draft) => [draft.change.id, endsOf(draft, split.has(draft))]),
  );
  for (const draft of sorted) {
    connect(draft, { ends, environments, liveUses: liveUses.get(draft) ?? [] });
  }
  return [...new Set([...ends.values()].flatMap(({ first, last }) => [first, last]))];
}

function endsOf(draft: Draft, isSplit: boolean): Ends {
  const treatments = treatmentChange(draft);
  if (!isSplit) {
    const node = { draft, requests: draft.requests, isLast: true, needs: new Set<Node>() };
    return { first: node, last: node, treatments };
  }
  const { wide, narrow } = widened(draft);
  const first: Node = { draft, requests: [wide], isLast: false, needs: new Set() };
  const last: Node = { draft, requests: [narrow], isLast: true, needs: new Set([first]) };
  return { first, last, treatments };
}

/** Those of which one draft needs what they add, while another still uses what they remove. */
function draftsToSplit(
  drafts: readonly Draft[],
  liveUses: ReadonlyMap<Draft, readonly Use[]>,
): Set<Draft> {
  const byId = new Map(drafts.map((draft) => [draft.change.id, draft]));
  const needed = new Set<Draft>();
  const leaned = new Set<Draft>();
  for (const draft of drafts) {
    for (const { id, treatments } of draft.uses) {
      const used = byId.get(id);
      if (used && meets(treatments, treatmentChange(used).added)) needed.add(used);
    }
    for (const { id, treatments } of liveUses.get(draft) ?? []) {
      const used = byId.get(id);
      if (used && meets(treatments, treatmentChange(used).removed)) leaned.add(used);
    }
  }
  return new Set([...needed].filter((draft) => leaned.has(draft)));
}

function meets(some: readonly string[], others: ReadonlySet<string>): boolean {
  return some.some((each) => others.has(each));
}

interface Surroundings {
  readonly ends: ReadonlyMap<ObjectId, Ends>;
  readonly environments: readonly string[];
  readonly liveUses: readonly Use[];
}

/** Only changes of this plan are needs: what does not change is there already, or was never there. */
function connect(draft: Draft, { ends, environments, liveUses }: Surroundings): void {
  const own = ends.get(draft.change.id);
  if (!own) return;
  for (const earlier of [...draft.after, ...earlierEnvironments(draft, environments)]) {
    const other = ends.get(earlier);
    if (other) own.first.needs.add(other.last);
  }
  for (const { id: usedId, treatments } of draft.uses) {
    const used = ends.get(usedId);
    if (!used || used === own || !mustPrecede(used, treatments)) continue;
    own.first.needs.add(used.first);
  }
  for (const { id: usedId, treatments } of liveUses) {
    const used = ends.get(usedId);
    if (!used || used === own) continue;
    const goes = isRemoval(used.last.draft) || meets(treatments, used.treatments.removed);
    if (goes) used.last.needs.add(own.last);
  }
}

/** Whether a user has to wait for what it uses: it is made by this plan, or a treatment of it is. */
function mustPrecede({ first: { draft }, treatments }: Ends, wanted: readonly string[]): boolean {
  return isCreation(draft) || meets(wanted, treatments.added);
}

function earlierEnvironments(
  { change: { ref } }: Draft,
  environments: readonly string[],
): ObjectId[] {
  if (ref.environment === null) return [];
  return environments
    .slice(0, Math.max(0, environments.indexOf(ref.environment)))
    .map((environment) => objectId({ ...ref, environment }));
}

function usesLive({ change: { ref } }: Draft, actual: Actual): Use[] {
  if (ref.kind !== 'flag' || ref.environment === null) return [];
  const live = actual.flags.get(ref.name)?.definitions.get(ref.environment);
  return live ? liveUsesOf(live, ref.environment) : [];
}

/** Identities are used by nothing, and may be many. */
const KIND_RANK: Readonly<Record<Kind, number>> = { segment: 0, flag: 1, identities: 2 };

type Rank = readonly [place: number, removal: number, kind: number, name: string];

function ranker(environments: readonly string[]): (draft: Draft) => Rank {
  return (draft) => {
    const { ref } = draft.change;
    const removes = isRemoval(draft);
    const workspace = removes ? environments.length : -1;
    const place = ref.environment === null ? workspace : environments.indexOf(ref.environment);
    const kind = KIND_RANK[ref.kind];
    return [place, removes ? 1 : 0, removes ? -kind : kind, ref.name];
  };
}

function compareRanks(a: Rank, b: Rank): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || byCodeUnits(a[3], b[3]);
}

/**
 * Drafts that wait for each other, each with the one that it waits for behind it and the first again at the end;
 * undefined: there are none. Specs have no such circle, but what is live may: no definition in it can be the first to
 * go.
 */
export function circleAmong(
  drafts: readonly Draft[],
  actual: Actual,
  environments: readonly string[],
): readonly ObjectId[] | undefined {
  const found = sortedByNeeds(nodesOf(drafts, actual, environments));
  if (!('circle' in found)) return undefined;
  const ids = found.circle.map(({ draft }) => draft.change.id);
  // Both halves of what is applied in two may be in it.
  return ids.filter((id, index) => id !== ids[index - 1]);
}

function topological(nodes: readonly Node[]): readonly Node[] {
  const found = sortedByNeeds(nodes);
  if (!('circle' in found)) return found;
  const ids = found.circle.map(({ draft }) => draft.change.id);
  throw new Error(`bug: changes need each other: ${ids.join(' → ')}`);
}

/** In the given order, but each with its needs before it; or the first circle among them, closed. */
function sortedByNeeds(nodes: readonly Node[]): readonly Node[] | { circle: readonly Node[] } {
  const rank = new Map(nodes.map((node, index) => [node, index]));
  const byRank = (a: Node, b: Node): number => (rank.get(a) ?? 0) - (rank.get(b) ?? 0);
  const placed = new Set<Node>();
  const path = new Set<Node>();
  const place = (node: Node): readonly Node[] | undefined => {
    if (placed.has(node)) return undefined;
    if (path.has(node)) {
      const walked = [...path];
      return [...walked.slice(walked.indexOf(node)), node];
    }
    path.add(node);
    for (const need of [...node.needs].sort(byRank)) {
      const circle = place(need);
      if (circle) return circle;
    }
    path.delete(node);
    placed.add(node);
    return undefined;
  };
  for (const node of nodes) {
    const circle = place(node);
    if (circle) return { circle };
  }
  return [...placed];
}

/** What else is done to something that is killed follows its kill, and only if that succeeds. */
function stepsOf(inOrder: readonly Node[], kills: readonly Step[]): Step[] {
  const numbers = new Map<ObjectId, number>(kills.map(({ change }) => [change, 1]));
  const killOf = new Map(kills.map(({ change, id }) => [change, id]));
  const lastOf = new Map<Node, StepId>();
  const others = inOrder.flatMap((node) => {
    const { id: change } = node.draft.change;
    const kill = killOf.get(change);
    let needs = [...node.needs].flatMap((need) => lastOf.get(need) ?? []).sort(byCodeUnits);
    if (kill !== undefined) needs = [...needs, kill].sort(byCodeUnits);
    return node.requests.map((request): Step => {
      const number = (numbers.get(change) ?? 0) + 1;
      numbers.set(change, number);
      const id = `${change}#${number}-${request.action}`;
      const step: Step = { id, change, needs, ...request };
      needs = [id];
      lastOf.set(node, id);
      return step;
    });
  });
  return [...kills, ...others];
}
