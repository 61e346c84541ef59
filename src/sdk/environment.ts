import type { FastifyRequest } from 'fastify';
import {
  seededDefinition,
  type SeededDefinition,
  servedDefinition,
  wholeFromWire,
} from '../plan/impact/served-definition.js';
import type { ChangedKeys } from '../service/rules/keys.js';
import { KEY_CHANGES_KEPT } from '../service/store/keys.js';
import type { KeyType } from '../service/store/tables.js';
import { splitText, type SeededSplit } from './split.js';

/**
 * One environment as its applications see it. Each change has a number that is greater than all before it, so that an
 * application asks for the changes since the number that it knows.
 */
export interface ServedEnvironment {
  flags(): Promise<FlagList>;
  /** @param since a number of an earlier answer, or any other for all keys. */
  keysSince(segment: string, since: number): Promise<KeyChanges>;
  /** Names of the segments that hold a key, sorted. */
  segmentsOf(key: string): Promise<readonly string[]>;
}

export interface Application {
  readonly environment: ServedEnvironment;
  readonly type: KeyType;
}

/** Finds the application of a request. @throws Problem (401) */
export type FindApplication = (request: FastifyRequest) => Promise<Application>;

/** No key is in both lists. */
export interface KeyChanges extends ChangedKeys {
  readonly till: number;
}

/** The changes of a segment that an environment remembers, at most `KEY_CHANGES_KEPT`. */
interface RememberedChanges {
  /** The number that the environment counts from. */
  readonly first: number;
  /** Of the oldest change that is remembered. */
  readonly oldest: number;
  readonly till: number;
  readonly count: number;
  readonly after: (number: number) => Promise<readonly ChangedKeys[]>;
  readonly keys: () => Promise<readonly string[]>;
}

/** An application that missed more changes than are remembered gets all keys. */
export async function keysChangedSince(
  since: number,
  { first, oldest, till, count, after, keys }: RememberedChanges,
): Promise<KeyChanges> {
  const isComplete = count < KEY_CHANGES_KEPT || since >= oldest;
  const isKnown = since >= first && since <= till && isComplete;
  const missed = foldedChanges(await after(isKnown ? since : first));
  if (isKnown) return { ...missed, till };
  const added = await keys();
  const held = new Set(added);
  const removed = since < 0 ? [] : missed.removed.filter((key) => !held.has(key));
  return { added, removed, till };
}

function foldedChanges(changes: readonly ChangedKeys[]): ChangedKeys {
  const isHeld = new Map<string, boolean>();
  for (const { added, removed } of changes) {
    for (const key of removed) isHeld.set(key, false);
    for (const key of added) isHeld.set(key, true);
  }
  const keys = [...isHeld];
  return {
    added: keys.filter(([, held]) => held).map(([key]) => key),
    removed: keys.filter(([, held]) => !held).map(([key]) => key),
  };
}

/** A flag that has, or had, a definition in an environment. */
export class ServedFlag {
  /** Number of its newest change. */
  readonly number: number;
  /** Null for a flag without a definition, which applications have to forget. */
  readonly split: SeededSplit | null;
  readonly #name: string;
  #text: string | undefined;
  #seeded: SeededDefinition | undefined;

  constructor(name: string, number: number, split: SeededSplit | null) {
    this.#name = name;
    this.number = number;
    this.split = split;
  }

  /** JSON in the form of `splitChanges`. */
  get text(): string {
    this.#text ??= splitText(this.#name, this.number, this.split);
    return this.#text;
  }

  get seeded(): SeededDefinition | undefined {
    if (this.split === null) return undefined;
    const { definition, seeds } = this.split;
    const served = (): ReturnType<typeof servedDefinition> =>
      servedDefinition(wholeFromWire(definition));
    this.#seeded ??= seededDefinition(served(), seeds);
    return this.#seeded;
  }
}

export class FlagList {
  /** The least number that this list understands: a smaller one is of another life of the service. */
  readonly first: number;
  readonly till: number;
  readonly flags: ReadonlyMap<string, ServedFlag>;
  #definitions: ReadonlyMap<string, SeededDefinition> | undefined;
  #whole: string | undefined;

  constructor(first: number, flags: ReadonlyMap<string, ServedFlag>) {
    this.first = first;
    this.flags = flags;
    this.till = [...flags.values()].reduce((most, { number }) => Math.max(most, number), first);
  }

  /** JSON of a list of the flags that changed since a number; of all flags if the number is not of this list. */
  changedSince(since: number): string {
    if (since === this.till) return '[]';
    // Every application that starts asks for this one.
    if (since < 0) return (this.#whole ??= this.#listed(({ split }) => split !== null));
    const isKnown = since >= this.first && since <= this.till;
    return this.#listed(({ number }) => !isKnown || number > since);
  }

  #listed(isWanted: (flag: ServedFlag) => boolean): string {
    const wanted = [...this.flags.values()].filter(isWanted);
    return `[${wanted.map(({ text }) => text).join(',')}]`;
  }

  get definitions(): ReadonlyMap<string, SeededDefinition> {
    this.#definitions ??= new Map(
      [...this.flags].flatMap(([name, { seeded }]) => (seeded ? [[name, seeded] as const] : [])),
    );
    return this.#definitions;
  }
}
