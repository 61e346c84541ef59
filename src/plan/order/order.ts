import { grouped } from '../../model/collections.js';
import { byCodeUnits } from '../../model/json.js';
import type { Actual } from '../../model/actual.js';
import { keyOfId, objectId, type ObjectId } from '../../model/ref.js';
import {
  isCreation,
  isRemoval,
  type Change,
  type Step,
  type StepId,
  type StepRequest,
} from '../../model/plan.js';
import { KINDS_BY_RANK } from '../objects/kinds.js';
import {
  expanded,
  isCarried,
  liveUsesOf,
  strongest,
  treatmentChange,
  type PlannedChange,
  type TreatmentChange,
  type Use,
} from '../planned-change.js';

/**
 * Puts changes in an order in which they can be applied, by real references and not by kind:
 *
 *     segment ──► segment@env ──► flag@env ──► flag@env that depends on it
 *     flag ───────────────────────▲
 *     x@staging ──► x@production            (config order, object by object)
 *
 * and in reverse for removals: users change before the object that they use is removed. If a flag adds a treatment that
 * one flag needs, and removes one that another still uses, it changes in two steps around them: widen, dependants,
 * narrow. Among independent changes the workspace level comes first (last for deletions), then environments in config
 * order, segments before flags, then names: equal changes give equal order.
 *
 * Kills come first and depend on nothing.
 */
export function orderChanges(
  planned: readonly PlannedChange[],
  kills: readonly PlannedChange[],
  actual: Actual,
  environments: readonly string[],
): { changes: Change[]; steps: Step[] } {
  const sent = planned.filter((each) => each.requests.length > 0 || isCarried(each));
  const inOrder = topological(nodesOf(sent, actual, environments));
  const besides = new Map(sent.map((each) => [each.change.id, each]));
  const besideOf = (kill: PlannedChange) => besides.get(kill.change.id);
  const rank = rankedBy(environments);
  const killing = kills.toSorted((a, b) => rank(besideOf(a) ?? a, besideOf(b) ?? b));
  const killsById = new Map(kills.map((kill) => [kill.change.id, kill]));
  const killsAlone = killing.filter((kill) => !besideOf(kill));
  const nodes = grouped(inOrder, (node) => node.planned);
  const changes = inOrder.flatMap(({ planned, isLast }): Change[] => {
    if (!isLast) return [];
    const change = withKill(planned.change, killsById.get(planned.change.id));
    const needs = (nodes.get(planned) ?? []).flatMap((node) => [...node.needs]);
    const ids = new Set(
      needs.map((need) => need.planned.change.id).filter((id) => id !== change.id),
    );
    return [{ ...change, dependsOn: [...ids].sort(byCodeUnits) }];
  });
  return {
    changes: [...killsAlone.map(({ change }) => ({ ...change, dependsOn: [] })), ...changes],
    steps: stepsOf(inOrder, killSteps(killing)),
  };
}

type Unordered = PlannedChange['change'];

/** The kill of an object that changes anyway is part of that change. */
function withKill(change: Unordered, kill: PlannedChange | undefined): Unordered {
  if (!kill) return change;
  const fields = [...kill.change.fields, ...change.fields];
  return { ...change, reason: strongest(fields.map(({ reason }) => reason)), fields };
}

function killSteps(killing: readonly PlannedChange[]): Step[] {
  return killing.flatMap(({ change: { id: change }, requests }) =>
    requests.map((request): Step => {
      return { id: `${change}#1-${request.action}`, change, needs: [], ...request };
    }),
  );
}

interface Node {
  readonly planned: PlannedChange;
  readonly requests: readonly StepRequest[];
  readonly isLast: boolean;
  readonly needs: Set<Node>;
}

/** First and last node of each change; mostly the same node. */
interface Ends {
  readonly first: Node;
  readonly last: Node;
  readonly treatments: TreatmentChange;
}

function nodesOf(
  planned: readonly PlannedChange[],
  actual: Actual,
  environments: readonly string[],
): Node[] {
  const sorted = planned.toSorted(rankedBy(environments));
  const liveUses = new Map(sorted.map((planned) => [planned, usesLive(planned, actual)]));
  const split = changesToSplit(sorted, liveUses);
  const ends = new Map<ObjectId, Ends>(
    sorted.map((planned) => [planned.change.id, endsOf(planned, split.has(planned))]),
  );
  for (const own of ends.values()) {
    addEdges(own, { ends, environments, liveUses: liveUses.get(own.last.planned) ?? [] });
  }
  return [...new Set([...ends.values()].flatMap(({ first, last }) => [first, last]))];
}

function endsOf(planned: PlannedChange, isSplit: boolean): Ends {
  const treatments = treatmentChange(planned);
  if (!isSplit) {
    const node = { planned, requests: planned.requests, isLast: true, needs: new Set<Node>() };
    return { first: node, last: node, treatments };
  }
  const { expand, contract } = expanded(planned);
  const first: Node = { planned, requests: [expand], isLast: false, needs: new Set() };
  const last: Node = { planned, requests: [contract], isLast: true, needs: new Set([first]) };
  return { first, last, treatments };
}

