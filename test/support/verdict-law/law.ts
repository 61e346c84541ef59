import { isDeepStrictEqual } from 'node:util';
import type { RawState } from '../stories/raw-state.js';
import { differencesIn, shareIn, type Orders } from './orders.js';

/**
 * - `may`: by the word of the specs a difference may wait.
 * - `must-not`: the program or a person has something to do.
 * - `either`: the rules allow both.
 */
type Waiting = 'may' | 'must-not' | 'either';

/** The truth about one moment: what git orders and what the service has. */
export interface Truth {
  readonly orders: Orders;
  readonly raw: RawState;
  /** Id → paths that differ. */
  readonly differences: ReadonlyMap<string, readonly string[]>;
  readonly waiting: ReadonlyMap<string, Waiting>;
  /** Flags and definitions that git gave up, and that the service still has though they were once as git ordered. */
  readonly remains: ReadonlySet<string>;
}

function flagOf(id: string): string {
  return id.split('@')[0] ?? id;
}

/** What a person would remember who saw every look of the program. */
export class LawMemory {
  /** `ID PATH` → the value that git and the service had in common last. */
  readonly #agreed = new Map<string, unknown>();
  readonly #ours = new Set<string>();
  readonly reached = new Map<string, number>();

  truth(orders: Orders, raw: RawState): Truth {
    const differences = differencesIn(orders, raw);
    const waiting = new Map(
      [...differences].map(([id, paths]) => [id, this.#waiting(id, paths, orders, raw)] as const),
    );
    const remains = [...raw.keys()]
      .map((id) => (orders.objects.has(flagOf(id)) ? id : flagOf(id)))
      .filter((id) => this.#ours.has(id) && !orders.objects.has(id))
      .filter((id) => !orders.broken.has(id.slice('flag/'.length)));
    return { orders, raw, differences, waiting, remains: new Set(remains) };
  }

  /** Call after a run that looked at everything and may have written. */
  remember({ orders, raw, differences }: Truth): void {
    for (const [id, order] of orders.objects) {
      const live = raw.get(id);
      if (live === undefined) continue;
      const differing = differences.get(id) ?? [];
      if (differing.length === 0) this.#ours.add(id);
      for (const [path, value] of order) {
        if (differing.includes(path)) continue;
        this.#agreed.set(`${id} ${path}`, value);
        if (path === '/defaultRule') this.reached.set(id, shareIn(live));
      }
    }
    for (const id of [...this.#ours]) {
      if (orders.objects.has(id) || raw.has(id)) continue;
      this.#ours.delete(id);
      this.reached.delete(id);
      for (const key of this.#agreed.keys()) if (key.startsWith(`${id} `)) this.#agreed.delete(key);
    }
  }

  #waiting(id: string, paths: readonly string[], orders: Orders, raw: RawState): Waiting {
    const order = orders.objects.get(id) ?? new Map<string, unknown>();
    const isLiveKill = paths.includes('/killed') && raw.get(id)?.get('/killed') === true;
    const rest = isLiveKill ? paths.filter((path) => path !== '/killed') : paths;
    if (rest.length === 0) return order.has('/killed') ? 'either' : 'may';
    if (rest.includes('/killed')) return 'must-not';
    const [flag = id, environment = ''] = id.split('@');
    if (orders.isSuspended || orders.closed.has(environment)) return 'either';
    const isGone = rest.includes('') && (this.#ours.has(id) || this.#ours.has(flag));
    const isDrift = rest.every((path) =>
      isDeepStrictEqual(order.get(path), this.#agreed.get(`${id} ${path}`)),
    );
    if (orders.leavesDrift && (isGone || (isDrift && !rest.includes('')))) return 'either';
    return this.#ramped.has(id) && rest.includes('/defaultRule') ? 'either' : 'must-not';
  }

  /** Definitions whose share grows by itself: a change by hand of it is for a person. */
  readonly #ramped = new Set<string>();
  ramped(ids: readonly string[]): void {
    for (const id of ids) this.#ramped.add(id);
  }
}

/** How many of the objects that git orders are live, in one environment or (null) at the workspace level. */
export function liveIn({ orders, differences }: Truth, environment: string | null): number {
  return [...orders.objects.keys()].filter(
    (id) => (id.split('@')[1] ?? null) === environment && !differences.has(id),
  ).length;
}

export function isAllLive({ orders, differences, remains }: Truth): boolean {
  return differences.size === 0 && remains.size === 0 && orders.broken.size === 0;
}

export function mustNotWait({ waiting }: Truth, environment: string | null = null): string[] {
  return [...waiting]
    .filter(
      ([id, value]) => value === 'must-not' && (!environment || id.endsWith(`@${environment}`)),
    )
    .map(([id]) => id);
}

interface DocumentStanding {
  readonly id: string;
  readonly is: string;
  readonly why: string;
}

export interface StandingsDocument {
  readonly whole: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly objects: readonly DocumentStanding[];
}

/** Breaches of a verdict, as JSON of a run or of `/status` gives it. */
export function breachesOfStandings(said: StandingsDocument, truth: Truth): string[] {
  const { orders, differences, waiting, remains } = truth;
  const { whole, counts, objects } = said;
  const found: string[] = [];
  const named = new Map(objects.map((each) => [each.id, each]));
  if ((whole === 'live') !== isAllLive(truth)) found.push(`the whole is ${whole}`);
  for (const id of differences.keys()) {
    if (!named.has(id) && !orders.broken.has(id)) found.push(`${id} differs and is live`);
  }
  for (const { id, is } of objects) {
    if (is === 'waits' && waiting.get(id) === 'must-not') found.push(`${id} waits by no rule`);
  }
  const total = Object.values(counts).reduce((sum, each) => sum + each, 0);
  if (total !== (counts['live'] ?? 0) + objects.length) found.push('the counts do not add up');
  if (orders.broken.size > 0) {
    if ((counts['unknown'] ?? 0) === 0) found.push('an invalid file is not unknown');
    return found;
  }
  const isOf = (id: string): boolean => remains.has(id) || remains.has(flagOf(id));
  for (const { id } of objects) {
    if (!differences.has(id) && !isOf(id)) found.push(`${id} is as git orders and not live`);
  }
  for (const id of remains) {
    if (!objects.some((each) => each.id === id || flagOf(each.id) === id))
      found.push(`${id} remains unnamed`);
  }
  const live = orders.objects.size - differences.size;
  if (counts['live'] !== live) found.push(`${String(counts['live'])} are live, and not ${live}`);
  return found;
}
