import { Agent } from 'undici';
import { administer } from '../../src/service/administration.js';
import type { StoreLocation } from '../../src/service/store/store.js';
import { ChaosClient, type Arena, type JournalEntry } from './client.js';
import { randomFrom } from './choices.js';
import { readWorld } from './live-world.js';
import { ServiceNode } from './nodes.js';
import { differences, invariantsBroken, replay } from './verify.js';

export interface ChaosOptions {
  readonly location: StoreLocation;
  /** Service processes; more than one over PostgreSQL only. */
  readonly nodes: number;
  readonly clients: number;
  readonly requests: number;
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** Whether a 5xx may happen. Default: it is a violation. */
  readonly forgivesErrors?: boolean;
}

export interface Fault {
  /** Part of the requests after which it happens, 0 to 1. */
  readonly after: number;
  readonly strike: (nodes: readonly ServiceNode[]) => Promise<void>;
}

export interface ChaosReport {
  readonly seed: number;
  readonly requests: number;
  readonly acknowledged: number;
  readonly refused: number;
  /** Writes whose fate the client did not learn. */
  readonly unanswered: number;
  /** Of those, how many are there. */
  readonly unansweredKept: number;
  readonly changes: number;
  readonly kills: number;
  readonly seconds: number;
  /** Must be empty. */
  readonly violations: readonly string[];
}

/** `kill -9` of one process, and a start. */
export function killNode(node: number, after: number): Fault {
  return {
    after,
    strike: async (nodes) => {
      await nodes[node]?.kill();
      await nodes[node]?.start();
    },
  };
}

/** Lets clients at the service, strikes it meanwhile, and looks at what is left: a second kill comes before the look. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const start = Date.now();
  const key = await administer(options.location, async (service) => service.createKey('chaos'));
  const nodes = Array.from({ length: options.nodes }, () => new ServiceNode(options.location));
  const journal: JournalEntry[] = [];
  const violations: string[] = [];
  try {
    await Promise.all(nodes.map(async (node) => node.start()));
    await sendAll(options, { nodes, key, journal, violations });
    const kills = nodes.reduce((sum, node) => sum + node.kills, 0);
    checkUnanswered(journal, nodes, options, violations);
    await Promise.all(nodes.map(async (node) => node.kill()));
    const log = await auditLog(options.location);
    await nodes[0]?.start();
    const expected = replay(journal, log, violations);
    const found = await readWorld({ origin: nodes[0]?.origin ?? '', key }, violations);
    violations.push(...invariantsBroken(found), ...differences(expected, found));
    return {
      ...counts(journal, log),
      seed: options.seed,
      requests: options.requests,
      kills,
      seconds: (Date.now() - start) / 1_000,
      violations,
    };
  } finally {
    await Promise.all(nodes.map(async (node) => node.kill()));
  }
}

async function sendAll(
  { clients, requests, seed, faults, forgivesErrors = false }: ChaosOptions,
  given: Pick<Arena, 'nodes' | 'key' | 'journal' | 'violations'>,
): Promise<void> {
  const dispatcher = new Agent({ connections: clients });
  const waiting = [...faults].sort((a, b) => a.after - b.after);
  const striking: Promise<void>[] = [];
  let taken = 0;
  let position = 0;
  const take = (): boolean => {
    taken += 1;
    while (waiting[0] !== undefined && taken > waiting[0].after * requests) {
      const fault = waiting.shift();
      if (fault !== undefined) striking.push(fault.strike(given.nodes));
    }
    return taken <= requests;
  };
  const arena: Arena = { ...given, dispatcher, take, tick: () => (position += 1), forgivesErrors };
  const random = randomFrom(seed);
  const all = Array.from(
    { length: clients },
    (_, index) => new ChaosClient(arena, index, randomFrom(random() * 2 ** 32)),
  );
  await Promise.all(all.map(async (client) => client.run()));
  await Promise.all(striking);
  await dispatcher.close();
}

/** A process that nobody killed answers everything. */
function checkUnanswered(
  journal: readonly JournalEntry[],
  nodes: readonly ServiceNode[],
  { forgivesErrors = false }: ChaosOptions,
  violations: string[],
): void {
  if (forgivesErrors) return;
  for (const { title, status, node } of journal) {
    if (status === null && nodes[node]?.kills === 0) {
      violations.push(`${title} was not answered, and its service ran all the time`);
    }
  }
}

/** The oldest first. What was done before the clients came is left out. */
async function auditLog(location: StoreLocation) {
  const all = await administer(location, async (service) =>
    service.audit({}, { offset: 0, limit: 1_000_000 }),
  );
  return all.filter(({ keyName }) => keyName === 'chaos').reverse();
}

function counts(
  journal: readonly JournalEntry[],
  log: readonly { readonly title: string | null }[],
) {
  const logged = new Set(log.map(({ title }) => title));
  const unanswered = journal.filter(({ status }) => status === null);
  return {
    acknowledged: journal.filter(({ status }) => status === 200).length,
    refused: journal.filter(({ status }) => status !== null && status !== 200).length,
    unanswered: unanswered.length,
    unansweredKept: unanswered.filter(({ title }) => logged.has(title)).length,
    changes: log.length,
  };
}
