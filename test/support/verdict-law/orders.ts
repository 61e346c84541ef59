import { parse } from 'yaml';
import type { RawFields, RawState } from '../stories/raw-state.js';

/**
 * The reader of both sides: the files of a commit and the answers of the service. It shares no code with the program and
 * knows the restricted form that the histories write.
 */

/** Path of a field → the value that git orders. */
type Order = ReadonlyMap<string, unknown>;

export interface Orders {
  /** By `flag/NAME` or `flag/NAME@ENVIRONMENT`. */
  readonly objects: ReadonlyMap<string, Order>;
  /** Environments in which only kills may go now. */
  readonly closed: ReadonlySet<string>;
  readonly environments: readonly string[];
  readonly leavesDrift: boolean;
  readonly prunes: boolean;
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
  const { kills = {} } = parse(files.get('kills/production.yaml') ?? '') as { kills?: Node };
  const objects = new Map<string, Order>();
  const broken = new Set<string>();
  for (const [path, text] of files) {
    if (!path.startsWith('flags/')) continue;
    if (text === 'flag: [') {
      broken.add(path.slice('flags/'.length, -'.yaml'.length));
      continue;
    }
    const { flag, environments } = parse(text) as { flag: string; environments: Node };
    objects.set(`flag/${flag}`, new Map());
    for (const [environment, block] of Object.entries(environments)) {
      const id = `flag/${flag}@${environment}`;
      const order = readBlock(block as Node, nowMs, reached.get(id) ?? 0);
      const isListed = environment === 'production' && Object.hasOwn(kills, flag);
      objects.set(id, isListed ? new Map([...order, ['/killed', true]]) : order);
    }
  }
  return {
    objects,
    broken,
    environments: Object.keys(config['environments'] as Node),
    closed: new Set(isProductionClosed(config, nowMs) ? ['production'] : []),
    leavesDrift: config['onDrift'] === 'report',
    prunes: config['prune'] === true,
    isSuspended: config['suspend'] === true,
  };
}

function readBlock(block: Node, nowMs: number, reached: number): Order {
  const { trafficAllocation, defaultRule, ramp, killed } = block;
  const written = typeof defaultRule === 'string' ? 0 : (defaultRule as { on: number }).on;
  const on = ramp === undefined ? written : rampedShare(ramp as Node, nowMs, reached);
  return new Map<string, unknown>([
    ['/trafficAllocation', trafficAllocation],
    ['/defaultRule', on],
    ...(killed === undefined ? [] : [['/killed', killed] as const]),
  ]);
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

/** Paths in which an object is not as git orders; `''` if all of it is missing. A kill that git does not order counts. */
function differingIn(order: Order, live: RawFields | undefined): string[] {
  if (live === undefined) return [''];
  const paths = [...order]
    .filter(([path, wanted]) => wanted !== valueIn(live, path))
    .map(([path]) => path);
  const isLiveKill = live.get('/killed') === true && !order.has('/killed');
  return isLiveKill ? [...paths, '/killed'] : paths;
}

export function valueIn(live: RawFields, path: string): unknown {
  if (path !== '/defaultRule') return live.get(path);
  const buckets = live.get(path) as readonly { treatment: string; size: number }[];
  return buckets.find(({ treatment }) => treatment === 'on')?.size ?? 0;
}

/** What differs from the orders of git, by id. */
export function differencesIn(
  { objects }: Orders,
  raw: RawState,
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...objects].flatMap(([id, order]) => {
      const paths = differingIn(order, raw.get(id));
      return paths.length === 0 ? [] : [[id, paths] as const];
    }),
  );
}