/** Changes whose additions another change needs, while yet another still uses what they remove. */
function changesToSplit(
  planned: readonly PlannedChange[],
  liveUses: ReadonlyMap<PlannedChange, readonly Use[]>,
): Set<PlannedChange> {
  const byId = new Map(planned.map((each) => [each.change.id, each]));
  const needed = new Set<PlannedChange>();
  const leaned = new Set<PlannedChange>();
  for (const each of planned) {
    for (const { id, treatments } of each.uses) {
      const used = byId.get(id);
      if (used && meets(treatments, treatmentChange(used).added)) needed.add(used);
    }
    for (const { id, treatments } of liveUses.get(each) ?? []) {
      const used = byId.get(id);
      if (used && meets(treatments, treatmentChange(used).removed)) leaned.add(used);
    }
  }
  return new Set([...needed].filter((planned) => leaned.has(planned)));
}

function meets(some: readonly string[], others: ReadonlySet<string>): boolean {
  return some.some((each) => others.has(each));
}

interface Surroundings {
  readonly ends: ReadonlyMap<ObjectId, Ends>;
  readonly environments: readonly string[];
  readonly liveUses: readonly Use[];
}

/** Only changes of this plan create dependencies: an unchanged object exists already, or never did. */
function addEdges(own: Ends, { ends, environments, liveUses }: Surroundings): void {
  const { planned } = own.last;
  for (const earlier of [...planned.after, ...earlierEnvironments(planned, environments)]) {
    const other = ends.get(earlier);
    if (other) own.first.needs.add(other.last);
  }
  for (const { id: usedId, treatments } of planned.uses) {
    const used = ends.get(usedId);
    if (used && used !== own && mustPrecede(used, treatments)) own.first.needs.add(used.first);
  }
  for (const { id: usedId, treatments } of liveUses) {
    const used = ends.get(usedId);
    if (!used || used === own) continue;
    const goes = isRemoval(used.last.planned.change) || meets(treatments, used.treatments.removed);
    // An archived definition goes together with its flag.
    const carrier = isCarried(used.last.planned) ? ends.get(keyOfId(usedId)) : undefined;
    if (goes) (carrier ?? used).last.needs.add(own.last);
  }
}

/** Whether a user has to wait for the object that it uses: this plan creates it, or a treatment of it. */
function mustPrecede({ first: { planned }, treatments }: Ends, wanted: readonly string[]): boolean {
  return isCreation(planned.change) || meets(wanted, treatments.added);
}

function earlierEnvironments(
  { change: { ref } }: PlannedChange,
  environments: readonly string[],
): ObjectId[] {
  if (ref.environment === null) return [];
  return environments
    .slice(0, Math.max(0, environments.indexOf(ref.environment)))
    .map((environment) => objectId({ ...ref, environment }));
}

function usesLive({ change: { ref } }: PlannedChange, actual: Actual): Use[] {
  if (ref.kind !== 'flag' || ref.environment === null) return [];
  const live = actual.flags.get(ref.name)?.definitions.get(ref.environment);
  return live ? liveUsesOf(live, ref.environment) : [];
}

function rankedBy(environments: readonly string[]) {
  const rankOf = ({ change }: PlannedChange) => {
    const { ref } = change;
    const removes = isRemoval(change);
    const workspace = removes ? environments.length : -1;
    const place = ref.environment === null ? workspace : environments.indexOf(ref.environment);
    const kind = KINDS_BY_RANK.indexOf(ref.kind);
    return { place, removal: removes ? 1 : 0, kind: removes ? -kind : kind, name: ref.name };
  };
  return (one: PlannedChange, other: PlannedChange): number => {
    const [a, b] = [rankOf(one), rankOf(other)];
    return (
      a.place - b.place || a.removal - b.removal || a.kind - b.kind || byCodeUnits(a.name, b.name)
    );
  };
}

/**
 * Changes that wait for each other, each followed by the one that it waits for, and the first again at the end. Specs
 * cannot have such a circle, but live definitions can: then no definition in it can be deleted first.
 */
export function circleAmong(
  planned: readonly PlannedChange[],
  actual: Actual,
  environments: readonly string[],
): readonly ObjectId[] | undefined {
  const found = sortedByNeeds(nodesOf(planned, actual, environments));
  if (!('circle' in found)) return undefined;
  const ids = found.circle.map(({ planned }) => planned.change.id);
  // It may contain both halves of a change.
  return ids.filter((id, index) => id !== ids[index - 1]);
}

function topological(nodes: readonly Node[]): readonly Node[] {
  const found = sortedByNeeds(nodes);
  if (!('circle' in found)) return found;
  const ids = found.circle.map(({ planned }) => planned.change.id);
  throw new Error(`bug: changes need each other: ${ids.join(' → ')}`);
}

/** Keeps the given order, but moves dependencies to the front; or returns the first circle, closed. */
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

function carrierOf({ planned, needs }: Node): Node | undefined {
  const whole = keyOfId(planned.change.id);
  return [...needs].find((need) => need.planned.change.id === whole);
}

/** Other changes of a killed object follow its kill, and only if that succeeds. */
function stepsOf(inOrder: readonly Node[], kills: readonly Step[]): Step[] {
  const numbers = new Map<ObjectId, number>(kills.map(({ change }) => [change, 1]));
  const killOf = new Map(kills.map(({ change, id }) => [change, id]));
  const lastOf = new Map<Node, StepId>();
  const others = inOrder.flatMap((node) => {
    const { id: change } = node.planned.change;
    const kill = killOf.get(change);
    let needs = [...node.needs].flatMap((need) => lastOf.get(need) ?? []).sort(byCodeUnits);
    if (kill !== undefined) needs = [...needs, kill].sort(byCodeUnits);
    const carrier = isCarried(node.planned) ? carrierOf(node) : undefined;
    const carried = carrier && lastOf.get(carrier);
    if (carried !== undefined) lastOf.set(node, carried);
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
