import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request, type Dispatcher } from 'undici';
import { API_PREFIX } from '../../src/admin-api/wire.js';
import { administer } from '../../src/service/service.js';
import type { StoreLocation } from '../../src/service/store/store.js';
import { readWorld } from './live-world.js';
import { ServiceNode } from '../support/service-node.js';

export interface Outage {
  readonly cause: string;
  /** Resolves while the cause lasts, with the function that ends it. */
  readonly strike: (node: ServiceNode) => Promise<() => void | Promise<void>>;
}

export interface OutagesReport {
  /** Acknowledged writes that are not there, or not with their value. */
  readonly lost: readonly string[];
  /** Writes that were answered with an error, from the calm before an outage until the next calm. */
  readonly refusedIn: (outage: Outage) => number;
}

interface Write {
  readonly client: number;
  readonly name: string;
  readonly value: string;
  /** Milliseconds of `performance.now`. */
  readonly sent: number;
  readonly answered: number;
  /** Null: the connection broke. */
  readonly status: number | null;
}

interface Arena {
  readonly node: ServiceNode;
  readonly key: string;
  readonly dispatcher: Dispatcher;
  /** In the order of the answers. */
  readonly writes: Write[];
  isOver: boolean;
}

const PAUSE_MS = 40;

/** The clients write alone for this long before each outage. */
const CALM_MS = 1_500;

/** A client counts as well after so many acknowledged writes in a row. */
const IN_A_ROW = 5;

const WELL_WITHIN_MS = 60_000;

/**
 * Clients create one flag after the other, each with a value of its own, while one outage follows another. In the end
 * each acknowledged flag is read. Prints a row for each outage, as `docs/durability.md` shows them.
 */
export async function runOutages(
  store: string,
  options: {
    readonly location: StoreLocation;
    readonly clients: number;
    readonly outages: readonly Outage[];
  },
): Promise<OutagesReport> {
  const key = await administer(options.location, async (service) => service.createKey('outages'));
  const node = new ServiceNode(options.location);
  const dispatcher = new Agent({ connections: options.clients });
  const arena: Arena = { node, key, dispatcher, writes: [], isOver: false };
  try {
    await node.start();
    const spans: Span[] = [];
    let from = performance.now();
    const clients = Array.from({ length: options.clients }, async (_, index) =>
      writeOn(arena, index),
    );
    for (const outage of options.outages) {
      await pause(CALM_MS);
      spans.push({ outage, from, ...(await suffer(arena, outage, options.clients)) });
      from = performance.now();
    }
    arena.isOver = true;
    await Promise.all(clients);
    const lost = await lostOf(arena);
    const writesIn = (outage: Outage): Write[] =>
      arena.writes.filter(
        ({ answered }) => spans.findLast((span) => span.from <= answered)?.outage === outage,
      );
    for (const outage of new Set(options.outages)) {
      const same = spans.filter((span) => span.outage === outage);
      process.stdout.write(`${rowOf(store, same, writesIn(outage), lost)}\n`);
    }
    return {
      lost: lost.map(({ name }) => name),
      refusedIn: (outage) => writesIn(outage).filter(isRefused).length,
    };
  } finally {
    arena.isOver = true;
    await node.kill();
    await dispatcher.close();
  }
}

async function writeOn(arena: Arena, client: number): Promise<void> {
  for (let count = 0; !arena.isOver; count += 1) {
    const name = `c${client}-${count}`;
    const value = `value ${client * 1_000_000 + count}`;
    const sent = performance.now();
    const { origin } = arena.node;
    if (origin !== undefined) {
      const status = await create(arena, origin, { name, description: value });
      arena.writes.push({ client, name, value, sent, answered: performance.now(), status });
    }
    await pause(PAUSE_MS);
  }
}

/** The status; null where no answer came. */
async function create(
  { key, dispatcher }: Arena,
  origin: string,
  flag: { readonly name: string; readonly description: string },
): Promise<number | null> {
  try {
    const url = `${origin}${API_PREFIX}/splits/ws/Default/trafficTypes/user`;
    const answer = await request(url, {
      method: 'POST',
      dispatcher,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(flag),
    });
    await answer.body.dump();
    return answer.statusCode;
  } catch {
    return null;
  }
}

/** Milliseconds of `performance.now`. */
interface Span {
  readonly outage: Outage;
  /** The calm before the outage begins. */
  readonly from: number;
  /** The cause ends. For a killed service that is before its new process starts. */
  readonly end: number;
  /** From here on the writes of all clients succeed. */
  readonly well: number;
}

async function suffer(
  arena: Arena,
  outage: Outage,
  clients: number,
): Promise<Pick<Span, 'end' | 'well'>> {
  const mend = await outage.strike(arena.node);
  const end = performance.now();
  await mend();
  for (;;) {
    const well = Array.from({ length: clients }, (_, client) => wellSince(arena, client, end));
    if (well.every((time) => time !== undefined)) return { end, well: Math.max(...well) };
    if (performance.now() - end > WELL_WITHIN_MS) {
      throw new Error(`after "${outage.cause}" not all clients could write within a minute`);
    }
    await pause(50);
  }
}

/** When the first of a client's acknowledged writes in a row was answered; undefined while the row is too short. */
function wellSince({ writes }: Arena, client: number, end: number): number | undefined {
  const later = writes.filter((write) => write.client === client && write.answered > end);
  const row = later.slice(later.findLastIndex(({ status }) => status !== 200) + 1);
  return row.length < IN_A_ROW ? undefined : row[0]?.answered;
}

function isRefused({ status }: Write): boolean {
  return status !== null && status !== 200;
}

async function lostOf({ node, key, writes }: Arena): Promise<Write[]> {
  const broken: string[] = [];
  const { flags } = await readWorld({ origin: node.origin ?? '', key }, broken);
  if (broken.length > 0) throw new Error(broken.join('\n'));
  return writes.filter(({ name, value, status }) => status === 200 && flags.get(name) !== value);
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

function rowOf(
  store: string,
  spans: readonly Span[],
  writes: readonly Write[],
  lost: readonly Write[],
): string {
  const count = (is: (write: Write) => boolean): string =>
    writes.filter(is).length.toLocaleString('en');
  const cause = spans[0]?.outage.cause ?? '';
  const cells = [
    store,
    spans.length === 1 ? cause : `${cause}, ${spans.length} times`,
    count(({ status }) => status === 200),
    count((write) => lost.includes(write)),
    count(isRefused),
    count(({ status }) => status === null),
    seconds(Math.max(...writes.map(({ sent, answered }) => answered - sent))),
    seconds(Math.max(...spans.map(({ end, well }) => well - end))),
  ];
  return `| ${cells.join(' | ')} |`;
}
