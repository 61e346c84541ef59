import { Agent } from 'undici';
import { administer } from '../../src/service/service.js';
import type { StoreLocation } from '../../src/service/store/store.js';
import { ChaosClient, type Arena, type JournalEntry } from './client.js';
import { randomFrom } from './choices.js';
import { readWorld } from './live-world.js';
import { ServiceNode } from '../support/service-node.js';
import { differences, invariantsBroken, replay } from './verify.js';

export interface ChaosOptions {
  readonly location: StoreLocation;
  /** Service processes; more than one over PostgreSQL only. */
  readonly nodes: number;
  readonly clients: number;
  readonly requests: number;
  /** After these no more is sent, on however slow a machine. */
  readonly maxSeconds: number;
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** Whether a 5xx may happen. Default: it is a violation. */
  readonly forgivesErrors?: boolean;
}

export interface Fault {
  /** Part of the requests, or of the time, after which it happens, 0 to 1. */
  readonly after: number;
  readonly strike: (nodes: readonly ServiceNode[]) => Promise<void>;
}

export interface ChaosReport {
  readonly seed: number;
  /** That were sent. */
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
    const requests = await sendAll(options, { nodes, key, journal, violations });
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
      requests,
      kills,
      seconds: (Date.now() - start) / 1_000,
      violations,
    };
  } finally {
    await Promise.all(nodes.map(async (node) => node.kill()));
  }
}

/** Longer than any request waits for its turn, shorter than anybody would wait for a request that is lost. */
const REQUEST_TIMEOUT_MS = 60_000;

/** @returns how many requests were sent. */
async function sendAll(
  { clients, requests, maxSeconds, seed, faults, forgivesErrors = false }: ChaosOptions,
  given: Pick<Arena, 'nodes' | 'key' | 'journal' | 'violations'>,
): Promise<number> {
  const timeouts = { headersTimeout: REQUEST_TIMEOUT_MS, bodyTimeout: REQUEST_TIMEOUT_MS };
  const dispatcher = new Agent({ connections: clients, ...timeouts });
  const waiting = [...faults].sort((a, b) => a.after - b.after);
  const striking: Promise<void>[] = [];
  const start = Date.now();
  let taken = 0;
  let position = 0;
  const take = (): boolean => {
    const progress = Math.max(taken / requests, (Date.now() - start) / 1_000 / maxSeconds);
    while (waiting[0] !== undefined && progress > waiting[0].after) {
      const fault = waiting.shift();
      if (fault !== undefined) striking.push(fault.strike(given.nodes));
    }
    if (progress >= 1) return false;
    taken += 1;
    return true;
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
  return taken;
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
