import { parse } from 'yaml';
import { sharesOf } from '../on-off.js';
import { differingPaths } from '../stories/comparison.js';
import type { RawFields, RawState } from '../stories/raw-state.js';
import { readWritten, type WrittenFields } from '../stories/written.js';
import { BROKEN } from './specs.js';

/** What git orders at a moment: what the files of a commit say, as the stories read it, and what the time makes of that. */
export interface Orders {
  /** By `flag/NAME` or `flag/NAME@ENVIRONMENT`. */
  readonly objects: ReadonlyMap<string, WrittenFields>;
  /** Environments in which only kills may go now. */
  readonly closed: ReadonlySet<string>;
  readonly environments: readonly string[];
  readonly leavesDrift: boolean;
  readonly isSuspended: boolean;
  /** Flags whose file is no YAML. */
  readonly broken: ReadonlySet<string>;
}

type Node = Readonly<Record<string, unknown>>;

const HOUR_MS = 3_600_000;

/**
 * @param files path → text.
 * @param reached the largest share of a ramp that was once found as git orders it, by id.
 */
export function readOrders(
  files: ReadonlyMap<string, string>,
  nowMs: number,
  reached: ReadonlyMap<string, number>,
): Orders {
  const config = parse(files.get('flagkeel.yaml') ?? '') as Node;
  const [whole, broken] = [new Map<string, string>(), new Set<string>()];
  for (const [path, text] of files) {
    if (text === BROKEN) broken.add(path.slice('flags/'.length, -'.yaml'.length));
    else whole.set(path, text);
  }
  const objects = new Map(readWritten(whole).objects);
  for (const { flag, environments = {} } of [...whole.values()].map(
    (text) => parse(text) as Node,
  )) {
    for (const [environment, { ramp }] of Object.entries(environments as Record<string, Node>)) {
      const id = `flag/${String(flag)}@${environment}`;
      const fields = objects.get(id);
      if (ramp === undefined || !fields) continue;
      const on = rampedShare(ramp as Node, nowMs, reached.get(id) ?? 0);
      objects.set(id, new Map(fields).set('/defaultRule', sharesOf(on)));
    }
  }
  return {
    objects,
    broken,
    environments: Object.keys(config['environments'] as Node),
    closed: new Set(isProductionClosed(config, nowMs) ? ['production'] : []),
    leavesDrift: config['onDrift'] === 'report',
    isSuspended: config['suspend'] === true,
  };
}

/** A share that was reached stays, but git orders none beyond the last step. */
function rampedShare(ramp: Node, nowMs: number, reached: number): number {
  const last = (ramp['steps'] as { percent: number }[]).at(-1)?.percent ?? 0;
  return Math.max(Math.min(reached, last), dueShare(ramp, nowMs));
}

function dueShare({ start, steps }: Node, nowMs: number): number {
  let due = Date.parse(String(start));
  let share = 0;
  for (const { percent, after = '0h' } of steps as { percent: number; after?: string }[]) {
    due += Number.parseInt(after, 10) * HOUR_MS;
    if (due <= nowMs) share = percent;
  }
  return share;
}

function isProductionClosed(config: Node, nowMs: number): boolean {
  const { windows, freezes } = config as { windows?: Node; freezes?: Record<string, Node> };
  const hour = new Date(nowMs).getUTCHours();
  if (windows !== undefined && (hour < 9 || hour >= 17)) return true;
  return Object.values(freezes ?? {}).some(({ from, to }) => {
    return nowMs >= Date.parse(String(from)) && nowMs < Date.parse(String(to));
  });
}

/** What differs from the orders of git, by id; `''` if all of an object is missing. A kill that git does not order counts. */
export function differencesIn(
  { objects }: Orders,
  raw: RawState,
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...objects].flatMap(([id, order]) => {
      const live = raw.get(id);
      const paths = live ? differingPaths(order, live) : [''];
      const isLiveKill = live?.get('/killed') === true && !order.has('/killed');
      const all = isLiveKill ? [...paths, '/killed'] : paths;
      return all.length === 0 ? [] : [[id, all] as const];
    }),
  );
}

/** The share of `on` in the default rule. */
export function shareIn(live: RawFields): number {
  const buckets = live.get('/defaultRule') as readonly { treatment: string; size: number }[];
  return buckets.find(({ treatment }) => treatment === 'on')?.size ?? 0;
}
