import { createHash } from 'node:crypto';
import type { Desired, DesiredFlag } from '../model/desired.js';
import { definitionBody } from '../model/flag/wire.js';
import { orderedDefinition } from '../plan/kills/orders.js';
import { KEY_CHANGES_KEPT } from '../service/store/keys.js';
import { desiredUndelayed } from '../timing/desired-at.js';
import {
  FlagList,
  keysChangedSince,
  ServedFlag,
  type KeyChanges,
  type ServedEnvironment,
} from './environment.js';
import { splitText, type SeededSplit } from './split.js';

interface Segment {
  keys: ReadonlySet<string>;
  readonly changes: KeyChanges[];
}

/**
 * An environment as specs describe it, without a service. Seeds follow from the names of environment and flag, so that
 * a key gets the same treatment after every start.
 */
export class SpecsEnvironment implements ServedEnvironment {
  readonly #name: string;
  readonly #first: number;
  readonly #segments = new Map<string, Segment>();
  #list: FlagList;
  #number: number;

  /** @param nowMs numbers of changes count from it, so that those of a later start are greater. */
  constructor(name: string, nowMs: number) {
    this.#name = name;
    this.#first = nowMs;
    this.#number = nowMs;
    this.#list = new FlagList(nowMs, new Map());
  }

  /**
   * Serves other specs from now on, with ramps as they stand at `ms`; those that begin with a run have not begun.
   *
   * @returns the names of the flags and segments that changed, sorted.
   */
  serve(specs: Desired, ms: number): string[] {
    const desired = desiredUndelayed(specs, ms, 'before');
    const next = this.#number + 1;
    const changed = [...this.#serveFlags(desired, next), ...this.#serveSegments(desired, next)];
    if (changed.length > 0) this.#number = next;
    return changed.sort();
  }

  async flags(): Promise<FlagList> {
    return Promise.resolve(this.#list);
  }

  async keysSince(segment: string, since: number): Promise<KeyChanges> {
    const { keys = new Set<string>(), changes = [] } = this.#segments.get(segment) ?? {};
    return keysChangedSince(since, {
      first: this.#first,
      oldest: changes[0]?.till ?? 0,
      till: changes.at(-1)?.till ?? this.#first,
      count: changes.length,
      after: async (number) => Promise.resolve(changes.filter(({ till }) => till > number)),
      keys: async () => Promise.resolve([...keys]),
    });
  }

  async segmentsOf(key: string): Promise<readonly string[]> {
    const held = [...this.#segments].filter(([, { keys }]) => keys.has(key));
    return Promise.resolve(held.map(([name]) => name).sort());
  }

  #serveFlags(desired: Desired, number: number): string[] {
    const before = this.#list.flags;
    const flags = new Map(before);
    const wanted = new Map(
      [...desired.flags].map(([name, flag]) => [name, this.#splitOf(flag, desired)]),
    );
    const names = [...new Set([...before.keys(), ...wanted.keys()])];
    const changed = names.filter((name) => {
      const split = wanted.get(name) ?? null;
      const known = before.get(name);
      const isSame =
        known === undefined ? split === null : known.text === splitText(name, known.number, split);
      if (!isSame) flags.set(name, new ServedFlag(name, number, split));
      return !isSame;
    });
    if (changed.length > 0) this.#list = new FlagList(this.#first, flags);
    return changed;
  }

  #serveSegments(desired: Desired, till: number): string[] {
    const names = new Set([...this.#segments.keys(), ...desired.segments.keys()]);
    return [...names].filter((name) => {
      const activation = desired.segments.get(name)?.environments.get(this.#name);
      const keys = new Set(activation?.keys?.keys);
      const segment = this.#segments.get(name) ?? { keys: new Set(), changes: [] };
      const added = [...keys].filter((key) => !segment.keys.has(key));
      const removed = [...segment.keys].filter((key) => !keys.has(key));
      this.#segments.set(name, segment);
      if (added.length === 0 && removed.length === 0) return false;
      segment.keys = keys;
      segment.changes.push({ added, removed, till });
      if (segment.changes.length > KEY_CHANGES_KEPT) segment.changes.shift();
      return true;
    });
  }

  /** Null for a flag that is not declared here. */
  #splitOf({ name, trafficType }: DesiredFlag, specs: Desired): SeededSplit | null {
    const ordered = orderedDefinition(specs, name, this.#name);
    if (ordered === undefined) return null;
    return {
      definition: {
        ...definitionBody(ordered),
        id: name,
        name,
        creationTime: 0,
        lastUpdateTime: 0,
        environment: { id: this.#name, name: this.#name },
        trafficType: { id: trafficType, name: trafficType },
      },
      seeds: { seed: this.#seedOf('seed', name), allocationSeed: this.#seedOf('allocation', name) },
    };
  }

  /** A whole number of 31 bits. */
  #seedOf(what: string, flag: string): number {
    const words = JSON.stringify([what, this.#name, flag]);
    return createHash('sha256').update(words).digest().readUInt32BE() >>> 1;
  }
}
