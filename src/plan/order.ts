import { dependencyOf, segmentOf } from '../kinds/matcher.js';
import { byCodeUnits } from '../kinds/json.js';
import type { Actual } from '../model/actual.js';
import { objectId, type ObjectId } from '../model/object-id.js';
import type { Change } from '../model/plan.js';
import type { Step, StepId, StepRequest } from '../model/step.js';
import type { Draft } from './draft.js';

/**
 * Puts drafts in the order in which they can be applied, by real references and not by kind:
 *
 *     segment ──► segment@env ──► flag@env ──► flag@env that depends on it
 *     flag ───────────────────────▲
 *     x@staging ──► x@production            (config order, object by object)
 *
 * and the other way round for what is removed: a user is changed before what it uses goes. Among what is free to go,
 * the workspace level comes first (last, where it is a deletion), then environments in config order, segments before flags, then names:
 * equal drafts give equal order.
 */
export function ordered(
  drafts: readonly Draft[],
  actual: Actual,
  environments: readonly string[],
): { changes: Change[]; steps: Step[] } {
  const rank = ranker(environments);
  const sorted = [...drafts].sort((a, b) => compareRanks(rank(a), rank(b)));
  const needs = needsById(sorted, actual, environments);
  const inOrder = topological(sorted, needs).map(({ change, requests }) => {
    const dependsOn = [...(needs.get(change.id) ?? [])].sort(byCodeUnits);
    return { change: { ...change, dependsOn }, requests };
  });
  return { changes: inOrder.map(({ change }) => change), steps: stepsOf(inOrder) };
}

type Rank = readonly [number, number, number, string];

function ranker(environments: readonly string[]): (draft: Draft) => Rank {
  return ({ change: { ref, action } }) => {
    const deletes = action === 'delete' || action === 'deactivate';
    const place =
      ref.environment === null ? (deletes ? Infinity : -1) : environments.indexOf(ref.environment);
    const kind = ref.kind === 'segment' ? 0 : 1;
    return [place, deletes ? 1 : 0, deletes ? -kind : kind, ref.name];
  };
}

function compareRanks(a: Rank, b: Rank): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || byCodeUnits(a[3], b[3]);
}

type Needs = ReadonlyMap<ObjectId, ReadonlySet<ObjectId>>;

/** Only changes of this plan are needs: what does not change is there already, or was never there. */
function needsById(
  drafts: readonly Draft[],
  actual: Actual,
  environments: readonly string[],
): Needs {
  const byId = new Map(drafts.map((draft) => [draft.change.id, draft]));
  const needs = new Map<ObjectId, Set<ObjectId>>(
    drafts.map(({ change }) => [change.id, new Set()]),
  );
  const add = (later: ObjectId, earlier: ObjectId): void => {
    if (later !== earlier && byId.has(earlier)) needs.get(later)?.add(earlier);
  };
  for (const draft of drafts) {
    const { id, ref, action } = draft.change;
    for (const earlier of draft.after) add(id, earlier);
    if (ref.environment === null) continue;
    for (const environment of environments.slice(0, environments.indexOf(ref.environment))) {
      add(id, objectId({ ...ref, environment }));
    }
    if (action === 'delete' || action === 'deactivate') continue;
    for (const used of usedLive(ref.name, ref.environment, actual)) {
      const other = byId.get(used)?.change.action;
      if (other === 'delete' || other === 'deactivate') add(used, id);
    }
  }
  return needs;
}

/** What the live rules of a definition name. */
function usedLive(flag: string, environment: string, actual: Actual): ObjectId[] {
  const matchers = actual.flags
    .get(flag)
    ?.definitions.get(environment)
    ?.rules.flatMap((rule) => rule.condition.matchers);
  return (matchers ?? []).flatMap((matcher) => {
    const segment = segmentOf(matcher as Parameters<typeof segmentOf>[0]);
    const dependency = dependencyOf(matcher as Parameters<typeof dependencyOf>[0]);
    return [
      ...(segment === undefined ? [] : [objectId({ kind: 'segment', name: segment, environment })]),
      ...(dependency ? [objectId({ kind: 'flag', name: dependency.flag, environment })] : []),
    ];
  });
}

/** In the given order, but each with its needs before it. */
function topological(sorted: readonly Draft[], needs: Needs): Draft[] {
  const byId = new Map(sorted.map((draft) => [draft.change.id, draft]));
  const placed = new Set<Draft>();
  const place = (draft: Draft, path: readonly ObjectId[]): void => {
    if (placed.has(draft)) return;
    const { id } = draft.change;
    if (path.includes(id))
      throw new Error(`bug: changes need each other: ${[...path, id].join(' → ')}`);
    for (const need of [...(needs.get(id) ?? [])].sort(byCodeUnits)) {
      const earlier = byId.get(need);
      if (earlier) place(earlier, [...path, id]);
    }
    placed.add(draft);
  };
  for (const draft of sorted) place(draft, []);
  return [...placed];
}

function stepsOf(inOrder: readonly { change: Change; requests: readonly StepRequest[] }[]): Step[] {
  const last = new Map<ObjectId, StepId>();
  return inOrder.flatMap(({ change, requests }) => {
    let needs = change.dependsOn.flatMap((id) => last.get(id) ?? []);
    return requests.map((request, index): Step => {
      const id = `${change.id}#${index + 1}-${request.action}`;
      const step: Step = { id, change: change.id, needs, ...request };
      needs = [id];
      last.set(change.id, id);
      return step;
    });
  });
}
