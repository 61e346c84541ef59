import { isDeepStrictEqual } from 'node:util';
import { request, type Dispatcher } from 'undici';
import { arenaWrite, ownWrite, type Chance } from './choices.js';
import type { ServiceNode } from '../support/service-node.js';
import {
  callOf,
  definitionPath,
  disown,
  emptyWorld,
  enact,
  type Call,
  type ChaosDefinition,
  type ChaosWrite,
} from './writes.js';

/** What was sent, and what is known of its fate. */
export interface JournalEntry {
  /** In the audit log, if it was a change. */
  readonly title: string;
  readonly write: ChaosWrite;
  /** Whether other clients change the same things. */
  readonly shared: boolean;
  /** Position among all that was sent and answered in the run. */
  readonly sent: number;
  /** Null, like the status: there was no answer, or one that tells nothing (5xx). */
  readonly answered: number | null;
  readonly status: number | null;
  readonly node: number;
}

/** What the clients of one run have in common. */
export interface Arena {
  readonly nodes: readonly ServiceNode[];
  readonly key: string;
  readonly dispatcher: Dispatcher;
  readonly journal: JournalEntry[];
  /** What must never be, in words. */
  readonly violations: string[];
  /** Counts a request; false: enough were sent. */
  readonly take: () => boolean;
  /** The next position. */
  readonly tick: () => number;
  /** Whether a 5xx may happen: connections are being broken on purpose. */
  readonly forgivesErrors: boolean;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const SHARE_OF_READS = 0.2;
const SHARE_OF_ARENA = 0.15;
const PAUSE_MS = 20;
const GIVE_UP_MS = 60_000;

/** One client: sends one request after the other, and remembers what it was told. */
export class ChaosClient {
  readonly #arena: Arena;
  readonly #chance: Chance;
  readonly #own = emptyWorld();
  #node: number;

  constructor(arena: Arena, number: number, random: () => number) {
    this.#arena = arena;
    this.#node = number % arena.nodes.length;
    let count = 0;
    this.#chance = { random, unique: () => `${number}-${(count += 1)}` };
  }

  async run(): Promise<void> {
    while (this.#arena.take()) {
      const draw = this.#chance.random();
      if (draw < SHARE_OF_READS) await this.#read();
      else if (draw < SHARE_OF_READS + SHARE_OF_ARENA) await this.#write(true);
      else await this.#write(false);
    }
  }

  async #write(shared: boolean): Promise<void> {
    const write = shared ? arenaWrite(this.#chance) : ownWrite(this.#chance, this.#own);
    const title = `t-${this.#chance.unique()}`;
    const sent = this.#arena.tick();
    const node = this.#node;
    const answer = await this.#send(callOf(write, title));
    const known = { status: answer?.status ?? null, answered: answer && this.#arena.tick() };
    this.#arena.journal.push({ title, write, shared, sent, node, ...known });
    if (shared) return;
    if (answer === null) {
      disown(this.#own, write.name);
    } else if (answer.status === 200) {
      enact(this.#own, write);
    } else {
      this.#violated(`${write.kind} ${write.name} was refused: ${answer.status} ${answer.text}`);
      disown(this.#own, write.name);
    }
  }

  /** What was acknowledged is what is read. */
  async #read(): Promise<void> {
    const [place, definition] = [...this.#own.definitions].at(-1) ?? [];
    if (place === undefined || definition === undefined) return;
    const [name = '', environment = ''] = place.split('@');
    const answer = await this.#send({ method: 'GET', path: definitionPath(name, environment) });
    if (answer === null) return;
    const found =
      answer.status === 200 && isDeepStrictEqual(contentOf(JSON.parse(answer.text)), definition);
    if (!found) this.#violated(`${place} was read as ${answer.status} ${answer.text}`);
  }

  /** Null: nobody knows what became of it. */
  async #send(call: Call): Promise<Answer | null> {
    const origin = await this.#origin();
    try {
      const answer = await request(`${origin}${call.path}`, {
        method: call.method,
        dispatcher: this.#arena.dispatcher,
        headers: {
          authorization: `Bearer ${this.#arena.key}`,
          'content-type': 'application/json',
        },
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      });
      const text = await answer.body.text();
      if (answer.statusCode < 500) return { status: answer.statusCode, text };
      if (!this.#arena.forgivesErrors) this.#violated(`${call.path}: ${answer.statusCode} ${text}`);
      return null;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      if (code.includes('TIMEOUT')) this.#violated(`${call.path}: ${code}`);
      // As a balancer would: the next request goes to the next node.
      this.#node = (this.#node + 1) % this.#arena.nodes.length;
      return null;
    }
  }

  /** Of the client's node, or of the next that runs. */
  async #origin(): Promise<string> {
    const { nodes } = this.#arena;
    for (const end = Date.now() + GIVE_UP_MS; Date.now() < end;) {
      const origin = nodes[this.#node]?.origin;
      if (origin !== undefined) return origin;
      this.#node = (this.#node + 1) % nodes.length;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    throw new Error('no service came back');
  }

  #violated(what: string): void {
    this.#arena.violations.push(what.slice(0, 500));
  }
}

/** A definition as it was answered, without what the service sets itself. */
export function contentOf(answered: unknown): ChaosDefinition {
  const { killed, treatments, defaultTreatment, baselineTreatment, ...rest } =
    answered as ChaosDefinition;
  const { trafficAllocation, rules, defaultRule } = rest;
  return {
    killed,
    treatments,
    defaultTreatment,
    baselineTreatment,
    trafficAllocation,
    rules,
    defaultRule,
  };
}
